import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Commit } from "../../../../../api/schema/article.ts";
import { client, trpc } from "../../../app/data.ts";
import { colourOf } from "../../../ui/avatar.tsx";
import { ProblemLine } from "../../../ui/problem.tsx";
import type { ArticlePanel } from "../panel/panel.ts";
import { readAll } from "../panel/readAll.ts";
import { toLineSpans, toLiveSpans, toShares } from "./blame.ts";

interface BlameProps extends Pick<ArticlePanel, "articleId" | "file" | "doc" | "editor"> {
  /** The commit whose authors are shown: the newest one. */
  readonly commit: Commit;
}

const kindNames = { user: "", agent: "agent", key: "API key" } as const;
const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 0 });

/** Colours the text by its authors while it is shown, and says whose colour is which. */
export function Blame({ articleId, file, doc, editor, commit: { commitId, revision } }: BlameProps) {
  const { data, error } = useQuery({
    queryKey: [...trpc.commits.blame.queryKey({ articleId, file, revision }), "text"],
    queryFn: async ({ signal }) => {
      const [pages, { content }] = await Promise.all([
        readAll((page) => client.commits.blame.query({ articleId, file, revision, ...page }, { signal })),
        client.commits.content.query({ articleId, commitId, file }, { signal }),
      ]);
      return { spans: pages.flatMap(({ spans }) => spans), content };
    },
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
  useEffect(() => {
    if (editor === undefined || data === undefined) return;
    const live = doc.getText(file).toString();
    const lines = toLineSpans(toLiveSpans(data.spans, data.content, live), live);
    editor.setBlame(
      lines.map(({ fromLine, toLine, username, kind }) => ({
        fromLine,
        toLine,
        colour: colourOf(username),
        label: kind === "user" ? username : `${username}, ${kindNames[kind]}`,
      })),
    );
  }, [editor, doc, file, data]);
  useEffect(() => () => editor?.setBlame(undefined), [editor]);

  if (error !== null) {
    return (
      <div className="px-4 pt-4">
        <ProblemLine error={error} />
      </div>
    );
  }
  const shares = data === undefined ? [] : toShares(data.spans);
  return (
    <section aria-label="Authors of the text" className="min-h-12 border-b border-line bg-side px-4 py-2.5">
      {data !== undefined && shares.length === 0 && <p className="text-sm text-muted">The last commit has no text in this file.</p>}
      <ul className="flex flex-wrap gap-x-4 gap-y-1.5">
        {shares.map(({ username, kind, share }) => (
          <li key={`${kind} ${username}`} className="flex items-center gap-1.5 text-xs">
            <span className="h-3.5 w-1 rounded-full" style={{ background: `var(--author-${colourOf(username)})` }} />
            <span className="font-medium">{username}</span>
            {kind !== "user" && <span className="text-muted">{kindNames[kind]}</span>}
            <span className="text-muted tabular-nums">{percent.format(share)}</span>
          </li>
        ))}
      </ul>
      {shares.length > 0 && <p className="mt-1.5 text-xs text-faint">As of the last commit. Newer text has no colour.</p>}
    </section>
  );
}
