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
  description: "State of a run. `paused_for_approval` waits for a person; `completed`, `failed` and `cancelled` are ends.",
});
export type RunStatus = z.infer<typeof RunStatus>;

export const RunStepStatus = z
  .enum(["pending", "running", "paused", "completed", "failed", "skipped", "cancelled"])
  .meta({ id: "RunStepStatus", description: "State of a step. `paused` waits for a person." });
export type RunStepStatus = z.infer<typeof RunStepStatus>;

const failureCode = text("Why, as a code: one of the API's codes, or one such as `budget_exhausted`.", "provider_unavailable");
const failureMessage = text("Why, in words, and what to do about it.", "The model's endpoint does not answer. Retry the run later.");
const retryable = flag("Whether a retry may succeed without any change.", true);
const stepName = text("Name of the step.", "outline");
const attempt = "Times the step was begun";
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
    startedAt: unixSeconds("When the step was last begun.").optional(),
    finishedAt: unixSeconds("When the step ended.").optional(),
    artifactKeys: artifactKeyList("Artifacts that the step made."),
    error: RunStepError.optional(),
  })
  .meta({ id: "RunStep", description: "A step of a run." });
export type RunStep = z.infer<typeof RunStep>;

export const ApprovalState = z.enum(["pending", "approved", "rejected", "changes_requested", "expired"]).meta({
  id: "ApprovalState",
  description:
    "What was decided; `pending` until then. `expired`: nobody decided in time, or the run ended first. Only an active run has `pending` approvals.",
});
export type ApprovalState = z.infer<typeof ApprovalState>;
export const ApprovalPolicy = z
  .enum(["required", "optional"])
  .meta({ id: "ApprovalPolicy", description: "`required`: the run waits for a decision. `optional`: it goes on by itself after a while." });

/** A decision that a person makes about the output of a step. It may be made before the run starts to wait for it. */
export const Approval = z
  .strictObject({
    approvalId: idText("apr", "Id of the approval."),
    runId: idText("run", "Run that the approval belongs to."),
    stepName: stepName.describe("Step whose output is to be approved."),
    policy: ApprovalPolicy,
    state: ApprovalState,
    requestedAt: unixSeconds("When the run began to wait for it; before that, when the run was made."),
    expiresAt: unixSeconds("When the run goes on without a decision. Absent if it waits.").optional(),
    artifactKeys: artifactKeyList("Artifacts to decide about."),
    resolvedBy: username("Username of the account that decided; absent when it expired.").optional(),
    resolvedAt: unixSeconds("When it was decided or expired.").optional(),
    note: text("Note of the one who decided.", "Start with the reader's problem.").optional(),
  })
  .meta({ id: "Approval", description: "A decision about what a step made." });
export type Approval = z.infer<typeof Approval>;

/**
 * A run that exceeds its budget ends: tokens of the model, US dollars as the provider reports them, seconds of running.
 */
export const RunBudget = z
  .strictObject({
    maxTokens: z.int().min(1).meta({ description: "Most tokens, read and written together.", example: 200_000 }).optional(),
    maxUsd: z.number().min(0).meta({ description: "Most US dollars, as the model's provider reports them.", example: 2.5 }).optional(),
    maxSeconds: z
      .number()
      .min(1)
      .meta({ description: "Most seconds of work; waiting for people does not count.", example: 1800 })
      .optional(),
  })
  .meta({ id: "RunBudget", description: "Bounds over all attempts of a run. A run that passes one fails with `budget_exhausted`." });
export type RunBudget = z.infer<typeof RunBudget>;

export const RunUsage = z
  .strictObject({
    inputTokens: int("Tokens that the model read.", 5200),
    outputTokens: int("Tokens that the model wrote.", 1900),
    usd: number("US dollars, as the model's provider reports them; 0 if it does not.", 0.04),
    toolCalls: int("Calls of tools.", 0),
  })
  .meta({ id: "RunUsage", description: "What the work cost so far." });
export type RunUsage = z.infer<typeof RunUsage>;

const lastSeq = z.int().min(0).meta({ description: "`seq` of the newest timeline event of the run.", example: 12 });

export const Run = z
  .strictObject({
    runId: idText("run", "Id of the run."),
    workspaceId: idText("ws", "Workspace that the run belongs to."),
    workflowId: text("Workflow that is run.", "outline"),
    workflowVersion: text("Version of that workflow when the run was started.", "1"),
    pipeline: RunPipeline.optional(),
    topicId: idText("top", "Topic that the run is for.").optional(),
    articleId: idText("art", "Article that the run reads and writes.").optional(),
    folderId: text("Folder that the run is for.", "fld_01KAHX0000050123456789ABCD").optional(),
    status: RunStatus,
    approvalMode: ApprovalType.describe("Strictest approval among the steps."),
    steps: z.array(RunStep).describe("Steps in the order in which they are run."),
    currentStep: stepName.describe("Step that is under way or waited for.").optional(),
    pendingApproval: Approval.describe("Approval that the run waits for.").optional(),
    startedBy: username("Username of the account that started the run."),
    createdAt: unixSeconds("When the run was asked for."),
    startedAt: unixSeconds("When its first step was begun.").optional(),
    finishedAt: unixSeconds("When the run ended.").optional(),
    chainedRunId: idText("run", "Run that followed this one.").optional(),
    parentRunId: idText("run", "Run that this one followed.").optional(),
    budget: RunBudget.optional(),
    usage: RunUsage,
    failure: RunFailure.optional(),
    lastSeq,
  })
  .meta({ id: "Run", description: "A run: a workflow at work on a topic or an article." });
export type Run = z.infer<typeof Run>;

/** At most one target may be given. The workflow defines which kind of target it accepts. */
export const StartRunRequest = z
  .strictObject({
    workspaceId: WorkspaceId.describe("Workspace to run in."),
    topicId: text("Topic to work on: its id or its short id.", "T-1").optional(),
    articleId: ArticleId.describe("Article to work on.").optional(),
    folderId: text("Folder to work on.", "fld_01KAHX0000050123456789ABCD").optional(),
    instructions: prose("What the run is to heed.", "For readers who have never lost a file.").optional(),
    styleProfileId: StyleProfileId.optional(),
    budget: RunBudget.optional(),
  })
  .meta({ id: "StartRunRequest", description: "What to run for. At most one of `topicId`, `articleId` and `folderId`." });

export const CancelRunRequest = z
  .strictObject({ reason: prose("Why the run is cancelled.", "Started for the wrong topic.").optional() })
  .meta({ id: "CancelRunRequest", description: "Why the run is cancelled." });
/** `fromStep` is the step to start with. The finished steps before it are kept. */
export const RetryRunRequest = z
  .strictObject({
    fromStep: stepName.describe("Step to begin with; the one where the run stopped by default.").optional(),
    budget: RunBudget.describe("New bounds, in place of the present ones.").optional(),
  })
  .meta({ id: "RetryRunRequest", description: "Where to go on." });

export const ApprovalDecision = z.enum(["approve", "reject", "request_changes"]).meta({
  id: "ApprovalDecision",
  description: "`approve`: the run goes on. `reject`: it is cancelled. `request_changes`: the step runs again.",
});
export type ApprovalDecision = z.infer<typeof ApprovalDecision>;
/** `edits` is applied to the article before the decision is recorded. */
export const ResolveApprovalRequest = z
  .strictObject({
    decision: ApprovalDecision,
    note: prose("Note, kept with the decision; with `request_changes` the step reads it.", "Start with the reader's problem.").optional(),
    edits: EditRequest.describe("An edit of the run's article, made and committed with the decision. Needs `articles:write`.").optional(),
  })
  .meta({ id: "ResolveApprovalRequest", description: "The decision." });

export const ArtifactKind = z
  .enum(["outline", "draft", "research", "scorecard", "benchmark", "code_report", "claims", "image", "json"])
  .meta({ id: "ArtifactKind", description: "What an artifact is." });
export type ArtifactKind = z.infer<typeof ArtifactKind>;

/** Media types of stored artifacts. */
export type ArtifactMediaType = "text/markdown" | "application/json";

export const Artifact = z
  .strictObject({
    artifactKey: text("Key of the artifact, unique in its run.", "outline-1"),
    runId: idText("run", "Run that made it."),
    stepName: stepName.describe("Step that made it."),
    kind: ArtifactKind,
    contentType: text("Media type of its bytes.", "text/markdown"),
    bytes: z.int().min(0).meta({ description: "Size in bytes.", example: 1834 }),
    sha256: text("SHA-256 of its bytes, in hex.", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    createdAt: unixSeconds("When it was made."),
  })
  .meta({ id: "Artifact", description: "Something that a step made, without its bytes." });
export type Artifact = z.infer<typeof Artifact>;

export const TopicReference = z
  .union([TopicId, z.string().regex(/^T-[1-9][0-9]{0,14}$/)], {
    error: "must be a topic's id (top_…) or its short id (T-<n>)",
  })
  .meta({ description: "A topic: its id (`top_…`) or its short id (`T-<n>`).", example: exampleId("top") });
