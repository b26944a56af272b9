/**
 * Tests sign-in, the end of sessions, and tickets, through the services on each store. For refresh see
 * identityRefresh.test.ts.
 */
import { describe, expect, it } from "vitest";
import { idPattern } from "../../api/schema/id.ts";
import { sessionRecord } from "../../server/domain/identity/access/credentialRecords.ts";
import { codeOf } from "../support/codeOf.ts";
import {
  auditOf,
  createIdentity,
  eachWithIdentity,
  firstOperator,
  type Identity,
  newKey,
  newPerson,
  password,
  type Store,
  signedIn,
  stores,
} from "./identityFixture.ts";

describe.each(stores)("sessions on the %s store", (_name, open) => {
  let store: Store;
  let identity: Identity;

  eachWithIdentity(open, (opened) => {
    ({ store, identity } = opened);
  });

  const bearer = (token: string, by = identity) => codeOf(by.authenticator.authenticate({ bearer: token }));
  const refresh = (refreshToken: string, by = identity) => by.sessions.token(by.callOf(), { grantType: "refresh_token", refreshToken });
  const signIn = (username: string, given = password) =>
    identity.sessions.token(identity.callOf(), { grantType: "password", username, password: given });

  it("[AU1] a password opens a session with a working access token and a refresh token", async () => {
    await firstOperator(identity, "root");
    const answer = await signIn("ROOT");
    expect(answer).toMatchObject({ tokenType: "Bearer", expiresIn: 900 });
    const principal = await identity.authenticator.authenticate({ bearer: answer.accessToken });
    expect(principal).toEqual({
      kind: "session",
      accountId: expect.stringMatching(idPattern("usr")),
      username: "root",
      operator: true,
      sessionId: expect.stringMatching(idPattern("ses")),
    });
  });

  it("[AU1] unknown username, wrong password, disabled and passwordless account are refused alike", async () => {
    const root = await firstOperator(identity);
    await newPerson(identity, root, "off");
    await identity.accounts.update(root.call(), "off", { disabled: true });
    await identity.accounts.create(root.call(), { username: "waiting" });
    const messages = new Set<string>();
    for (const [username, given] of [
      ["nobody", password],
      ["root", "not the password"],
      ["off", password],
      ["waiting", password],
      ["not a username!", password],
      ["", ""],
    ] as const) {
      const refusal = await signIn(username, given).catch((reason: Error & { code?: string }) => reason);
      expect(refusal).toMatchObject({ code: "unauthenticated" });
      messages.add((refusal as Error).message);
    }
    expect(messages.size).toBe(1);
  });

  it("[AU3] an access token expires by store time", async () => {
    const root = await firstOperator(identity);
    store.clock.nowMs += 15 * 60_000;
    expect(await bearer(root.accessToken)).toBe("done");
    store.clock.nowMs += 60_000;
    expect(await bearer(root.accessToken)).toBe("token_expired");
  });

  it("[AU5] sessions, refresh tokens and tickets remain valid after a restart", async () => {
    const root = await firstOperator(identity);
    const workspaceId = (await identity.workspaces.list(root.call(), {})).workspaces[0]?.workspaceId ?? "";
    const { ticket } = await identity.tickets.issue(root.call(), `workspace:${workspaceId}`);
    await identity.settled();
    const again = await createIdentity({ storage: await store.reopen(), clock: store.clock });
    expect(await bearer(root.accessToken, again)).toBe("done");
    expect(await again.tickets.verify(ticket, `workspace:${workspaceId}`)).toEqual(root.principal);
    expect(await bearer((await refresh(root.refreshToken, again)).accessToken, again)).toBe("done");
  });

  it("[AU6] logout ends the session at once, with access token, refresh token and tickets", async () => {
    const root = await firstOperator(identity);
    const other = await signedIn(identity, "root");
    const workspaceId = (await identity.workspaces.list(root.call(), {})).workspaces[0]?.workspaceId ?? "";
    const { ticket } = await identity.tickets.issue(root.call(), `workspace:${workspaceId}`);
    await identity.sessions.logout(root.call());
    expect(await bearer(root.accessToken)).toBe("unauthenticated");
    expect(await codeOf(refresh(root.refreshToken))).toBe("unauthenticated");
    expect(await codeOf(identity.tickets.verify(ticket, `workspace:${workspaceId}`))).toBe("unauthenticated");
    expect(await bearer(other.accessToken)).toBe("done");
  });

  it("[AU26] a new password requires the current one and ends every other session", async () => {
    const root = await firstOperator(identity);
    const others = [await signedIn(identity, "root"), await signedIn(identity, "root")];
    const change = (currentPassword: string) => identity.ownAccount.update(root.call(), { password: "a new password", currentPassword });
    expect(await codeOf(change("wrong password"))).toBe("unauthenticated");
    for (const { accessToken } of [root, ...others]) expect(await bearer(accessToken)).toBe("done");
    expect(await change(password)).toMatchObject({ username: "root", credential: "session" });
    for (const { accessToken, refreshToken } of others) {
      expect(await bearer(accessToken)).toBe("unauthenticated");
      expect(await codeOf(refresh(refreshToken))).toBe("unauthenticated");
    }
    expect(await bearer(root.accessToken)).toBe("done");
    await refresh(root.refreshToken);
    expect(await codeOf(signIn("root"))).toBe("unauthenticated");
    await signIn("root", "a new password");
  });

  it("[AU26] a session opened with the old password during its change does not survive the change", async () => {
    const root = await firstOperator(identity);
    // The other node has checked the old password and writes its session after the change.
    const late = await createIdentity(store, {
      around: (storage) => ({
        ...storage,
        async commit(batch) {
          const isSession = batch.records?.some((write) => write.type === sessionRecord) === true;
          if (isSession) await identity.ownAccount.update(root.call(), { password: "a new password", currentPassword: password });
          return storage.commit(batch);
        },
      }),
    });
    const stale = await late.sessions.token(late.callOf(), { grantType: "password", username: "root", password });
    expect(await bearer(stale.accessToken)).toBe("unauthenticated");
    expect(await codeOf(refresh(stale.refreshToken))).toBe("unauthenticated");
    expect(await bearer(root.accessToken)).toBe("done");
  });

  it("[AU26] of two concurrent changes with the same current password, one succeeds", async () => {
    const sessions = [await firstOperator(identity), await signedIn(identity, "root")];
    const codes = await Promise.all(
      sessions.map((session, at) =>
        codeOf(identity.ownAccount.update(session.call(), { password: `a new password ${at}`, currentPassword: password })),
      ),
    );
    expect(codes.sort()).toEqual(["done", "unauthenticated"]);
  });

  it("[AU8] a ticket opens its one resource, any number of times, until it expires", async () => {
    const root = await firstOperator(identity);
    const workspaceId = (await identity.workspaces.list(root.call(), {})).workspaces[0]?.workspaceId ?? "";
    const resource = `workspace:${workspaceId}`;
    const { ticket, expiresAt } = await identity.tickets.issue(root.call(), resource);
    expect(Date.parse(expiresAt)).toBe(store.clock.nowMs + 3_600_000);
    for (let use = 0; use < 3; use += 1) expect(await identity.tickets.verify(ticket, resource)).toEqual(root.principal);
    expect(await codeOf(identity.tickets.verify(ticket, `article:${workspaceId}`))).toBe("unauthenticated");
    expect(await codeOf(identity.tickets.verify(ticket, `${resource}x`))).toBe("unauthenticated");
    expect(await bearer(ticket)).toBe("unauthenticated");
    expect(await codeOf(identity.authenticator.authenticate({ apiKey: ticket }))).toBe("unauthenticated");
    store.clock.nowMs += 3_600_000;
    expect(await codeOf(identity.tickets.verify(ticket, resource))).toBe("token_expired");
  });

  it("[AU8] keys, tokens and invented texts are not tickets", async () => {
    const root = await firstOperator(identity);
    const key = await newKey(identity, root);
    for (const text of ["", "tkt_", "tkt_a.b", root.accessToken, key.key, root.refreshToken, `tkt_${root.refreshToken}`]) {
      expect(await codeOf(identity.tickets.verify(text, "article:x"))).toBe("unauthenticated");
    }
  });

  it("[AU8] a ticket ends with the key behind it and never later", async () => {
    const root = await firstOperator(identity);
    const workspaceId = (await identity.workspaces.list(root.call(), {})).workspaces[0]?.workspaceId ?? "";
    const resource = `workspace:${workspaceId}`;
    const expiresAt = new Date(store.clock.nowMs + 60_000).toISOString();
    const key = await newKey(identity, root, { scopes: ["workspaces:read"], expiresAt });
    const ticket = await identity.tickets.issue(key.call(), resource);
    expect(ticket.expiresAt).toBe(expiresAt);
    expect(await identity.tickets.verify(ticket.ticket, resource)).toEqual(key.principal);
    await identity.keys.revoke(root.call(), key.keyId);
    expect(await codeOf(identity.tickets.verify(ticket.ticket, resource))).toBe("key_revoked");
  });

  it("[AU9] a ticket requires the scope of its resource, and a resource that the caller can see", async () => {
    const root = await firstOperator(identity);
    const ann = await newPerson(identity, root, "ann");
    const annsId = (await identity.workspaces.list(ann.call(), {})).workspaces[0]?.workspaceId ?? "";
    const key = await newKey(identity, ann, { scopes: ["articles:read"] });
    const issue = (call: ReturnType<typeof root.call>, resource: string) => codeOf(identity.tickets.issue(call, resource));
    expect(await issue(key.call(), `workspace:${annsId}`)).toBe("insufficient_scope");
    expect(await issue(root.call(), `workspace:${annsId}`)).toBe("not_found");
    expect(await issue(ann.call(), `workspace:${annsId.slice(0, -1)}${annsId.endsWith("0") ? "1" : "0"}`)).toBe("not_found");
    expect(await issue(ann.call(), "article:art_ZZZZZZZZZZZZZZZZZZZZZZZZZZ")).toBe("not_found");
    expect(await issue(ann.call(), "run:run_01HZZZZZZZ00ZZZZZZZZZZZZZZ")).toBe("not_found");
    expect(await issue(ann.call(), `workspace:${annsId}`)).toBe("done");
  });

  it.each([false, true])("[AU9] a ticket for an article is issued to callers that can see its workspace (trash: %s)", async (isInTrash) => {
    const articleId = "art_01HZZZZZZZ00ZZZZZZZZZZZZZZ";
    let workspaceId = "";
    const withArticle = await createIdentity(store, {
      locateArticle: async (id, { deleted }) => (id === articleId && (deleted || !isInTrash) ? { workspaceId } : undefined),
    });
    const root = await firstOperator(withArticle);
    const ann = await newPerson(withArticle, root, "ann");
    workspaceId = (await withArticle.workspaces.list(ann.call(), {})).workspaces[0]?.workspaceId ?? "";
    const { ticket } = await withArticle.tickets.issue(ann.call(), `article:${articleId}`);
    expect(await withArticle.tickets.verify(ticket, `article:${articleId}`)).toEqual(ann.principal);
    expect(await codeOf(withArticle.tickets.issue(root.call(), `article:${articleId}`))).toBe("not_found");
    await withArticle.settled();
  });

  it("[AU31] sign-ins, refused sign-ins and sign-outs are in the audit stream", async () => {
    const root = await firstOperator(identity);
    await codeOf(signIn("root", "wrong password"));
    await identity.sessions.logout(root.call());
    expect(auditOf(identity).map((line) => line.event)).toEqual(["account.created", "session.started", "session.refused", "session.ended"]);
  });
});
