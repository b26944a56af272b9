import type { Author, Commit } from "../../../../../api/schema/article.ts";
import { Avatar } from "../../../ui/avatar.tsx";
import { Time } from "../../../ui/time.tsx";
import { toKindText, toTitle } from "./commitTexts.ts";

const mostAvatars = 3;

/** The people and agents of a commit, the most recent one first. */
export function Authors({ authors }: { readonly authors: readonly Author[] }) {
  const shown = authors.slice(-mostAvatars).toReversed();
  const more = authors.length - shown.length;
  return (
    <span className="inline-flex shrink-0 items-center gap-0.5">
      {shown.map(({ username, kind }) => (
        <Avatar key={`${username} ${kind}`} username={username} isAgent={kind === "agent"} size="small" />
      ))}
      {more > 0 && <span className="ml-0.5 text-xs text-muted">+{more}</span>}
    </span>
  );
}

/** Lines that the commit added and removed, over all files. */
export function LineCounts({ files }: Pick<Commit, "files">) {
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  if (added === 0 && removed === 0) return null;
  return (
    <span className="shrink-0 tabular-nums">
      {added > 0 && (
        <span className="text-ok">
          <span aria-hidden="true">+{added.toLocaleString()}</span>
          <span className="sr-only">{added} lines added</span>
        </span>
      )}{" "}
      {removed > 0 && (
        <span className="text-danger">
          <span aria-hidden="true">−{removed.toLocaleString()}</span>
          <span className="sr-only">{removed} lines removed</span>
        </span>
      )}
    </span>
  );
}

export function CommitRow({ commit, onOpen }: { readonly commit: Commit; readonly onOpen: () => void }) {
  const { authors, files, createdAt, name } = commit;
  const kind = toKindText(commit);
  const isQuiet = commit.kind === "checkpoint" && name === undefined;
  return (
    <li>
      <button type="button" onClick={onOpen} className="block w-full px-4 py-2.5 text-left hover:bg-hover">
        <span className="flex items-center gap-2">
          <span dir="auto" className={`min-w-0 grow truncate text-sm ${isQuiet ? "text-muted" : "font-medium"}`}>
            {toTitle(commit)}
          </span>
          <Authors authors={authors} />
        </span>
        <span className="mt-0.5 flex items-center gap-2 text-xs text-muted">
          <Time at={createdAt} />
          {kind !== undefined && <span className="truncate">{kind}</span>}
          <span className="grow" />
          <LineCounts files={files} />
        </span>
      </button>
    </li>
  );
}
