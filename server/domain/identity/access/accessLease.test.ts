import { expect, test } from "vitest";
import { createManualTime } from "../../../../test/support/manualTime.ts";
import type { Access, Principal } from "../../call/call.ts";
import type { AccessFact } from "./accessFacts.ts";
import { createAccessLeases, type LeaseEnd, type ProvenAccess } from "./accessLease.ts";

const dayMs = 24 * 60 * 60 * 1000;
const workspaceId = "ws_one";
const account = { accountId: "usr_ana", username: "ana", operator: false } as const;
const session: Principal = { kind: "session", ...account, sessionId: "ses_1" };
const keyOf = (expiresAtMs?: number): Principal => ({
  kind: "key",
  ...account,
  keyId: "key_1",
  ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
});
const accessOf = (role: Access["role"]): Access => ({ workspaceId, partition: 5, role });
const joined: AccessFact = { kind: "membership.changed", workspaceId, accountId: "usr_ana" };

/** Leases whose access checks are answered by the test, in any order. */
function createRig() {
  const time = createManualTime();
  let publish: (fact: AccessFact) => void = () => {};
  let miss = () => {};
  let isSubscribed = true;
  const reviews: { found(access: Access | undefined): Promise<void>; failed(error: Error): Promise<void> }[] = [];
  const settle = () => time.advance(0);
  const leases = createAccessLeases({
    clock: time,
    access: {
      resolve: () =>
        new Promise((resolve, reject) => {
          reviews.push({
            found(access) {
              resolve(access);
              return settle();
            },
            failed(error) {
              reject(error);
              return settle();
            },
          });
        }),
    },
    accessWatch: {
      subscribe(listener, missed = () => {}) {
        publish = listener;
        miss = missed;
        return () => {
          isSubscribed = false;
        };
      },
    },
  });
  return {
    time,
    leases,
    reviews,
    publish: (fact: AccessFact) => publish(fact),
    miss: () => miss(),
    isSubscribed: () => isSubscribed,
    take(kind: "article" | "workspace" | "run" = "article", id = "art_one") {
      const changes: ProvenAccess[] = [];
      const ends: LeaseEnd[] = [];
      const lease = leases.take({ kind, id }, { changed: (proven) => changes.push(proven), ended: (end) => ends.push(end) });
      return { lease, changes, ends };
    },
    held(principal: Principal, kind?: "article" | "workspace" | "run") {
      const taken = this.take(kind);
      taken.lease.begin();
      taken.lease.hold({ principal, access: accessOf("write") });
      return taken;
    },
  };
}

const losses: readonly [Principal, AccessFact, LeaseEnd["reason"]][] = [
  [keyOf(), { kind: "key.revoked", keyId: "key_1" }, "key_revoked"],
  [session, { kind: "session.ended", sessionId: "ses_1" }, "session_ended"],
  [session, { kind: "account.disabled", accountId: "usr_ana" }, "account_disabled"],
  [keyOf(), { kind: "account.disabled", accountId: "usr_ana" }, "account_disabled"],
  [session, { kind: "article.deleted", articleId: "art_one" }, "article_deleted"],
];

test("[AU60] a lease ends once, with the reason of the fact that took its access away", () => {
  for (const [principal, fact, reason] of losses) {
    const rig = createRig();
    const { ends } = rig.held(principal);
    rig.publish(fact);
    rig.publish(fact);
    rig.miss();
    expect(ends, fact.kind).toEqual([{ reason }]);
  }
});

test("[AU60] facts about others end no lease and cause no review", () => {
  const rig = createRig();
  const held = [rig.held(keyOf()), rig.held(session), rig.held(session, "run")];
  for (const fact of [
    { kind: "key.revoked", keyId: "ses_1" },
    { kind: "key.revoked", keyId: "key_2" },
    { kind: "session.ended", sessionId: "key_1" },
    { kind: "account.disabled", accountId: "usr_ben" },
    { kind: "account.renamed", accountId: "usr_ben", displayName: "Ben" },
    { kind: "membership.changed", workspaceId, accountId: "usr_ben" },
    { kind: "membership.changed", workspaceId: "ws_two", accountId: "usr_ana" },
    { kind: "article.deleted", articleId: "art_two" },
    { kind: "link.unpublished", slug: "art_one" },
  ] as const) {
    rig.publish(fact);
  }
  expect(held.map(({ ends, changes }) => [ends, changes])).toEqual(held.map(() => [[], []]));
  expect(rig.reviews).toHaveLength(0);
});

test("[AU60] a deleted article ends only the leases of that article, not one of a run with its id", () => {
  const rig = createRig();
  const { ends } = rig.held(session, "run");
  rig.publish({ kind: "article.deleted", articleId: "art_one" });
  expect(ends).toEqual([]);
});

test("[AU60] a key's lease ends at its expiry, also when that is later than the longest timer", async () => {
  const rig = createRig();
  const soon = rig.held(keyOf(rig.time.now() + 1000));
  const late = rig.held(keyOf(rig.time.now() + 40 * dayMs));
  const expired = rig.held(keyOf(rig.time.now()));
  expect(expired.ends).toEqual([{ reason: "key_expired" }]);
  await rig.time.advance(999);
  expect(soon.ends).toEqual([]);
  await rig.time.advance(1);
  expect(soon.ends).toEqual([{ reason: "key_expired" }]);
  await rig.time.advance(40 * dayMs - 1001);
  expect(late.ends).toEqual([]);
  await rig.time.advance(1);
  expect(late.ends).toEqual([{ reason: "key_expired" }]);
});

test("[AU60] a released lease never calls its holder again, and its timer is cancelled", async () => {
  const rig = createRig();
  const { lease, ends, changes } = rig.held(keyOf(rig.time.now() + 1000));
  rig.publish(joined);
  lease.release();
  lease.release();
  for (const [, fact] of losses) rig.publish(fact);
  rig.miss();
  await rig.reviews[0]?.found(undefined);
  await rig.time.advance(1000);
  lease.hold({ principal: session, access: accessOf("write") });
  rig.publish({ kind: "session.ended", sessionId: "ses_1" });
  expect([ends, changes]).toEqual([[], []]);
});

test("[AU61] a fact that arrives during the check ends the lease as soon as the check has passed", () => {
  for (const [principal, fact, reason] of losses) {
    const rig = createRig();
    const { lease, ends } = rig.take();
    lease.begin();
    rig.publish(fact);
    expect(ends, fact.kind).toEqual([]);
    lease.hold({ principal, access: accessOf("write") });
    expect(ends, fact.kind).toEqual([{ reason }]);
  }
});

test("[AU61] a change of membership during the check is reviewed after it", async () => {
  const rig = createRig();
  const { lease, ends } = rig.take();
  lease.begin();
  rig.publish(joined);
  expect(rig.reviews).toHaveLength(0);
  lease.hold({ principal: session, access: accessOf("write") });
  await rig.reviews[0]?.found(undefined);
  expect(ends).toEqual([{ reason: "access_lost" }]);
});

test("[AU61] a fact from before the check is not applied, because the check reads the records after it", () => {
  const rig = createRig();
  const { lease, ends } = rig.take();
  for (const [, fact] of losses) rig.publish(fact);
  lease.begin();
  lease.hold({ principal: session, access: accessOf("write") });
  expect(ends).toEqual([]);
});

test("[AU62] of several reviews only the latest counts when an earlier one finds no access", async () => {
  const rig = createRig();
  const { ends, changes } = rig.held(session);
  rig.publish(joined);
  rig.publish(joined);
  await rig.reviews[0]?.found(undefined);
  expect(ends).toEqual([]);
  await rig.reviews[1]?.found(accessOf("read"));
  expect(changes).toEqual([{ principal: session, access: accessOf("read") }]);
  expect(ends).toEqual([]);
});

test("[AU62] of several reviews only the latest counts when an earlier one fails, before or after it", async () => {
  for (const order of [
    [0, 1],
    [1, 0],
  ]) {
    const rig = createRig();
    const { ends, changes } = rig.held(session);
    rig.publish(joined);
    rig.publish(joined);
    for (const at of order) {
      if (at === 0) await rig.reviews[0]?.failed(new Error("no answer"));
      else await rig.reviews[1]?.found(accessOf("admin"));
    }
    expect(changes).toEqual([{ principal: session, access: accessOf("admin") }]);
    expect(ends).toEqual([]);
  }
});

test("[AU62] an earlier review that finds access late does not restore what the latest one found lost", async () => {
  const rig = createRig();
  const { ends, changes } = rig.held(session);
  rig.publish(joined);
  rig.publish(joined);
  await rig.reviews[1]?.found(undefined);
  await rig.reviews[0]?.found(accessOf("owner"));
  expect(ends).toEqual([{ reason: "access_lost" }]);
  expect(changes).toEqual([]);
});

test("[AU62] a fact that ends the lease during a review decides at once, and the review changes nothing", async () => {
  for (const [principal, fact, reason] of losses) {
    const rig = createRig();
    const { ends, changes } = rig.held(principal);
    rig.publish(joined);
    rig.publish(fact);
    expect(ends, fact.kind).toEqual([{ reason }]);
    await rig.reviews[0]?.found(accessOf("write"));
    expect([ends, changes], fact.kind).toEqual([[{ reason }], []]);
  }
});

test("[AU63] a review that fails ends the lease with its error", async () => {
  const rig = createRig();
  const { ends, changes } = rig.held(session);
  const error = new Error("the store does not answer");
  rig.publish(joined);
  await rig.reviews[0]?.failed(error);
  expect(ends).toEqual([{ reason: "review_failed", error }]);
  expect(changes).toEqual([]);
});

test("[AU63] until a review is answered the lease keeps the access that it had", async () => {
  const rig = createRig();
  const { ends, changes } = rig.held(session);
  rig.publish(joined);
  await rig.time.advance(dayMs);
  expect([ends, changes]).toEqual([[], []]);
});

test("[AU64] missed facts end every lease, also one whose check has not begun or is running", () => {
  const rig = createRig();
  const [taken, checking, held] = [rig.take(), rig.take(), rig.held(session)];
  checking.lease.begin();
  rig.miss();
  for (const { ends } of [taken, checking, held]) expect(ends).toEqual([{ reason: "facts_missed" }]);
  checking.lease.hold({ principal: session, access: accessOf("write") });
  taken.lease.begin();
  taken.lease.hold({ principal: session, access: accessOf("write") });
  rig.publish({ kind: "session.ended", sessionId: "ses_1" });
  for (const { ends } of [taken, checking, held]) expect(ends).toEqual([{ reason: "facts_missed" }]);
});

test("[AU65] a changed role and a changed display name reach the holder, and the lease continues", async () => {
  const rig = createRig();
  const { changes, ends } = rig.held(session);
  rig.publish(joined);
  rig.publish({ kind: "account.renamed", accountId: "usr_ana", displayName: "Ana" });
  const renamed = { ...session, displayName: "Ana" };
  expect(changes).toEqual([{ principal: renamed, access: accessOf("write") }]);
  await rig.reviews[0]?.found(accessOf("read"));
  expect(changes[1]).toEqual({ principal: renamed, access: accessOf("read") });
  rig.publish({ kind: "account.renamed", accountId: "usr_ana" });
  expect(changes[2]).toEqual({ principal: { ...session, displayName: undefined }, access: accessOf("read") });
  expect(ends).toEqual([]);
  rig.publish({ kind: "session.ended", sessionId: "ses_1" });
  expect(ends).toEqual([{ reason: "session_ended" }]);
});

test("[AU65] the end of the subscription ends no lease", () => {
  const rig = createRig();
  const { ends } = rig.held(session);
  rig.leases.stop();
  expect(rig.isSubscribed()).toBe(false);
  expect(ends).toEqual([]);
});
