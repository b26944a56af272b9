/**
 * Defines the live timeline: nine agent events in one envelope, identical on every stream, and the two control events
 * of a stream.
 *
 * Clients must ignore event types that they do not know. The server sends no others.
 */
import { z } from "zod";
import { flag, int, isoTime, number, text, username } from "./common.ts";
import { exampleId, idText } from "./id.ts";
import { ApprovalDecision, ApprovalPolicy, ArtifactKind, RunBudget, RunStepError, RunUsage } from "./run.ts";
import { RunPipeline } from "./topicOperations.ts";
import { ApprovalType, WorkflowStepType } from "./workflow.ts";

const stepName = text("Name of the step.", "outline");
const artifactKey = "outline-1";
const durationMs = number("Milliseconds from the creation of the run to its end, waiting time included.", 48_200);

/** The `data` schema of each event, by event name. */
export const agentEventData = {
  "agent.run_started": z.strictObject({
    pipeline: RunPipeline.optional(),
    steps: z.array(z.string()).meta({ description: "Names of the steps, in order.", example: ["research", "thesis", "outline"] }),
    approvalMode: ApprovalType.describe("Strictest approval among the steps."),
    startedBy: username("Username of the account that started the run."),
    budget: RunBudget.optional(),
  }),
  "agent.step_started": z.strictObject({
    stepName,
    type: WorkflowStepType,
    attempt: z.int().min(1).meta({ description: "Number of times that the step was started, including this start.", example: 1 }),
    index: z.int().min(1).meta({ description: "Position of the step, from 1.", example: 3 }),
    of: z.int().min(1).meta({ description: "Number of steps.", example: 3 }),
  }),
  "agent.step_completed": z.strictObject({
    stepName,
    attempt: z.int().min(0).meta({ description: "Number of times that the step was started; 0 for a skipped step.", example: 1 }),
    status: z.enum(["completed", "failed", "skipped"]).describe("Result of the step."),
    durationMs: durationMs.describe("Milliseconds from the start of the step to its end."),
    usage: RunUsage.describe("Cost of the step."),
    summary: text("Summary of the step's work.", "Outline with five sections.").optional(),
    error: RunStepError.optional(),
  }),
  "agent.artifact_created": z.strictObject({
    artifactKey: text("Key of the artifact.", artifactKey),
    kind: ArtifactKind,
    stepName,
    contentType: text("Media type of its bytes.", "text/markdown; charset=utf-8"),
    bytes: int("Size in bytes.", 1834),
    sha256: text("SHA-256 of its bytes, in hex.", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    commitId: idText("cmt", "Commit that contains the artifact.").optional(),
    revision: int("Revision of the article that contains the artifact.", 42).optional(),
  }),
  "agent.paused_for_approval": z.strictObject({
    approvalId: idText("apr", "Approval that the run waits for."),
    stepName,
    policy: ApprovalPolicy,
    expiresAt: isoTime("When the run continues without a decision. Absent if the run waits without a limit.").optional(),
    artifactKeys: z.array(z.string()).meta({ description: "Artifacts to decide on.", example: [artifactKey] }),
    diffUrl: text(
      "Address that shows the changes of the step.",
      `http://127.0.0.1:8787/articles/${exampleId("art")}/diff?from=30&to=42`,
    ).optional(),
  }),
  "agent.approval_resolved": z.strictObject({
    approvalId: idText("apr", "Approval that was decided."),
    decision: z
      .union([ApprovalDecision, z.literal("expired")])
      .describe("The decision; `expired` if no decision was made in time, or the run ended first."),
    resolvedBy: username("Username of the account that decided; `system` if the approval expired."),
    note: text("Note of the account that decided.", "Start with the reader's problem.").optional(),
    waitedMs: number("Milliseconds for which the run waited; 0 if the decision came before the run reached the step.", 61_000),
  }),
  "agent.run_completed": z.strictObject({
    durationMs,
    usage: RunUsage,
    articleId: idText("art", "Article that the run wrote.").optional(),
    commitId: idText("cmt", "Last commit that the run made.").optional(),
    chainedRunId: idText("run", "Run that continues the work.").optional(),
  }),
  "agent.run_failed": z.strictObject({
    code: text("Reason as a code.", "provider_unavailable"),
    message: text("Reason as text, with advice.", "The model's endpoint does not answer. Retry the run later."),
    stepName: stepName.describe("Step that failed.").optional(),
    retryable: flag("Whether a retry may succeed without any change.", true),
  }),
  "agent.run_cancelled": z.strictObject({
    by: username("Username of the account that cancelled the run."),
    reason: text("Reason for the cancellation.", "Started for the wrong topic.").optional(),
    stepName: stepName.describe("Step that was being executed.").optional(),
  }),
} as const;

export type AgentEventName = keyof typeof agentEventData;
export const agentEventNames = Object.keys(agentEventData) as [AgentEventName, ...AgentEventName[]];
export const AgentEventNameSchema = z
  .enum(agentEventNames)
  .meta({ id: "AgentEventName", description: "Name of the event. Ignore names that you do not know." });
export type AgentEventData = { readonly [Name in AgentEventName]: z.infer<(typeof agentEventData)[Name]> };

const envelope = {
  id: text("`<runId>:<seq>`: the resume token of a run's stream.", `${exampleId("run")}:1`),
  cursor: text("Position in the workspace's log, a decimal number: the resume token of a workspace's stream.", "1042"),
  seq: z.int().min(1).meta({ description: "Position in the run's log: 1, 2, 3 … without a gap.", example: 1 }),
  createdAt: isoTime("When the event occurred."),
  workspaceId: idText("ws", "Workspace of the run."),
  runId: idText("run", "Run of the event."),
  workflowId: text("Workflow of the run.", "outline"),
  workflowVersion: text("Version of that workflow.", "1"),
  topicId: idText("top", "Topic of the run.").optional(),
  articleId: idText("art", "Article of the run.").optional(),
  actor: username("Username of the account that caused the event, or on whose behalf the run works."),
} as const;

type EnvelopeFields = z.infer<z.ZodObject<typeof envelope>>;
/** One event as it is sent on SSE, over tRPC and in `/runs/{runId}/events`. */
export type AgentEvent = {
  readonly [Name in AgentEventName]: EnvelopeFields & { readonly event: Name; readonly data: AgentEventData[Name] };
}[AgentEventName];

function toEventSchema(name: AgentEventName) {
  return z.strictObject({
    ...envelope,
    event: z.literal(name).describe("What happened."),
    data: agentEventData[name].describe("Data of the event."),
  });
}

export const AgentEvent = z
  .discriminatedUnion(
    "event",
    agentEventNames.map(toEventSchema) as [ReturnType<typeof toEventSchema>, ...ReturnType<typeof toEventSchema>[]],
  )
  .meta({
    id: "AgentEvent",
    description: "An event of a run's timeline, the same on every stream. Ignore events that you do not know.",
  }) as unknown as z.ZodType<AgentEvent>;

/**
 * Sent first if the events after the resume token are no longer kept. It contains the current state of the run, of the
 * workspace's runs or of the article.
 */
export const StreamReset = z
  .strictObject({
    snapshot: z
      .record(z.string(), z.json())
      .meta({ description: "The current state of the run, of the runs of the workspace, or of the article.", example: {} }),
  })
  .meta({ id: "StreamReset", description: "Snapshot for a reader whose requested events are no longer kept." });
