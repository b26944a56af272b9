/**
 * ApiKey is the state machine of an API key: active until it is revoked or expires. Only then can it be removed.
 *
 * The machine uses only two fields of the record, `expiresAtMs` and `revokedAtMs`, and keeps all others (name, scopes,
 * hash) unchanged. It must not refuse requests: each request reads the record, so a revoked key is refused at once.
 */
import { assign, setup } from "xstate";
import { timer } from "./effect.ts";

/** The fields that the machine uses. The key record in identity has more fields. */
export interface ApiKeyTimes {
  /** Unix milliseconds. If absent, the key never expires. */
  readonly expiresAtMs?: number;
  readonly revokedAtMs?: number;
}

export type ApiKeyEvent =
  | { readonly type: "key.revoke"; readonly nowMs: number }
  /** `expiresAtMs` has passed. The timer of the machine sends it, or any caller that notices the expiry first. */
  | { readonly type: "key.expired"; readonly nowMs: number }
  | { readonly type: "key.delete"; readonly nowMs: number };

/** Input of a new key: its fields and the current time. */
export interface ApiKeyInput extends ApiKeyTimes {
  readonly nowMs: number;
}

export const apiKeyCommands = ["key.revoke", "key.delete"] as const;

export const apiKeyMachine = setup({
  types: { context: {} as ApiKeyTimes, events: {} as ApiKeyEvent, input: {} as ApiKeyInput, tags: {} as "removed" },
  actions: {
    timer,
    noteRevocation: assign({ revokedAtMs: ({ event }) => event.nowMs }),
  },
  guards: {
    hasExpired: ({ context, event }) => context.expiresAtMs !== undefined && context.expiresAtMs <= event.nowMs,
  },
}).createMachine({
  id: "apiKey",
  context: ({ input: { nowMs: _nowMs, ...key } }) => key,
  initial: "active",
  states: {
    active: {
      entry: {
        type: "timer",
        // `keep`: other events (a rename, a use) must not cancel the expiry.
        params: ({ context: { expiresAtMs } }) =>
          expiresAtMs === undefined
            ? { name: "expiry", atMs: null }
            : { name: "expiry", atMs: expiresAtMs, event: { type: "key.expired" }, keep: true },
      },
      on: {
        "key.revoke": { target: "revoked", actions: "noteRevocation" },
        "key.expired": { target: "expired", guard: "hasExpired" },
      },
    },
    revoked: {
      entry: { type: "timer", params: { name: "expiry", atMs: null } },
      on: { "key.delete": "removed" },
    },
    expired: { on: { "key.delete": "removed" } },
    removed: { tags: "removed" },
  },
});
