/**
 * AgentRunContext defines the context and the events of an agent run. `agentRunChanges.ts` changes the context.
 *
 * It must not decide which event is allowed in which state: the machine does that (`agentRun.ts`).
 */
import type {
  Approval,
  ApprovalDecision,
  ArtifactKind,
  RunBudget,
  RunFailure,
  RunStepError,
  RunStepStatus,
  RunUsage,
} from "../api/schema/run.ts";
import type { RunPipeline } from "../api/schema/topicOperations.ts";
import type { ApprovalType, WorkflowStep } from "../api/schema/workflow.ts";

/** State of the article before the first attempt of a step began to write. Later text may belong to other authors. */
export interface StepBase {
  /** Article revision. */
  readonly revision: number;
  readonly isBlank: boolean;
}

/** One step of a run: its definition in the workflow version, and its state. */
export interface RunStepContext extends Omit<WorkflowStep, "approval"> {
  /** Approval policy in this run: that of the workflow, or `none` if the content project does not require the approval. */
  readonly approval: ApprovalType;
  readonly status: RunStepStatus;
  /** Number of times that the step has begun. */
  readonly attempt: number;
  readonly startedAtMs?: number | undefined;
  readonly finishedAtMs?: number | undefined;
  /** Keys in order of creation, newest last. */
  readonly artifactKeys: readonly string[];
  /** Key of the artifact that later steps read. */
  readonly output?: string | undefined;
  readonly commitId?: string | undefined;
  readonly error?: RunStepError | undefined;
  /** Yjs client ids of unfinished attempts that may have written. Their text is reverted before the next attempt writes. */
  readonly writers: readonly number[];
  /** Present if `writers` is not empty. */
  readonly base?: StepBase | undefined;
  /** Notes of people who requested changes, oldest first. */
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
  /** Incremented for each request of the effect `execute`. */
  readonly round: number;
  readonly approvals: readonly RunApproval[];
  /** Time after which a run no longer waits for an optional approval and continues. */
  readonly optionalApprovalMs: number;
  /** Username of the person who started the run. The agent writes on behalf of this account. */
  readonly startedBy: string;
  readonly startedByAccountId: string;
  readonly instructions?: string;
  readonly styleProfileId?: string;
  /** Kind of work on a draft (T/draft/actions). */
  readonly action?: "create" | "update" | "optimize" | "rewrite";
  readonly budget?: RunBudget | undefined;
  readonly usage: RunUsage;
  readonly createdAtMs: number;
  readonly startedAtMs?: number;
  readonly finishedAtMs?: number | undefined;
  /** Total time of ended steps in ms. Time that the run waited for people does not count. */
  readonly workedMs: number;
  /** Number of begun attempts over all steps: the length of the journal. */
  readonly begun: number;
  readonly parentRunId?: string;
  /** Workflow of the run that follows once this run is completed. */
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
    /** Present if `approval` is not `none`. */
    readonly approvalId?: string;
    /** Feedback that exists before the first attempt. */
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

/** Ids that a transition may need. The sender of the event creates them; the machine uses them only if it needs them. */
export interface NextIds {
  /** Id for the run that follows a completed one. */
  readonly chainedRunId?: string;
  /** Id for the approval of a step that runs again. */
  readonly nextApprovalId?: string;
}

export type RunEvent =
  | { readonly type: "run.started"; readonly nowMs: number }
  /** An attempt begins. `writer` is the Yjs client id it may write under, `base` the state of the article before it. */
  | ({ readonly type: "step.started"; readonly writer?: number; readonly base?: StepBase } & OfRound)
  | ({
      readonly type: "step.completed";
      readonly artifacts: readonly ArtifactMade[];
      /** Key of the artifact that later steps read. */
      readonly output?: string;
      readonly summary?: string;
      /** Reason why the report of the step has no content. */
      readonly unavailable?: RunStepError;
      readonly usage: RunUsage;
      /** Article revision that holds the complete text of the step. `commitId` is present if a commit was made. */
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
  /** `approvalIds`: step name → id for the next approval of the step, used only if the retry needs a new approval. */
  | {
      readonly type: "run.retry";
      readonly by: string;
      readonly fromStep?: string | undefined;
      readonly budget?: RunBudget | undefined;
      readonly approvalIds: Readonly<Record<string, string>>;
      /** Names of interrupted steps whose text is not reverted, because other authors have continued from it. */
      readonly keepsTextOf?: readonly string[];
      readonly nowMs: number;
    };
export const runCommands = ["approval.resolve", "run.cancel", "run.retry"] as const;
export const noUsage: RunUsage = { inputTokens: 0, outputTokens: 0, usd: 0, toolCalls: 0 };
/** Actor of approvals that expire without a decision. */
export const systemActor = "system";
export type RunEventOf<Type extends RunEvent["type"]> = Extract<RunEvent, { readonly type: Type }>;
/** The ids that an event brings for the transition; empty for an event that brings none. */
export function nextIdsOf(event: RunEvent): NextIds {
  return "nextApprovalId" in event || "chainedRunId" in event ? event : {};
}
export type StepEnd = RunEventOf<"step.completed" | "step.skipped" | "step.failed" | "execute.exhausted">;
export function currentStep(context: Pick<RunContext, "steps" | "at">): RunStepContext {
  const step = context.steps[context.at];
  if (step === undefined) throw new Error(`the run has no step at index ${context.at}`);
  return step;
}

/** Returns the newest approval of the current step: pending, or already decided. Undefined if the step needs none. */
export function currentApproval(context: Pick<RunContext, "steps" | "at" | "approvals">): RunApproval | undefined {
  const { name, approval } = currentStep(context);
  return approval === "none" ? undefined : context.approvals.findLast(({ stepName }) => stepName === name);
}

export function approvalOf(context: Pick<RunContext, "approvals">, approvalId: string): RunApproval | undefined {
  return context.approvals.find((approval) => approval.approvalId === approvalId);
}
