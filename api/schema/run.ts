/**
 * Defines the schemas of agent runs, their steps, approvals and artifacts (api decisions: content shapes). All schemas
 * refuse unknown fields.
 */
import { z } from "zod";
import { EditRequest } from "./article.ts";
import { flag, int, number, text, unixSeconds, username } from "./common.ts";
import { ArticleId, exampleId, idText, TopicId, WorkspaceId } from "./id.ts";
import { prose, RunPipeline, StyleProfileId } from "./topicOperations.ts";
import { ApprovalType, WorkflowStepType } from "./workflow.ts";

export const runStatuses = ["queued", "running", "paused_for_approval", "completed", "failed", "cancelled"] as const;
export const RunStatus = z.enum(runStatuses).meta({
  id: "RunStatus",
  description: "State of a run. `paused_for_approval` waits for a person; `completed`, `failed` and `cancelled` are final.",
});
export type RunStatus = z.infer<typeof RunStatus>;

export const RunStepStatus = z
  .enum(["pending", "running", "paused", "completed", "failed", "skipped", "cancelled"])
  .meta({ id: "RunStepStatus", description: "State of a step. `paused` waits for a person." });
export type RunStepStatus = z.infer<typeof RunStepStatus>;

const failureCode = text("Reason as a code: one of the API's codes, or one such as `budget_exhausted`.", "provider_unavailable");
const failureMessage = text("Reason as text, with advice.", "The model's endpoint does not answer. Retry the run later.");
const retryable = flag("Whether a retry may succeed without any change.", true);
const stepName = text("Name of the step.", "outline");
const attempt = "Number of times that the step was started";
const artifactKeyList = (description: string) => z.array(z.string()).meta({ description, example: ["outline-1"] });

/**
 * The reason why a run or a step failed, was cancelled or was skipped. `code` is an error code of the API or a code
 * that appears only in results (`budget_exhausted` …).
 */
export const RunFailure = z
  .strictObject({ code: failureCode, message: failureMessage, retryable, stepName: stepName.describe("Step that failed.").optional() })
  .meta({ id: "RunFailure", description: "Why a run failed or was cancelled." });
export type RunFailure = z.infer<typeof RunFailure>;

export const RunStepError = z
  .strictObject({ code: failureCode, message: failureMessage })
  .meta({ id: "RunStepError", description: "Why a step failed or was skipped." });
export type RunStepError = z.infer<typeof RunStepError>;

/**
 * `attempt` counts how often the step was started; 0 before the first start. `error` is the reason why a step failed or
 * was skipped. On a completed report step it is the reason why the report is unavailable.
 */
export const RunStep = z
  .strictObject({
    name: stepName.describe("Name of the step, unique in the run."),
    type: WorkflowStepType,
    status: RunStepStatus,
    attempt: z
      .int()
      .min(0)
      .meta({ description: `${attempt}; 0 before the first time.`, example: 1 }),
    approval: ApprovalType,
    startedAt: unixSeconds("When the step was last started.").optional(),
    finishedAt: unixSeconds("When the step ended.").optional(),
    artifactKeys: artifactKeyList("Artifacts of the step."),
    error: RunStepError.optional(),
  })
  .meta({ id: "RunStep", description: "A step of a run." });
export type RunStep = z.infer<typeof RunStep>;

export const ApprovalState = z.enum(["pending", "approved", "rejected", "changes_requested", "expired"]).meta({
  id: "ApprovalState",
  description:
    "The decision; `pending` until then. `expired`: no decision was made in time, or the run ended first. Only an active run has `pending` approvals.",
});
export type ApprovalState = z.infer<typeof ApprovalState>;
export const ApprovalPolicy = z.enum(["required", "optional"]).meta({
  id: "ApprovalPolicy",
  description: "`required`: the run waits for a decision. `optional`: the run continues without a decision after some time.",
});

/** A decision that a person makes about the output of a step. It may be made before the run starts to wait for it. */
export const Approval = z
  .strictObject({
    approvalId: idText("apr", "Id of the approval."),
    runId: idText("run", "Run that the approval belongs to."),
    stepName: stepName.describe("Step whose output is to be approved."),
    policy: ApprovalPolicy,
    state: ApprovalState,
    requestedAt: unixSeconds("When the run began to wait for the approval; before that, when the run was created."),
    expiresAt: unixSeconds("When the run continues without a decision. Absent if the run waits without a limit.").optional(),
    artifactKeys: artifactKeyList("Artifacts to decide on."),
    resolvedBy: username("Username of the account that decided; absent if the approval expired.").optional(),
    resolvedAt: unixSeconds("When the approval was decided or expired.").optional(),
    note: text("Note of the account that decided.", "Start with the reader's problem.").optional(),
  })
  .meta({ id: "Approval", description: "A decision on the output of a step." });
export type Approval = z.infer<typeof Approval>;

/**
 * A run that exceeds its budget ends: tokens of the model, US dollars as the provider reports them, seconds of running.
 */
export const RunBudget = z
  .strictObject({
    maxTokens: z.int().min(1).meta({ description: "Maximum number of tokens, input and output together.", example: 200_000 }).optional(),
    maxUsd: z
      .number()
      .min(0)
      .meta({ description: "Maximum cost in US dollars, as the model's provider reports it.", example: 2.5 })
      .optional(),
    maxSeconds: z
      .number()
      .min(1)
      .meta({ description: "Maximum seconds of work; time in which the run waits for people does not count.", example: 1800 })
      .optional(),
  })
  .meta({
    id: "RunBudget",
    description: "Limits for all attempts of a run together. A run that exceeds a limit fails with `budget_exhausted`.",
  });
export type RunBudget = z.infer<typeof RunBudget>;

export const RunUsage = z
  .strictObject({
    inputTokens: int("Input tokens of the model.", 5200),
    outputTokens: int("Output tokens of the model.", 1900),
    usd: number("Cost in US dollars, as the model's provider reports it; 0 if the provider does not report it.", 0.04),
    toolCalls: int("Number of tool calls.", 0),
  })
  .meta({ id: "RunUsage", description: "Cost of the work so far." });
export type RunUsage = z.infer<typeof RunUsage>;

const lastSeq = z.int().min(0).meta({ description: "`seq` of the newest timeline event of the run.", example: 12 });

export const Run = z
  .strictObject({
    runId: idText("run", "Id of the run."),
    workspaceId: idText("ws", "Workspace that the run belongs to."),
    workflowId: text("Workflow of the run.", "outline"),
    workflowVersion: text("Version of that workflow when the run was started.", "1"),
    pipeline: RunPipeline.optional(),
    topicId: idText("top", "Topic that the run is for.").optional(),
    articleId: idText("art", "Article that the run reads and writes.").optional(),
    folderId: text("Folder that the run is for.", "fld_01KAHX0000050123456789ABCD").optional(),
    status: RunStatus,
    approvalMode: ApprovalType.describe("Strictest approval among the steps."),
    steps: z.array(RunStep).describe("Steps in the order of execution."),
    currentStep: stepName.describe("Step that is being executed, or whose approval the run waits for.").optional(),
    pendingApproval: Approval.describe("Approval that the run waits for.").optional(),
    startedBy: username("Username of the account that started the run."),
    createdAt: unixSeconds("When the run was created."),
    startedAt: unixSeconds("When the first step was started.").optional(),
    finishedAt: unixSeconds("When the run ended.").optional(),
    chainedRunId: idText("run", "Run that continued the work of this run.").optional(),
    parentRunId: idText("run", "Run whose work this run continued.").optional(),
    budget: RunBudget.optional(),
    usage: RunUsage,
    failure: RunFailure.optional(),
    lastSeq,
  })
  .meta({ id: "Run", description: "A run: the execution of a workflow for a topic or an article." });
export type Run = z.infer<typeof Run>;

/** At most one target may be given. The workflow defines which kind of target it accepts. */
export const StartRunRequest = z
  .strictObject({
    workspaceId: WorkspaceId.describe("Workspace in which to start the run."),
    topicId: text("Topic to work on: its id or its short id.", "T-1").optional(),
    articleId: ArticleId.describe("Article to work on.").optional(),
    folderId: text("Folder to work on.", "fld_01KAHX0000050123456789ABCD").optional(),
    instructions: prose("Instructions for the run.", "For readers who have never lost a file.").optional(),
    styleProfileId: StyleProfileId.optional(),
    budget: RunBudget.optional(),
  })
  .meta({ id: "StartRunRequest", description: "Target of the run: at most one of `topicId`, `articleId` and `folderId`." });

export const CancelRunRequest = z
  .strictObject({ reason: prose("Reason for the cancellation.", "Started for the wrong topic.").optional() })
  .meta({ id: "CancelRunRequest", description: "Reason for the cancellation." });
/** `fromStep` is the step to start with. The finished steps before it are kept. */
export const RetryRunRequest = z
  .strictObject({
    fromStep: stepName.describe("Step to start with; by default the step where the run stopped.").optional(),
    budget: RunBudget.describe("New budget, which replaces the present one.").optional(),
  })
  .meta({ id: "RetryRunRequest", description: "Where to continue." });

export const ApprovalDecision = z.enum(["approve", "reject", "request_changes"]).meta({
  id: "ApprovalDecision",
  description: "`approve`: the run continues. `reject`: the run is cancelled. `request_changes`: the step is executed again.",
});
export type ApprovalDecision = z.infer<typeof ApprovalDecision>;
/** `edits` is applied to the article before the decision is recorded. */
export const ResolveApprovalRequest = z
  .strictObject({
    decision: ApprovalDecision,
    note: prose(
      "Note, stored with the decision; with `request_changes` it is feedback for the step.",
      "Start with the reader's problem.",
    ).optional(),
    edits: EditRequest.describe(
      "An edit of the run's article, applied and committed with the decision. Needs `articles:write`.",
    ).optional(),
  })
  .meta({ id: "ResolveApprovalRequest", description: "The decision." });

export const ArtifactKind = z
  .enum(["outline", "draft", "research", "scorecard", "benchmark", "code_report", "claims", "image", "json"])
  .meta({ id: "ArtifactKind", description: "Kind of the artifact." });
export type ArtifactKind = z.infer<typeof ArtifactKind>;

/** Media types of stored artifacts. */
export type ArtifactMediaType = "text/markdown" | "application/json";

export const Artifact = z
  .strictObject({
    artifactKey: text("Key of the artifact, unique in its run.", "outline-1"),
    runId: idText("run", "Run that created the artifact."),
    stepName: stepName.describe("Step that created the artifact."),
    kind: ArtifactKind,
    contentType: text("Media type of its bytes.", "text/markdown"),
    bytes: z.int().min(0).meta({ description: "Size in bytes.", example: 1834 }),
    sha256: text("SHA-256 of its bytes, in hex.", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    createdAt: unixSeconds("When the artifact was created."),
  })
  .meta({ id: "Artifact", description: "An output of a step, without its bytes." });
export type Artifact = z.infer<typeof Artifact>;

export const TopicReference = z
  .union([TopicId, z.string().regex(/^T-[1-9][0-9]{0,14}$/)], {
    error: "must be a topic's id (top_…) or its short id (T-<n>)",
  })
  .meta({ description: "A topic: its id (`top_…`) or its short id (`T-<n>`).", example: exampleId("top") });
