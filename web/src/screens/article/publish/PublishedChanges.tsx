import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { PublicLink } from "../../../../../api/schema/publicLink.ts";
import { trpc } from "../../../app/data.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Segments } from "../../../ui/filters.tsx";
import { ProblemLine } from "../../../ui/problem.tsx";
import { InlineDiff, SideBySideDiff, toStatsText } from "../diff/DiffView.tsx";
import { RevisionDialog } from "./RevisionDialog.tsx";
import type { LinkChange } from "./usePublicLink.ts";

interface PublishedChangesProps {
  readonly link: PublicLink;
  readonly canWrite: boolean;
  readonly isBusy: boolean;
  readonly onChange: (change: LinkChange) => void;
}

const views = [
  { value: "sides", label: "Side by side" },
  { value: "inline", label: "Inline" },
] as const;

/** What readers do not see yet, and the update of a Snapshot. */
export function PublishedChanges({ link: { articleId, mode }, canWrite, isBusy, onChange }: PublishedChangesProps) {
  const { data: diff, error } = useQuery(trpc.publicLinks.diff.queryOptions({ articleId, format: "words" }));
  const [isOpen, setIsOpen] = useState(false);
  const [isChoosing, setIsChoosing] = useState(false);
  const [view, setView] = useState("sides");
  const isNewest = diff?.hunks.length === 0;
  // A Live page follows by itself; a difference of a moment is no news.
  if (mode === "live" && error === null) return null;
  return (
    <section aria-labelledby="published-changes" className="border-b border-line p-4">
      <h3 id="published-changes" className="text-sm font-medium">
        What readers do not see yet
      </h3>
      {error !== null ? (
        <div className="mt-2 -mb-4">
          <ProblemLine error={error} />
        </div>
      ) : (
        <div className="mt-1 flex min-h-8 items-center gap-2">
          {diff === undefined ? (
            <span className="skeleton h-3.5 w-2/5" />
          ) : (
            <p className="grow text-sm text-muted">
              {isNewest ? "Nothing: the page shows the newest text." : `${toStatsText(diff.stats)}.`}
            </p>
          )}
          {diff !== undefined && !isNewest && (
            <Button weight="quiet" onClick={() => setIsOpen(true)}>
              Show
            </Button>
          )}
        </div>
      )}
      {canWrite && mode === "snapshot" && (
        <div className="mt-2 flex flex-wrap gap-2">
          <Button
            weight={isNewest ? "normal" : "primary"}
            isBusy={isBusy}
            disabled={isNewest}
            onClick={() => onChange({ type: "refresh" })}
          >
            Update the Snapshot
          </Button>
          <Button weight="quiet" disabled={isBusy} onClick={() => setIsChoosing(true)}>
            Another revision…
          </Button>
        </div>
      )}
      {diff !== undefined && (
        <Dialog title="What readers do not see yet" lead={toStatsText(diff.stats)} isOpen={isOpen} isFull onClose={() => setIsOpen(false)}>
          <div className="mb-3 max-sm:hidden">
            <Segments label="View" value={view} onChange={setView} options={views} />
          </div>
          {view === "sides" && (
            <div className="max-sm:hidden">
              <SideBySideDiff diff={diff} before="On the page" after="Newest text" />
            </div>
          )}
          <div className={view === "sides" ? "sm:hidden" : ""}>
            <InlineDiff diff={diff} />
          </div>
        </Dialog>
      )}
      {isChoosing && (
        <RevisionDialog
          articleId={articleId}
          onChoose={(revision) => {
            setIsChoosing(false);
            onChange({ type: "refresh", revision });
          }}
          onClose={() => setIsChoosing(false)}
        />
      )}
    </section>
  );
}
