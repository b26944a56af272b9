/** Converts runs, approvals and artifacts into the shapes of the API. */
import type { Approval, Artifact, Run, RunStep } from "../../../../api/schema/run.ts";
import { currentApproval, currentStep, type RunApproval, type RunStepContext } from "../../../../machines/agentRun.ts";
import { present } from "../../call/present.ts";
import { type ArtifactRecord, isActive, type RunRecord, statusOf } from "./records.ts";

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
    ...present({ expiresAt: seconds(expiresAtMs) }),
    artifactKeys: [...artifactKeys],
    ...present({ resolvedBy, resolvedAt: seconds(resolvedAtMs), note }),
  };
}

function toStepView({ name, type, status, attempt, approval, startedAtMs, finishedAtMs, artifactKeys, error }: RunStepContext): RunStep {
  return {
    name,
    type,
    status,
    attempt,
    approval,
    ...present({ startedAt: seconds(startedAtMs), finishedAt: seconds(finishedAtMs) }),
    artifactKeys: [...artifactKeys],
    ...present({ error }),
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
    ...present({ pipeline: context.pipeline, topicId: context.topicId, articleId: context.articleId, folderId: context.folderId }),
    status,
    approvalMode: context.approvalMode,
    steps: context.steps.map(toStepView),
    ...present({
      currentStep: isActive(run) ? currentStep(context).name : undefined,
      pendingApproval: pending === undefined ? undefined : toApprovalView(run.id, pending),
    }),
    startedBy: context.startedBy,
    createdAt: context.createdAtMs / 1000,
    ...present({
      startedAt: seconds(context.startedAtMs),
      finishedAt: seconds(context.finishedAtMs),
      chainedRunId: context.chainedRunId,
      parentRunId: context.parentRunId,
      budget: context.budget,
    }),
    usage: context.usage,
    ...present({ failure: context.failure }),
    lastSeq,
  };
}

export function toArtifactView(artifact: ArtifactRecord): Artifact {
  const { artifactKey, runId, stepName, kind, contentType, bytes, sha256, createdAtMs } = artifact;
  return { artifactKey, runId, stepName, kind, contentType, bytes, sha256, createdAt: createdAtMs / 1000 };
}
