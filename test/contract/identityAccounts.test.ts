/** Tests accounts that an operator creates, changes, disables and lists, and changes of one's own account, on each store. */
import { describe, expect, it } from "vitest";
import { codeOf } from "../support/codeOf.ts";
import { createDyingStorage } from "../support/dyingStorage.ts";
import {
  auditOf,
  createIdentity,
  eachWithIdentity,
  firstOperator,
  type Identity,
  newPerson,
  type Person,
  password,
  type Store,
  signedIn,
  stores,
} from "./identityFixture.ts";

describe.each(stores)("accounts on the %s store", (_name, open) => {
  let store: Store;
  let identity: Identity;
  let root: Person;

  eachWithIdentity(open, async (opened) => {
    ({ store, identity } = opened);
    root = await firstOperator(identity);
  });

  it("[AU25] an account created with a password comes without a link", async () => {
    expect(await identity.accounts.create(root.call(), { username: "ann", password })).not.toHaveProperty("setupUrl");
  });

  it("[AU20] of concurrent creations of the same username in any partition, one succeeds", async () => {
    const codes = await Promise.all(
      Array.from({ length: 12 }, (_, at) => codeOf(identity.accounts.create(root.call(), { username: "ann", displayName: `Ann ${at}` }))),
    );
    expect(codes.sort()).toEqual([...Array(11).fill("already_exists"), "done"]);
    expect((await identity.accounts.list({ q: "ann" })).accounts).toHaveLength(1);
    expect(await codeOf(identity.accounts.create(root.call(), { username: "root" }))).toBe("already_exists");
  });

  it("[AU20] a username stays taken for ever, even if its account is disabled", async () => {
    await newPerson(identity, root, "ann");
    await identity.accounts.update(root.call(), "ann", { disabled: true });
    store.clock.nowMs += 365 * 86_400_000;
    expect(await codeOf(identity.accounts.create(root.call(), { username: "ann" }))).toBe("already_exists");
  });

  it("[AU20] an e-mail address belongs to one account, in any case, and is free after it is cleared", async () => {
    await identity.accounts.create(root.call(), { username: "ann", email: "A@example.org", password });
    const refused = identity.accounts.create(root.call(), { username: "bob", email: "a@EXAMPLE.org" });
    await expect(refused).rejects.toMatchObject({ code: "already_exists", facts: { errors: [{ pointer: "/email" }] } });
    await identity.accounts.create(root.call(), { username: "bob", email: "b@example.org" });
    expect(await codeOf(identity.accounts.update(root.call(), "bob", { email: "a@example.org" }))).toBe("already_exists");
    await identity.accounts.update(root.call(), "ann", { email: "new@example.org" });
    expect((await identity.accounts.update(root.call(), "bob", { email: "a@example.org" })).email).toBe("a@example.org");
    const ann = await signedIn(identity, "ann");
    expect(await codeOf(identity.ownAccount.update(ann.call(), { email: "A@example.org" }))).toBe("already_exists");
  });

  it("[AU20] a claim whose account was never created is free after a minute", async () => {
    await identity.directory.claim("username", "ann", "usr_01HZZZZZZZ00ZZZZZZZZZZZZZZ", async () => false);
    expect(await codeOf(identity.accounts.create(root.call(), { username: "ann" }))).toBe("already_exists");
    store.clock.nowMs += 60_000;
    expect(await codeOf(identity.accounts.create(root.call(), { username: "ann" }))).toBe("done");
  });

  it("[AU21] every account has its own workspace of type user from its creation", async () => {
    const ann = await newPerson(identity, root, "ann");
    await identity.accounts.create(root.call(), { username: "bob", displayName: "Bob B.", password });
    const bob = await signedIn(identity, "bob");
    for (const [person, name] of [
      [root, "root"],
      [ann, "ann"],
      [bob, "Bob B."],
    ] as const) {
      const { workspaces } = await identity.workspaces.list(person.call(), {});
      expect(workspaces).toMatchObject([
        { name, type: "user", ownerUsername: person.username, members: [{ username: person.username, role: "owner" }] },
      ]);
      expect((await identity.ownAccount.get(person.call())).workspaces).toBe(1);
    }
  });

  it("[AU21] a creation killed at any write leaves no account without its workspace", async () => {
    for (let dieAt = 1; dieAt <= 2; dieAt += 1) {
      for (const when of ["before", "after"] as const) {
        const username = `ann${dieAt}${when}`;
        const dying = createDyingStorage(store.storage, dieAt, when);
        const dies = await createIdentity({ storage: dying, clock: store.clock });
        void dies.accounts.create(root.call({ commit: (batch) => dying.commit(batch) }), { username, password });
        await expect.poll(() => dying.dead).toBe(true);
        const made = dieAt === 2 && when === "after";
        expect([username, await codeOf(signedIn(identity, username))]).toEqual([username, made ? "done" : "unauthenticated"]);
        store.clock.nowMs += 60_000;
        if (!made) await identity.accounts.create(root.call(), { username, password });
        const { workspaces } = await identity.workspaces.list((await signedIn(identity, username)).call(), {});
        expect(workspaces).toHaveLength(1);
      }
    }
  });

  it("[AU22] disabling an account ends its sessions at once, and enabling does not restore them", async () => {
    identity.access.start();
    await identity.access.ready();
    const ann = await newPerson(identity, root, "ann");
    const again = await signedIn(identity, "ann");
    const workspaceId = (await identity.workspaces.list(ann.call(), {})).workspaces[0]?.workspaceId ?? "";
    const { ticket } = await identity.tickets.issue(ann.call(), `workspace:${workspaceId}`);
    await identity.accounts.update(root.call(), "ann", { disabled: true });
    expect(await codeOf(identity.tickets.verify(ticket, `workspace:${workspaceId}`))).toBe("unauthenticated");
    for (const { accessToken, refreshToken } of [ann, again]) {
      expect(await codeOf(identity.authenticator.authenticate({ bearer: accessToken }))).toBe("unauthenticated");
      expect(await codeOf(identity.sessions.token(identity.callOf(), { grantType: "refresh_token", refreshToken }))).toBe(
        "unauthenticated",
      );
    }
    // The first fact is the reason with which open sockets close.
    const endings = () => identity.facts.filter(({ kind }) => kind === "account.disabled" || kind === "session.ended");
    const ended = { kind: "session.ended", sessionId: expect.stringMatching(/^ses_/) };
    await expect.poll(endings).toEqual([{ kind: "account.disabled", accountId: ann.principal.accountId }, ended, ended]);
    await identity.accounts.update(root.call(), "ann", { disabled: false });
    expect(await codeOf(identity.authenticator.authenticate({ bearer: ann.accessToken }))).toBe("unauthenticated");
    await signedIn(identity, "ann");
    identity.access.stop();
  });

  it("[AU22] a demoted operator has no operator rights on the next request", async () => {
    await identity.accounts.create(root.call(), { username: "ann", password, operator: true });
    const ann = await signedIn(identity, "ann");
    expect(ann.principal).toMatchObject({ operator: true });
    await identity.accounts.update(root.call(), "ann", { operator: false });
    expect(await identity.authenticator.authenticate({ bearer: ann.accessToken })).toMatchObject({ operator: false });
  });

  it("[AU27] an operator cannot disable or demote itself", async () => {
    for (const change of [{ disabled: true }, { operator: false }]) {
      expect(await codeOf(identity.accounts.update(root.call(), "root", change))).toBe("insufficient_permission");
    }
    expect(await identity.accounts.update(root.call(), "root", { displayName: "Root", operator: true })).toMatchObject({
      displayName: "Root",
      operator: true,
      disabled: false,
    });
    expect(await codeOf(identity.accounts.update(root.call(), "nobody", { disabled: true }))).toBe("not_found");
  });

  it("[AU27] of operators that demote each other at once, one remains", async () => {
    for (const change of [{ disabled: true }, { operator: false }]) {
      const username = "disabled" in change ? "ann" : "bob";
      await identity.accounts.create(root.call(), { username, password, operator: true });
      const other = await signedIn(identity, username);
      const codes = await Promise.all([
        codeOf(identity.accounts.update(root.call(), username, change)),
        codeOf(identity.accounts.update(other.call(), "root", change)),
      ]);
      expect(codes.sort()).toEqual(["done", "insufficient_role"]);
      const operators = (await identity.accounts.list({})).accounts.filter((account) => account.operator && !account.disabled);
      expect(operators).toHaveLength(1);
      if (operators[0]?.username === "root") continue;
      await identity.accounts.update(other.call(), "root", { disabled: false, operator: true });
      root = await signedIn(identity, "root");
    }
  });

  it("[AU27] accounts are listed newest first over all partitions, by words and state, page by page", async () => {
    for (let at = 0; at < 9; at += 1) {
      store.clock.nowMs += 10;
      await identity.accounts.create(root.call(), { username: `person-${at}`, displayName: at % 2 === 0 ? "Even Person" : "Odd Person" });
    }
    await identity.accounts.update(root.call(), "person-4", { disabled: true });
    const names: string[] = [];
    let nextToken: string | undefined;
    do {
      const page = await identity.accounts.list({ limit: 4, nextToken });
      names.push(...page.accounts.map((account) => account.username));
      nextToken = page.nextToken;
    } while (nextToken !== undefined);
    expect(names).toEqual([...Array.from({ length: 9 }, (_, at) => `person-${8 - at}`), "root"]);
    const found = async (query: object) => (await identity.accounts.list(query)).accounts.map((account) => account.username);
    expect(await found({ q: "per EVEN" })).toEqual(["person-8", "person-6", "person-4", "person-2", "person-0"]);
    expect(await found({ q: "erson" })).toEqual([]);
    expect(await found({ disabled: true })).toEqual(["person-4"]);
    expect(await found({ q: "even", disabled: false })).toHaveLength(4);
  });

  it("[AU30] /auth/me shows whether the credential is a session or a key, and counts its workspaces", async () => {
    const team = await identity.workspaces.create(root.call(), { name: "Team", type: "team" });
    expect(await identity.ownAccount.get(root.call())).toEqual({
      username: "root",
      operator: true,
      credential: "session",
      workspaces: 2,
    });
    const created = await identity.createKey(root.call(), {
      name: "k",
      scopes: ["articles:read"],
      workspaceIds: [team.workspaceId as never],
    });
    const key = identity.callOf(await identity.authenticator.authenticate({ apiKey: created.key }));
    expect(await identity.ownAccount.get(key)).toEqual({
      username: "root",
      operator: false,
      credential: "key",
      keyId: created.keyId,
      scopes: ["articles:read"],
      workspaces: 1,
    });
    expect(await identity.ownAccount.update(root.call(), { displayName: "The Root" })).toMatchObject({ displayName: "The Root" });
    expect(await identity.ownAccount.get(root.call())).toMatchObject({ displayName: "The Root" });
  });

  it("[AU31] changes of accounts are in the audit stream", async () => {
    await identity.accounts.create(root.call(), { username: "ann" });
    await identity.accounts.update(root.call(), "ann", { disabled: true });
    const events = auditOf(identity).filter((line) => line.username === "ann");
    expect(events.map((line) => line.event)).toEqual(["account.created", "account.updated"]);
    for (const event of events) expect(event.by).toMatchObject({ username: "root" });
  });
});
