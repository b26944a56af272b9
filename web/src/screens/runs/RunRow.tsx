import { Link } from "@tanstack/react-router";
import type { Run } from "../../../../api/schema/run.ts";
import { Avatar } from "../../ui/avatar.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Time } from "../../ui/time.tsx";
import { runStates, toCost, toDuration, toWords } from "./runWords.ts";
import { useSubject, useWorkflowTitle } from "./useSubject.ts";

/** Height of a row in a virtual list. */
export const runRowPx = 56;

interface RunRowProps {
  readonly run: Run;
  /** False where all runs are about the same thing. */
  readonly hasSubject?: boolean;
}

export function RunRow({ run, hasSubject = true }: RunRowProps) {
  const { workspaceId, runId, status, startedBy, createdAt, startedAt, finishedAt, usage } = run;
  const subject = useSubject(run);
  const toTitle = useWorkflowTitle(workspaceId);
  const { label, tone } = runStates[status];
  const title = toTitle(run.workflowId);
  const cost = toCost(usage);
  return (
    <div className="relative flex h-full items-center gap-3 border-b border-line px-3 hover:bg-side md:px-5">
      <span className="w-32 shrink-0">
        <Badge tone={tone}>{label}</Badge>
      </span>
      <Link
        to="/w/$workspaceId/runs/$runId"
        params={{ workspaceId, runId }}
        className="min-w-0 grow rounded-sm after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
      >
        <span className="block truncate text-left text-base font-medium" dir="auto">
          {hasSubject && subject.name === undefined ? (
            <span className="skeleton inline-block h-3.5 w-48 align-middle" />
          ) : hasSubject ? (
            subject.name
          ) : (
            title
          )}
        </span>
        <span className="block truncate text-xs text-muted first-letter:uppercase">
          {hasSubject && `${title} · `}
          {toProgress(run)}
        </span>
      </Link>
      <span className="hidden w-40 shrink-0 truncate text-right text-xs text-muted lg:block">{cost}</span>
      <span className="hidden w-24 shrink-0 text-right text-xs text-muted md:block">
        {startedAt !== undefined && finishedAt !== undefined && toDuration((finishedAt - startedAt) * 1000)}
      </span>
      <span className="hidden w-36 shrink-0 items-center justify-end gap-2 text-xs text-muted sm:flex">
        <Time at={createdAt} />
        <Avatar username={startedBy} size="small" />
      </span>
    </div>
  );
}

/** Text such as `Outline, step 3 of 3`. */
function toProgress({ steps, currentStep, failure }: Run): string {
  if (currentStep !== undefined) {
    const position = steps.findIndex(({ name }) => name === currentStep) + 1;
    return `step ${position} of ${steps.length}: ${toWords(currentStep)}`;
  }
  if (failure !== undefined) return failure.stepName === undefined ? failure.message : `${toWords(failure.stepName)}: ${failure.message}`;
  return steps.length === 1 ? "1 step" : `${steps.length} steps`;
}

const loadingRows = 6;

export function RunRowsLoading() {
  return (
    <ul aria-label="Loading runs" aria-busy="true">
      {Array.from({ length: loadingRows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows have no other identity
        <li key={index} className="flex items-center gap-3 border-b border-line px-3 md:px-5" style={{ height: runRowPx }}>
          <span className="w-32 shrink-0">
            <span className="skeleton block h-5 w-20" />
          </span>
          <span className="flex grow flex-col gap-1.5">
            <span className="skeleton h-3.5 w-2/5" />
            <span className="skeleton h-3 w-1/5" />
          </span>
        </li>
      ))}
    </ul>
  );
}
