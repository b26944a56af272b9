/** Tests who is admitted to streams and when an admission ends, on a manual clock. */
import { expect, test } from "vitest";
import { streams } from "../../../api/contract/streams.ts";
import { createManualTime } from "../../../test/support/manualTime.ts";
import type { Access, Principal } from "../../domain/call/call.ts";
import type { AccessFact } from "../../domain/identity/access/accessFacts.ts";
import type { RequestContext } from "../calls/requestContext.ts";
import { createStreamGate } from "./streamGate.ts";

const workspaceId = "ws_01KAHX0000050123456789ABCD";
const runId = "run_01KAHX0000050123456789ABCE";
const spec = streams.runs.timeline;
const person = { accountId: "usr_ana", username: "ana", operator: false } as const;
const keyOf = (keyId: string, rest: { readonly expiresAtMs?: number } = {}): Principal => ({
  kind: "key",
  ...person,
  keyId,
  scopes: ["workspaces:read"],
  ...rest,
});
const session: Principal = { kind: "session", ...person, sessionId: "ses_1" };

function createRig({ perCredential = 10 } = {}) {
  const time = createManualTime();
  let tell: (fact: AccessFact) => void = () => {};
  let miss = () => {};
  const found: Access = { workspaceId, partition: 5, role: "read" };
  /** Number of access checks that succeed before access is lost. */
  let goodLooks = Number.POSITIVE_INFINITY;
  /** Access checks wait for this promise. */
  let held: Promise<void> = Promise.resolve();
  const gate = createStreamGate({
    authenticator: { authenticate: async () => session },
    tickets: { verify: async () => session },
    access: {
      async resolve() {
        const isGood = goodLooks > 0;
        goodLooks -= 1;
        await held;
        return isGood ? found : undefined;
      },
    },
    accessWatch: {
      subscribe(listener, missed = () => {}) {
        tell = listener;
        miss = missed;
        return () => {};
      },
    },
    rateLimits: { draw: async () => ({ refusal: undefined }) } as never,
    limits: { "sse.credential": perCredential },
    clock: time,
  });
  return {
    time,
    gate,
    tell: (fact: AccessFact) => tell(fact),
    miss: () => miss(),
    loseAfter(looks: number): void {
      goodLooks = looks;
    },
    /** Holds every access check until the returned function is called. */
    hold(): () => void {
      let go = () => {};
      held = new Promise((resolve) => {
        go = resolve;
      });
      return go;
    },
    /** Admits a reader. `isEnded` returns whether its stream must end. */
    async admit(principal: Principal) {
      const context = { authenticate: async () => principal, header: () => undefined } as Partial<RequestContext> as RequestContext;
      const reader = await gate.admit(spec, context, { id: runId, ticket: undefined });
      let isEnded = false;
      reader.onEnd(() => {
        isEnded = true;
      });
      return {
        leave: () => reader.leave(),
        get isEnded() {
          return isEnded;
        },
      };
    },
  };
}

test("[SE22] a stream ends when its key expires, even if that is later than the longest timer", async () => {
  const rig = createRig();
  const dayMs = 24 * 60 * 60 * 1000;
  const [soon, late] = [
    await rig.admit(keyOf("key_1", { expiresAtMs: rig.time.now() + 1000 })),
    await rig.admit(keyOf("key_2", { expiresAtMs: rig.time.now() + 40 * dayMs })),
  ];
  await rig.time.advance(999);
  expect([soon.isEnded, late.isEnded]).toEqual([false, false]);
  await rig.time.advance(1);
  expect([soon.isEnded, late.isEnded]).toEqual([true, false]);
  await rig.time.advance(40 * dayMs - 1001);
  expect(late.isEnded).toBe(false);
  await rig.time.advance(1);
  expect(late.isEnded).toBe(true);
});

test("[SE22] access lost during admission ends the stream as soon as it opens", async () => {
  for (const [principal, fact] of [
    [keyOf("key_1"), { kind: "key.revoked", keyId: "key_1" }],
    [session, { kind: "session.ended", sessionId: "ses_1" }],
    [session, { kind: "account.disabled", accountId: "usr_ana" }],
    [session, { kind: "membership.changed", workspaceId, accountId: "usr_ana" }],
  ] as const) {
    const rig = createRig();
    rig.loseAfter(1);
    const go = rig.hold();
    const admitting = rig.admit(principal);
    await rig.time.advance(0);
    rig.tell(fact);
    go();
    const reader = await admitting;
    await rig.time.advance(0);
    expect(reader.isEnded, fact.kind).toBe(true);
  }
});

test("[SE22] changes for other readers end no stream, and a reader that keeps access stays", async () => {
  const rig = createRig();
  const readers = [await rig.admit(keyOf("key_1")), await rig.admit(session)];
  for (const fact of [
    { kind: "key.revoked", keyId: "ses_1" },
    { kind: "key.revoked", keyId: "key_2" },
    { kind: "session.ended", sessionId: "key_1" },
    { kind: "account.disabled", accountId: "usr_ben" },
    { kind: "membership.changed", workspaceId, accountId: "usr_ben" },
    { kind: "membership.changed", workspaceId, accountId: "usr_ana" },
    { kind: "article.deleted", articleId: runId },
  ] as const) {
    rig.tell(fact);
  }
  await rig.time.advance(0);
  expect(readers.map(({ isEnded }) => isEnded)).toEqual([false, false]);
  rig.loseAfter(0);
  rig.tell({ kind: "membership.changed", workspaceId: "ws_other", accountId: "usr_ana" });
  await rig.time.advance(0);
  expect(readers.map(({ isEnded }) => isEnded)).toEqual([false, false]);
  rig.tell({ kind: "membership.changed", workspaceId, accountId: "usr_ana" });
  await rig.time.advance(0);
  expect(readers.map(({ isEnded }) => isEnded)).toEqual([true, true]);
});

test("[SE22] a node that missed access facts ends all streams, also those being admitted", async () => {
  const rig = createRig();
  const open = await rig.admit(session);
  const go = rig.hold();
  const admitting = rig.admit(keyOf("key_1"));
  await rig.time.advance(0);
  rig.miss();
  go();
  expect([open.isEnded, (await admitting).isEnded]).toEqual([true, true]);
});

test("[SE5] a place is counted once and freed when its reader leaves, has left or was refused", async () => {
  const rig = createRig({ perCredential: 1 });
  const first = await rig.admit(session);
  await expect(rig.admit(session)).rejects.toMatchObject({ code: "rate_limited", facts: { retryAfter: 5 } });
  await rig.admit(keyOf("key_1"));
  first.leave();
  first.leave();
  const second = await rig.admit(session);
  await expect(rig.admit(session)).rejects.toMatchObject({ code: "rate_limited" });
  second.leave();
  const third = await rig.admit(session);
  third.leave();
  rig.loseAfter(0);
  await expect(rig.admit(session)).rejects.toMatchObject({ code: "not_found" });
  expect(rig.gate.open).toBe(1);
});

test("[SE24] a closed gate admits no stream, and ends the streams that are being admitted", async () => {
  const rig = createRig();
  const go = rig.hold();
  const admitting = rig.admit(session);
  await rig.time.advance(0);
  rig.gate.close();
  go();
  const reader = await admitting;
  expect(reader.isEnded).toBe(true);
  reader.leave();
  await expect(rig.admit(session)).rejects.toMatchObject({ code: "unavailable" });
  expect(rig.gate.open).toBe(0);
});
