/**
 * The live timeline: nine agent events in one envelope, identical on every stream, and the two controls of a stream.
 *
 * Clients must ignore event types they do not know; the server sends no others.
 */
import { z } from "zod";
import { IsoTime } from "./common.ts";
import { ApprovalDecision, ApprovalPolicy, ArtifactKind, RunBudget, RunStepError, RunUsage } from "./run.ts";
import { RunPipeline } from "./topic.ts";
import { ApprovalType, WorkflowStepType } from "./workflow.ts";

/** What an event says, by its name. */
export const agentEventData = {
  "agent.run_started": z.strictObject({
    pipeline: RunPipeline.optional(),
    /** Names. */
    steps: z.array(z.string()),
    approvalMode: ApprovalType,
    startedBy: z.string(),
    budget: RunBudget.optional(),
  }),
  "agent.step_started": z.strictObject({
    stepName: z.string(),
    type: WorkflowStepType,
    attempt: z.int().min(1),
    /** From 1. */
    index: z.int().min(1),
    of: z.int().min(1),
  }),
  "agent.step_completed": z.strictObject({
    stepName: z.string(),
    attempt: z.int().min(0),
    status: z.enum(["completed", "failed", "skipped"]),
    durationMs: z.number(),
    usage: RunUsage,
    summary: z.string().optional(),
    error: RunStepError.optional(),
  }),
  "agent.artifact_created": z.strictObject({
    artifactKey: z.string(),
    kind: ArtifactKind,
    stepName: z.string(),
    contentType: z.string(),
    bytes: z.int(),
    sha256: z.string(),
    commitId: z.string().optional(),
    revision: z.int().optional(),
  }),
  "agent.paused_for_approval": z.strictObject({
    approvalId: z.string(),
    stepName: z.string(),
    policy: ApprovalPolicy,
    expiresAt: IsoTime.optional(),
    artifactKeys: z.array(z.string()),
    diffUrl: z.string().optional(),
  }),
  "agent.approval_resolved": z.strictObject({
    approvalId: z.string(),
    /** `expired`: nobody decided in time. */
    decision: z.union([ApprovalDecision, z.literal("expired")]),
    /** Username; `system` where nobody decided. */
    resolvedBy: z.string(),
    note: z.string().optional(),
    waitedMs: z.number(),
  }),
  "agent.run_completed": z.strictObject({
    durationMs: z.number(),
    usage: RunUsage,
    articleId: z.string().optional(),
    commitId: z.string().optional(),
    chainedRunId: z.string().optional(),
  }),
  "agent.run_failed": z.strictObject({
    code: z.string(),
    message: z.string(),
    stepName: z.string().optional(),
    retryable: z.boolean(),
  }),
  "agent.run_cancelled": z.strictObject({ by: z.string(), reason: z.string().optional(), stepName: z.string().optional() }),
} as const;

export type AgentEventName = keyof typeof agentEventData;
export const agentEventNames = Object.keys(agentEventData) as [AgentEventName, ...AgentEventName[]];
export const AgentEventNameSchema = z.enum(agentEventNames).meta({ id: "AgentEventName" });
export type AgentEventData = { readonly [Name in AgentEventName]: z.infer<(typeof agentEventData)[Name]> };

const envelope = {
  /** `<runId>:<seq>`. */
  id: z.string(),
  /** Position in the workspace's log, decimal. */
  cursor: z.string(),
  /** Position in the run's log: gap-free from 1. */
  seq: z.int().min(1),
  createdAt: IsoTime,
  workspaceId: z.string(),
  runId: z.string(),
  workflowId: z.string(),
  workflowVersion: z.string(),
  topicId: z.string().optional(),
  articleId: z.string().optional(),
  /** Username of whoever caused it: a person, or on whose behalf the agent works. */
  actor: z.string(),
} as const;

type EnvelopeFields = z.infer<z.ZodObject<typeof envelope>>;
/** One event as it travels on SSE, tRPC and in `/runs/{runId}/events`. */
export type AgentEvent = {
  readonly [Name in AgentEventName]: EnvelopeFields & { readonly event: Name; readonly data: AgentEventData[Name] };
}[AgentEventName];

function toEventSchema(name: AgentEventName) {
  return z.strictObject({ ...envelope, event: z.literal(name), data: agentEventData[name] });
}

export const AgentEvent = z
  .discriminatedUnion(
    "event",
    agentEventNames.map(toEventSchema) as [ReturnType<typeof toEventSchema>, ...ReturnType<typeof toEventSchema>[]],
  )
  .meta({ id: "AgentEvent" }) as unknown as z.ZodType<AgentEvent>;

/** Sent first when a resume token is older than what is kept: what the stream is about, as it is now. */
export const StreamReset = z.strictObject({ snapshot: z.record(z.string(), z.json()) }).meta({ id: "StreamReset" });
