import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { Run } from "../../../../../api/schema/run.ts";
import { Avatar } from "../../../ui/avatar.tsx";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Empty } from "../../../ui/problem.tsx";
import { Time } from "../../../ui/time.tsx";
import { isActive, runStates, toCost, toWords } from "../../runs/runWords.ts";
import { StartRunDialog } from "../../runs/StartRunDialog.tsx";
import { useLiveRuns, useRuns } from "../../runs/useRuns.ts";
import { useWorkflowTitle } from "../../runs/useSubject.ts";
import { PanelFrame, PanelState } from "../panel/PanelFrame.tsx";
import type { ArticlePanel } from "../panel/panel.ts";

/** Events that occurred before the stream was open are missed, so a list with active runs is also read again by itself. */
const renewMs = 5000;

/** The runs that read and write this article, and the start of another one. */
export function RunsPanel({ articleId, workspaceId, canWrite, onClose }: ArticlePanel) {
  const { list, runs } = useRuns(workspaceId, { articleId });
  const [isStarting, setIsStarting] = useState(false);
  useLiveRuns(workspaceId);
  const isAnyActive = runs.some(isActive);
  const { refetch } = list;
  useEffect(() => {
    if (!isAnyActive) return;
    const timer = setInterval(() => void refetch(), renewMs);
    return () => clearInterval(timer);
  }, [isAnyActive, refetch]);
  const start = canWrite && (
    <Button disabled={isAnyActive} onClick={() => setIsStarting(true)}>
      Start a run
    </Button>
  );
  return (
    <PanelFrame title="Runs" actions={runs.length > 0 && start} onClose={onClose}>
      {list.data === undefined ? (
        <PanelState label="runs" error={list.error} onRetry={() => void list.refetch()} />
      ) : runs.length === 0 ? (
        <Empty title="No runs yet" action={start}>
          A run takes the article through the steps of a workflow: research, an outline, a draft. It writes beside you, and asks where a
          person has to decide.
        </Empty>
      ) : (
        <ul aria-label="Runs of this article">
          {runs.map((run) => (
            <ArticleRun key={run.runId} run={run} />
          ))}
        </ul>
      )}
      {list.hasNextPage && (
        <div className="p-4 text-center">
          <Button isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Show older
          </Button>
        </div>
      )}
      {isStarting && <StartRunDialog articleId={articleId} onClose={() => setIsStarting(false)} />}
    </PanelFrame>
  );
}

function ArticleRun({ run }: { readonly run: Run }) {
  const { workspaceId, runId, status, workflowId, startedBy, createdAt, usage } = run;
  const toTitle = useWorkflowTitle(workspaceId);
  const { label, tone } = runStates[status];
  const cost = toCost(usage);
  return (
    <li className="relative border-b border-line px-4 py-3 hover:bg-side">
      <div className="flex items-center gap-2">
        <Link
          to="/w/$workspaceId/runs/$runId"
          params={{ workspaceId, runId }}
          className="min-w-0 grow truncate text-sm font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
        >
          {toTitle(workflowId)}
        </Link>
        <Badge tone={tone}>{label}</Badge>
      </div>
      <Progress run={run} />
      <p className="mt-1.5 flex items-center gap-2 text-xs text-muted">
        <Avatar username={startedBy} size="small" />
        <Time at={createdAt} />
        <span className="grow" />
        {cost}
      </p>
    </li>
  );
}

/** Where the run is, or why it ended early. */
function Progress({ run: { steps, currentStep, status, failure } }: { readonly run: Run }) {
  if (failure !== undefined) {
    return <p className="mt-0.5 line-clamp-3 text-xs text-muted">{failure.message}</p>;
  }
  if (currentStep === undefined) return null;
  const position = steps.findIndex(({ name }) => name === currentStep) + 1;
  return (
    <p className={`mt-0.5 text-xs ${status === "paused_for_approval" ? "text-warn" : "text-muted"}`}>
      {toWords(currentStep)}, step {position} of {steps.length}
      {status === "paused_for_approval" && ": a person has to decide"}
    </p>
  );
}
