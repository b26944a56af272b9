/** Tests how the first account is made, and the links that set a password, on each store. */
import { beforeEach, describe, expect, it } from "vitest";
import { Account } from "../../api/schema/account.ts";
import { codeOf } from "../support/codeOf.ts";
import { baseUrl } from "../support/composeParts.ts";
import { createDyingStorage } from "../support/dyingStorage.ts";
import {
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

function tokenOf(url: string): string {
  return new URLSearchParams(new URL(url).hash.slice(1)).get("token") ?? "";
}

describe.each(stores)("setup on the %s store", (_name, open) => {
  let store: Store;
  let identity: Identity;

  eachWithIdentity(open, (opened) => {
    ({ store, identity } = opened);
  });

  const complete = (request: object, by = identity) => by.setup.complete(by.callOf(), { password, ...request } as never);
  const firstLink = async (by = identity) => {
    const prepared = await by.prepare();
    if (prepared.kind !== "link") throw new Error(`no link but ${prepared.kind}`);
    return prepared.url;
  };

  it("[AU23] the settings create the first account, an operator, once", async () => {
    expect(await identity.prepare({ username: "root", password })).toEqual({ kind: "made", username: "root" });
    expect(await identity.prepare({ username: "other", password })).toEqual({
      kind: "ignored",
      username: "other",
      isKnown: false,
    });
    expect(await identity.prepare()).toEqual({ kind: "exists" });
    const root = await signedIn(identity, "root");
    expect(root.principal).toMatchObject({ operator: true });
    expect((await identity.accounts.list({})).accounts).toEqual([
      { username: "root", operator: true, disabled: false, createdAt: store.clock.nowMs / 1000 },
    ]);
  });

  it("[AU23] two nodes that start at once create one account", async () => {
    const nodes = [await createIdentity(store), await createIdentity(store), await createIdentity(store)];
    const prepared = await Promise.all(nodes.map((node) => node.prepare({ username: "root", password })));
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
        void dies.prepare({ username: "root", password });
        await expect.poll(() => dying.dead).toBe(true);
        const next = await createIdentity(fresh);
        expect([dieAt, when, (await next.prepare({ username: "root", password })).kind]).toEqual([
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
    expect(await identity.prepare()).toEqual({ kind: "exists" });
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
  });
});
