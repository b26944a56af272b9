import { expect, test } from "vitest";
import { type ApiKeyEvent, type ApiKeyTimes, apiKeyCommands, apiKeyMachine } from "../../machines/apiKey.ts";
import { decideCreation, decideEvent } from "../../server/platform/actors/decide.ts";
import type { ActorKind, ActorRecord } from "../../server/platform/actors/port.ts";
import { defineRecord } from "../../server/platform/storage/recordType.ts";
import { walkMachine } from "../support/walkMachine.ts";

const startMs = 1_800_000_000_000;
const kind: ActorKind<ApiKeyTimes, ApiKeyEvent> = {
  name: "apiKey",
  machine: apiKeyMachine,
  machineVersion: 1,
  record: defineRecord<ActorRecord<ApiKeyTimes>>({ name: "walkedKey", version: 1, partitionOf: () => 0, keyOf: (value) => value.id }),
  effects: [],
  commands: apiKeyCommands,
};

test("[AC14] on every path, an API key is revoked or expired before it can be removed", () => {
  const moves = new Set<string>();
  const walk = walkMachine<ApiKeyTimes, ApiKeyEvent>({
    kind,
    inputs: [{ nowMs: startMs }, { nowMs: startMs, expiresAtMs: startMs + 1000 }],
    events: () => [
      { type: "key.revoke", nowMs: startMs + 10 },
      { type: "key.expired", nowMs: startMs + 999 },
      { type: "key.expired", nowMs: startMs + 1000 },
      { type: "key.delete", nowMs: startMs + 2000 },
    ],
    facts: (context) => context,
    check({ before, event, after }) {
      moves.add(`${before.state} ${event.type} ${after.state}`);
      if (after.state === "revoked") expect(after.context.revokedAtMs).toBe(event.nowMs);
    },
  });
  expect([...moves].sort()).toEqual([
    "active key.expired expired",
    "active key.revoke revoked",
    "expired key.delete removed",
    "revoked key.delete removed",
  ]);
  expect(walk.unreachedStates).toEqual([]);
  expect(walk.untakenTransitions).toEqual([]);
  expect([...walk.refusals].sort()).toEqual([
    "active key.delete",
    "expired key.revoke",
    "removed key.delete",
    "removed key.revoke",
    "revoked key.revoke",
  ]);
});

test("[AC14] a key with an expiry has one timer for it, which only revoking cancels", () => {
  const turn = { nowMs: startMs, leaseMs: 5000 };
  const born = decideCreation<ApiKeyTimes>(kind, "k", { expiresAtMs: startMs + 1000, name: "robot" }, turn);
  expect(born.next).toMatchObject({
    state: "active",
    context: { expiresAtMs: startMs + 1000, name: "robot" },
    timers: { expiry: { keep: true } },
  });
  expect(born.next.context).not.toHaveProperty("nowMs");
  expect(born.due).toMatchObject([{ op: "schedule", row: { dueAtMs: startMs + 1000, payload: { event: { type: "key.expired" } } } }]);
  const revoked = decideEvent(kind, born.next, { type: "key.revoke" }, undefined, turn);
  expect(revoked?.next.timers).toEqual({});
  expect(revoked?.due).toEqual([{ op: "cancel", id: born.next.timers.expiry?.row }]);
  const endless = decideCreation<ApiKeyTimes>(kind, "k", {}, turn);
  expect(endless.due).toEqual([]);
  const removed = decideEvent(kind, revoked?.next ?? born.next, { type: "key.delete" }, undefined, turn);
  expect(removed?.removed).toBe(true);
});
