/** Tests the first account, setup links, accounts that an operator creates, and changes of one's own account. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Account } from "../../api/schema/account.ts";
import { createDyingStorage } from "../support/dyingStorage.ts";
import {
  auditOf,
  baseUrl,
  codeOf,
  createIdentity,
  firstOperator,
  type Identity,
  newPerson,
  type Person,
  password,
  type Store,
  signedIn,
  stores,
} from "./identityFixture.ts";

function tokenOf(url: string): string {
  return new URLSearchParams(new URL(url).hash.slice(1)).get("token") ?? "";
}

describe.each(stores)("accounts on the %s store", (_name, open) => {
  let store: Store;
  let identity: Identity;

  beforeEach(async () => {
    store = await open();
    identity = await createIdentity(store);
  });
  afterEach(async () => {
    await identity.keyUse.settled();
    await store.close();
  });

  const complete = (request: object, by = identity) => by.setup.complete(by.callOf(), { password, ...request } as never);
  const firstLink = async (by = identity) => {
    const prepared = await by.installation.prepare();
    if (prepared.kind !== "link") throw new Error(`no link but ${prepared.kind}`);
    return prepared.url;
  };

  it("[AU23] the settings create the first account, an operator, once", async () => {
    expect(await identity.installation.prepare({ username: "root", password })).toEqual({ kind: "made", username: "root" });
    expect(await identity.installation.prepare({ username: "other", password })).toEqual({
      kind: "ignored",
      username: "other",
      isKnown: false,
    });
    expect(await identity.installation.prepare()).toEqual({ kind: "exists" });
    const root = await signedIn(identity, "root");
    expect(root.principal).toMatchObject({ operator: true });
    expect((await identity.accounts.list({})).accounts).toEqual([
      { username: "root", operator: true, disabled: false, createdAt: store.clock.nowMs / 1000 },
    ]);
  });

  it("[AU23] two nodes that start at once create one account", async () => {
    const nodes = [await createIdentity(store), await createIdentity(store), await createIdentity(store)];
    const prepared = await Promise.all(nodes.map((node) => node.installation.prepare({ username: "root", password })));
    expect(prepared.map(({ kind }) => kind).sort()).toEqual(["ignored", "ignored", "made"]);
    expect((await identity.accounts.list({})).accounts).toHaveLength(1);
    await signedIn(identity, "root");
  });

  it("[AU23] a first start that was killed at any write is completed by the next start", async () => {
    for (let dieAt = 1; dieAt <= 3; dieAt += 1) {
      for (const when of ["before", "after"] as const) {
        const fresh = await open();
        const dying = createDyingStorage(fresh.storage, dieAt, when);
        const dies = await createIdentity({ storage: dying, clock: fresh.clock });
        void dies.installation.prepare({ username: "root", password });
        await expect.poll(() => dying.dead).toBe(true);
        const next = await createIdentity(fresh);
        expect([dieAt, when, (await next.installation.prepare({ username: "root", password })).kind]).toEqual([
          dieAt,
          when,
          dieAt === 3 && when === "after" ? "ignored" : "made",
        ]);
        await signedIn(next, "root");
        await fresh.close();
      }
    }
  });

  it("[AU24] without settings, a start gives a link that keeps its token behind # and makes an account", async () => {
    const url = await firstLink();
    expect(url.startsWith(`${baseUrl}/setup#token=first.`)).toBe(true);
    const account = await complete({ token: tokenOf(url), username: "ann", displayName: "Ann" });
    expect(account).toEqual({ username: "ann", displayName: "Ann", operator: true, disabled: false, createdAt: store.clock.nowMs / 1000 });
    expect(Account.safeParse(account).success).toBe(true);
    expect((await signedIn(identity, "ann")).principal).toMatchObject({ operator: true });
  });

  it("[AU24] a link ends at the first use of any link, and later starts print none", async () => {
    const links = [await firstLink(), await firstLink()].map(tokenOf);
    expect(links[0]).not.toBe(links[1]);
    await complete({ token: links[0], username: "ann" });
    for (const token of links) expect(await codeOf(complete({ token, username: "bob" }))).toBe("link_expired");
    expect(await identity.installation.prepare()).toEqual({ kind: "exists" });
  });

  it("[AU24] a link ends after its time, and another start gives a new one", async () => {
    const token = tokenOf(await firstLink());
    store.clock.nowMs += 3_600_000;
    expect(await codeOf(complete({ token, username: "ann" }))).toBe("link_expired");
    await complete({ token: tokenOf(await firstLink()), username: "ann" });
  });

  it("[AU24] two concurrent uses of one link create one account", async () => {
    const token = tokenOf(await firstLink());
    const codes = await Promise.all([
      codeOf(complete({ token, username: "ann" })),
      codeOf(complete({ token, username: "bob" })),
      codeOf(complete({ token, username: "ann" })),
    ]);
    expect(codes.sort()).toEqual(["done", "link_expired", "link_expired"]);
    expect((await identity.accounts.list({})).accounts).toHaveLength(1);
  });

  it("[AU24] an invented token, or a missing username for the first account, creates nothing", async () => {
    const token = tokenOf(await firstLink());
    for (const other of ["", "first.", "first", `${token}x`, token.slice(0, -1), "usr_01HZZZZZZZ00ZZZZZZZZZZZZZZ.x", "usr_x.y"]) {
      expect([other, await codeOf(complete({ token: other, username: "ann" }))]).toEqual([other, "link_expired"]);
    }
    expect(await codeOf(complete({ token }))).toBe("validation_failed");
    expect((await identity.accounts.list({})).accounts).toEqual([]);
    await complete({ token, username: "ann" });
  });

  describe("by an operator", () => {
    let root: Person;
    beforeEach(async () => {
      root = await firstOperator(identity);
    });

    it("[AU25] an account without a password comes with a link that sets it once", async () => {
      const { setupUrl, ...account } = await identity.accounts.create(root.call(), { username: "ann", email: "Ann@Example.org" });
      expect(account).toEqual({
        username: "ann",
        email: "Ann@Example.org",
        operator: false,
        disabled: false,
        createdAt: store.clock.nowMs / 1000,
      });
      expect(await codeOf(signedIn(identity, "ann"))).toBe("unauthenticated");
      const token = tokenOf(setupUrl ?? "");
      expect(setupUrl).toContain("&username=ann");
      expect(await codeOf(complete({ token, username: "bob" }))).toBe("validation_failed");
      expect(await complete({ token, displayName: "Ann" })).toEqual({ ...account, displayName: "Ann" });
      expect(await codeOf(complete({ token }))).toBe("link_expired");
      await signedIn(identity, "ann");
    });

    it("[AU25] the link of a new account expires, and two concurrent uses of it set one password", async () => {
      const ann = tokenOf((await identity.accounts.create(root.call(), { username: "ann" })).setupUrl ?? "");
      const codes = await Promise.all([codeOf(complete({ token: ann })), codeOf(complete({ token: ann, password: "another password" }))]);
      expect(codes.sort()).toEqual(["done", "link_expired"]);
      const bob = tokenOf((await identity.accounts.create(root.call(), { username: "bob" })).setupUrl ?? "");
      store.clock.nowMs += 3_600_000;
      expect(await codeOf(complete({ token: bob }))).toBe("link_expired");
    });

    it("[AU34] a reset link replaces the password and ends the sessions when it is used", async () => {
      const ann = await newPerson(identity, root, "ann");
      const link = await identity.passwordReset.createLink("ANN");
      expect(link).toMatchObject({ username: "ann", disabled: false });
      const token = tokenOf(link?.url ?? "");
      await signedIn(identity, "ann");
      expect(await codeOf(identity.authenticator.authenticate({ bearer: ann.accessToken }))).toBe("done");
      await complete({ token, password: "another password" });
      expect(await codeOf(identity.authenticator.authenticate({ bearer: ann.accessToken }))).toBe("unauthenticated");
      expect(await codeOf(signedIn(identity, "ann"))).toBe("unauthenticated");
    });

    it("[AU34] a newer link invalidates an older one, a link expires, and no account means no link", async () => {
      await newPerson(identity, root, "ann");
      const [older, newer] = [await identity.passwordReset.createLink("ann"), await identity.passwordReset.createLink("ann")];
      expect(await codeOf(complete({ token: tokenOf(older?.url ?? "") }))).toBe("link_expired");
      store.clock.nowMs += 3_600_000;
      expect(await codeOf(complete({ token: tokenOf(newer?.url ?? "") }))).toBe("link_expired");
      for (const other of ["bob", "", "a b", "ann\0", "x".repeat(5000)])
        expect(await identity.passwordReset.createLink(other)).toBeUndefined();
      await identity.accounts.update(root.call(), "ann", { disabled: true });
      expect(await identity.passwordReset.createLink("ann")).toMatchObject({ disabled: true });
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
      await expect.poll(() => identity.facts).toContainEqual({ kind: "account.disabled", accountId: ann.principal.accountId });
      expect(identity.facts.filter((fact) => fact.kind === "session.ended")).toHaveLength(2);
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
});
