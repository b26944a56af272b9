/** Commits in words, and by day. */
import type { Commit, CommitKind } from "../../../../../api/schema/article.ts";

const kindTexts = {
  commit: "Commit",
  checkpoint: "Checkpoint",
  agent: "Written by a run",
  restore: "Earlier text restored",
  import: "Imported",
} as const satisfies Record<CommitKind, string>;

/** The name of a commit, otherwise its message, otherwise what made it. */
export function toTitle({ name, message, kind }: Pick<Commit, "name" | "message" | "kind">): string {
  return name ?? (message === "" ? kindTexts[kind] : message);
}

/** What made the commit. Undefined if the title says it already, and for commits by people. */
export function toKindText(commit: Commit): string | undefined {
  const text = kindTexts[commit.kind];
  return commit.kind === "commit" || toTitle(commit) === text ? undefined : text;
}

export interface CommitDay {
  /** `Today`, `Yesterday` or a date. */
  readonly title: string;
  readonly commits: readonly Commit[];
}

const dayFormat = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const yearFormat = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "long", year: "numeric" });

/** Groups the commits by the day of the reader's clock, in their order. */
export function toDays(commits: readonly Commit[], now: Date): readonly CommitDay[] {
  const yesterday = new Date(now);
  yesterday.setDate(now.getDate() - 1);
  const titleOf = ({ createdAt }: Commit): string => {
    const day = new Date(createdAt * 1000);
    if (day.toDateString() === now.toDateString()) return "Today";
    if (day.toDateString() === yesterday.toDateString()) return "Yesterday";
    return (day.getFullYear() === now.getFullYear() ? dayFormat : yearFormat).format(day);
  };
  const days: { readonly title: string; readonly commits: Commit[] }[] = [];
  for (const commit of commits) {
    const title = titleOf(commit);
    const last = days.at(-1);
    if (last?.title === title) last.commits.push(commit);
    else days.push({ title, commits: [commit] });
  }
  return days;
}
