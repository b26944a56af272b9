/**
 * Conversion is the state machine of a conversion: queued, running, then succeeded or failed; an output expires later.
 *
 * Each start is recorded before the work begins. If another process starts the work although the first did not return it,
 * the first has died or lost its lease. A document with which this happens again and again ends as failed. Deletion is possible in every state and cancels the work. The machine must not read documents: it receives the stored
 * output in an event.
 */
import { assertEvent, assign, setup } from "xstate";
import type { ConversionContext, ConversionEvent, ConversionInput, ConversionStart } from "./conversionContext.ts";
import { effect, timer } from "./effect.ts";

export * from "./conversionContext.ts";

/**
 * Processes that may end during the work of one conversion. Most of them end for other reasons than the document, so the
 * number is higher than the number of stops that an upgrade or an outage causes.
 */
export const maxConversionInterruptions = 10;

export interface ConversionRules {
  /** Time for which an output is kept, in milliseconds. */
  readonly keepOutputMs: number;
  /** Time for which the record of an ended conversion is kept, in milliseconds. */
  readonly keepMs: number;
}

/**
 * A process that starts the work again itself was not ended by it. The number of the attempt stays the same if the process
 * has returned the work: the process was stopped in order, or the store or the converter was unavailable.
 */
function countInterruptions({ start, interruptions = 0 }: ConversionContext, { process, attempt }: ConversionStart): number {
  const isInterrupted = start !== undefined && start.process !== process && attempt > start.attempt;
  return isInterrupted ? interruptions + 1 : interruptions;
}

const inEveryState = { "conversion.delete": "removed" } as const;

export function createConversionMachine({ keepOutputMs, keepMs }: ConversionRules) {
  return setup({
    types: { context: {} as ConversionContext, events: {} as ConversionEvent, input: {} as ConversionInput, tags: {} as "removed" },
    actions: {
      timer,
      /** Converts the input; answers with `convert.succeeded` or `convert.failed`. */
      convert: effect<null>(),
      noteStart: assign(({ context, event }) => {
        assertEvent(event, "convert.started");
        const { process, attempt } = event;
        return { start: { process, attempt }, interruptions: countInterruptions(context, event) };
      }),
      noteOutput: assign(({ event }) => {
        assertEvent(event, "convert.succeeded");
        const { nowMs, output, fidelity, cacheKey } = event;
        return { output: { ...output, expiresAtMs: nowMs + keepOutputMs }, fidelity, cacheKey };
      }),
      noteError: assign(({ event }) => {
        assertEvent(event, "convert.failed");
        return { error: event.error };
      }),
      noteInterruptions: assign({
        error: {
          code: "conversion_failed",
          message: `The server stopped ${maxConversionInterruptions} times while it converted this document.`,
        },
      }),
      noteExhaustion: assign({
        error: {
          code: "conversion_failed",
          message: "The conversion failed because of an error in the server, also when it was repeated.",
        },
      }),
      noteEnd: assign(({ event }) => ({ input: undefined, finishedAtMs: event.nowMs, expiresAtMs: event.nowMs + keepMs })),
      dropOutput: assign({ output: undefined, cacheKey: undefined }),
    },
    guards: {
      isWornOut({ context, event }) {
        assertEvent(event, "convert.started");
        return countInterruptions(context, event) >= maxConversionInterruptions;
      },
    },
  }).createMachine({
    id: "conversion",
    context: ({ input: { nowMs, ...order } }) => ({ ...order, createdAtMs: nowMs }),
    initial: "queued",
    states: {
      queued: {
        description: "The work has not begun.",
        entry: { type: "convert", params: null },
        on: {
          ...inEveryState,
          "convert.started": { target: "running", actions: "noteStart" },
          "convert.exhausted": { target: "failed", actions: "noteExhaustion" },
        },
      },
      running: {
        description: "The work has begun. After a stop of the server it begins again.",
        on: {
          ...inEveryState,
          "convert.started": [{ guard: "isWornOut", target: "failed", actions: "noteInterruptions" }, { actions: "noteStart" }],
          "convert.succeeded": { target: "succeeded", actions: "noteOutput" },
          "convert.failed": { target: "failed", actions: "noteError" },
          "convert.exhausted": { target: "failed", actions: "noteExhaustion" },
        },
      },
      succeeded: {
        entry: [
          "noteEnd",
          {
            type: "timer",
            params: ({ event }) => ({ name: "expire", atMs: event.nowMs + keepOutputMs, event: { type: "output.expired" } }),
          },
        ],
        on: { ...inEveryState, "output.expired": { target: "expired", actions: "dropOutput" } },
      },
      failed: { entry: "noteEnd", on: inEveryState },
      expired: { description: "The output was deleted.", on: inEveryState },
      removed: { tags: "removed" },
    },
  });
}
