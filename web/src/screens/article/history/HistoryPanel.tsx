import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Commit } from "../../../../../api/schema/article.ts";
import { trpc } from "../../../app/data.ts";
import { Button } from "../../../ui/button.tsx";
import { ChevronRightIcon } from "../../../ui/icons.tsx";
import { Empty } from "../../../ui/problem.tsx";
import { PanelFrame, PanelState } from "../panel/PanelFrame.tsx";
import type { ArticlePanel } from "../panel/panel.ts";
import { useArticleEvents } from "../panel/useArticleEvents.ts";
import { Blame } from "./Blame.tsx";
import { CommitDetail } from "./CommitDetail.tsx";
import { CommitForm } from "./CommitForm.tsx";
import { CommitRow } from "./CommitRow.tsx";
import { toDays } from "./commitTexts.ts";
import { useCommits } from "./useHistory.ts";

/** The commits and checkpoints of an article, who wrote which part, and the way back to an earlier text. */
export function HistoryPanel({ articleId, workspaceId, file, doc, editor, canWrite, onClose }: ArticlePanel) {
  const commits = useCommits(articleId);
  const [isCommitting, setIsCommitting] = useState(false);
  const [isBlaming, setIsBlaming] = useState(false);
  const [opened, setOpened] = useState<Commit>();
  const queryClient = useQueryClient();
  useArticleEvents(articleId, (event) => {
    // The comparison with the live text is read again when typing has stopped.
    const isOfText =
      event === undefined || (event.event === "document.live" ? event.data.typing.length === 0 : event.event.startsWith("document."));
    if (isOfText) void queryClient.invalidateQueries(trpc.commits.pathFilter());
  });

  if (opened !== undefined) {
    return (
      <PanelFrame
        title="Commit"
        onClose={onClose}
        bar={
          <Button weight="quiet" className="-ml-3" onClick={() => setOpened(undefined)}>
            <ChevronRightIcon className="rotate-180" /> All commits
          </Button>
        }
      >
        <CommitDetail key={opened.commitId} commit={opened} {...{ workspaceId, canWrite }} shownFile={file} />
      </PanelFrame>
    );
  }

  const list = commits.data?.pages.flatMap((page) => page.commits);
  const last = list?.[0];
  return (
    <PanelFrame
      title="History"
      onClose={onClose}
      bar={
        <>
          {canWrite && (
            <Button aria-expanded={isCommitting} onClick={() => setIsCommitting(!isCommitting)}>
              Commit now
            </Button>
          )}
          <Button weight="quiet" aria-pressed={isBlaming} disabled={last === undefined} onClick={() => setIsBlaming(!isBlaming)}>
            {isBlaming ? "Hide the authors" : "Who wrote what"}
          </Button>
        </>
      }
    >
      {isCommitting && <CommitForm articleId={articleId} lastId={last?.commitId} onClose={() => setIsCommitting(false)} />}
      {isBlaming && last !== undefined && <Blame {...{ articleId, file, doc, editor }} commit={last} />}
      {list === undefined ? (
        <PanelState label="commits" error={commits.error} onRetry={() => void commits.refetch()} />
      ) : list.length === 0 ? (
        <Empty title="No commits yet">
          A commit keeps the text as it is. The server also makes a checkpoint by itself after each pause in the writing.
        </Empty>
      ) : (
        toDays(list, new Date()).map(({ title, commits: ofDay }) => (
          <section key={title} aria-label={title} className="border-b border-line py-2">
            <h3 className="px-4 py-1 text-xs font-medium text-faint">{title}</h3>
            <ul>
              {ofDay.map((commit) => (
                <CommitRow key={commit.commitId} commit={commit} onOpen={() => setOpened(commit)} />
              ))}
            </ul>
          </section>
        ))
      )}
      {commits.hasNextPage && (
        <div className="p-4 text-center">
          <Button isBusy={commits.isFetchingNextPage} onClick={() => void commits.fetchNextPage()}>
            Show older
          </Button>
        </div>
      )}
    </PanelFrame>
  );
}
