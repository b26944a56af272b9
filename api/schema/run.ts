/** Agent runs, their steps, approvals and artifacts (api decisions: content shapes). All shapes are closed. */
import { z } from "zod";
import { EditRequest } from "./article.ts";
import { UnixSeconds } from "./common.ts";
import { ArticleId, TopicId, WorkspaceId } from "./id.ts";
import { Prose, RunPipeline } from "./topic.ts";
import { ApprovalType, WorkflowStepType } from "./workflow.ts";

export const runStatuses = ["queued", "running", "paused_for_approval", "completed", "failed", "cancelled"] as const;
export const RunStatus = z.enum(runStatuses).meta({ id: "RunStatus" });
export type RunStatus = z.infer<typeof RunStatus>;

export const RunStepStatus = z
  .enum(["pending", "running", "paused", "completed", "failed", "skipped", "cancelled"])
  .meta({ id: "RunStepStatus" });
export type RunStepStatus = z.infer<typeof RunStepStatus>;

/** Why a run or a step ended badly. `code` is one of the API's codes or of those only results carry (`budget_exhausted` …). */
export const RunFailure = z
  .strictObject({ code: z.string(), message: z.string(), retryable: z.boolean(), stepName: z.string().optional() })
  .meta({ id: "RunFailure" });
export type RunFailure = z.infer<typeof RunFailure>;

export const RunStepError = z.strictObject({ code: z.string(), message: z.string() }).meta({ id: "RunStepError" });
export type RunStepError = z.infer<typeof RunStepError>;

/** `attempt` counts the times the step was begun; 0 before the first. A skipped step's `error` says why. */
export const RunStep = z
  .strictObject({
    name: z.string(),
    type: WorkflowStepType,
    status: RunStepStatus,
    attempt: z.int().min(0),
    approval: ApprovalType,
    startedAt: UnixSeconds.optional(),
    finishedAt: UnixSeconds.optional(),
    artifactKeys: z.array(z.string()),
    error: RunStepError.optional(),
  })
  .meta({ id: "RunStep" });
export type RunStep = z.infer<typeof RunStep>;

export const ApprovalState = z.enum(["pending", "approved", "rejected", "changes_requested", "expired"]).meta({ id: "ApprovalState" });
export type ApprovalState = z.infer<typeof ApprovalState>;
export const ApprovalPolicy = z.enum(["required", "optional"]).meta({ id: "ApprovalPolicy" });

/** A decision that a person takes about a step's output; may be taken before the run comes to the wait. */
export const Approval = z
  .strictObject({
    approvalId: z.string(),
    runId: z.string(),
    stepName: z.string(),
    policy: ApprovalPolicy,
    state: ApprovalState,
    requestedAt: UnixSeconds,
    expiresAt: UnixSeconds.optional(),
    artifactKeys: z.array(z.string()),
    resolvedBy: z.string().optional(),
    resolvedAt: UnixSeconds.optional(),
    note: z.string().optional(),
  })
  .meta({ id: "Approval" });
export type Approval = z.infer<typeof Approval>;

/** Ends a run that passes it: tokens of the model, US dollars as the provider reports them, seconds of running. */
export const RunBudget = z
  .strictObject({
    maxTokens: z.int().min(1).optional(),
    maxUsd: z.number().min(0).optional(),
    maxSeconds: z.number().min(1).optional(),
  })
  .meta({ id: "RunBudget" });
export type RunBudget = z.infer<typeof RunBudget>;

export const RunUsage = z
  .strictObject({ inputTokens: z.int(), outputTokens: z.int(), usd: z.number(), toolCalls: z.int() })
  .meta({ id: "RunUsage" });
export type RunUsage = z.infer<typeof RunUsage>;

export const Run = z
  .strictObject({
    runId: z.string(),
    workspaceId: z.string(),
    workflowId: z.string(),
    workflowVersion: z.string(),
    pipeline: RunPipeline.optional(),
    topicId: z.string().optional(),
    articleId: z.string().optional(),
    folderId: z.string().optional(),
    status: RunStatus,
    approvalMode: ApprovalType,
    steps: z.array(RunStep),
    /** Name of the step that is under way or waited for. */
    currentStep: z.string().optional(),
    pendingApproval: Approval.optional(),
    /** Username. */
    startedBy: z.string(),
    createdAt: UnixSeconds,
    startedAt: UnixSeconds.optional(),
    finishedAt: UnixSeconds.optional(),
    chainedRunId: z.string().optional(),
    parentRunId: z.string().optional(),
    budget: RunBudget.optional(),
    usage: RunUsage,
    failure: RunFailure.optional(),
    /** `seq` of its newest timeline event. */
    lastSeq: z.int().min(0),
  })
  .meta({ id: "Run" });
export type Run = z.infer<typeof Run>;

/** One target at most; a workflow says which it takes. */
export const StartRunRequest = z
  .strictObject({
    workspaceId: WorkspaceId,
    topicId: z.string().optional(),
    articleId: ArticleId.optional(),
    folderId: z.string().optional(),
    instructions: Prose.optional(),
    styleProfileId: z.string().min(1).max(200).optional(),
    budget: RunBudget.optional(),
  })
  .meta({ id: "StartRunRequest" });

export const CancelRunRequest = z.strictObject({ reason: Prose.optional() }).meta({ id: "CancelRunRequest" });
/** `fromStep` names the step to begin with; its finished predecessors are kept. */
export const RetryRunRequest = z
  .strictObject({ fromStep: z.string().optional(), budget: RunBudget.optional() })
  .meta({ id: "RetryRunRequest" });

export const ApprovalDecision = z.enum(["approve", "reject", "request_changes"]).meta({ id: "ApprovalDecision" });
export type ApprovalDecision = z.infer<typeof ApprovalDecision>;
/** `edits` are applied to the article before the decision is recorded. */
export const ResolveApprovalRequest = z
  .strictObject({ decision: ApprovalDecision, note: Prose.optional(), edits: EditRequest.optional() })
  .meta({ id: "ResolveApprovalRequest" });

export const ArtifactKind = z
  .enum(["outline", "draft", "research", "scorecard", "benchmark", "code_report", "claims", "image", "json"])
  .meta({ id: "ArtifactKind" });
export type ArtifactKind = z.infer<typeof ArtifactKind>;

export const Artifact = z
  .strictObject({
    artifactKey: z.string(),
    runId: z.string(),
    stepName: z.string(),
    kind: ArtifactKind,
    contentType: z.string(),
    bytes: z.int().min(0),
    /** SHA-256 (hex) of the bytes. */
    sha256: z.string(),
    createdAt: UnixSeconds,
  })
  .meta({ id: "Artifact" });
export type Artifact = z.infer<typeof Artifact>;

export const TopicReference = z.union([TopicId, z.string().regex(/^T-[1-9][0-9]{0,14}$/)], {
  error: "must be a topic's id (top_…) or its short id (T-<n>)",
});
