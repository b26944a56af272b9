import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { ArticleFile } from "../../../../../api/schema/article.ts";
import { trpc } from "../../../app/data.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog, Question } from "../../../ui/dialog.tsx";
import { Empty, ProblemView } from "../../../ui/problem.tsx";
import { type HeadingChoice, toHeadings } from "./headings.ts";
import { useRestore } from "./useHistory.ts";

interface SectionDialogProps {
  readonly articleId: string;
  readonly commitId: string;
  readonly revision: number;
  readonly file: ArticleFile;
  /** What stays after the restore. */
  readonly lead: string;
  readonly onClose: () => void;
}

/** Chooses a section of a committed text by its heading, and restores it after a question. */
export function SectionDialog({ articleId, commitId, revision, file, lead, onClose }: SectionDialogProps) {
  const [chosen, setChosen] = useState<HeadingChoice>();
  const restore = useRestore(articleId);
  const { data, error, refetch } = useQuery(trpc.commits.content.queryOptions({ articleId, commitId, file, format: "json" }));
  const headings = useMemo(() => (data === undefined ? undefined : toHeadings(data.content)), [data]);
  return (
    <>
      <Dialog
        title="Restore a section"
        lead="A section reaches to the next heading of the same or a higher level. The present text must have the heading too."
        isOpen={chosen === undefined}
        onClose={onClose}
      >
        {headings === undefined ? (
          error === null ? (
            <div aria-busy="true" className="flex flex-col gap-3">
              <span className="skeleton h-4 w-2/3" />
              <span className="skeleton h-4 w-1/2" />
              <span className="skeleton h-4 w-3/5" />
            </div>
          ) : (
            <ProblemView error={error} onRetry={() => void refetch()} />
          )
        ) : headings.length === 0 ? (
          <Empty title="No headings">The text of this commit has no sections. Restore the whole file instead.</Empty>
        ) : (
          <ul className="-mx-2">
            {headings.map((heading) => (
              <li key={heading.at}>
                <button
                  type="button"
                  disabled={heading.isAmbiguous}
                  onClick={() => setChosen(heading)}
                  className="flex w-full items-baseline gap-2 rounded-sm px-2 py-1.5 text-left text-sm hover:bg-hover disabled:text-faint disabled:hover:bg-transparent"
                  style={{ paddingLeft: `${heading.depth - 0.5}rem` }}
                >
                  <span className="min-w-0 grow wrap-anywhere">{heading.text}</span>
                  {heading.isAmbiguous && <span className="shrink-0 text-xs">occurs more than once</span>}
                </button>
              </li>
            ))}
          </ul>
        )}
        <div className="mt-4 flex justify-end">
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </Dialog>
      <Question
        title={`Restore the section “${chosen?.text ?? ""}”?`}
        lead={`It becomes as it was in this commit. ${lead}`}
        action="Restore"
        isOpen={chosen !== undefined}
        onClose={onClose}
        onConfirm={() => restore.mutateAsync({ revision, file, section: chosen?.text ?? "" })}
      />
    </>
  );
}
