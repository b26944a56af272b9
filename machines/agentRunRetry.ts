/**
 * AgentRunRetry computes the context of a failed or cancelled run that is retried: which steps run again, and which
 * approvals are requested again.
 *
 * It must not decide whether a retry is allowed: the machine does that (`agentRun.ts`).
 */
import { toApproval } from "./agentRunChanges.ts";
import {
  currentApproval,
  currentStep,
  type RunApproval,
  type RunContext,
  type RunEventOf,
  type RunStepContext,
} from "./agentRunContext.ts";

type Retry = RunEventOf<"run.retry">;

/**
 * Resets the steps from `fromStep` on (default: the step at which the run stopped) so that they run again. A finished
 * step that only waited for its approval keeps its output. From `fromStep` on, a new approval replaces each approval
 * that has expired and each decided approval of a step that has begun; its id comes from `approvalIds`. A decision about
 * a step that has not begun stays valid.
 */
export function toRetried(context: RunContext, event: Retry): Partial<RunContext> {
  const at = event.fromStep === undefined ? context.at : context.steps.findIndex(({ name }) => name === event.fromStep);
  const from = isWaitingOnly(context, event) ? at + 1 : at;
  const successors = context.steps.slice(at).flatMap((step) => {
    if (!needsNewApproval(context, step)) return [];
    const approvalId = event.approvalIds[step.name];
    if (approvalId === undefined) throw new Error(`run.retry carries no id for the next approval, of step ${step.name}`);
    return [toApproval(approvalId, step, event.nowMs)];
  });
  const left = ({ name }: RunStepContext) => (event.keepsTextOf?.includes(name) === true ? { writers: [], base: undefined } : {});
  return {
    at,
    steps: context.steps.map((step, index) => (index < from ? step : { ...step, ...untouched, ...left(step) })),
    approvals: [...context.approvals, ...successors],
    failure: undefined,
    finishedAtMs: undefined,
    budget: event.budget ?? context.budget,
  };
}

const untouched = { status: "pending", startedAtMs: undefined, finishedAtMs: undefined, error: undefined, output: undefined } as const;

function needsNewApproval({ approvals }: RunContext, { name, approval, attempt }: RunStepContext): boolean {
  const newest: RunApproval | undefined = approvals.findLast(({ stepName }) => stepName === name);
  return approval !== "none" && newest?.state !== "pending" && (attempt > 0 || newest?.state === "expired");
}

/**
 * True if the run was cancelled while a finished step waited for its approval, so that a retry only has to wait again.
 * The approval expired with the run. In runs that an older version of the server cancelled, it is still pending.
 */
export function isWaitingOnly(context: RunContext, { fromStep }: Pick<Retry, "fromStep">): boolean {
  const decision = currentApproval(context)?.state;
  return fromStep === undefined && currentStep(context).status === "completed" && (decision === "expired" || decision === "pending");
}
