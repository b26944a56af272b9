/** Sockets and streams hold the same access lease: each reason closes a socket with its code and ends a stream. */
import * as encoding from "lib0/encoding";
import { pino } from "pino";
import { expect, test } from "vitest";
import { streams } from "../../api/contract/streams.ts";
import { defaultLimits } from "../../api/limits.ts";
import type { Connection } from "../../realtime/room/rooms.ts";
import type { Access, Principal } from "../../server/domain/call/call.ts";
import type { AccessResolver } from "../../server/domain/call/ports.ts";
import type { AccessFact } from "../../server/domain/identity/access/accessFacts.ts";
import { type AccessLeasesOptions, createAccessLeases } from "../../server/domain/identity/access/accessLease.ts";
import type { RequestContext } from "../../server/edge/calls/requestContext.ts";
import { CollabSession } from "../../server/edge/collab/collabSession.ts";
import { SharedAccess } from "../../server/edge/collab/sharedAccess.ts";
import { createStreamGate } from "../../server/edge/streams/streamGate.ts";
import { StorageUnavailableError } from "../../server/platform/storage/port.ts";
import { createManualTime, type ManualTime } from "../support/manualTime.ts";

const articleId = "art_01KAHX0000050123456789ABCE";
const workspaceId = "ws_01KAHX0000050123456789ABCD";
const found: Access = { workspaceId, partition: 5, role: "write" };
const account = { accountId: "usr_ana", username: "ana", operator: false } as const;
const session: Principal = { kind: "session", ...account, sessionId: "ses_1" };
const key: Principal = { kind: "key", ...account, keyId: "key_1" };
const membershipChanged: AccessFact = { kind: "membership.changed", workspaceId, accountId: "usr_ana" };

/** One holder of a lease. Its end is the close code of a socket, and "ended" for a stream. */
interface Held {
  end(): number | "ended" | undefined;
}

interface HolderOptions extends AccessLeasesOptions {
  readonly clock: ManualTime;
  readonly principal: Principal;
}

type Holder<Kind extends Held = Held> = (options: HolderOptions) => Promise<Kind>;

const rateLimits = { draw: async () => ({ policy: "", refusal: undefined }) } as never;
const log = pino({ level: "silent" });

function createSocket({ principal, access, accessWatch, clock }: HolderOptions) {
  let code: number | undefined;
  const connection = { update() {}, receive() {}, drained() {}, closed() {}, close() {} } as unknown as Connection;
  const collabSession = new CollabSession(
    {
      leases: createAccessLeases({ access, accessWatch, clock }),
      sharedAccess: new SharedAccess(),
      rooms: { connect: async () => connection },
      limits: defaultLimits,
      clock,
      log,
      socketLog: { opened() {}, refused() {}, refusedUpgrade() {}, closed() {} },
      authenticator: { authenticate: async () => principal },
      tickets: { isTicket: () => false, verify: async () => principal },
      access,
      rateLimits,
    },
    { requestId: "req_1", articleId, extensions: false, onRefused() {} },
  );
  const open = () => {
    const nothing = () => undefined;
    collabSession.open({
      send: () => "sent",
      bufferedBytes: 0,
      subscribe: nothing,
      unsubscribe: nothing,
      close: (given) => (code = given),
    });
  };
  return { collabSession, open, end: () => code };
}

/** A socket with its credential in the upgrade. */
async function openSocket(options: HolderOptions): Promise<Held> {
  const { collabSession, open, end } = createSocket(options);
  await collabSession.prove({ apiKey: "svc_ana" });
  open();
  await options.clock.advance(0);
  return { end };
}

/** A socket that must send its credential as the first frame. */
async function openWaitingSocket(options: HolderOptions): Promise<Held & { sendCredential(): Promise<void> }> {
  const { collabSession, open, end } = createSocket(options);
  collabSession.awaitCredential({ free() {}, freeLater() {} });
  open();
  return {
    end,
    sendCredential() {
      const frame = encoding.encode((encoder) => {
        encoding.writeVarUint(encoder, 2);
        encoding.writeVarUint(encoder, 1);
        encoding.writeVarString(encoder, "svc_ana");
      });
      collabSession.message(frame);
      return options.clock.advance(0);
    },
  };
}

async function openStream({ principal, access, accessWatch, clock }: HolderOptions): Promise<Held> {
  const gate = createStreamGate({
    authenticator: { authenticate: async () => principal },
    tickets: { verify: async () => principal },
    access,
    accessWatch,
    clock,
    rateLimits,
    limits: defaultLimits,
  });
  const context = { authenticate: async () => principal, header: () => undefined } as Partial<RequestContext> as RequestContext;
  const spec = { ...streams.runs.timeline, resource: { in: "params", name: "articleId", kind: "article" } } as const;
  const reader = await gate.admit(spec, context, { id: articleId, ticket: undefined });
  let end: "ended" | undefined;
  reader.onEnd(() => {
    end = "ended";
  });
  return { end: () => end };
}

const holders: readonly [string, Holder][] = [
  ["socket", openSocket],
  ["stream", openStream],
];

function createRig() {
  const clock = createManualTime();
  const listeners = new Set<(fact: AccessFact) => void>();
  const misses = new Set<() => void>();
  let resolve: AccessResolver["resolve"] = async () => found;
  return {
    clock,
    publish(fact: AccessFact): void {
      for (const listener of [...listeners]) listener(fact);
    },
    miss(): void {
      for (const missed of [...misses]) missed();
    },
    resolveBy(next: AccessResolver["resolve"]): void {
      resolve = next;
    },
    async hold<Kind extends Held>(open: Holder<Kind>, principal: Principal): Promise<Kind> {
      return open({
        principal,
        clock,
        access: { resolve: (...asked) => resolve(...asked) },
        accessWatch: {
          subscribe(listener, missed = () => {}) {
            listeners.add(listener);
            misses.add(missed);
            return () => {};
          },
        },
      });
    },
  };
}

/** Reason → how it comes about, for which principal, and the close code of a socket. */
const reasons: Readonly<
  Record<string, readonly [Principal | ((nowMs: number) => Principal), (rig: ReturnType<typeof createRig>) => unknown, number]>
> = {
  key_revoked: [key, (rig) => rig.publish({ kind: "key.revoked", keyId: "key_1" }), 4410],
  key_expired: [(nowMs) => ({ ...key, expiresAtMs: nowMs + 5000 }), (rig) => rig.clock.advance(5000), 4401],
  session_ended: [session, (rig) => rig.publish({ kind: "session.ended", sessionId: "ses_1" }), 4401],
  account_disabled: [session, (rig) => rig.publish({ kind: "account.disabled", accountId: "usr_ana" }), 4401],
  article_deleted: [session, (rig) => rig.publish({ kind: "article.deleted", articleId }), 4409],
  access_lost: [
    session,
    (rig) => {
      rig.resolveBy(async () => undefined);
      rig.publish(membershipChanged);
    },
    4403,
  ],
  facts_missed: [key, (rig) => rig.miss(), 1012],
  "review_failed, store": [
    session,
    (rig) => {
      rig.resolveBy(() => Promise.reject(new StorageUnavailableError("the store does not answer")));
      rig.publish(membershipChanged);
    },
    1013,
  ],
  "review_failed, bug": [
    session,
    (rig) => {
      rig.resolveBy(() => Promise.reject(new Error("a bug")));
      rig.publish(membershipChanged);
    },
    1011,
  ],
};

for (const [name, open] of holders) {
  for (const [reason, [principal, happen, code]] of Object.entries(reasons)) {
    test(`[AU66] an open ${name} ends for the reason ${reason}`, async () => {
      const rig = createRig();
      const held = await rig.hold(open, typeof principal === "function" ? principal(rig.clock.now()) : principal);
      expect(held.end()).toBeUndefined();
      await happen(rig);
      await rig.clock.advance(0);
      expect(held.end()).toBe(name === "socket" ? code : "ended");
    });
  }

  test(`[AU66] a fact that arrives while a ${name} is being admitted ends it after its admission`, async () => {
    const rig = createRig();
    let proceed = () => {};
    rig.resolveBy(() => new Promise((resolve) => (proceed = () => resolve(found))));
    const opening = rig.hold(open, key);
    await rig.clock.advance(0);
    rig.publish({ kind: "key.revoked", keyId: "key_1" });
    proceed();
    expect((await opening).end()).toBe(name === "socket" ? 4410 : "ended");
  });

  test(`[AU66] a ${name} stays open when an earlier review fails and a later one finds access`, async () => {
    const rig = createRig();
    const held = await rig.hold(open, session);
    const answers: ((access: Access | Error) => void)[] = [];
    rig.resolveBy(
      () =>
        new Promise((resolve, reject) => {
          answers.push((access) => (access instanceof Error ? reject(access) : resolve(access)));
        }),
    );
    rig.publish(membershipChanged);
    rig.publish(membershipChanged);
    answers[0]?.(new StorageUnavailableError("the store does not answer"));
    await rig.clock.advance(0);
    answers[1]?.(found);
    await rig.clock.advance(0);
    expect(held.end()).toBeUndefined();
    rig.publish({ kind: "session.ended", sessionId: "ses_1" });
    expect(held.end()).toBe(name === "socket" ? 4401 : "ended");
  });
}

test("[AU61] a fact that is older than the credential frame of a socket does not close it", async () => {
  const rig = createRig();
  const held = await rig.hold(openWaitingSocket, session);
  rig.publish({ kind: "account.disabled", accountId: "usr_ana" });
  await held.sendCredential();
  expect(held.end()).toBeUndefined();
  rig.publish({ kind: "account.disabled", accountId: "usr_ana" });
  expect(held.end()).toBe(4401);
});

test("[AU64] missed facts close a socket that waits for its credential", async () => {
  const rig = createRig();
  const held = await rig.hold(openWaitingSocket, session);
  rig.miss();
  expect(held.end()).toBe(1012);
});
