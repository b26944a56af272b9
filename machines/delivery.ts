/**
 * Delivery is the state machine of one event for one webhook, until it is delivered, skipped or out of attempts.
 *
 * The machine decides when the next attempt is due and when no attempt is left. It must not send requests, know secrets
 * or create random numbers: the result of an attempt arrives as an event, together with the jitter to use. An error of
 * this server (`deliver` throws) does not count as an attempt.
 */
import { assign, setup } from "xstate";
import { effect, timer } from "./effect.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** Delays in ms before the 1st, 2nd … attempt, each measured from the previous failure (Standard Webhooks). */
export const defaultDeliverySchedule: readonly number[] = [
  0,
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];

/** Largest jitter as a share of the delay. Jitter is only added, so no attempt is earlier than scheduled. */
const jitterShare = 0.2;

export interface DeliveryAttempt {
  /** Attempt number that the receiver saw. Attempts lost in a crash of the process leave a gap. */
  readonly n: number;
  readonly atMs: number;
  readonly durationMs: number;
  readonly statusCode?: number;
  /** Reason why there was no response. */
  readonly error?: string;
  readonly nextAttemptAtMs?: number;
}

/** Headers and response of the last attempt that sent a request. The request body is stored with the event. */
export interface DeliveryExchange {
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  /** First part of the response body as text. */
  readonly responseBody?: string;
}

export type SkipReason = "webhook_deleted" | "webhook_disabled" | "event_unsubscribed";

export interface DeliveryInput {
  readonly webhookId: string;
  readonly eventId: string;
  /** Name of the event. */
  readonly event: string;
  readonly createdAtMs: number;
}

export interface DeliveryContext extends DeliveryInput {
  readonly attempts: readonly DeliveryAttempt[];
  readonly exchange?: DeliveryExchange;
  /** Present while the machine waits for the next attempt. */
  readonly nextAttemptAtMs?: number | undefined;
  readonly skipReason?: SkipReason;
  /** Time after which the record may be deleted. Set when the delivery ends. */
  readonly expiresAtMs?: number;
}

interface AttemptMade {
  readonly attempt: Omit<DeliveryAttempt, "nextAttemptAtMs">;
  readonly exchange?: DeliveryExchange;
  readonly nowMs: number;
}

export type DeliveryEvent =
  | ({ readonly type: "attempt.delivered" } & AttemptMade)
  | ({
      readonly type: "attempt.failed";
      /** Part of the largest jitter to add, 0 to 1. */
      readonly jitter: number;
      /** Delay that the receiver requested with `Retry-After`. */
      readonly retryAfterMs?: number;
    } & AttemptMade)
  | { readonly type: "attempt.skipped"; readonly reason: SkipReason; readonly nowMs: number }
  | { readonly type: "retry.due"; readonly nowMs: number };

export interface DeliveryRules {
  /** Delays like `defaultDeliverySchedule`. The length is the number of attempts. */
  readonly scheduleMs: readonly number[];
  /** Upper limit for the `Retry-After` of a receiver. */
  readonly maxRetryAfterMs: number;
  /** Time that a delivery record is kept after the delivery has ended. */
  readonly keepMs: number;
}

/** Returns the due time of the attempt after `failures` failed attempts, or `undefined` if no attempt is left. */
export function nextAttemptAtMs(
  { scheduleMs, maxRetryAfterMs }: Pick<DeliveryRules, "scheduleMs" | "maxRetryAfterMs">,
  failures: number,
  { nowMs, jitter, retryAfterMs = 0 }: { readonly nowMs: number; readonly jitter: number; readonly retryAfterMs?: number },
): number | undefined {
  const waitMs = scheduleMs[failures];
  if (waitMs === undefined) return undefined;
  const jittered = waitMs * (1 + jitterShare * Math.min(Math.max(jitter, 0), 1));
  return Math.ceil(nowMs + Math.max(jittered, Math.min(retryAfterMs, maxRetryAfterMs)));
}

export function createDeliveryMachine(rules: DeliveryRules) {
  const firstWaitMs = rules.scheduleMs[0] ?? 0;
  const nextAfter = (context: DeliveryContext, event: Extract<DeliveryEvent, { type: "attempt.failed" }>) =>
    nextAttemptAtMs(rules, context.attempts.length + 1, event);

  return setup({
    types: {
      context: {} as DeliveryContext,
      events: {} as DeliveryEvent,
      input: {} as DeliveryInput & { readonly nowMs: number },
    },
    actions: {
      deliver: effect<null>(),
      timer,
      keepAttempt: assign(({ context, event }) => {
        if (event.type !== "attempt.delivered" && event.type !== "attempt.failed") return {};
        const next = event.type === "attempt.failed" ? nextAfter(context, event) : undefined;
        const attempt = { ...event.attempt, ...(next === undefined ? {} : { nextAttemptAtMs: next }) };
        return {
          attempts: [...context.attempts, attempt],
          nextAttemptAtMs: next,
          ...(event.exchange === undefined ? {} : { exchange: event.exchange }),
        };
      }),
      keepReason: assign(({ event }) => (event.type === "attempt.skipped" ? { skipReason: event.reason } : {})),
      setExpiry: assign(({ event }) => ({ expiresAtMs: event.nowMs + rules.keepMs })),
    },
    guards: {
      attemptIsLeft: ({ context, event }) => event.type === "attempt.failed" && nextAfter(context, event) !== undefined,
    },
  }).createMachine({
    id: "delivery",
    context: ({ input: { nowMs, ...input } }) => ({
      ...input,
      attempts: [],
      ...(firstWaitMs > 0 ? { nextAttemptAtMs: nowMs + firstWaitMs } : {}),
    }),
    initial: firstWaitMs > 0 ? "waiting" : "queued",
    states: {
      queued: {
        description: "The first attempt is due.",
        entry: { type: "deliver", params: null },
        on: {
          "attempt.delivered": { target: "delivered", actions: "keepAttempt" },
          "attempt.failed": [
            { guard: "attemptIsLeft", target: "waiting", actions: "keepAttempt" },
            { target: "dead", actions: "keepAttempt" },
          ],
          "attempt.skipped": { target: "skipped", actions: "keepReason" },
        },
      },
      waiting: {
        description: "The last attempt failed; the next attempt is scheduled.",
        entry: {
          type: "timer",
          params: ({ context }) => ({ name: "retry", atMs: context.nextAttemptAtMs ?? 0, event: { type: "retry.due" } }),
        },
        on: { "retry.due": "sending" },
      },
      sending: {
        description: "A retry is due.",
        entry: { type: "deliver", params: null },
        on: {
          "attempt.delivered": { target: "delivered", actions: "keepAttempt" },
          "attempt.failed": [
            { guard: "attemptIsLeft", target: "waiting", actions: "keepAttempt" },
            { target: "dead", actions: "keepAttempt" },
          ],
          "attempt.skipped": { target: "skipped", actions: "keepReason" },
        },
      },
      delivered: { type: "final", entry: "setExpiry" },
      dead: { type: "final", entry: "setExpiry" },
      skipped: { type: "final", entry: "setExpiry" },
    },
  });
}
