import { describe, expect, test } from "vitest";
import {
  type FrozenContent,
  type PublicLinkContext,
  type PublicLinkEvent,
  publicLinkCommands,
  publicLinkMachine,
  syncPauseMs,
} from "../../machines/publicLink.ts";
import { decideCreation, decideEvent } from "../../server/platform/actors/decide.ts";
import type { ActorKind, ActorRecord } from "../../server/platform/actors/port.ts";
import { defineRecord } from "../../server/platform/storage/recordType.ts";
import { walkMachine } from "../support/walkMachine.ts";

const startMs = 1_800_000_000_000;
const kind: ActorKind<PublicLinkContext, PublicLinkEvent> = {
  name: "publicLink",
  machine: publicLinkMachine,
  machineVersion: 1,
  record: defineRecord<ActorRecord<PublicLinkContext>>({
    name: "walkedLink",
    version: 1,
    partitionOf: () => 0,
    keyOf: (value) => value.id,
  }),
  effects: ["sync"],
  facts: { shown: () => {}, hidden: () => {} },
  commands: publicLinkCommands,
};
const toContent = (revision: number): FrozenContent => ({ revision, contentHash: "0".repeat(64), bytes: 0, title: "A title" });
const input = { nowMs: startMs, articleId: "a", workspaceId: "w", slug: "s", indexable: false, by: "ann", content: toContent(1) };

describe("all paths", () => {
  const moves = new Set<string>();
  const name = (state: unknown) => (typeof state === "string" ? state : `live.${(state as { live: string }).live}`);
  const walk = walkMachine<PublicLinkContext, PublicLinkEvent>({
    kind,
    inputs: [
      { ...input, mode: "live" },
      { ...input, mode: "snapshot" },
      // Already over, so that a request which does not renew the link leaves it expired.
      { ...input, mode: "live", expiresAtMs: startMs },
    ],
    events({ sync }) {
      const soonMs = sync.startedAtMs + 1;
      const laterMs = sync.startedAtMs + syncPauseMs;
      return [
        { type: "link.makeLive", content: toContent(2), settings: {}, by: "ben", nowMs: soonMs },
        { type: "link.makeSnapshot", content: toContent(2), settings: {}, by: "ben", nowMs: soonMs },
        { type: "link.change", settings: { indexable: true }, nowMs: soonMs },
        { type: "link.change", settings: { expiresAtMs: undefined }, nowMs: soonMs },
        { type: "link.makeLive", content: toContent(2), settings: { expiresAtMs: undefined }, by: "ben", nowMs: soonMs },
        { type: "link.makeSnapshot", content: toContent(2), settings: { expiresAtMs: undefined }, by: "ben", nowMs: soonMs },
        { type: "expiry.due", nowMs: soonMs },
        { type: "link.refresh", content: toContent(2), nowMs: soonMs },
        { type: "link.sync", nowMs: soonMs },
        { type: "link.unpublish", nowMs: soonMs },
        { type: "article.edited", revision: 3, nowMs: soonMs },
        { type: "article.edited", revision: 3, nowMs: laterMs },
        { type: "pause.over", nowMs: laterMs },
        { type: "retry.due", nowMs: laterMs },
        { type: "sync.succeeded", round: sync.round, content: toContent(3), nowMs: soonMs },
        { type: "sync.succeeded", round: sync.round, content: toContent(3), nowMs: laterMs },
        { type: "sync.succeeded", round: sync.round - 1, content: toContent(3), nowMs: soonMs },
        { type: "sync.failed", round: sync.round, reason: "no", jitter: 0, nowMs: soonMs },
        { type: "sync.failed", round: sync.round - 1, reason: "no", jitter: 0, nowMs: soonMs },
      ];
    },
    facts: ({ sync, content, snapshotAtMs, expiresAtMs }) => [
      ...[sync.stale, sync.attempts, content === undefined],
      ...[snapshotAtMs === undefined, expiresAtMs === undefined],
    ],
    check: ({ before, event, after }) => moves.add(`${name(before.state)} ${event.type} ${name(after.state)}`),
  });

  test("[AC15] the paths reach every state and take every declared transition", () => {
    expect(walk.unreachedStates).toEqual(["publishing"]);
    expect(walk.untakenTransitions).toEqual([]);
    expect(walk.paths).toBeGreaterThan(30);
  });

  test("[AC15] the mode of a public link moves only as declared", () => {
    const modes = [...moves]
      .map((move) => move.split(" ").map((word) => word.replace(/^live\..*/, "live")))
      .filter(([from, , to]) => from !== to);
    expect([...new Set(modes.map((move) => move.join(" ")))].sort()).toEqual([
      "expired link.change snapshot",
      "expired link.makeLive live",
      "expired link.makeSnapshot snapshot",
      "expired link.unpublish unpublished",
      "live expiry.due expired",
      "live link.makeSnapshot snapshot",
      "live link.unpublish unpublished",
      "snapshot expiry.due expired",
      "snapshot link.makeLive live",
      "snapshot link.unpublish unpublished",
      "unpublished link.makeLive live",
      "unpublished link.makeSnapshot snapshot",
    ]);
  });

  test("[AC15] the synchronization of a Live link moves only as declared", () => {
    const within = [...moves].filter((move) => /^live\.\w+ \S+ live\./.test(move) && !move.includes("link.change"));
    expect(within.map((move) => move.replaceAll("live.", "")).sort()).toEqual([
      "failed article.edited pending",
      "failed link.sync syncing",
      "pending article.edited pending",
      "pending pause.over syncing",
      "retrying article.edited retrying",
      "retrying link.sync syncing",
      "retrying retry.due syncing",
      "synced article.edited pending",
      "synced article.edited syncing",
      "syncing article.edited syncing",
      "syncing sync.failed failed",
      "syncing sync.failed pending",
      "syncing sync.failed retrying",
      "syncing sync.succeeded pending",
      "syncing sync.succeeded synced",
      "syncing sync.succeeded syncing",
    ]);
  });
});

function createLink() {
  let record = decideCreation<PublicLinkContext>(kind, "link", { ...input, mode: "live" }, { nowMs: startMs, leaseMs: 5000 }).next;
  return {
    get record() {
      return record;
    },
    get sync() {
      return record.context.sync;
    },
    get state() {
      return typeof record.state === "string" ? record.state : (record.state as { live: string }).live;
    },
    send(event: PublicLinkEvent) {
      const decided = decideEvent<PublicLinkContext>(kind, record, event, undefined, {
        nowMs: event.nowMs,
        leaseMs: 5000,
      });
      if (decided !== undefined) record = decided.next;
      return decided;
    },
  };
}

test("[PL27] an expired link is public again only with a time in the future or with none", () => {
  const link = createLink();
  const atMs = startMs + 60_000;
  link.send({ type: "link.change", settings: { expiresAtMs: atMs }, nowMs: startMs + 1 });
  expect(link.record.timers).toHaveProperty("expiry");
  link.send({ type: "expiry.due", nowMs: atMs });
  expect([link.state, link.record.timers, link.record.context.content?.revision]).toEqual(["expired", {}, 1]);
  // A mode or a setting may change without the page becoming public.
  link.send({ type: "link.makeSnapshot", content: toContent(2), settings: {}, by: "ann", nowMs: atMs + 1 });
  link.send({ type: "link.change", settings: { indexable: true, expiresAtMs: atMs + 1 }, nowMs: atMs + 2 });
  expect(link.state).toBe("expired");
  expect(link.send({ type: "article.edited", revision: 3, nowMs: atMs + 3 })).toBeUndefined();
  link.send({ type: "link.change", settings: { expiresAtMs: atMs + 60_000 }, nowMs: atMs + 4 });
  expect([link.state, link.record.context.content?.revision, link.record.context.snapshotAtMs]).toEqual(["snapshot", 2, atMs + 1]);
  link.send({ type: "expiry.due", nowMs: atMs + 60_000 });
  const settings = { expiresAtMs: undefined };
  link.send({ type: "link.makeLive", content: toContent(4), settings, by: "ann", nowMs: atMs + 60_001 });
  expect([link.state, link.record.context.content?.revision, link.record.timers]).toEqual(["synced", 4, {}]);
});

test("[PL75] a synchronization that finds the published text again keeps the date of the link", () => {
  const link = createLink();
  const kept = toContent(1).contentHash;
  for (const [revision, contentHash, updatedAtMs] of [
    [2, kept, startMs],
    [3, "b", startMs + 30_000],
    [4, "b", startMs + 30_000],
  ] as const) {
    const nowMs = startMs + (revision - 1) * 15_000;
    link.send({ type: "article.edited", revision, nowMs });
    link.send({ type: "sync.succeeded", round: link.sync.round, content: { ...toContent(revision), contentHash }, nowMs });
    expect([link.record.context.content?.revision, link.record.context.updatedAtMs]).toEqual([revision, updatedAtMs]);
  }
});

test("[AC15] failures are retried after 5 s, 30 s, 2, 10 and 30 min plus jitter, then given up", () => {
  const link = createLink();
  let nowMs = startMs + 10_000;
  link.send({ type: "article.edited", revision: 2, nowMs });
  for (const [at, waitMs] of [5000, 30_000, 120_000, 600_000, 1_800_000].entries()) {
    const jitter = at / 5;
    link.send({ type: "sync.failed", round: link.sync.round, reason: "unreachable", jitter, nowMs });
    expect(link.state).toBe("retrying");
    const nextRetryAtMs = nowMs + waitMs * (1 + 0.2 * jitter);
    expect(link.sync).toMatchObject({ attempts: at + 1, lastError: "unreachable", nextRetryAtMs });
    nowMs = nextRetryAtMs;
    const retried = link.send({ type: "retry.due", nowMs });
    expect(retried?.next.pending.at(-1)).toMatchObject({ effect: "sync", params: { round: link.sync.round } });
    expect(link.sync).not.toHaveProperty("nextRetryAtMs");
  }
  link.send({ type: "sync.failed", round: link.sync.round, reason: "unreachable", jitter: 1, nowMs });
  expect([link.state, link.sync.attempts]).toEqual(["failed", 6]);
  link.send({ type: "link.sync", nowMs });
  expect([link.state, link.sync.attempts]).toEqual(["syncing", 0]);
  link.send({ type: "sync.succeeded", round: link.sync.round, content: toContent(2), nowMs });
  expect(link.sync).not.toHaveProperty("lastError");
  expect([link.state, link.record.context.content?.revision]).toEqual(["synced", 2]);
});

/** Fails every attempt of a series. During the last attempt an edit arrives, and the attempt ends in `edited`. */
function failSeries(link: ReturnType<typeof createLink>, beginMs: number, edited?: { readonly revision: number }): number {
  let nowMs = beginMs;
  for (let attempt = 1; attempt <= 6; attempt += 1) {
    if (attempt === 6 && edited !== undefined) link.send({ type: "article.edited", revision: edited.revision, nowMs });
    link.send({ type: "sync.failed", round: link.sync.round, reason: "unreachable", jitter: 0, nowMs });
    if (link.sync.nextRetryAtMs === undefined) break;
    nowMs = link.sync.nextRetryAtMs;
    link.send({ type: "retry.due", nowMs });
  }
  return nowMs;
}

test("[PL19] an edit after the last failed attempt begins a new series of attempts", () => {
  const link = createLink();
  link.send({ type: "article.edited", revision: 2, nowMs: startMs + 10_000 });
  const failedAtMs = failSeries(link, startMs + 10_000);
  expect([link.state, link.sync.attempts]).toEqual(["failed", 6]);
  link.send({ type: "article.edited", revision: 3, nowMs: failedAtMs + 5000 });
  expect([link.state, link.sync.attempts, link.sync.sourceRevision]).toEqual(["pending", 0, 3]);
  expect(link.record.timers).toHaveProperty("pause");
  link.send({ type: "pause.over", nowMs: failedAtMs + 5000 });
  link.send({ type: "sync.failed", round: link.sync.round, reason: "unreachable", jitter: 0, nowMs: failedAtMs + 5001 });
  expect([link.state, link.sync.attempts, link.sync.nextRetryAtMs]).toEqual(["retrying", 1, failedAtMs + 10_001]);
});

test("[PL19] an edit during the last attempt is followed even if that attempt fails", () => {
  const link = createLink();
  link.send({ type: "article.edited", revision: 2, nowMs: startMs + 10_000 });
  const failedAtMs = failSeries(link, startMs + 10_000, { revision: 3 });
  expect([link.state, link.sync.attempts, link.sync.lastError]).toEqual(["pending", 0, "unreachable"]);
  link.send({ type: "pause.over", nowMs: failedAtMs + syncPauseMs });
  link.send({ type: "sync.succeeded", round: link.sync.round, content: toContent(3), nowMs: failedAtMs + syncPauseMs + 10 });
  expect([link.state, link.record.context.content?.revision]).toEqual(["synced", 3]);
  expect(link.sync).not.toHaveProperty("lastError");
});

test("[AC15] the first edit syncs at once, later edits at most once a second, and none is lost", () => {
  const link = createLink();
  const firstMs = startMs + 5000;
  link.send({ type: "article.edited", revision: 2, nowMs: firstMs });
  expect(link.state).toBe("syncing");
  link.send({ type: "article.edited", revision: 3, nowMs: firstMs + 1 });
  link.send({ type: "sync.succeeded", round: 1, content: toContent(2), nowMs: firstMs + 10 });
  expect(link.state).toBe("pending");
  expect(link.record.timers).toHaveProperty("pause");
  link.send({ type: "pause.over", nowMs: firstMs + syncPauseMs });
  expect([link.state, link.sync.round]).toEqual(["syncing", 2]);
  expect(link.record.timers).toEqual({});
  link.send({ type: "sync.succeeded", round: 2, content: toContent(3), nowMs: firstMs + syncPauseMs + 10 });
  expect(link.state).toBe("synced");
  link.send({ type: "article.edited", revision: 4, nowMs: firstMs + syncPauseMs + 20 });
  expect([link.state, link.sync.sourceRevision]).toEqual(["pending", 4]);
});

test("[AC15] a synchronization result that was overtaken by a change of mode changes nothing", () => {
  const link = createLink();
  const nowMs = startMs + 5000;
  link.send({ type: "article.edited", revision: 2, nowMs });
  link.send({ type: "link.makeSnapshot", content: toContent(3), settings: {}, by: "ann", nowMs });
  expect(link.send({ type: "sync.succeeded", round: 1, content: toContent(2), nowMs })).toBeUndefined();
  link.send({ type: "link.makeLive", content: toContent(4), settings: {}, by: "ann", nowMs });
  expect(link.record.context).not.toHaveProperty("snapshotAtMs", expect.anything());
  link.send({ type: "article.edited", revision: 5, nowMs: nowMs + syncPauseMs });
  expect(link.send({ type: "sync.succeeded", round: 1, content: toContent(2), nowMs })).toBeUndefined();
  expect(link.record.context.content?.revision).toBe(4);
  link.send({ type: "link.unpublish", nowMs });
  expect(link.record.context.content).toBeUndefined();
  expect(link.send({ type: "sync.succeeded", round: 2, content: toContent(5), nowMs })).toBeUndefined();
});
