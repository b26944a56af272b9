import { skipToken, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { trpc } from "../../app/data.ts";
import { useWorkspace } from "../../app/useWorkspace.ts";
import { SearchField, Segments } from "../../ui/filters.tsx";

export type Target = { readonly topicId: string } | { readonly articleId: string };

interface TargetPickerProps {
  readonly target: Target | undefined;
  readonly fault: string | undefined;
  readonly onChange: (target: Target) => void;
}

/** Results for one search. A longer text finds the rest. */
const mostResults = 8;

/** Finds the topic or the article for which a run is started. */
export function TargetPicker({ target, fault, onChange }: TargetPickerProps) {
  const { workspaceId } = useWorkspace();
  const [kind, setKind] = useState("topic");
  const [q, setQ] = useState("");
  const input = { workspaceId, limit: mostResults, ...(q === "" ? {} : { q }) };
  const topics = useQuery(trpc.topics.list.queryOptions(kind === "topic" ? { ...input, sort: "updatedAt" } : skipToken));
  const articles = useQuery(trpc.articles.list.queryOptions(kind === "article" ? { ...input, sort: "updatedAt" } : skipToken));
  const results =
    kind === "topic"
      ? topics.data?.topics.map(({ topicId, shortId, title }) => ({ id: topicId, title, note: shortId, target: { topicId } }))
      : articles.data?.articles.map(({ articleId, title }) => ({ id: articleId, title, note: undefined, target: { articleId } }));
  const error = kind === "topic" ? topics.error : articles.error;
  const chosenId = target === undefined ? undefined : "topicId" in target ? target.topicId : target.articleId;
  return (
    <fieldset className="mb-4 min-w-0">
      <legend className="mb-1 text-sm font-medium">For</legend>
      <div className="mb-1.5 flex flex-wrap items-center gap-1.5">
        <Segments
          label="Kind of target"
          value={kind}
          options={[
            { value: "topic", label: "Topic" },
            { value: "article", label: "Article" },
          ]}
          onChange={setKind}
        />
        <SearchField label={kind === "topic" ? "Find a topic" : "Find an article"} value={q} onChange={setQ} />
      </div>
      <div className="h-44 overflow-auto rounded-md border border-line p-1">
        {error !== null && <p className="p-2 text-sm text-danger">{error.message}</p>}
        {results?.length === 0 && <p className="p-2 text-sm text-muted">Nothing is found.</p>}
        {results?.map(({ id, title, note, target: found }) => (
          <label key={id} className="flex cursor-pointer items-center gap-2 rounded-sm px-2 py-1 text-sm hover:bg-hover">
            <input type="radio" name="target" className="accent-(--accent)" checked={id === chosenId} onChange={() => onChange(found)} />
            {note !== undefined && <span className="shrink-0 text-xs text-faint">{note}</span>}
            <span className="truncate" dir="auto">
              {title}
            </span>
          </label>
        ))}
      </div>
      {fault !== undefined && <p className="mt-1 text-xs text-danger">{fault}</p>}
    </fieldset>
  );
}
