import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Run } from "../../../../api/schema/run.ts";
import { client, trpc } from "../../app/data.ts";
import { Screen } from "../../app/Screen.tsx";
import { useWorkspace } from "../../app/useWorkspace.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Question } from "../../ui/dialog.tsx";
import { ChevronRightIcon } from "../../ui/icons.tsx";
import { ProblemView } from "../../ui/problem.tsx";
import { ApprovalList } from "./ApprovalList.tsx";
import { ApprovalPanel } from "./ApprovalPanel.tsx";
import { ArtifactDialog } from "./ArtifactDialog.tsx";
import { RetryDialog } from "./RetryDialog.tsx";
import { RunFacts } from "./RunFacts.tsx";
import { RunMachine } from "./RunMachine.tsx";
import { RunSteps } from "./RunSteps.tsx";
import { isActive, runStates } from "./runWords.ts";
import { Timeline } from "./Timeline.tsx";
import { useRunEvents } from "./useRunEvents.ts";
import { renewRuns } from "./useRuns.ts";
import { useSubject, useWorkflowTitle } from "./useSubject.ts";

/** One run, live: its state in its machine, its steps, its approvals and its timeline. */
export function RunScreen() {
  const { runId } = useParams({ from: "/session/w/$workspaceId/runs/$runId" });
  return <RunPage key={runId} runId={runId} />;
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section aria-label={title} className="border-b border-line py-5 first:pt-0 last:border-0 last:pb-0">
      <h2 className="mb-3 text-base font-semibold">{title}</h2>
      {children}
    </section>
  );
}

function RunPage({ runId }: { readonly runId: string }) {
  const { data: run, error, refetch } = useQuery(trpc.runs.get.queryOptions({ runId }));
  const { workspaceId, canWrite } = useWorkspace();
  const timeline = useRunEvents(runId, run);
  if (run === undefined) {
    return <Screen title="Run">{error === null ? <RunLoading /> : <ProblemView error={error} onRetry={() => void refetch()} />}</Screen>;
  }
  return <LoadedRun run={run} workspaceId={workspaceId} canWrite={canWrite} timeline={timeline} />;
}

interface LoadedRunProps {
  readonly run: Run;
  readonly workspaceId: string;
  readonly canWrite: boolean;
  readonly timeline: ReturnType<typeof useRunEvents>;
}

function LoadedRun({ run, workspaceId, canWrite, timeline }: LoadedRunProps) {
  const { runId, status, pendingApproval, failure } = run;
  const { events } = timeline;
  const subject = useSubject(run);
  const workflow = useWorkflowTitle(workspaceId)(run.workflowId);
  const [openKey, setOpenKey] = useState<string>();
  const { label, tone } = runStates[status];
  const title = subject.name === undefined ? workflow : `${workflow}: ${subject.name}`;
  return (
    <Screen
      title={title}
      heading={
        <div className="flex min-w-0 items-center gap-1.5">
          <Link
            to="/w/$workspaceId/runs"
            params={{ workspaceId }}
            className="shrink-0 rounded-sm text-base text-muted hover:text-text max-sm:hidden"
          >
            Runs
          </Link>
          <ChevronRightIcon className="text-faint max-sm:hidden" />
          <h1 className="truncate text-left text-base font-semibold" dir="auto">
            {title}
          </h1>
          <span className="max-sm:hidden">
            <Badge tone={tone}>{label}</Badge>
          </span>
        </div>
      }
      actions={canWrite && <RunActions run={run} />}
    >
      <div className="h-full overflow-auto">
        <div className="mx-auto flex max-w-7xl flex-col gap-x-8 gap-y-5 px-3 py-5 md:px-5 lg:flex-row">
          <div className="min-w-0 grow">
            {failure !== undefined && (
              <p role="alert" className="mb-5 rounded-md bg-danger-soft px-4 py-2.5 text-sm text-danger">
                {failure.message}
                {failure.retryable && " A retry may help without any change."}
              </p>
            )}
            {pendingApproval !== undefined && (
              <div className="mb-5">
                <ApprovalPanel key={pendingApproval.approvalId} run={run} approval={pendingApproval} events={events} canWrite={canWrite} />
              </div>
            )}
            <div>
              <Section title="Steps">
                <RunSteps run={run} events={events} onOpenArtifact={setOpenKey} />
              </Section>
              <Section title="State">
                <RunMachine status={status} />
              </Section>
            </div>
          </div>
          <aside className="shrink-0 lg:w-84" aria-label="About the run">
            <Section title="About">
              <RunFacts run={run} />
            </Section>
            <Section title="Approvals">
              <ApprovalList run={run} canWrite={canWrite} />
            </Section>
            <Section title="Timeline">
              {timeline.error !== undefined ? (
                <p role="alert" className="text-sm text-danger">
                  {timeline.error.message}{" "}
                  <button type="button" className="font-medium underline" onClick={timeline.retry}>
                    Try again
                  </button>
                </p>
              ) : events.length === 0 ? (
                <p className="text-sm text-muted">{isActive(run) ? "Nothing has happened yet." : "Its events are no longer kept."}</p>
              ) : (
                <>
                  <Timeline events={events.toReversed()} />
                  {timeline.isCut && <p className="text-xs text-faint">Earlier events are no longer kept.</p>}
                </>
              )}
            </Section>
          </aside>
        </div>
      </div>
      {openKey !== undefined && <ArtifactDialog runId={runId} artifactKey={openKey} onClose={() => setOpenKey(undefined)} />}
    </Screen>
  );
}

function RunActions({ run }: { readonly run: Run }) {
  const { runId, status } = run;
  const [open, setOpen] = useState<"cancel" | "retry">();
  const queryClient = useQueryClient();
  const cancel = useMutation({
    meta: { showsError: true },
    mutationFn: () => client.runs.cancel.mutate({ runId }),
    onSuccess: () => renewRuns(queryClient),
  });
  const close = () => setOpen(undefined);
  return (
    <>
      {isActive(run) && (
        <Button weight="danger" onClick={() => setOpen("cancel")}>
          Cancel…
        </Button>
      )}
      {(status === "failed" || status === "cancelled") && <Button onClick={() => setOpen("retry")}>Retry…</Button>}
      <Question
        title="Cancel this run?"
        lead="It writes nothing more. The text that it has written stays in the article. A cancelled run can be retried."
        action="Cancel the run"
        isDangerous
        isOpen={open === "cancel"}
        onClose={close}
        onConfirm={() => cancel.mutateAsync()}
      />
      {open === "retry" && <RetryDialog run={run} onClose={close} />}
    </>
  );
}

function RunLoading() {
  return (
    <div
      role="status"
      aria-busy="true"
      aria-label="Reading the run"
      className="mx-auto flex max-w-7xl flex-col gap-8 px-3 py-5 md:px-5 lg:flex-row"
    >
      <div className="flex grow flex-col gap-3">
        <span className="skeleton h-5 w-24" />
        {[1, 2, 3].map((row) => (
          <span key={row} className="skeleton h-8 w-full" />
        ))}
      </div>
      <div className="flex flex-col gap-3 lg:w-84">
        {[1, 2, 3, 4, 5].map((row) => (
          <span key={row} className="skeleton h-5 w-full" />
        ))}
      </div>
    </div>
  );
}
