import { useState } from "react";
import type { Commit } from "../../../../../api/schema/article.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Empty } from "../../../ui/problem.tsx";
import { CommitRow } from "../history/CommitRow.tsx";
import { toTitle } from "../history/commitTexts.ts";
import { useCommits } from "../history/useHistory.ts";
import { PanelState } from "../panel/PanelFrame.tsx";

interface RevisionDialogProps {
  readonly articleId: string;
  readonly onChoose: (revision: number) => void;
  readonly onClose: () => void;
}

/** Chooses the commit whose text the Snapshot will show. */
export function RevisionDialog({ articleId, onChoose, onClose }: RevisionDialogProps) {
  const [chosen, setChosen] = useState<Commit>();
  const commits = useCommits(articleId);
  const list = commits.data?.pages.flatMap((page) => page.commits);
  if (chosen !== undefined) {
    return (
      <Dialog
        title={`Publish “${toTitle(chosen)}”?`}
        lead="Readers see the text of this commit at once. The article itself stays as it is."
        isOpen
        onClose={onClose}
      >
        <div className="flex justify-end gap-2">
          <Button onClick={() => setChosen(undefined)}>Back</Button>
          <Button weight="primary" onClick={() => onChoose(chosen.revision)}>
            Publish this revision
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Publish another revision" lead="Choose a commit. The Snapshot will show its text." isOpen onClose={onClose}>
      <div className="-mx-5 border-t border-line">
        {list === undefined ? (
          <PanelState label="commits" error={commits.error} onRetry={() => void commits.refetch()} />
        ) : list.length === 0 ? (
          <Empty title="No commits yet">Commit the text first, in the history.</Empty>
        ) : (
          <ul>
            {list.map((commit) => (
              <CommitRow key={commit.commitId} commit={commit} onOpen={() => setChosen(commit)} />
            ))}
          </ul>
        )}
        {commits.hasNextPage && (
          <div className="p-3 text-center">
            <Button isBusy={commits.isFetchingNextPage} onClick={() => void commits.fetchNextPage()}>
              Show older
            </Button>
          </div>
        )}
      </div>
    </Dialog>
  );
}
