/** AgentRunChanges computes changes of the context of an agent run. It must not decide which event is allowed. */
import type { ApprovalDecision, ApprovalState, RunFailure, RunStepStatus, RunUsage } from "../api/schema/run.ts";
import { currentStep, type RunApproval, type RunContext, type RunEventOf, type RunStepContext, type StepEnd } from "./agentRunContext.ts";

/** Step status → status after the run is cancelled. A paused step has already finished, so it becomes `completed`. */
export const givenUp: Readonly<Record<RunStepStatus, RunStepStatus>> = {
  pending: "cancelled",
  running: "cancelled",
  paused: "completed",
  cancelled: "cancelled",
  completed: "completed",
  failed: "failed",
  skipped: "skipped",
};
export const decided: Readonly<Record<ApprovalDecision, ApprovalState>> = {
  approve: "approved",
  reject: "rejected",
  request_changes: "changes_requested",
};
function addUsage(left: RunUsage, right: RunUsage): RunUsage {
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    usd: left.usd + right.usd,
    toolCalls: left.toolCalls + right.toolCalls,
  };
}

export function changeStep(context: RunContext, change: Partial<RunStepContext>): readonly RunStepContext[] {
  return context.steps.map((step, index) => (index === context.at ? { ...step, ...change } : step));
}

export function changeApproval(context: RunContext, approvalId: string, change: Partial<RunApproval>): readonly RunApproval[] {
  return context.approvals.map((approval) => (approval.approvalId === approvalId ? { ...approval, ...change } : approval));
}

export function toApproval(approvalId: string, step: Pick<RunStepContext, "name" | "approval">, nowMs: number): RunApproval {
  return {
    approvalId,
    stepName: step.name,
    policy: step.approval === "required" ? "required" : "optional",
    state: "pending",
    requestedAtMs: nowMs,
    artifactKeys: [],
  };
}

function workedMs({ steps, at }: RunContext, nowMs: number): number {
  return Math.max(0, nowMs - (steps[at]?.startedAtMs ?? nowMs));
}

/** Adds the working time of a running step that is cancelled now. */
export function toInterrupted(context: RunContext, nowMs: number): Partial<RunContext> {
  return currentStep(context).status === "running" ? { workedMs: context.workedMs + workedMs(context, nowMs) } : {};
}

/** Returns the context changes for the end of a step. */
export function toEnded(context: RunContext, event: StepEnd): Partial<RunContext> {
  const { nowMs } = event;
  const ended = { finishedAtMs: nowMs };
  const worked = { workedMs: context.workedMs + workedMs(context, nowMs) };
  switch (event.type) {
    case "step.completed": {
      const keys = [...currentStep(context).artifactKeys, ...event.artifacts.map(({ artifactKey }) => artifactKey)];
      const { output, commitId } = event;
      const steps = changeStep(context, {
        ...ended,
        status: "completed",
        artifactKeys: keys,
        output,
        commitId,
        error: event.unavailable,
        writers: [],
        base: undefined,
      });
      return { ...worked, steps, usage: addUsage(context.usage, event.usage) };
    }
    case "step.skipped":
      return { steps: changeStep(context, { ...ended, status: "skipped", error: { code: event.code, message: event.reason } }) };
    default: {
      const { code, message, retryable } = toFailure(event);
      const steps = changeStep(context, { ...ended, status: "failed", error: { code, message } });
      const usage = event.type === "step.failed" ? addUsage(context.usage, event.usage) : context.usage;
      return { ...worked, steps, usage, failure: { code, message, retryable, stepName: currentStep(context).name }, finishedAtMs: nowMs };
    }
  }
}

function toFailure(event: RunEventOf<"step.failed" | "execute.exhausted">): Pick<RunFailure, "code" | "message" | "retryable"> {
  if (event.type === "step.failed") return { code: event.code, message: event.message, retryable: event.retryable };
  return { code: "step_failed", message: `The step failed ${event.attempts} times: ${event.reason}`, retryable: true };
}
