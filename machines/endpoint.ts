/**
 * How a webhook's endpoint fares: facts for its health, gathered from the attempts made to it.
 *
 * Whether the webhook is active is its owner's decision and stands in the webhook's own record. Only where the
 * operator has set so does a long failure, or the answer 410, disable it from here. Outcomes that say nothing new
 * are not taken, so a healthy endpoint costs no write.
 */
import { assign, setup } from "xstate";

/** When the operator lets the server disable a webhook (`WEBHOOK_AUTO_DISABLE`); by default never. */
export interface AutoDisable {
  /** An answer 410 disables. */
  readonly onGone: boolean;
  /** Failing for so long without a success disables. */
  readonly afterFailingMs?: number;
}

export type DisabledReason = "patch" | "gone" | "failing";

export interface EndpointContext {
  readonly webhookId: string;
  /** While failing, and once disabled for it. */
  readonly firstFailureAtMs?: number | undefined;
  /** Answer of the latest failed attempt; absent when there was none. */
  readonly lastStatusCode?: number | undefined;
  readonly disabledReason?: DisabledReason | undefined;
}

export type EndpointEvent =
  | { readonly type: "attempt.delivered"; readonly nowMs: number }
  | { readonly type: "attempt.failed"; readonly statusCode?: number | undefined; readonly nowMs: number }
  /** The owner's decision. */
  | { readonly type: "webhook.disabled"; readonly nowMs: number }
  | { readonly type: "webhook.enabled"; readonly nowMs: number };

/** Why this failure disables the webhook; `undefined` when it does not. */
function policyFor({ onGone, afterFailingMs }: AutoDisable, context: EndpointContext, event: EndpointEvent): DisabledReason | undefined {
  if (event.type !== "attempt.failed") return undefined;
  if (onGone && event.statusCode === 410) return "gone";
  if (afterFailingMs === undefined || context.firstFailureAtMs === undefined) return undefined;
  return event.nowMs - context.firstFailureAtMs >= afterFailingMs ? "failing" : undefined;
}

export function createEndpointMachine(autoDisable: AutoDisable) {
  return setup({
    types: {
      context: {} as EndpointContext,
      events: {} as EndpointEvent,
      input: {} as { readonly webhookId: string; readonly nowMs: number },
    },
    actions: {
      keepFailure: assign(({ context, event }) => ({
        firstFailureAtMs: context.firstFailureAtMs ?? event.nowMs,
        lastStatusCode: event.type === "attempt.failed" ? event.statusCode : undefined,
      })),
      keepPolicy: assign(({ context, event }) => ({ disabledReason: policyFor(autoDisable, context, event) })),
      keepDecision: assign({ disabledReason: "patch" }),
      forget: assign({ firstFailureAtMs: undefined, lastStatusCode: undefined, disabledReason: undefined }),
    },
    guards: {
      policyDisables: ({ context, event }) => policyFor(autoDisable, context, event) !== undefined,
      saysMore: ({ context, event }) => event.type === "attempt.failed" && event.statusCode !== context.lastStatusCode,
    },
  }).createMachine({
    id: "endpoint",
    context: ({ input }) => ({ webhookId: input.webhookId }),
    initial: "healthy",
    states: {
      healthy: {
        on: {
          "attempt.failed": [
            { guard: "policyDisables", target: "disabled", actions: ["keepFailure", "keepPolicy"] },
            { target: "failing", actions: "keepFailure" },
          ],
          "webhook.disabled": { target: "disabled", actions: "keepDecision" },
        },
      },
      failing: {
        description: "The latest attempt failed.",
        on: {
          "attempt.delivered": { target: "healthy", actions: "forget" },
          "attempt.failed": [
            { guard: "policyDisables", target: "disabled", actions: ["keepFailure", "keepPolicy"] },
            { guard: "saysMore", actions: "keepFailure" },
          ],
          "webhook.disabled": { target: "disabled", actions: "keepDecision" },
        },
      },
      disabled: {
        description: "The webhook is not active; nothing is sent.",
        on: { "webhook.enabled": { target: "healthy", actions: "forget" } },
      },
    },
  });
}
