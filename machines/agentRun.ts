/**
 * An agent run: the steps of a workflow, one after the other, each perhaps waiting for a person's decision.
 *
 * The record of the run is its journal: how often each step was begun, what a finished one made, under which Yjs
 * client ids an interrupted one wrote. A finished step is never asked for again. Decisions are records of their own
 * inside the run, made with it, so one may be taken before the run comes to the wait; each is taken once. What a
 * timeline viewer is to see is a `timeline` fact, recorded in the same commit as the move. The machine runs no
 * step and knows no model: `execute` asks for the current step, and its result comes back as an event that names
 * the round it was asked in, so that the result of a round that was given up changes nothing.
 */
import { assign, setup } from "xstate";
import type {
  Approval,
  ApprovalDecision,
  ApprovalState,
  ArtifactKind,
  RunBudget,
  RunFailure,
  RunStepError,
  RunStepStatus,
  RunUsage,
} from "../api/schema/run.ts";
import type { AgentEventData, AgentEventName } from "../api/schema/timeline.ts";
import type { RunPipeline } from "../api/schema/topic.ts";
import type { ApprovalType, WorkflowStep } from "../api/schema/workflow.ts";
import { effect, fact, timer } from "./effect.ts";

/** One step: its definition in the workflow's version, and what became of it. */
export interface RunStepContext extends Omit<WorkflowStep, "approval"> {
  /** What applies to this run; the workflow's own word is weaker. */
  readonly approval: ApprovalType;
  readonly status: RunStepStatus;
  /** Times the step was begun. */
  readonly attempt: number;
  readonly startedAtMs?: number | undefined;
  readonly finishedAtMs?: number | undefined;
  /** In the order they were made, the newest last. */
  readonly artifactKeys: readonly string[];
  /** Key of what later steps read. */
  readonly output?: string | undefined;
  readonly commitId?: string | undefined;
  readonly error?: RunStepError | undefined;
  /** Yjs client ids of the attempts that began to write and did not finish: taken back before the next one writes. */
  readonly writers: readonly number[];
  /** What people said when they asked for changes, oldest first. */
  readonly feedback: readonly string[];
}

export interface RunApproval extends Omit<Approval, "runId" | "requestedAt" | "expiresAt" | "resolvedAt" | "artifactKeys"> {
  readonly artifactKeys: readonly string[];
  readonly requestedAtMs: number;
  readonly expiresAtMs?: number;
  readonly resolvedAtMs?: number;
}

export interface RunContext {
  readonly workspaceId: string;
  readonly workflowId: string;
  readonly workflowVersion: string;
  readonly pipeline?: RunPipeline;
  readonly topicId?: string;
  readonly articleId?: string;
  readonly folderId?: string;
  readonly approvalMode: ApprovalType;
  readonly steps: readonly RunStepContext[];
  /** Index of the current step. */
  readonly at: number;
  /** Rises whenever `execute` is asked for. */
  readonly round: number;
  readonly approvals: readonly RunApproval[];
  /** An optional approval proceeds by itself after this. */
  readonly optionalApprovalMs: number;
  /** Username, and the account behind it: the agent writes on its behalf. */
  readonly startedBy: string;
  readonly startedByAccountId: string;
  readonly instructions?: string;
  readonly styleProfileId?: string;
  /** How to go about a draft (T/draft/actions). */
  readonly action?: "create" | "update" | "optimize" | "rewrite";
  readonly budget?: RunBudget | undefined;
  readonly usage: RunUsage;
  readonly createdAtMs: number;
  readonly startedAtMs?: number;
  readonly finishedAtMs?: number | undefined;
  /** Time spent in steps that ended; waiting for people does not count. */
  readonly workedMs: number;
  /** Begun steps, over all attempts: the length of the journal. */
  readonly begun: number;
  readonly parentRunId?: string;
  /** Completed, the run is followed by one of this workflow. */
  readonly chains?: string;
  readonly chainedRunId?: string;
  readonly failure?: RunFailure | undefined;
  readonly traceparent?: string;
}

export interface RunInput
  extends Pick<
    RunContext,
    | "workspaceId"
    | "workflowId"
    | "workflowVersion"
    | "pipeline"
    | "topicId"
    | "articleId"
    | "folderId"
    | "approvalMode"
    | "optionalApprovalMs"
    | "startedBy"
    | "startedByAccountId"
    | "instructions"
    | "styleProfileId"
    | "action"
    | "budget"
    | "parentRunId"
    | "chains"
    | "traceparent"
  > {
  readonly nowMs: number;
  readonly steps: readonly (Omit<WorkflowStep, "approval"> & {
    readonly approval: ApprovalType;
    /** Present where `approval` is not none. */
    readonly approvalId?: string;
    /** Said before the first attempt. */
    readonly feedback?: readonly string[];
  })[];
}

export interface ArtifactMade {
  readonly artifactKey: string;
  readonly kind: ArtifactKind;
  readonly contentType: string;
  readonly bytes: number;
  readonly sha256: string;
}

interface OfRound {
  readonly round: number;
  readonly nowMs: number;
}

/** Ids that a move may need: drawn by whoever sends the event, used when the machine comes to it. */
interface NextIds {
  /** For the run that follows a completed one. */
  readonly chainedRunId?: string;
  /** For the approval of a step that runs again. */
  readonly approvalId?: string;
}

export type RunEvent =
  | { readonly type: "run.started"; readonly nowMs: number }
  /** The step is about to run, once more; `writer` is the Yjs client id under which it may write. */
  | ({ readonly type: "step.started"; readonly writer?: number } & OfRound)
  | ({
      readonly type: "step.completed";
      readonly artifacts: readonly ArtifactMade[];
      /** Which of the artifacts later steps read. */
      readonly output?: string;
      readonly summary?: string;
      readonly usage: RunUsage;
      /** Revision at which the step's text was complete; the commit, if one was made. */
      readonly revision?: number;
      readonly commitId?: string;
    } & OfRound &
      NextIds)
  | ({ readonly type: "step.skipped"; readonly code: string; readonly reason: string } & OfRound & NextIds)
  | ({
      readonly type: "step.failed";
      readonly code: string;
      readonly message: string;
      readonly retryable: boolean;
      readonly usage: RunUsage;
    } & OfRound)
  | { readonly type: "execute.exhausted"; readonly reason: string; readonly attempts: number; readonly nowMs: number }
  | ({
      readonly type: "approval.resolve";
      readonly approvalId: string;
      readonly decision: ApprovalDecision;
      readonly by: string;
      readonly note?: string | undefined;
      readonly nowMs: number;
    } & NextIds)
  | { readonly type: "approval.lapsed"; readonly approvalId: string; readonly nowMs: number }
  | { readonly type: "run.cancel"; readonly by: string; readonly reason?: string | undefined; readonly nowMs: number }
  /** `approvalIds`: for steps whose approval was decided already, by step name. */
  | {
      readonly type: "run.retry";
      readonly by: string;
      readonly fromStep?: string | undefined;
      readonly budget?: RunBudget | undefined;
      readonly approvalIds: Readonly<Record<string, string>>;
      readonly nowMs: number;
    };

export const runCommands = ["approval.resolve", "run.cancel", "run.retry"] as const;

export const noUsage: RunUsage = { inputTokens: 0, outputTokens: 0, usd: 0, toolCalls: 0 };
/** Resolves what nobody decided. */
export const systemActor = "system";

/** A timeline event before it has a place in the logs. */
export type TimelineFact = {
  readonly [Name in AgentEventName]: { readonly event: Name; readonly data: AgentEventData[Name]; readonly actor: string };
}[AgentEventName];

type EventOf<Type extends RunEvent["type"]> = Extract<RunEvent, { readonly type: Type }>;
type StepEnd = EventOf<"step.completed" | "step.skipped" | "step.failed" | "execute.exhausted">;

/** What a step is once its run was given up: one that only waited for a decision had finished. */
const givenUp: Readonly<Record<RunStepStatus, RunStepStatus>> = {
  pending: "cancelled",
  running: "cancelled",
  paused: "completed",
  cancelled: "cancelled",
  completed: "completed",
  failed: "failed",
  skipped: "skipped",
};

const decided: Readonly<Record<ApprovalDecision, ApprovalState>> = {
  approve: "approved",
  reject: "rejected",
  request_changes: "changes_requested",
};

export function addUsage(left: RunUsage, right: RunUsage): RunUsage {
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    usd: left.usd + right.usd,
    toolCalls: left.toolCalls + right.toolCalls,
  };
}

export function currentStep(context: Pick<RunContext, "steps" | "at">): RunStepContext {
  const step = context.steps[context.at];
  if (step === undefined) throw new Error(`a run has no step ${context.at}`);
  return step;
}

/** The decision that the current step waits for, or that was taken early; the newest one of its step. */
export function currentApproval(context: Pick<RunContext, "steps" | "at" | "approvals">): RunApproval | undefined {
  const { name, approval } = currentStep(context);
  return approval === "none" ? undefined : context.approvals.findLast(({ stepName }) => stepName === name);
}

export function approvalOf(context: Pick<RunContext, "approvals">, approvalId: string): RunApproval | undefined {
  return context.approvals.find((approval) => approval.approvalId === approvalId);
}

function changeStep(context: RunContext, change: Partial<RunStepContext>): readonly RunStepContext[] {
  return context.steps.map((step, index) => (index === context.at ? { ...step, ...change } : step));
}

function changeApproval(context: RunContext, approvalId: string, change: Partial<RunApproval>): readonly RunApproval[] {
  return context.approvals.map((approval) => (approval.approvalId === approvalId ? { ...approval, ...change } : approval));
}

function toApproval(approvalId: string, step: Pick<RunStepContext, "name" | "approval">, nowMs: number): RunApproval {
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

/** A step ended: what of it is kept. */
function toEnded(context: RunContext, event: StepEnd): Partial<RunContext> {
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
        error: undefined,
        writers: [],
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

function toFailure(event: EventOf<"step.failed" | "execute.exhausted">): Pick<RunFailure, "code" | "message" | "retryable"> {
  if (event.type === "step.failed") return { code: event.code, message: event.message, retryable: event.retryable };
  return { code: "step_failed", message: `The step failed ${event.attempts} times: ${event.reason}`, retryable: true };
}

/**
 * The steps from `fromStep` (default: the one it stopped at) on are to run again. A step that had finished and only
 * waited keeps what it made. An approval that was decided gets a successor where the event brings an id for it.
 */
function toRetried(context: RunContext, event: EventOf<"run.retry">): Partial<RunContext> {
  const at = event.fromStep === undefined ? context.at : context.steps.findIndex(({ name }) => name === event.fromStep);
  const from = isWaitingOnly(context, event) ? at + 1 : at;
  const successors = context.steps.slice(from).flatMap((step) => {
    const approvalId = event.approvalIds[step.name];
    return approvalId === undefined ? [] : [toApproval(approvalId, step, event.nowMs)];
  });
  return {
    at,
    steps: context.steps.map((step, index) => (index < from ? step : { ...step, ...untouched })),
    approvals: [...context.approvals, ...successors],
    failure: undefined,
    finishedAtMs: undefined,
    budget: event.budget ?? context.budget,
  };
}

const untouched = { status: "pending", startedAtMs: undefined, finishedAtMs: undefined, error: undefined, output: undefined } as const;

/** The run was given up while a finished step waited for its decision, and is to wait again. */
function isWaitingOnly(context: RunContext, { fromStep }: Pick<EventOf<"run.retry">, "fromStep">): boolean {
  return fromStep === undefined && currentStep(context).status === "completed" && currentApproval(context)?.state === "pending";
}

/** The action that records timeline events; `make` sees the context as it is when the action runs. */
function tellAll<Name extends AgentEventName>(
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

function tell<Name extends AgentEventName>(
  event: Name,
  make: (context: RunContext, event: RunEvent) => AgentEventData[Name],
  actor?: (context: RunContext, event: RunEvent) => string,
) {
  return tellAll(event, (context, cause) => [make(context, cause)], actor);
}

const optional = <Key extends string, Value>(key: Key, value: Value | undefined) =>
  (value === undefined ? {} : { [key]: value }) as Partial<Record<Key, Value>>;

const tellRunStarted = tell("agent.run_started", ({ pipeline, steps, approvalMode, startedBy, budget }) => ({
  ...optional("pipeline", pipeline),
  steps: steps.map(({ name }) => name),
  approvalMode,
  startedBy,
  ...optional("budget", budget),
}));
const tellStepStarted = tell("agent.step_started", (context) => {
  const { name, type, attempt } = currentStep(context);
  return { stepName: name, type, attempt, index: context.at + 1, of: context.steps.length };
});
const tellArtifacts = tellAll("agent.artifact_created", (context, event) => {
  const { artifacts, commitId, revision, output } = event as EventOf<"step.completed">;
  return artifacts.map((artifact) => ({
    ...artifact,
    stepName: currentStep(context).name,
    ...(artifact.artifactKey === output ? { ...optional("commitId", commitId), ...optional("revision", revision) } : {}),
  }));
});
const tellStepEnded = tell("agent.step_completed", (context, event) => {
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
const tellPaused = tell("agent.paused_for_approval", (context) => {
  const { approvalId, stepName, policy, expiresAtMs, artifactKeys } = currentApproval(context) as RunApproval;
  return {
    approvalId,
    stepName,
    policy,
    ...optional("expiresAt", expiresAtMs === undefined ? undefined : new Date(expiresAtMs).toISOString()),
    artifactKeys: [...artifactKeys],
  };
});
const tellResolved = tell(
  "agent.approval_resolved",
  (context, event) => {
    const { approvalId, requestedAtMs } = approvalOf(
      context,
      (event as EventOf<"approval.resolve" | "approval.lapsed">).approvalId,
    ) as RunApproval;
    const waitedMs = event.nowMs - requestedAtMs;
    if (event.type !== "approval.resolve") return { approvalId, decision: "expired", resolvedBy: systemActor, waitedMs };
    return { approvalId, decision: event.decision, resolvedBy: event.by, ...optional("note", event.note), waitedMs };
  },
  (_context, event) => ("by" in event ? event.by : systemActor),
);
const tellCompleted = tell("agent.run_completed", (context, event) => ({
  durationMs: event.nowMs - context.createdAtMs,
  usage: context.usage,
  ...optional("articleId", context.articleId),
  ...optional("commitId", context.steps.findLast(({ commitId }) => commitId !== undefined)?.commitId),
  ...optional("chainedRunId", context.chainedRunId),
}));
const tellFailed = tell("agent.run_failed", ({ failure }) => {
  const { code, message, stepName, retryable } = failure as RunFailure;
  return { code, message, ...optional("stepName", stepName), retryable };
});
const tellCancelled = tell("agent.run_cancelled", (context, event) => ({
  by: "by" in event ? event.by : (currentApproval(context)?.resolvedBy ?? systemActor),
  ...optional("reason", event.type === "run.cancel" ? event.reason : event.type === "approval.resolve" ? event.note : undefined),
  stepName: currentStep(context).name,
}));

export const agentRunMachine = setup({
  types: { context: {} as RunContext, events: {} as RunEvent, input: {} as RunInput },
  actions: {
    timer,
    /** Waits for room to run; answers with `run.started`. */
    begin: effect<null>(),
    /** Runs the current step; answers with `step.completed`, `step.skipped` or `step.failed` of that round. */
    execute: effect<{ readonly round: number }>(),
    timeline: fact<readonly TimelineFact[]>(),
    noteStart: assign({ startedAtMs: ({ event }) => event.nowMs }),
    nextRound: assign({ round: ({ context }) => context.round + 1 }),
    noteStepStart: assign(({ context, event }) => {
      const { writer, nowMs } = event as EventOf<"step.started">;
      const { attempt, writers } = currentStep(context);
      return {
        begun: context.begun + 1,
        steps: changeStep(context, {
          status: "running",
          attempt: attempt + 1,
          startedAtMs: nowMs,
          finishedAtMs: undefined,
          error: undefined,
          writers: writer === undefined ? writers : [...writers, writer],
        }),
      };
    }),
    noteStepEnd: assign(({ context, event }) => toEnded(context, event as StepEnd)),
    advance: assign({ at: ({ context }) => context.at + 1 }),
    noteDecision: assign(({ context, event }) => {
      const { approvalId, decision, by, note, nowMs } = event as EventOf<"approval.resolve">;
      const change = { state: decided[decision], resolvedBy: by, resolvedAtMs: nowMs, ...(note === undefined ? {} : { note }) };
      return { approvals: changeApproval(context, approvalId, change) };
    }),
    noteLapse: assign(({ context, event }) => ({
      approvals: changeApproval(context, (event as EventOf<"approval.lapsed">).approvalId, { state: "expired", resolvedAtMs: event.nowMs }),
    })),
    pause: assign(({ context, event }) => {
      const { approvalId, policy } = currentApproval(context) as RunApproval;
      return {
        steps: changeStep(context, { status: "paused" }),
        approvals: changeApproval(context, approvalId, {
          requestedAtMs: event.nowMs,
          artifactKeys: currentStep(context).artifactKeys,
          ...(policy === "optional" ? { expiresAtMs: event.nowMs + context.optionalApprovalMs } : {}),
        }),
      };
    }),
    /** A pause is over: the step is what it was before. */
    unpause: assign(({ context }) => ({ steps: changeStep(context, { status: "completed" }) })),
    /** The step runs again, with what was said, towards a new decision. */
    runAgain: assign(({ context, event }) => {
      const { note } = currentApproval(context) as RunApproval;
      const step = currentStep(context);
      const { approvalId } = event as NextIds;
      if (approvalId === undefined) throw new Error(`${event.type} brings no id for the next approval of ${step.name}`);
      return {
        steps: changeStep(context, {
          status: "pending",
          output: undefined,
          feedback: note === undefined ? step.feedback : [...step.feedback, note],
        }),
        approvals: [...context.approvals, toApproval(approvalId, step, event.nowMs)],
      };
    }),
    noteCompletion: assign(({ context, event }) => {
      const { chainedRunId } = event as NextIds;
      return { finishedAtMs: event.nowMs, ...(context.chains === undefined || chainedRunId === undefined ? {} : { chainedRunId }) };
    }),
    /** What was under way or still to come is given up. */
    giveUp: assign(({ context, event }) => ({
      finishedAtMs: event.nowMs,
      steps: context.steps.map((step) => ({ ...step, status: givenUp[step.status] })),
    })),
    noteRejection: assign(({ context }) => {
      const { note, stepName } = currentApproval(context) as RunApproval;
      return {
        failure: { code: "approval_rejected", message: note ?? `The output of ${stepName} was rejected.`, retryable: false, stepName },
      };
    }),
    retry: assign(({ context, event }) => toRetried(context, event as EventOf<"run.retry">)),
  },
  guards: {
    isRound: ({ context, event }) => (event as OfRound).round === context.round,
    hasNext: ({ context }) => context.at + 1 < context.steps.length,
    isUndecided: ({ context }) => currentStep(context).status === "completed" && currentApproval(context)?.state === "pending",
    isRejected: ({ context }) => currentApproval(context)?.state === "rejected" && currentStep(context).status === "completed",
    isToChange: ({ context }) => currentApproval(context)?.state === "changes_requested" && currentStep(context).status === "completed",
    /** Without a payload (asked what is allowed): any approval that is still open. */
    isOpen: ({ context, event }) => {
      const { approvalId } = event as Partial<EventOf<"approval.resolve">>;
      return context.approvals.some(
        (approval) => approval.state === "pending" && (approvalId === undefined || approval.approvalId === approvalId),
      );
    },
    isCurrent: ({ context, event }) => {
      const { approvalId } = event as Partial<EventOf<"approval.resolve">>;
      const approval = currentApproval(context);
      return approval?.state === "pending" && (approvalId === undefined || approval.approvalId === approvalId);
    },
    isWaitingOnly: ({ context, event }) => isWaitingOnly(context, event as EventOf<"run.retry">),
    /** `fromStep` is a step that was begun, or the one it stopped at. */
    canRetryFrom: ({ context, event }) => {
      const { fromStep } = event as Partial<EventOf<"run.retry">>;
      if (fromStep === undefined) return true;
      const index = context.steps.findIndex(({ name }) => name === fromStep);
      return index >= 0 && index <= context.at;
    },
  },
}).createMachine({
  id: "agentRun",
  context: ({ input }) => {
    const { nowMs, steps, ...rest } = input;
    return {
      ...rest,
      steps: steps.map(({ approvalId: _approvalId, feedback = [], ...step }) => ({
        ...step,
        status: "pending" as const,
        attempt: 0,
        artifactKeys: [],
        writers: [],
        feedback,
      })),
      at: 0,
      round: 0,
      approvals: steps.flatMap((step) => (step.approvalId === undefined ? [] : [toApproval(step.approvalId, step, nowMs)])),
      usage: noUsage,
      createdAtMs: nowMs,
      workedMs: 0,
      begun: 0,
    };
  },
  initial: "queued",
  states: {
    queued: {
      entry: { type: "begin", params: null },
      on: {
        "run.started": { target: "running", actions: ["noteStart", tellRunStarted] },
        "approval.resolve": { guard: "isOpen", actions: ["noteDecision", tellResolved] },
        "run.cancel": { target: "cancelled", actions: ["giveUp", tellCancelled] },
      },
    },
    running: {
      entry: ["nextRound", { type: "execute", params: ({ context }) => ({ round: context.round }) }],
      on: {
        "step.started": { guard: "isRound", actions: ["noteStepStart", tellStepStarted] },
        "step.completed": { guard: "isRound", target: "deciding", actions: ["noteStepEnd", tellArtifacts, tellStepEnded] },
        "step.skipped": { guard: "isRound", target: "deciding", actions: ["noteStepEnd", tellStepEnded] },
        "step.failed": { guard: "isRound", target: "failed", actions: ["noteStepEnd", tellStepEnded, tellFailed] },
        "execute.exhausted": { target: "failed", actions: ["noteStepEnd", tellStepEnded, tellFailed] },
        // Early: the run has not come to the wait.
        "approval.resolve": { guard: "isOpen", actions: ["noteDecision", tellResolved] },
        "run.cancel": { target: "cancelled", actions: ["giveUp", tellCancelled] },
      },
    },
    /** Passed through: what follows from the end of a step and from the decision about it. */
    deciding: {
      always: [
        { guard: "isUndecided", target: "paused_for_approval", actions: ["pause", tellPaused] },
        { guard: "isRejected", target: "cancelled", actions: ["noteRejection", "giveUp", tellCancelled] },
        { guard: "isToChange", target: "running", actions: ["runAgain"] },
        { guard: "hasNext", target: "running", actions: ["advance"] },
        { target: "completed", actions: ["noteCompletion", tellCompleted] },
      ],
    },
    paused_for_approval: {
      entry: {
        type: "timer",
        params: ({ context }) => {
          const { approvalId, expiresAtMs } = currentApproval(context) as RunApproval;
          if (expiresAtMs === undefined) return { name: "approval", atMs: null };
          return { name: "approval", atMs: expiresAtMs, event: { type: "approval.lapsed", approvalId }, keep: true };
        },
      },
      exit: { type: "timer", params: { name: "approval", atMs: null } },
      on: {
        "approval.resolve": [
          { guard: "isCurrent", target: "deciding", actions: ["noteDecision", tellResolved, "unpause"] },
          // Of a step still to come.
          { guard: "isOpen", actions: ["noteDecision", tellResolved] },
        ],
        "approval.lapsed": { guard: "isCurrent", target: "deciding", actions: ["noteLapse", tellResolved, "unpause"] },
        "run.cancel": { target: "cancelled", actions: ["giveUp", tellCancelled] },
      },
    },
    completed: {},
    failed: { on: { "run.retry": { guard: "canRetryFrom", target: "running", actions: "retry" } } },
    cancelled: {
      on: {
        "run.retry": [
          { guard: "isWaitingOnly", target: "deciding", actions: "retry" },
          { guard: "canRetryFrom", target: "running", actions: "retry" },
        ],
      },
    },
  },
});
