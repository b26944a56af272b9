/** Tests the conversion over all its paths, each restored from its record. */
import { expect, test } from "vitest";
import {
  type ConversionContext,
  type ConversionEvent,
  createConversionMachine,
  maxConversionInterruptions,
} from "../../machines/conversion.ts";
import { conversionRecord } from "../../server/domain/conversions/records.ts";
import type { ActorKind } from "../../server/platform/actors/port.ts";
import { walkMachine } from "../support/walkMachine.ts";

const nowMs = 1_800_000_000_000;
const rules = { keepOutputMs: 1000, keepMs: 2000 };
const kind: ActorKind<ConversionContext, ConversionEvent> = {
  name: "conversion",
  machine: createConversionMachine(rules),
  machineVersion: 1,
  record: { ...conversionRecord, partitionOf: () => 0 },
  effects: ["convert"],
  commands: ["conversion.delete"],
};
const output = { sha256: "o", bytes: 3, contentType: "text/html" };
const input = {
  nowMs,
  accountId: "usr_1",
  author: { username: "ana", kind: "user" },
  from: "markdown",
  to: "html",
  source: {},
  input: { sha256: "i", bytes: 2 },
  baseName: "conversion",
};
const ended = ["succeeded", "failed", "expired"];

test("[CV50][CV51] every path of a conversion ends once, and the tenth interrupted start is the last", () => {
  const walk = walkMachine<ConversionContext, ConversionEvent>({
    kind,
    inputs: [input],
    events: (context) => [
      // The same process again, another one that got the work back, and another one after the end of the process.
      ...(context.start === undefined
        ? [{ type: "convert.started", process: "0", attempt: 1, nowMs } as const]
        : [
            { type: "convert.started", ...context.start, attempt: context.start.attempt + 1, nowMs } as const,
            { type: "convert.started", ...context.start, process: "other", nowMs } as const,
            { type: "convert.started", process: `${context.start.attempt}`, attempt: context.start.attempt + 1, nowMs } as const,
          ]),
      { type: "convert.succeeded", output, fidelity: { score: 1, losses: [] }, cacheKey: "k", nowMs },
      { type: "convert.failed", error: { code: "conversion_failed", message: "No." }, nowMs },
      { type: "convert.exhausted", reason: "a bug", attempts: 3, nowMs },
      { type: "output.expired", nowMs },
      { type: "conversion.delete", nowMs },
    ],
    facts: ({ interruptions = 0 }) => interruptions,
    check({ before, event, after }) {
      const { context, state } = after;
      if (event.type === "conversion.delete") return;
      const interruptions = context.interruptions ?? 0;
      expect(interruptions).toBeLessThan(maxConversionInterruptions);
      if (event.type === "convert.started" && state === "running") {
        const { start, interruptions: earlier = 0 } = before.context;
        const isOther = start !== undefined && start.process !== event.process && start.attempt < event.attempt;
        expect(interruptions).toBe(isOther ? earlier + 1 : earlier);
      }
      if (event.type === "output.expired") expect([state, context.output, context.cacheKey]).toEqual(["expired", undefined, undefined]);
      if (ended.includes(String(before.state))) expect(event.type).toBe("output.expired");
      else if (ended.includes(String(state))) {
        expect([context.finishedAtMs, context.expiresAtMs, context.input]).toEqual([nowMs, nowMs + rules.keepMs, undefined]);
        expect(context.error === undefined).toBe(state === "succeeded");
        expect(Object.keys(after.timers)).toEqual(state === "succeeded" ? ["expire"] : []);
        expect(context.output).toEqual(state === "succeeded" ? { ...output, expiresAtMs: nowMs + rules.keepOutputMs } : undefined);
      }
    },
  });
  expect(walk.unreachedStates).toEqual([]);
  expect(walk.untakenTransitions).toEqual([]);
});
