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

import {
  changeApproval,
  changeStep,
  currentApproval,
  currentStep,
  decided,
  givenUp,
  isWaitingOnly,
  type NextIds,
  noUsage,
  type OfRound,
  type RunApproval,
  type RunContext,
  type RunEvent,
  type RunEventOf,
  type RunInput,
  type StepEnd,
  toApproval,
  toEnded,
  toInterrupted,
  toRetried,
} from "./agentRunContext.ts";
import {
  type TimelineFact,
  tellArtifacts,
  tellCancelled,
  tellCompleted,
  tellFailed,
  tellPaused,
  tellResolved,
  tellRunStarted,
  tellStepEnded,
  tellStepStarted,
} from "./agentRunTimeline.ts";
import { drop, effect, fact, timer } from "./effect.ts";

export * from "./agentRunContext.ts";
export type { TimelineFact } from "./agentRunTimeline.ts";

/** Of a run that was given up nothing is done any more, from the commit on that says so. */
const dropAll = { type: "drop", params: { effects: ["begin", "execute"] } } as const;

export const agentRunMachine = setup({
  types: { context: {} as RunContext, events: {} as RunEvent, input: {} as RunInput },
  actions: {
    timer,
    drop,
    /** Waits for room to run; answers with `run.started`. */
    begin: effect<null>(),
    /** Runs the current step; answers with `step.completed`, `step.skipped` or `step.failed` of that round. */
    execute: effect<{ readonly round: number }>(),
    timeline: fact<readonly TimelineFact[]>(),
    noteStart: assign({ startedAtMs: ({ event }) => event.nowMs }),
    nextRound: assign({ round: ({ context }) => context.round + 1 }),
    noteStepStart: assign(({ context, event }) => {
      const { writer, base: found, nowMs } = event as RunEventOf<"step.started">;
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
    noteStepEnd: assign(({ context, event }) => toEnded(context, event as StepEnd)),
    advance: assign({ at: ({ context }) => context.at + 1 }),
    noteDecision: assign(({ context, event }) => {
      const { approvalId, decision, by, note, nowMs } = event as RunEventOf<"approval.resolve">;
      const change = { state: decided[decision], resolvedBy: by, resolvedAtMs: nowMs, ...(note === undefined ? {} : { note }) };
      return { approvals: changeApproval(context, approvalId, change) };
    }),
    noteLapse: assign(({ context, event }) => ({
      approvals: changeApproval(context, (event as RunEventOf<"approval.lapsed">).approvalId, {
        state: "expired",
        resolvedAtMs: event.nowMs,
      }),
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
      const { nextApprovalId } = event as NextIds;
      if (nextApprovalId === undefined) throw new Error(`${event.type} brings no id for the next approval of ${step.name}`);
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
      const { chainedRunId } = event as NextIds;
      return { finishedAtMs: event.nowMs, ...(context.chains === undefined || chainedRunId === undefined ? {} : { chainedRunId }) };
    }),
    /** What was under way or still to come is given up. */
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
    retry: assign(({ context, event }) => toRetried(context, event as RunEventOf<"run.retry">)),
  },
  guards: {
    isRound: ({ context, event }) => (event as OfRound).round === context.round,
    hasNext: ({ context }) => context.at + 1 < context.steps.length,
    isUndecided: ({ context }) => currentStep(context).status === "completed" && currentApproval(context)?.state === "pending",
    isRejected: ({ context }) => currentApproval(context)?.state === "rejected" && currentStep(context).status === "completed",
    isToChange: ({ context }) => currentApproval(context)?.state === "changes_requested" && currentStep(context).status === "completed",
    /** Without a payload (asked what is allowed): any approval that is still open. */
    isOpen: ({ context, event }) => {
      const { approvalId } = event as Partial<RunEventOf<"approval.resolve">>;
      return context.approvals.some(
        (approval) => approval.state === "pending" && (approvalId === undefined || approval.approvalId === approvalId),
      );
    },
    isCurrent: ({ context, event }) => {
      const { approvalId } = event as Partial<RunEventOf<"approval.resolve">>;
      const approval = currentApproval(context);
      return approval?.state === "pending" && (approvalId === undefined || approval.approvalId === approvalId);
    },
    /** Cancelled while it waited for room: there is no step yet to go on from but the first. */
    isUnstarted: ({ context, event }) => {
      const { fromStep } = event as Partial<RunEventOf<"run.retry">>;
      return context.startedAtMs === undefined && (fromStep === undefined || fromStep === context.steps[0]?.name);
    },
    isWaitingOnly: ({ context, event }) => isWaitingOnly(context, event as RunEventOf<"run.retry">),
    /** `fromStep` is a step that was begun, or the one it stopped at. */
    canRetryFrom: ({ context, event }) => {
      const { fromStep } = event as Partial<RunEventOf<"run.retry">>;
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
        "run.cancel": { target: "cancelled", actions: ["giveUp", dropAll, tellCancelled] },
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
        "run.cancel": { target: "cancelled", actions: ["giveUp", dropAll, tellCancelled] },
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
        "run.cancel": { target: "cancelled", actions: ["giveUp", dropAll, tellCancelled] },
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
