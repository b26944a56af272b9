/**
 * Tests the result of a refresh token on each store: new tokens, the same tokens again within the grace time, or a
 * refusal.
 */
import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createSignedText } from "../../server/domain/identity/auth/signedText.ts";
import { deriveSecrets } from "../../server/platform/secrets.ts";
import { StorageUnavailableError } from "../../server/platform/storage/port.ts";
import { codeOf } from "../support/codeOf.ts";
import {
  auditOf,
  createIdentity,
  eachWithIdentity,
  firstOperator,
  type Identity,
  newPerson,
  type Store,
  stores,
} from "./identityFixture.ts";

const graceMs = 30_000;
const oldKey = Buffer.alloc(32, 7);
const newKey = Buffer.alloc(32, 8);

describe.each(stores)("refresh tokens on the %s store", (_name, open) => {
  let store: Store;
  let identity: Identity;

  eachWithIdentity(open, (opened) => {
    ({ store, identity } = opened);
  });

  const bearer = (token: string, by = identity) => codeOf(by.authenticator.authenticate({ bearer: token }));
  const refresh = (refreshToken: string, by = identity) => by.sessions.token(by.callOf(), { grantType: "refresh_token", refreshToken });

  it("[AU4] a refresh token is replaced at every use, and the session continues", async () => {
    const root = await firstOperator(identity);
    const second = await refresh(root.refreshToken);
    const third = await refresh(second.refreshToken);
    expect(new Set([root.refreshToken, second.refreshToken, third.refreshToken]).size).toBe(3);
    const principals = await Promise.all(
      [root, second, third].map(({ accessToken }) => identity.authenticator.authenticate({ bearer: accessToken })),
    );
    for (const principal of principals) expect(principal).toEqual(root.principal);
  });

  it("[AU35] a client that lost the answer asks again and gets it, even after a restart", async () => {
    const root = await firstOperator(identity);
    const lost = await refresh(root.refreshToken);
    store.clock.nowMs += graceMs - 1;
    const again = await createIdentity({ storage: await store.reopen(), clock: store.clock });
    const { refreshToken, accessToken } = await refresh(root.refreshToken, again);
    expect(refreshToken).toBe(lost.refreshToken);
    expect(await bearer(accessToken, again)).toBe("done");
    expect(await bearer((await refresh(refreshToken, again)).accessToken, again)).toBe("done");
  });

  it("[AU35] a refresh that was stored without an answer is completed by asking again", async () => {
    const root = await firstOperator(identity);
    const cutOff = await createIdentity(store, {
      around: (storage) => ({
        ...storage,
        async commit(batch) {
          await storage.commit(batch);
          throw new StorageUnavailableError("the connection broke");
        },
      }),
    });
    await expect(refresh(root.refreshToken, cutOff)).rejects.toThrow(StorageUnavailableError);
    expect(await bearer((await refresh(root.refreshToken)).accessToken)).toBe("done");
  });

  it("[AU35] the same successor is returned after a change of the secret key, while the old is listed", async () => {
    const root = await firstOperator(identity);
    const lost = await refresh(root.refreshToken);
    const rekeyed = await createIdentity(store, { keys: [newKey, oldKey] });
    expect((await refresh(root.refreshToken, rekeyed)).refreshToken).toBe(lost.refreshToken);
    const next = await refresh(lost.refreshToken, rekeyed);
    expect(createSignedText(deriveSecrets([newKey]).ticketKeys, "refresh").open(next.refreshToken)).toBeDefined();
  });

  it("[AU4] a stolen token used after its grace ends the session for both and closes its sockets", async () => {
    identity.access.start();
    await identity.access.ready();
    const root = await firstOperator(identity);
    const owner = await refresh(root.refreshToken);
    store.clock.nowMs += graceMs;
    expect(await codeOf(refresh(root.refreshToken))).toBe("unauthenticated");
    expect(await codeOf(refresh(owner.refreshToken))).toBe("unauthenticated");
    expect(await bearer(owner.accessToken)).toBe("unauthenticated");
    expect(await bearer(root.accessToken)).toBe("unauthenticated");
    const sessionId = root.principal.kind === "session" ? root.principal.sessionId : "";
    await expect.poll(() => identity.facts).toEqual([{ kind: "session.ended", sessionId }]);
    expect(auditOf(identity)).toContainEqual(
      expect.objectContaining({ event: "session.ended", sessionId, reason: "refresh token reused" }),
    );
    identity.access.stop();
  });

  it("[AU4] a successor copied within the grace ends the session as soon as both have used it", async () => {
    const root = await firstOperator(identity);
    const owner = await refresh(root.refreshToken);
    const thief = await refresh(root.refreshToken);
    await refresh(owner.refreshToken);
    store.clock.nowMs += graceMs;
    expect(await codeOf(refresh(thief.refreshToken))).toBe("unauthenticated");
    expect(await bearer(owner.accessToken)).toBe("unauthenticated");
  });

  it("[AU35] the grace counts from the first use, and later uses do not prolong it", async () => {
    const root = await firstOperator(identity);
    await refresh(root.refreshToken);
    store.clock.nowMs += graceMs - 1;
    await refresh(root.refreshToken);
    store.clock.nowMs += 1;
    expect(await codeOf(refresh(root.refreshToken))).toBe("unauthenticated");
  });

  it("[AU35] within the grace, an ended session or a disabled account stays closed", async () => {
    const root = await firstOperator(identity);
    const ann = await newPerson(identity, root, "ann");
    await refresh(ann.refreshToken);
    await identity.accounts.update(root.call(), "ann", { disabled: true });
    expect(await codeOf(refresh(ann.refreshToken))).toBe("unauthenticated");
    await refresh(root.refreshToken);
    await identity.sessions.logout(root.call());
    expect(await codeOf(refresh(root.refreshToken))).toBe("unauthenticated");
  });

  it("[AU4] an invented token ends no session", async () => {
    const root = await firstOperator(identity);
    const sessionId = root.principal.kind === "session" ? root.principal.sessionId : "";
    const payload = Buffer.from(JSON.stringify([sessionId, 1, "x"])).toString("base64url");
    for (const text of ["", "x", `${payload}.${randomBytes(32).toString("base64url")}`, root.refreshToken.slice(0, -2), root.accessToken]) {
      expect(await codeOf(refresh(text))).toBe("unauthenticated");
    }
    expect(await bearer(root.accessToken)).toBe("done");
    await refresh(root.refreshToken);
  });

  it("[AU4] a refresh token expires by store time, and its session with it", async () => {
    const root = await firstOperator(identity);
    store.clock.nowMs += 29 * 86_400_000;
    const later = await refresh(root.refreshToken);
    store.clock.nowMs += 30 * 86_400_000;
    expect(await codeOf(refresh(later.refreshToken))).toBe("token_expired");
  });
});
