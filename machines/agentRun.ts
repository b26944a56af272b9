/**
 * AgentRun is the state machine of an agent run: workflow steps in sequence, each with an optional human approval.
 *
 * The context is the journal of the run: attempts and output of each step, and the Yjs client ids of interrupted
 * attempts. Approvals are created with the run, so a person may decide before the run pauses; each is decided once.
 * Events for the timeline are `timeline` facts, recorded in the same commit as the transition. Each request to execute
 * a step has a round number, and its result must name the same round: results of an abandoned round are ignored.
 * The machine must not run steps or know a model: the effect `execute` does that.
 */
import { assertEvent, assign, setup } from "xstate";

import { changeApproval, changeStep, decided, givenUp, toApproval, toEnded, toInterrupted } from "./agentRunChanges.ts";
import {
  currentApproval,
  currentStep,
  nextIdsOf,
  noUsage,
  type RunApproval,
  type RunContext,
  type RunEvent,
  type RunInput,
} from "./agentRunContext.ts";
import { isWaitingOnly, toRetried } from "./agentRunRetry.ts";
import {
  recordArtifacts,
  recordCancelled,
  recordCompleted,
  recordExpired,
  recordFailed,
  recordPaused,
  recordResolved,
  recordRunStarted,
  recordStepEnded,
  recordStepStarted,
  type TimelineFact,
} from "./agentRunTimeline.ts";
import { drop, effect, fact, timer } from "./effect.ts";

export * from "./agentRunContext.ts";
export type { TimelineFact } from "./agentRunTimeline.ts";

/** Drops the pending effects of a run in the commit that cancels it, so that none of them runs later. */
const dropAll = { type: "drop", params: { effects: ["begin", "execute"] } } as const;

/** A run that has ended accepts no decision, so its open approvals expire with it. A retry creates new ones. */
const expireOpen = [recordExpired, "expireOpen"] as const;

export const agentRunMachine = setup({
  types: { context: {} as RunContext, events: {} as RunEvent, input: {} as RunInput },
  actions: {
    timer,
    drop,
    /** Waits until the run may start; answers with `run.started`. */
    begin: effect<null>(),
    /** Executes the current step; answers with `step.completed`, `step.skipped` or `step.failed` and the same round. */
    execute: effect<{ readonly round: number }>(),
    timeline: fact<readonly TimelineFact[]>(),
    noteStart: assign({ startedAtMs: ({ event }) => event.nowMs }),
    nextRound: assign({ round: ({ context }) => context.round + 1 }),
    noteStepStart: assign(({ context, event }) => {
      assertEvent(event, "step.started");
      const { writer, base: found, nowMs } = event;
      const { attempt, writers, base = found } = currentStep(context);
      return {
        begun: context.begun + 1,
        steps: changeStep(context, {
          status: "running",
          attempt: attempt + 1,
          startedAtMs: nowMs,
          finishedAtMs: undefined,
          error: undefined,
          writers: writer === undefined ? writers : [...writers, writer],
          ...(base === undefined ? {} : { base }),
        }),
      };
    }),
    noteStepEnd: assign(({ context, event }) => {
      assertEvent(event, ["step.completed", "step.skipped", "step.failed", "execute.exhausted"]);
      return toEnded(context, event);
    }),
    advance: assign({ at: ({ context }) => context.at + 1 }),
    noteDecision: assign(({ context, event }) => {
      assertEvent(event, "approval.resolve");
      const { approvalId, decision, by, note, nowMs } = event;
      const change = { state: decided[decision], resolvedBy: by, resolvedAtMs: nowMs, ...(note === undefined ? {} : { note }) };
      return { approvals: changeApproval(context, approvalId, change) };
    }),
    noteLapse: assign(({ context, event }) => {
      assertEvent(event, "approval.lapsed");
      return { approvals: changeApproval(context, event.approvalId, { state: "expired", resolvedAtMs: event.nowMs }) };
    }),
    expireOpen: assign(({ context, event }) => ({
      approvals: context.approvals.map((approval) =>
        approval.state === "pending" ? { ...approval, state: "expired", resolvedAtMs: event.nowMs } : approval,
      ),
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
    /** Ends a pause: the step is completed again, as it was before the pause. */
    unpause: assign(({ context }) => ({ steps: changeStep(context, { status: "completed" }) })),
    /** Resets the current step to run again with the feedback from the approval, and creates its next approval. */
    runAgain: assign(({ context, event }) => {
      const { note } = currentApproval(context) as RunApproval;
      const step = currentStep(context);
      const { nextApprovalId } = nextIdsOf(event);
      if (nextApprovalId === undefined) throw new Error(`${event.type} carries no id for the next approval, of step ${step.name}`);
      return {
        steps: changeStep(context, {
          status: "pending",
          output: undefined,
          feedback: note === undefined ? step.feedback : [...step.feedback, note],
        }),
        approvals: [...context.approvals, toApproval(nextApprovalId, step, event.nowMs)],
      };
    }),
    noteCompletion: assign(({ context, event }) => {
      const { chainedRunId } = nextIdsOf(event);
      return { finishedAtMs: event.nowMs, ...(context.chains === undefined || chainedRunId === undefined ? {} : { chainedRunId }) };
    }),
    /** Cancels the running step and all pending steps. */
    giveUp: assign(({ context, event }) => ({
      ...toInterrupted(context, event.nowMs),
      finishedAtMs: event.nowMs,
      steps: context.steps.map((step) => ({ ...step, status: givenUp[step.status] })),
    })),
    noteRejection: assign(({ context }) => {
      const { note, stepName } = currentApproval(context) as RunApproval;
      return {
        failure: { code: "approval_rejected", message: note ?? `The output of ${stepName} was rejected.`, retryable: false, stepName },
      };
    }),
    retry: assign(({ context, event }) => {
      assertEvent(event, "run.retry");
      return toRetried(context, event);
    }),
  },
  guards: {
    isRound: ({ context, event }) => "round" in event && event.round === context.round,
    hasNext: ({ context }) => context.at + 1 < context.steps.length,
    isUndecided: ({ context }) => currentStep(context).status === "completed" && currentApproval(context)?.state === "pending",
    isRejected: ({ context }) => currentApproval(context)?.state === "rejected" && currentStep(context).status === "completed",
    isToChange: ({ context }) => currentApproval(context)?.state === "changes_requested" && currentStep(context).status === "completed",
    /** An event without a payload asks which commands are allowed: then any open approval is enough. */
    isOpen: ({ context, event }) => {
      assertEvent(event, "approval.resolve");
      const { approvalId }: Partial<typeof event> = event;
      return context.approvals.some(
        (approval) => approval.state === "pending" && (approvalId === undefined || approval.approvalId === approvalId),
      );
    },
    isCurrent: ({ context, event }) => {
      assertEvent(event, ["approval.resolve", "approval.lapsed"]);
      const { approvalId }: Partial<typeof event> = event;
      const approval = currentApproval(context);
      return approval?.state === "pending" && (approvalId === undefined || approval.approvalId === approvalId);
    },
    /** The run was cancelled before it started, so it can only be retried from its first step. */
    isUnstarted: ({ context, event }) => {
      assertEvent(event, "run.retry");
      const { fromStep } = event;
      return context.startedAtMs === undefined && (fromStep === undefined || fromStep === context.steps[0]?.name);
    },
    isWaitingOnly: ({ context, event }) => {
      assertEvent(event, "run.retry");
      return isWaitingOnly(context, event);
    },
    /** True if `fromStep` is absent, or is the step at which the run stopped or an earlier one. */
    canRetryFrom: ({ context, event }) => {
      assertEvent(event, "run.retry");
      const { fromStep } = event;
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
        "run.started": { target: "running", actions: ["noteStart", recordRunStarted] },
        "approval.resolve": { guard: "isOpen", actions: ["noteDecision", recordResolved] },
        "run.cancel": { target: "cancelled", actions: ["giveUp", dropAll, ...expireOpen, recordCancelled] },
      },
    },
    running: {
      entry: ["nextRound", { type: "execute", params: ({ context }) => ({ round: context.round }) }],
      on: {
        "step.started": { guard: "isRound", actions: ["noteStepStart", recordStepStarted] },
        "step.completed": { guard: "isRound", target: "deciding", actions: ["noteStepEnd", recordArtifacts, recordStepEnded] },
        "step.skipped": { guard: "isRound", target: "deciding", actions: ["noteStepEnd", recordStepEnded] },
        "step.failed": { guard: "isRound", target: "failed", actions: ["noteStepEnd", recordStepEnded, ...expireOpen, recordFailed] },
        "execute.exhausted": { target: "failed", actions: ["noteStepEnd", recordStepEnded, ...expireOpen, recordFailed] },
        // An early decision: the run has not paused for this approval yet.
        "approval.resolve": { guard: "isOpen", actions: ["noteDecision", recordResolved] },
        "run.cancel": { target: "cancelled", actions: ["giveUp", dropAll, ...expireOpen, recordCancelled] },
      },
    },
    /** Transient state: chooses the next state after a step has ended or an approval was decided. */
    deciding: {
      always: [
        { guard: "isUndecided", target: "paused_for_approval", actions: ["pause", recordPaused] },
        { guard: "isRejected", target: "cancelled", actions: ["noteRejection", "giveUp", ...expireOpen, recordCancelled] },
        { guard: "isToChange", target: "running", actions: ["runAgain"] },
        { guard: "hasNext", target: "running", actions: ["advance"] },
        { target: "completed", actions: ["noteCompletion", ...expireOpen, recordCompleted] },
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
          { guard: "isCurrent", target: "deciding", actions: ["noteDecision", recordResolved, "unpause"] },
          // An early decision about a later step.
          { guard: "isOpen", actions: ["noteDecision", recordResolved] },
        ],
        "approval.lapsed": { guard: "isCurrent", target: "deciding", actions: ["noteLapse", recordResolved, "unpause"] },
        "run.cancel": { target: "cancelled", actions: ["giveUp", dropAll, ...expireOpen, recordCancelled] },
      },
    },
    completed: {},
    failed: { on: { "run.retry": { guard: "canRetryFrom", target: "running", actions: "retry" } } },
    cancelled: {
      on: {
        "run.retry": [
          { guard: "isUnstarted", target: "queued", actions: "retry" },
          { guard: "isWaitingOnly", target: "deciding", actions: "retry" },
          { guard: "canRetryFrom", target: "running", actions: "retry" },
        ],
      },
    },
  },
});
