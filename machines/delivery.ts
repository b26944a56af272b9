/**
 * One delivery: one event on its way to one webhook, until it is delivered, skipped, or out of attempts.
 *
 * The machine decides when the next attempt is due and when there is none; it makes no request, knows no secret
 * and draws no random number: an attempt's outcome comes in as an event, with the jitter to use. Trouble of the
 * server's own (`deliver` throws) is no attempt and costs none.
 */
import { assign, setup } from "xstate";
import { effect, timer } from "./effect.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** Waits before the 1st, 2nd … attempt, each counted from the failure before it (Standard Webhooks). */
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

/** Only added: no attempt comes earlier than the schedule says. */
const jitterShare = 0.2;

export interface DeliveryAttempt {
  /** Number of the attempt as the receiver saw it; attempts that died with their process leave a gap. */
  readonly n: number;
  readonly atMs: number;
  readonly durationMs: number;
  readonly statusCode?: number;
  /** Why there was no answer. */
  readonly error?: string;
  readonly nextAttemptAtMs?: number;
}

/** What went over the wire in the last attempt that got as far as a request; the body is that of the event. */
export interface DeliveryExchange {
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  /** Its start, as text. */
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
  /** While waiting. */
  readonly nextAttemptAtMs?: number | undefined;
  readonly skipReason?: SkipReason;
  /** When the record may go; set once nothing can happen any more. */
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
      /** 0 … 1: how much of the jitter to add. */
      readonly jitter: number;
      /** The receiver asked for so long a pause. */
      readonly retryAfterMs?: number;
    } & AttemptMade)
  | { readonly type: "attempt.skipped"; readonly reason: SkipReason; readonly nowMs: number }
  | { readonly type: "retry.due"; readonly nowMs: number };

export interface DeliveryRules {
  /** As `defaultDeliverySchedule`; its length is the number of attempts. */
  readonly scheduleMs: readonly number[];
  /** A receiver's `Retry-After` counts up to here. */
  readonly maxRetryAfterMs: number;
  /** How long a delivery is kept after its end. */
  readonly keepMs: number;
}

/** When the attempt after `failures` failed ones is due; `undefined` when there is none left. */
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
      letExpire: assign(({ event }) => ({ expiresAtMs: event.nowMs + rules.keepMs })),
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
        description: "The first attempt is about to be made.",
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
        description: "The last attempt failed; the next one has its time.",
        entry: {
          type: "timer",
          params: ({ context }) => ({ name: "retry", atMs: context.nextAttemptAtMs ?? 0, event: { type: "retry.due" } }),
        },
        on: { "retry.due": "sending" },
      },
      sending: {
        description: "A further attempt is about to be made.",
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
      delivered: { type: "final", entry: "letExpire" },
      dead: { type: "final", entry: "letExpire" },
      skipped: { type: "final", entry: "letExpire" },
    },
  });
}
