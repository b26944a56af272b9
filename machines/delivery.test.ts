import { describe, expect, test } from "vitest";
import { initialTransition, transition } from "xstate";
import { createDeliveryMachine, type DeliveryContext, type DeliveryEvent, defaultDeliverySchedule, nextAttemptAtMs } from "./delivery.ts";

const hour = 3_600_000;
const nowMs = 1_800_000_000_000;
const keepMs = 30 * 24 * hour;
const input = { webhookId: "whk_1", eventId: "evt_1", event: "article.updated", createdAtMs: nowMs, nowMs };
const attempt = { n: 1, atMs: nowMs, durationMs: 5 };
const failed = { type: "attempt.failed", jitter: 0, nowMs, attempt: { ...attempt, statusCode: 500 } } as const;
const skipped = { type: "attempt.skipped", reason: "webhook_disabled", nowMs } as const;
const due = { type: "retry.due", nowMs } as const;
interface Stored {
  readonly value: "queued" | "waiting" | "sending" | "delivered" | "dead" | "skipped";
  readonly context: DeliveryContext;
}

const machineOf = (scheduleMs: readonly number[]) => createDeliveryMachine({ scheduleMs, maxRetryAfterMs: 24 * hour, keepMs });

/** Sends the events in order. Before each event, the snapshot is restored from its stored form. */
function run(machine: ReturnType<typeof machineOf>, ...steps: readonly DeliveryEvent[]) {
  let [snapshot, actions] = initialTransition(machine, input);
  for (const event of steps) {
    const stored = JSON.parse(JSON.stringify({ value: snapshot.value, context: snapshot.context })) as Stored;
    const restored = machine.resolveState(stored);
    expect(restored.can(event)).toBe(true);
    [snapshot, actions] = transition(machine, restored, event);
  }
  return { state: snapshot.value, context: snapshot.context, actions: actions.map(({ type, params }) => ({ type, params })) };
}

describe("delivery", () => {
  test("[WH5] the schedule is ten attempts over 75 h 35 m", () => {
    expect(defaultDeliverySchedule.length).toBe(10);
    expect(defaultDeliverySchedule.map((ms) => ms / 1000)).toEqual([0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]);
    expect(defaultDeliverySchedule.reduce((sum, ms) => sum + ms, 0)).toBe(75 * hour + 35 * 60_000 + 5000);
  });

  test("[WH5] jitter is only added, and at most a fifth", () => {
    const rules = { scheduleMs: [0, 1000, 10_000], maxRetryAfterMs: hour };
    const at = (failures: number, jitter: number, retryAfterMs = 0) => nextAttemptAtMs(rules, failures, { nowMs, jitter, retryAfterMs });
    expect([at(1, 0), at(1, 0.5), at(1, 1), at(2, 1), at(1, -3), at(1, 7)].map((ms) => (ms ?? 0) - nowMs)).toEqual([
      1000, 1100, 1200, 12_000, 1000, 1200,
    ]);
    expect(at(3, 0)).toBeUndefined();
  });

  test("[WH6] a receiver may ask for a longer pause, up to the limit, but never for a shorter one", () => {
    const rules = { scheduleMs: [0, 10_000], maxRetryAfterMs: hour };
    const at = (retryAfterMs: number) => (nextAttemptAtMs(rules, 1, { nowMs, jitter: 0, retryAfterMs }) ?? 0) - nowMs;
    expect([at(0), at(5000), at(60_000), at(2 * hour)]).toEqual([10_000, 10_000, 60_000, hour]);
  });

  test("[WH5] a delivery waits between attempts and is dead after the last one", () => {
    const machine = machineOf([0, 1000, 2000]);
    expect(run(machine)).toMatchObject({ state: "queued", actions: [{ type: "deliver" }] });
    const first = run(machine, failed);
    expect(first).toMatchObject({
      state: "waiting",
      context: { nextAttemptAtMs: nowMs + 1000, attempts: [{ nextAttemptAtMs: nowMs + 1000 }] },
    });
    expect(first.actions).toEqual([{ type: "timer", params: { name: "retry", atMs: nowMs + 1000, event: { type: "retry.due" } } }]);
    expect(run(machine, failed, due)).toMatchObject({ state: "sending", actions: [{ type: "deliver" }] });
    expect(run(machine, failed, due, failed).context.nextAttemptAtMs).toBe(nowMs + 2000);
    const last = run(machine, failed, due, failed, due, failed);
    expect(last).toMatchObject({ state: "dead", context: { expiresAtMs: nowMs + keepMs }, actions: [] });
    expect(last.context.attempts.length).toBe(3);
    expect(last.context.attempts[2]).not.toHaveProperty("nextAttemptAtMs");
    expect(last.context.nextAttemptAtMs).toBeUndefined();
  });

  test("[WH5] a schedule may delay the first attempt", () => {
    const put = run(machineOf([3000, 1000]));
    expect(put).toMatchObject({ state: "waiting", context: { nextAttemptAtMs: nowMs + 3000, attempts: [] } });
    expect(run(machineOf([3000, 1000]), due)).toMatchObject({ state: "sending", actions: [{ type: "deliver" }] });
  });

  test("[WH7] a skipped delivery keeps its reason and the last request and answer", () => {
    const exchange = { requestHeaders: { "x-svc-attempt": "1" }, responseHeaders: { "x-a": "1" }, responseBody: "no" };
    const machine = machineOf([0, 1000]);
    expect(run(machine, { ...failed, exchange }, due, skipped)).toMatchObject({
      state: "skipped",
      context: { skipReason: "webhook_disabled", exchange, expiresAtMs: nowMs + keepMs },
    });
  });
});
