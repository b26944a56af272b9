/**
 * Endpoint is the state machine for the health of a webhook endpoint, derived from the results of its deliveries.
 *
 * The owner decides whether the webhook is active; that decision is stored in the webhook record. This machine disables
 * a webhook only if the operator has enabled it: after a long failure or after status 410. Results that change nothing
 * are not accepted, so a healthy endpoint causes no writes.
 */
import { assign, setup } from "xstate";

/** Conditions under which the server disables a webhook (`WEBHOOK_AUTO_DISABLE`). The default is never. */
export interface AutoDisable {
  /** A response with status 410 disables the webhook. */
  readonly onGone: boolean;
  /** Failures for this time without a success disable the webhook. */
  readonly afterFailingMs?: number;
}

export type DisabledReason = "patch" | "gone" | "failing";

export interface EndpointContext {
  readonly webhookId: string;
  /** Start of the current series of failures. Kept when the failures have disabled the webhook. */
  readonly firstFailureAtMs?: number | undefined;
  /** Status of the last stored failed attempt. Absent if it got no response. */
  readonly lastStatusCode?: number | undefined;
  readonly disabledReason?: DisabledReason | undefined;
}

export type EndpointEvent =
  | { readonly type: "attempt.delivered"; readonly nowMs: number }
  | { readonly type: "attempt.failed"; readonly statusCode?: number | undefined; readonly nowMs: number }
  /** The owner disabled the webhook. */
  | { readonly type: "webhook.disabled"; readonly nowMs: number }
  | { readonly type: "webhook.enabled"; readonly nowMs: number };

/** Returns the reason why this failure disables the webhook, or `undefined` if it does not. */
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
      statusChanged: ({ context, event }) => event.type === "attempt.failed" && event.statusCode !== context.lastStatusCode,
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
            { guard: "statusChanged", actions: "keepFailure" },
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
