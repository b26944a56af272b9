import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Dialog } from "radix-ui";
import { type KeyboardEvent, type ReactNode, useDeferredValue, useId, useState } from "react";
import type { SearchHit } from "../../../api/schema/search.ts";
import { toKeyNames, useAllActions } from "../app/actions.ts";
import { trpc } from "../app/data.ts";
import { useWorkspace } from "../app/useWorkspace.ts";
import { ArticleIcon, CommentIcon, SearchIcon, TopicIcon } from "../ui/icons.tsx";
import { splitSnippet } from "./snippet.ts";

interface Entry {
  readonly key: string;
  readonly icon?: ReactNode;
  readonly name: ReactNode;
  readonly detail?: ReactNode;
  readonly run: () => void;
}

const icons: Record<SearchHit["kind"], ReactNode> = { article: <ArticleIcon />, topic: <TopicIcon />, review: <CommentIcon /> };
const mostHits = 12;

/** Finds articles, topics and reviews by their words, and runs actions by their names. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const { workspaceId } = useWorkspace();
  const navigate = useNavigate();
  const actions = useAllActions();
  const [query, setQuery] = useState("");
  const [chosen, setChosen] = useState(0);
  const listId = useId();
  const words = useDeferredValue(query.trim());
  const { data, error } = useQuery({
    ...trpc.workspaces.search.queryOptions({ workspaceId, q: words, in: ["articles", "topics", "reviews"], limit: mostHits }),
    enabled: words !== "",
    placeholderData: (before) => before,
  });

  function open({ kind, id, articleId }: SearchHit): void {
    if (kind === "topic") void navigate({ to: "/w/$workspaceId/topics/$topicId", params: { workspaceId, topicId: id } });
    else if (articleId !== undefined)
      void navigate({
        to: "/w/$workspaceId/articles/$articleId",
        params: { workspaceId, articleId },
        search: kind === "review" ? { panel: "reviews", review: id } : {},
      });
  }

  const matching = actions.filter(({ name }) =>
    words
      .toLowerCase()
      .split(/\s+/)
      .every((word) => name.toLowerCase().includes(word)),
  );
  const entries: readonly Entry[] = [
    ...(words === "" ? [] : (data?.hits ?? [])).map((hit) => ({
      key: hit.id,
      icon: icons[hit.kind],
      name: hit.title,
      detail: splitSnippet(hit.snippet).map((part) => (part.isMatch ? <mark key={part.at}>{part.text}</mark> : part.text)),
      run: () => open(hit),
    })),
    ...matching.map((action) => ({
      key: `action ${action.group} ${action.name}`,
      name: action.name,
      detail: action.keys === undefined ? undefined : toKeyNames(action.keys).join(" "),
      run: action.run,
    })),
  ];
  const current = Math.min(chosen, entries.length - 1);

  function choose(entry: Entry | undefined): void {
    if (entry === undefined) return;
    onClose();
    // The dialog gives the focus back first, so that an action can move it.
    setTimeout(entry.run);
  }

  function onKey(event: KeyboardEvent): void {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      const next = (current + step + entries.length) % Math.max(1, entries.length);
      setChosen(next);
      document.getElementById(`${listId}-${next}`)?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter" && !event.nativeEvent.isComposing) {
      event.preventDefault();
      choose(entries[current]);
    }
  }

  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-30 bg-scrim" />
        <Dialog.Content
          aria-describedby={undefined}
          className="animate-appear fixed top-[10vh] left-1/2 z-30 flex max-h-[70vh] w-[calc(100vw-2rem)] max-w-xl -translate-x-1/2 flex-col overflow-hidden rounded-lg border border-line bg-raised shadow-float"
        >
          <Dialog.Title className="sr-only">Search and actions</Dialog.Title>
          <div className="flex items-center gap-2.5 border-b border-line px-4">
            <SearchIcon className="text-faint" />
            <input
              role="combobox"
              aria-label="Search articles, topics, reviews and actions"
              aria-expanded={entries.length > 0}
              aria-controls={listId}
              aria-activedescendant={entries.length > 0 ? `${listId}-${current}` : undefined}
              placeholder="Search, or type an action"
              value={query}
              maxLength={200}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => {
                setQuery(event.target.value);
                setChosen(0);
              }}
              onKeyDown={onKey}
              className="h-12 grow bg-transparent text-lg outline-none placeholder:text-faint"
            />
          </div>
          <div id={listId} role="listbox" aria-label="Results" className="overflow-auto p-1.5">
            {entries.map((entry, index) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the combobox has the keys
              <div
                key={entry.key}
                id={`${listId}-${index}`}
                role="option"
                tabIndex={-1}
                aria-selected={index === current}
                onClick={() => choose(entry)}
                onMouseMove={() => setChosen(index)}
                className="flex cursor-default items-center gap-2.5 rounded-md px-2.5 py-1.5 aria-selected:bg-hover"
              >
                {entry.icon !== undefined && <span className="text-faint">{entry.icon}</span>}
                <span className="min-w-0 grow">
                  <span className="block truncate">{entry.name}</span>
                  {entry.icon !== undefined && <span className="block truncate text-xs text-muted">{entry.detail}</span>}
                </span>
                {entry.icon === undefined && <kbd className="font-sans text-xs text-faint">{entry.detail}</kbd>}
              </div>
            ))}
          </div>
          <p role="status" className="px-4 pb-3 text-sm text-muted empty:hidden">
            {error !== null ? error.message : words !== "" && data !== undefined && entries.length === 0 ? "Nothing has these words." : ""}
          </p>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
