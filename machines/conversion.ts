/**
 * Conversion is the state machine of a conversion: queued, running, then succeeded or failed; an output expires later.
 *
 * Each start of the work is counted before the work begins, so a document that ends the process every time ends as failed.
 * Deletion is possible in every state and cancels the work. The machine must not read documents: it receives the stored
 * output in an event.
 */
import { assertEvent, assign, setup } from "xstate";
import type { ConversionContext, ConversionEvent, ConversionInput } from "./conversionContext.ts";
import { effect, timer } from "./effect.ts";

export * from "./conversionContext.ts";

/** Starts of the work of one conversion, each of which may have ended the process. */
export const maxConversionStarts = 3;

export interface ConversionRules {
  /** Time for which an output is kept, in milliseconds. */
  readonly keepOutputMs: number;
  /** Time for which the record of an ended conversion is kept, in milliseconds. */
  readonly keepMs: number;
}

const inEveryState = { "conversion.delete": "removed" } as const;

export function createConversionMachine({ keepOutputMs, keepMs }: ConversionRules) {
  return setup({
    types: { context: {} as ConversionContext, events: {} as ConversionEvent, input: {} as ConversionInput, tags: {} as "removed" },
    actions: {
      timer,
      /** Converts the input; answers with `convert.succeeded` or `convert.failed`. */
      convert: effect<null>(),
      noteStart: assign(({ context }) => ({ starts: context.starts + 1 })),
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
          message: `The conversion was started ${maxConversionStarts} times, and each time the server stopped before its end.`,
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
    guards: { isWornOut: ({ context }) => context.starts >= maxConversionStarts },
  }).createMachine({
    id: "conversion",
    context: ({ input: { nowMs, ...order } }) => ({ ...order, createdAtMs: nowMs, starts: 0 }),
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
        description: "The work has begun. After a restart it begins again.",
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
