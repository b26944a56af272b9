/**
 * What a run is made of: its steps, its approvals, what happens to it, and the changes that an event makes to its
 * context. The order in which events may come is the machine's (`agentRun.ts`).
 */
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
import type { RunPipeline } from "../api/schema/topic.ts";
import type { ApprovalType, WorkflowStep } from "../api/schema/workflow.ts";

/** The file that a step writes as it was when the first of its attempts began: what came later is other people's. */
export interface StepBase {
  /** Of the article. */
  readonly revision: number;
  readonly isBlank: boolean;
}

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
  /** Present where there are writers. */
  readonly base?: StepBase | undefined;
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

export interface OfRound {
  readonly round: number;
  readonly nowMs: number;
}

/** Ids that a move may need: drawn by whoever sends the event, used when the machine comes to it. */
export interface NextIds {
  /** For the run that follows a completed one. */
  readonly chainedRunId?: string;
  /** For the approval of a step that runs again. */
  readonly nextApprovalId?: string;
}

export type RunEvent =
  | { readonly type: "run.started"; readonly nowMs: number }
  /** The step is about to run, once more; `writer` is the Yjs client id under which it may write, `base` what it finds. */
  | ({ readonly type: "step.started"; readonly writer?: number; readonly base?: StepBase } & OfRound)
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
      /** Names of interrupted steps from whose text others have gone on: it is not taken back. */
      readonly letsStand?: readonly string[];
      readonly nowMs: number;
    };
export const runCommands = ["approval.resolve", "run.cancel", "run.retry"] as const;
export const noUsage: RunUsage = { inputTokens: 0, outputTokens: 0, usd: 0, toolCalls: 0 };
/** Resolves what nobody decided. */
export const systemActor = "system";
export type RunEventOf<Type extends RunEvent["type"]> = Extract<RunEvent, { readonly type: Type }>;
export type StepEnd = RunEventOf<"step.completed" | "step.skipped" | "step.failed" | "execute.exhausted">;
/** What a step is once its run was given up: one that only waited for a decision had finished. */
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

/** A step that is called off has worked until then. */
export function toInterrupted(context: RunContext, nowMs: number): Partial<RunContext> {
  return currentStep(context).status === "running" ? { workedMs: context.workedMs + workedMs(context, nowMs) } : {};
}

/** A step ended: what of it is kept. */
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
        error: undefined,
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

/**
 * The steps from `fromStep` (default: the one it stopped at) on are to run again. A step that had finished and only
 * waited keeps what it made. An approval that was decided gets a successor where the event brings an id for it.
 */
export function toRetried(context: RunContext, event: RunEventOf<"run.retry">): Partial<RunContext> {
  const at = event.fromStep === undefined ? context.at : context.steps.findIndex(({ name }) => name === event.fromStep);
  const from = isWaitingOnly(context, event) ? at + 1 : at;
  const successors = context.steps.slice(from).flatMap((step) => {
    const approvalId = event.approvalIds[step.name];
    return approvalId === undefined ? [] : [toApproval(approvalId, step, event.nowMs)];
  });
  const left = ({ name }: RunStepContext) => (event.letsStand?.includes(name) === true ? { writers: [], base: undefined } : {});
  return {
    at,
    steps: context.steps.map((step, index) => (index < from ? step : { ...step, ...untouched, ...left(step) })),
    approvals: [...context.approvals, ...successors],
    failure: undefined,
    finishedAtMs: undefined,
    budget: event.budget ?? context.budget,
  };
}

const untouched = { status: "pending", startedAtMs: undefined, finishedAtMs: undefined, error: undefined, output: undefined } as const;

/** The run was given up while a finished step waited for its decision, and is to wait again. */
export function isWaitingOnly(context: RunContext, { fromStep }: Pick<RunEventOf<"run.retry">, "fromStep">): boolean {
  return fromStep === undefined && currentStep(context).status === "completed" && currentApproval(context)?.state === "pending";
}
