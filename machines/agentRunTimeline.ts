/**
 * AgentRunTimeline defines the actions that record timeline events of a run, one action per kind of event.
 *
 * An action sees the context at its place in the transition: after the changes of the actions listed before it.
 */
import { assertEvent } from "xstate";
import type { RunFailure } from "../api/schema/run.ts";
import type { AgentEventData, AgentEventName } from "../api/schema/timeline.ts";
import {
  approvalOf,
  currentApproval,
  currentStep,
  noUsage,
  type RunApproval,
  type RunContext,
  type RunEvent,
  systemActor,
} from "./agentRunContext.ts";

/** A timeline event that has no position in the logs yet. */
export type TimelineFact = {
  readonly [Name in AgentEventName]: { readonly event: Name; readonly data: AgentEventData[Name]; readonly actor: string };
}[AgentEventName];

/** Returns an action that records timeline events. `make` gets the context at the time the action runs. */
function recordEvents<Name extends AgentEventName>(
  event: Name,
  make: (context: RunContext, event: RunEvent) => readonly AgentEventData[Name][],
  actor: (context: RunContext, event: RunEvent) => string = (context, cause) => ("by" in cause ? cause.by : context.startedBy),
) {
  return {
    type: "timeline",
    params: ({ context, event: cause }: { context: RunContext; event: RunEvent }) =>
      make(context, cause).map((data) => ({ event, data, actor: actor(context, cause) }) as unknown as TimelineFact),
  } as const;
}

function recordEvent<Name extends AgentEventName>(
  event: Name,
  make: (context: RunContext, event: RunEvent) => AgentEventData[Name],
  actor?: (context: RunContext, event: RunEvent) => string,
) {
  return recordEvents(event, (context, cause) => [make(context, cause)], actor);
}

const optional = <Key extends string, Value>(key: Key, value: Value | undefined) =>
  (value === undefined ? {} : { [key]: value }) as Partial<Record<Key, Value>>;

export const recordRunStarted = recordEvent("agent.run_started", ({ pipeline, steps, approvalMode, startedBy, budget }) => ({
  ...optional("pipeline", pipeline),
  steps: steps.map(({ name }) => name),
  approvalMode,
  startedBy,
  ...optional("budget", budget),
}));
export const recordStepStarted = recordEvent("agent.step_started", (context) => {
  const { name, type, attempt } = currentStep(context);
  return { stepName: name, type, attempt, index: context.at + 1, of: context.steps.length };
});
export const recordArtifacts = recordEvents("agent.artifact_created", (context, event) => {
  assertEvent(event, "step.completed");
  const { artifacts, commitId, revision, output } = event;
  return artifacts.map((artifact) => ({
    ...artifact,
    stepName: currentStep(context).name,
    ...(artifact.artifactKey === output ? { ...optional("commitId", commitId), ...optional("revision", revision) } : {}),
  }));
});
export const recordStepEnded = recordEvent("agent.step_completed", (context, event) => {
  const { name, attempt, status, startedAtMs, finishedAtMs = event.nowMs, error } = currentStep(context);
  return {
    stepName: name,
    attempt,
    status: status as "completed" | "failed" | "skipped",
    durationMs: finishedAtMs - (startedAtMs ?? finishedAtMs),
    usage: "usage" in event ? event.usage : noUsage,
    ...optional("summary", event.type === "step.completed" ? event.summary : undefined),
    ...optional("error", error),
  };
});
export const recordPaused = recordEvent("agent.paused_for_approval", (context) => {
  const { approvalId, stepName, policy, expiresAtMs, artifactKeys } = currentApproval(context) as RunApproval;
  return {
    approvalId,
    stepName,
    policy,
    ...optional("expiresAt", expiresAtMs === undefined ? undefined : new Date(expiresAtMs).toISOString()),
    artifactKeys: [...artifactKeys],
  };
});
export const recordResolved = recordEvent(
  "agent.approval_resolved",
  (context, event) => {
    assertEvent(event, ["approval.resolve", "approval.lapsed"]);
    const { approvalId, requestedAtMs } = approvalOf(context, event.approvalId) as RunApproval;
    const waitedMs = event.nowMs - requestedAtMs;
    if (event.type !== "approval.resolve") return { approvalId, decision: "expired", resolvedBy: systemActor, waitedMs };
    return { approvalId, decision: event.decision, resolvedBy: event.by, ...optional("note", event.note), waitedMs };
  },
  (_context, event) => ("by" in event ? event.by : systemActor),
);
/** Records the expiry of every open approval. */
export const recordExpired = recordEvents(
  "agent.approval_resolved",
  ({ approvals }, { nowMs }) =>
    approvals
      .filter(({ state }) => state === "pending")
      .map(({ approvalId, requestedAtMs }) => ({
        approvalId,
        decision: "expired",
        resolvedBy: systemActor,
        waitedMs: nowMs - requestedAtMs,
      })),
  (_context, event) => ("by" in event ? event.by : systemActor),
);
export const recordCompleted = recordEvent("agent.run_completed", (context, event) => ({
  durationMs: event.nowMs - context.createdAtMs,
  usage: context.usage,
  ...optional("articleId", context.articleId),
  ...optional("commitId", context.steps.findLast(({ commitId }) => commitId !== undefined)?.commitId),
  ...optional("chainedRunId", context.chainedRunId),
}));
export const recordFailed = recordEvent("agent.run_failed", ({ failure }) => {
  const { code, message, stepName, retryable } = failure as RunFailure;
  return { code, message, ...optional("stepName", stepName), retryable };
});
export const recordCancelled = recordEvent("agent.run_cancelled", (context, event) => ({
  by: "by" in event ? event.by : (currentApproval(context)?.resolvedBy ?? systemActor),
  ...optional("reason", event.type === "run.cancel" ? event.reason : event.type === "approval.resolve" ? event.note : undefined),
  stepName: currentStep(context).name,
}));
