/** Runs, approvals and artifacts as the API shows them. */
import type { Approval, Artifact, Run, RunStep } from "../../api/schema/run.ts";
import { currentApproval, currentStep, type RunApproval, type RunStepContext } from "../../machines/agentRun.ts";
import { type ArtifactRecord, isActive, type RunRecord, statusOf } from "./records.ts";

/** Present only where there is a value. */
function optional<Key extends string, Value>(key: Key, value: Value | undefined): Partial<Record<Key, Value>> {
  return (value === undefined ? {} : { [key]: value }) as Partial<Record<Key, Value>>;
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}

export function toApprovalView(runId: string, approval: RunApproval): Approval {
  const { approvalId, stepName, policy, state, requestedAtMs, expiresAtMs, artifactKeys, resolvedBy, resolvedAtMs, note } = approval;
  return {
    approvalId,
    runId,
    stepName,
    policy,
    state,
    requestedAt: requestedAtMs / 1000,
    ...optional("expiresAt", seconds(expiresAtMs)),
    artifactKeys: [...artifactKeys],
    ...optional("resolvedBy", resolvedBy),
    ...optional("resolvedAt", seconds(resolvedAtMs)),
    ...optional("note", note),
  };
}

function toStepView({ name, type, status, attempt, approval, startedAtMs, finishedAtMs, artifactKeys, error }: RunStepContext): RunStep {
  return {
    name,
    type,
    status,
    attempt,
    approval,
    ...optional("startedAt", seconds(startedAtMs)),
    ...optional("finishedAt", seconds(finishedAtMs)),
    artifactKeys: [...artifactKeys],
    ...optional("error", error),
  };
}

/** `lastSeq` is the tail of the run's log. */
export function toRunView(run: RunRecord, lastSeq: number): Run {
  const { context } = run;
  const status = statusOf(run);
  const pending = status === "paused_for_approval" ? currentApproval(context) : undefined;
  return {
    runId: run.id,
    workspaceId: context.workspaceId,
    workflowId: context.workflowId,
    workflowVersion: context.workflowVersion,
    ...optional("pipeline", context.pipeline),
    ...optional("topicId", context.topicId),
    ...optional("articleId", context.articleId),
    ...optional("folderId", context.folderId),
    status,
    approvalMode: context.approvalMode,
    steps: context.steps.map(toStepView),
    ...optional("currentStep", isActive(run) ? currentStep(context).name : undefined),
    ...optional("pendingApproval", pending === undefined ? undefined : toApprovalView(run.id, pending)),
    startedBy: context.startedBy,
    createdAt: context.createdAtMs / 1000,
    ...optional("startedAt", seconds(context.startedAtMs)),
    ...optional("finishedAt", seconds(context.finishedAtMs)),
    ...optional("chainedRunId", context.chainedRunId),
    ...optional("parentRunId", context.parentRunId),
    ...optional("budget", context.budget),
    usage: context.usage,
    ...optional("failure", context.failure),
    lastSeq,
  };
}

export function toArtifactView(artifact: ArtifactRecord): Artifact {
  const { artifactKey, runId, stepName, kind, contentType, bytes, sha256, createdAtMs } = artifact;
  return { artifactKey, runId, stepName, kind, contentType, bytes, sha256, createdAt: createdAtMs / 1000 };
}
