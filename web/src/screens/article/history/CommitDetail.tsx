import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { ArticleFile, Commit } from "../../../../../api/schema/article.ts";
import { trpc } from "../../../app/data.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Segments } from "../../../ui/filters.tsx";
import { Time } from "../../../ui/time.tsx";
import { InlineDiff, SideBySideDiff, toStatsText } from "../diff/DiffView.tsx";
import { articleFileNames } from "../panel/articleFileNames.ts";
import { PanelState } from "../panel/PanelFrame.tsx";
import { Authors } from "./CommitRow.tsx";
import { toKindText, toTitle } from "./commitTexts.ts";
import { RestoreMenu } from "./RestoreMenu.tsx";

interface CommitDetailProps {
  readonly commit: Commit;
  readonly workspaceId: string;
  /** The file that the editor shows: the first one to compare. */
  readonly shownFile: ArticleFile;
  readonly canWrite: boolean;
}

type Other = "before" | "live";

const titles = { before: ["Before", "In this commit"], live: ["In this commit", "Now"] } as const;

/** A commit: who made it, what it changed, and the way back to its text. */
export function CommitDetail({ commit, workspaceId, shownFile, canWrite }: CommitDetailProps) {
  const { articleId, revision, parentRevision, authors, createdAt, message, name, runId } = commit;
  const files = commit.files.map(({ file }) => file);
  const [file, setFile] = useState(files.includes(shownFile) ? shownFile : (files[0] ?? "content.md"));
  const [other, setOther] = useState<Other>("before");
  const [isWide, setIsWide] = useState(false);
  const ends = other === "before" ? { from: parentRevision ?? 0, to: revision } : { from: revision, to: "live" as const };
  const { data: diff, error, refetch } = useQuery(trpc.commits.diff.queryOptions({ articleId, ...ends, file, format: "words" }));
  const kind = toKindText(commit);
  const [before, after] = titles[other];

  return (
    <div className="px-4 py-3">
      <h3 dir="auto" className="text-base font-semibold wrap-anywhere">
        {toTitle(commit)}
      </h3>
      {name !== undefined && message !== "" && (
        <p dir="auto" className="mt-1 text-sm text-muted wrap-anywhere whitespace-pre-wrap">
          {message}
        </p>
      )}
      <div className="mt-2 flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-muted">
        <Authors authors={authors} />
        <span>{authors.map((author) => author.username + (author.kind === "agent" ? " (agent)" : "")).join(", ")}</span>
        <Time at={createdAt} />
        {kind !== undefined && <span>{kind}</span>}
        {runId !== undefined && (
          <Link to="/w/$workspaceId/runs/$runId" params={{ workspaceId, runId }} className="text-accent underline-offset-2 hover:underline">
            Show the run
          </Link>
        )}
      </div>
      <div className="mt-4 mb-3 flex flex-wrap items-center gap-2">
        <Segments
          label="Compare with"
          value={other}
          onChange={(value) => setOther(value === "live" ? "live" : "before")}
          options={[
            { value: "before", label: "What it changed" },
            { value: "live", label: "Changes since" },
          ]}
        />
        {files.length > 1 && (
          <Segments
            label="File"
            value={file}
            onChange={(value) => setFile(files.find((one) => one === value) ?? file)}
            options={files.map((value) => ({ value, label: articleFileNames[value] }))}
          />
        )}
      </div>
      {diff === undefined ? (
        <PanelState label="the comparison" error={error} onRetry={() => void refetch()} />
      ) : (
        <>
          <div className="mb-2 flex min-h-8 items-center gap-2">
            <p className="grow text-xs text-muted">{toStatsText(diff.stats)}</p>
            {diff.hunks.length > 0 && (
              <Button weight="quiet" className="max-sm:hidden" onClick={() => setIsWide(true)}>
                Side by side
              </Button>
            )}
          </div>
          <InlineDiff diff={diff} />
          <Dialog title={toTitle(commit)} isOpen={isWide} isFull onClose={() => setIsWide(false)}>
            <SideBySideDiff {...{ diff, before, after }} />
          </Dialog>
        </>
      )}
      {canWrite && (
        <div className="mt-4 border-t border-line pt-3">
          <RestoreMenu {...{ commit, file }} />
        </div>
      )}
    </div>
  );
}
