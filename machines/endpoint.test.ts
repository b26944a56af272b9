import { describe, expect, test } from "vitest";
import { initialTransition, transition } from "xstate";
import { type AutoDisable, createEndpointMachine, type EndpointContext, type EndpointEvent } from "./endpoint.ts";

const nowMs = 1_800_000_000_000;
const dayMs = 24 * 3_600_000;
const input = { webhookId: "whk_1", nowMs };

const never: AutoDisable = { onGone: false };
const gone: AutoDisable = { onGone: true };
const long: AutoDisable = { onGone: false, afterFailingMs: 5 * dayMs };

const failed = (statusCode?: number, laterMs = 0): EndpointEvent => ({ type: "attempt.failed", statusCode, nowMs: nowMs + laterMs });
const delivered: EndpointEvent = { type: "attempt.delivered", nowMs };
const disable: EndpointEvent = { type: "webhook.disabled", nowMs };
const enable: EndpointEvent = { type: "webhook.enabled", nowMs };

/** Returns the facts after the events. Events that the machine refuses change nothing. */
function factsAfter(policy: AutoDisable, ...events: readonly EndpointEvent[]) {
  const machine = createEndpointMachine(policy);
  let [snapshot] = initialTransition(machine, input);
  let taken = 0;
  for (const event of events) {
    const stored = JSON.parse(JSON.stringify({ value: snapshot.value, context: snapshot.context })) as {
      value: "healthy";
      context: EndpointContext;
    };
    snapshot = machine.resolveState(stored);
    if (!snapshot.can(event)) continue;
    taken += 1;
    [snapshot] = transition(machine, snapshot, event);
  }
  return { state: snapshot.value, context: JSON.parse(JSON.stringify(snapshot.context)) as EndpointContext, taken };
}

describe("endpoint", () => {
  test("[WH9] a failure is shown until the next success, and an identical repeat writes nothing", () => {
    expect(factsAfter(never, delivered, delivered)).toEqual({ state: "healthy", context: { webhookId: "whk_1" }, taken: 0 });
    expect(factsAfter(never, failed(500), failed(500, 1000), failed(500, 2000))).toEqual({
      state: "failing",
      context: { webhookId: "whk_1", firstFailureAtMs: nowMs, lastStatusCode: 500 },
      taken: 1,
    });
    expect(factsAfter(never, failed(500), failed(undefined, 1000))).toMatchObject({
      state: "failing",
      context: { firstFailureAtMs: nowMs },
      taken: 2,
    });
    expect(factsAfter(never, failed(500), delivered)).toEqual({ state: "healthy", context: { webhookId: "whk_1" }, taken: 2 });
  });

  test("[WH9] without the operator's policy, neither a 410 nor a long failure disables the webhook", () => {
    expect(factsAfter(never, failed(410), failed(500, 30 * dayMs)).state).toBe("failing");
  });

  test("[WH9] with the operator's policy, a 410 disables at once and failures do so after five days", () => {
    expect(factsAfter(gone, failed(410))).toMatchObject({ state: "disabled", context: { disabledReason: "gone" } });
    expect(factsAfter(gone, failed(500), failed(410, 1000))).toMatchObject({ state: "disabled", context: { disabledReason: "gone" } });
    expect(factsAfter(long, failed(410)).state).toBe("failing");
    expect(factsAfter(long, failed(500), failed(500, 5 * dayMs - 1)).state).toBe("failing");
    expect(factsAfter(long, failed(500), failed(500, 5 * dayMs))).toMatchObject({
      state: "disabled",
      context: { disabledReason: "failing" },
    });
    expect(factsAfter(long, failed(500), delivered, failed(500, 5 * dayMs)).state).toBe("failing");
  });

  test("[WH9] the owner disables and enables the webhook, and enabling clears the failure state", () => {
    expect(factsAfter(never, failed(500), disable)).toMatchObject({ state: "disabled", context: { disabledReason: "patch" } });
    expect(factsAfter(never, disable, failed(500), delivered)).toMatchObject({ state: "disabled", taken: 1 });
    expect(factsAfter(long, failed(500), failed(500, 6 * dayMs), enable)).toEqual({
      state: "healthy",
      context: { webhookId: "whk_1" },
      taken: 3,
    });
    expect(factsAfter(never, enable)).toMatchObject({ state: "healthy", taken: 0 });
  });
});
