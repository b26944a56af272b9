import { describe, expect, test } from "vitest";
import { createDeliveryMachine, type DeliveryContext, type DeliveryEvent } from "../../machines/delivery.ts";
import { createEndpointMachine, type EndpointContext, type EndpointEvent } from "../../machines/endpoint.ts";
import { deliveryRecord, endpointRecord } from "../../server/domain/webhooks/records.ts";
import type { ActorKind } from "../../server/platform/actors/port.ts";
import { walkMachine } from "../support/walkMachine.ts";

const nowMs = 1_800_000_000_000;
const keepMs = 1000;
const input = { webhookId: "whk_1", eventId: "evt_1", event: "article.updated", createdAtMs: nowMs, nowMs };

function deliveryKind(scheduleMs: readonly number[]): ActorKind<DeliveryContext, DeliveryEvent> {
  const machine = createDeliveryMachine({ scheduleMs, maxRetryAfterMs: 1000, keepMs });
  const effects = { deliver: () => Promise.reject(new Error("nothing is sent here")) };
  return { name: "delivery", machine, machineVersion: 1, record: { ...deliveryRecord, partitionOf: () => 0 }, effects, commands: [] };
}

const attempt = { n: 1, atMs: nowMs, durationMs: 5 };
const deliveryEvents: readonly DeliveryEvent[] = [
  { type: "attempt.delivered", nowMs, attempt: { ...attempt, statusCode: 204 } },
  { type: "attempt.failed", nowMs, jitter: 0.5, attempt: { ...attempt, error: "timeout" } },
  { type: "attempt.skipped", nowMs, reason: "webhook_deleted" },
  { type: "retry.due", nowMs },
];
const over = ["dead", "delivered", "skipped"];

describe("machines of webhooks", () => {
  test.each([
    { name: "several attempts", scheduleMs: [0, 1000, 2000], unreached: [], untaken: ["delivery.queued attempt.failed 1"] },
    { name: "one attempt", scheduleMs: [0], unreached: ["sending", "waiting"], untaken: ["delivery.queued attempt.failed 0"] },
    { name: "a first attempt put off", scheduleMs: [1000, 2000, 3000], unreached: ["queued"], untaken: [] },
  ])("[WH5] every path of a delivery with $name ends delivered, dead or skipped", ({ scheduleMs, unreached, untaken }) => {
    const walk = walkMachine<DeliveryContext, DeliveryEvent>({
      kind: deliveryKind(scheduleMs),
      inputs: [input],
      events: () => deliveryEvents,
      facts: (context) => context.attempts.length,
      check({ before, after }) {
        expect(over).not.toContain(before.state);
        expect(after.context.attempts.length).toBeLessThanOrEqual(scheduleMs.length);
        // A record is kept while events are possible, and then for a fixed time.
        expect(after.context.expiresAtMs).toBe(over.includes(String(after.state)) ? nowMs + keepMs : undefined);
        expect(Object.keys(after.timers)).toEqual(after.state === "waiting" ? ["retry"] : []);
        expect(after.pending.filter((effect) => !before.pending.includes(effect)).map((effect) => effect.effect)).toEqual(
          after.state === "sending" ? ["deliver"] : [],
        );
      },
    });
    expect([...walk.unreachedStates].sort()).toEqual(unreached);
    // Only a schedule with one attempt takes the transitions that end a delivery after its first attempt.
    expect(walk.untakenTransitions.filter((name) => !unreached.some((state) => name.startsWith(`delivery.${state} `)))).toEqual(untaken);
    expect(walk.paths).toBeGreaterThan(3);
  });

  test("[WH9] every path of an endpoint, with and without the operator's policy", () => {
    const events: readonly EndpointEvent[] = [
      { type: "attempt.delivered", nowMs },
      { type: "attempt.failed", statusCode: 500, nowMs },
      { type: "attempt.failed", statusCode: 410, nowMs },
      { type: "attempt.failed", nowMs: nowMs + 1000 },
      { type: "webhook.disabled", nowMs },
      { type: "webhook.enabled", nowMs },
    ];
    const moves = (onGone: boolean, afterFailingMs?: number) => {
      const seen = new Set<string>();
      const walk = walkMachine<EndpointContext, EndpointEvent>({
        kind: {
          name: "endpoint",
          machine: createEndpointMachine({ onGone, ...(afterFailingMs === undefined ? {} : { afterFailingMs }) }),
          machineVersion: 1,
          record: { ...endpointRecord, partitionOf: () => 0 },
          effects: {},
          commands: ["webhook.disabled", "webhook.enabled"],
        },
        inputs: [{ webhookId: "whk_1", nowMs }],
        events: () => events,
        facts: (context) => context,
        check: ({ before, event, after }) => seen.add(`${before.state} ${event.type} ${after.state}`),
      });
      return { seen: [...seen].sort(), walk };
    };
    const owners = moves(false);
    expect(owners.walk.unreachedStates).toEqual([]);
    expect(owners.seen).toEqual([
      "disabled webhook.enabled healthy",
      "failing attempt.delivered healthy",
      "failing attempt.failed failing",
      "failing webhook.disabled disabled",
      "healthy attempt.failed failing",
      "healthy webhook.disabled disabled",
    ]);
    const operators = moves(true, 500);
    expect(operators.walk.untakenTransitions).toEqual([]);
    expect(operators.seen).toEqual([...owners.seen, "failing attempt.failed disabled", "healthy attempt.failed disabled"].sort());
    expect([...operators.walk.refusals].sort()).toEqual([
      "disabled webhook.disabled",
      "failing webhook.enabled",
      "healthy webhook.enabled",
    ]);
  });
});
