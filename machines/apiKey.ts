/**
 * The states of an API key: active until it is revoked or its time passes; only then can it be removed.
 *
 * The machine reads and writes two fields of the key, when it expires and when it was revoked; whatever else
 * the record holds (name, scopes, hash) is carried through untouched. That a revoked key is refused on the next
 * request is not its affair: every request reads the record.
 */
import { assign, setup } from "xstate";
import { timer } from "./effect.ts";

/** The fields the machine works with; the record of identity has more. */
export interface ApiKeyTimes {
  /** Unix milliseconds; absent: never. */
  readonly expiresAtMs?: number;
  readonly revokedAtMs?: number;
}

export type ApiKeyEvent =
  | { readonly type: "key.revoke"; readonly nowMs: number }
  /** The time of `expiresAtMs` has come: sent by the machine's own timer, or by whoever sees it first. */
  | { readonly type: "key.expired"; readonly nowMs: number }
  | { readonly type: "key.delete"; readonly nowMs: number };

/** The birth of a key: the fields of the whole key, and the time. */
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
    isOver: ({ context, event }) => context.expiresAtMs !== undefined && context.expiresAtMs <= event.nowMs,
  },
}).createMachine({
  id: "apiKey",
  context: ({ input: { nowMs: _nowMs, ...key } }) => key,
  initial: "active",
  states: {
    active: {
      entry: {
        type: "timer",
        // Kept: renaming a key or using it must not save it from its end.
        params: ({ context: { expiresAtMs } }) =>
          expiresAtMs === undefined
            ? { name: "expiry", atMs: null }
            : { name: "expiry", atMs: expiresAtMs, event: { type: "key.expired" }, keep: true },
      },
      on: {
        "key.revoke": { target: "revoked", actions: "noteRevocation" },
        "key.expired": { target: "expired", guard: "isOver" },
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
