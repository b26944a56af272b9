/** Tests how API keys are made, limited, seen, changed and deleted, on each store. */
import { describe, expect, it } from "vitest";
import { ApiKey } from "../../api/schema/apiKey.ts";
import { idPattern } from "../../api/schema/id.ts";
import type { Scope } from "../../api/scopes.ts";
import { apiKeyUse } from "../../server/domain/identity/access/credentialRecords.ts";
import { keyHashSpace } from "../../server/domain/identity/auth/authenticator.ts";
import { hashSecretText } from "../../server/domain/identity/auth/secretHash.ts";
import { codeOf } from "../support/codeOf.ts";
import {
  auditOf,
  createIdentity,
  eachWithIdentity,
  firstOperator,
  type Identity,
  newKey,
  newPerson,
  type Person,
  type Store,
  stores,
} from "./identityFixture.ts";

describe.each(stores)("API keys on the %s store", (_name, open) => {
  let store: Store;
  let identity: Identity;
  let root: Person;

  eachWithIdentity(open, async (opened) => {
    ({ store, identity } = opened);
    root = await firstOperator(identity);
  });

  const use = (key: string) => codeOf(identity.authenticator.authenticate({ apiKey: key }));
  const workspaceOf = async (person: Person) => (await identity.workspaces.list(person.call(), {})).workspaces[0]?.workspaceId as never;

  it("[AU11] the text of a key is in the answer that makes it and nowhere else", async () => {
    const created = await identity.createKey(root.call(), { name: "Build", description: "for the pipeline", scopes: ["articles:read"] });
    const { key, ...rest } = created;
    expect(key).toMatch(/^svc_/);
    expect(rest).toEqual({
      keyId: expect.stringMatching(idPattern("key")),
      name: "Build",
      description: "for the pipeline",
      prefix: key.slice(0, 12),
      state: "active",
      scopes: ["articles:read"],
      createdAt: new Date(store.clock.nowMs).toISOString(),
      createdBy: "root",
    });
    const shown = [
      (await identity.keys.get(root.call(), rest.keyId)).apiKey,
      ...(await identity.keys.list(root.call(), {})).apiKeys,
      (await identity.keys.update(root.call(), rest.keyId, { name: "Other" })).apiKey,
      (await identity.keys.revoke(root.call(), rest.keyId)).apiKey,
    ];
    for (const view of shown) expect(ApiKey.safeParse(view).success).toBe(true);
    expect(JSON.stringify(shown)).not.toContain(key.slice(13));
  });

  it("[AU11] a key acts for its account, within its limits and never as operator", async () => {
    const workspaceId = await workspaceOf(root);
    const expiresAt = new Date(store.clock.nowMs + 1000).toISOString();
    const { principal, keyId } = await newKey(identity, root, { scopes: ["articles:read"], workspaceIds: [workspaceId], expiresAt });
    expect(principal).toEqual({
      kind: "key",
      accountId: root.principal.accountId,
      username: "root",
      operator: false,
      keyId,
      scopes: ["articles:read"],
      workspaceIds: [workspaceId],
      expiresAtMs: store.clock.nowMs + 1000,
    });
    const full = await newKey(identity, root);
    expect(full.principal).not.toHaveProperty("scopes");
  });

  it("[AU14] a key limited in workspaces and time makes only keys with the same limits", async () => {
    const ann = await newPerson(identity, root, "ann");
    const mine = await workspaceOf(root);
    const foreign = await workspaceOf(ann);
    const expiresAt = new Date(store.clock.nowMs + 60_000).toISOString();
    const later = new Date(store.clock.nowMs + 60_001).toISOString();
    const scopes: Scope[] = ["articles:read"];
    const caller = await newKey(identity, root, { scopes: ["keys:manage", "articles:read"], workspaceIds: [mine], expiresAt });
    const create = (request: object) => codeOf(identity.createKey(caller.call(), { name: "made", scopes, ...request }));
    expect(await create({ expiresAt })).toBe("scope_escalation");
    expect(await create({ workspaceIds: [mine] })).toBe("scope_escalation");
    expect(await create({ workspaceIds: [mine], expiresAt: later })).toBe("scope_escalation");
    expect(await create({ workspaceIds: [mine, foreign], expiresAt })).toBe("scope_escalation");
    store.clock.nowMs += 1;
    expect(await create({ workspaceIds: [mine], expiresAt })).toBe("done");
    const made = (await identity.keys.list(root.call(), {})).apiKeys[0];
    expect(made).toMatchObject({ createdBy: "root", workspaceIds: [mine], expiresAt });
  });

  it("[AU14] a workspace that the caller cannot see is refused as if it were missing", async () => {
    const ann = await newPerson(identity, root, "ann");
    const foreign: string = await workspaceOf(ann);
    const refusals = await Promise.all(
      [foreign, `${foreign.slice(0, -1)}${foreign.endsWith("0") ? "1" : "0"}`].map((id) =>
        identity
          .createKey(root.call(), { name: "made", workspaceIds: [id as never] })
          .catch((reason: { code: string; message: string }) => ({
            code: reason.code,
            message: reason.message,
          })),
      ),
    );
    expect(refusals[0]).toMatchObject({ code: "not_found" });
    expect(refusals[1]).toEqual(refusals[0]);
  });

  it("[AU15] duplicate scopes and workspaces are removed, and absent scopes mean full access", async () => {
    const folded = await identity.createKey(root.call(), { name: "x", scopes: ["articles:read", "reviews:read", "articles:read"] });
    expect(folded.scopes).toEqual(["articles:read", "reviews:read"]);
    const workspaceId = await workspaceOf(root);
    expect((await identity.createKey(root.call(), { name: "x", workspaceIds: [workspaceId, workspaceId] })).workspaceIds).toEqual([
      workspaceId,
    ]);
    expect(await identity.createKey(root.call(), { name: "x" })).not.toHaveProperty("scopes");
  });

  it("[AU16] an account never has more active keys than its limit, under concurrent requests", async () => {
    const limits = { ...identity.limits, "keys.active": 3 };
    const create = () => codeOf(identity.createKey(root.call({ limits }), { name: "x" }));
    const codes = await Promise.all(Array.from({ length: 8 }, create));
    expect(codes.sort()).toEqual([...Array(3).fill("done"), ...Array(5).fill("limit_reached")]);
    const { apiKeys } = await identity.keys.list(root.call(), {});
    expect(apiKeys).toHaveLength(3);
    await identity.keys.revoke(root.call(), apiKeys[0]?.keyId ?? "");
    expect(await create()).toBe("done");
    expect(await create()).toBe("limit_reached");
  });

  it("[AU16] an expired key makes room even before its expiry is recorded", async () => {
    const limits = { ...identity.limits, "keys.active": 1 };
    await newKey(identity, root, { expiresAt: new Date(store.clock.nowMs + 1000).toISOString() });
    expect(await codeOf(identity.createKey(root.call({ limits }), { name: "x" }))).toBe("limit_reached");
    store.clock.nowMs += 1000;
    expect(await codeOf(identity.createKey(root.call({ limits }), { name: "x" }))).toBe("done");
  });

  it("[AU16] a refused key leaves nothing behind", async () => {
    const limits = { ...identity.limits, "keys.active": 0 };
    const before = await store.contents();
    expect(await codeOf(identity.createKey(root.call({ limits }), { name: "refused key" }))).toBe("limit_reached");
    expect(await codeOf(identity.createKey(root.call(), { name: "refused key", expiresAt: "2001-01-01T00:00:00.000Z" }))).toBe(
      "validation_failed",
    );
    const after = await store.contents();
    expect(after.split("keyHash").length).toBe(before.split("keyHash").length);
    expect(after).not.toContain("refused key");
  });

  it("[AU17] a key is visible only to its own account, on every operation", async () => {
    const ann = await newPerson(identity, root, "ann");
    const { keyId } = await newKey(identity, root);
    const annsKey = await newKey(identity, ann, { scopes: ["keys:manage"] });
    for (const caller of [ann, annsKey]) {
      for (const id of [keyId, `${keyId.slice(0, -1)}${keyId.endsWith("0") ? "1" : "0"}`]) {
        expect(await codeOf(identity.keys.get(caller.call(), id))).toBe("not_found");
        expect(await codeOf(identity.keys.update(caller.call(), id, { name: "x" }))).toBe("not_found");
        expect(await codeOf(identity.keys.revoke(caller.call(), id))).toBe("not_found");
        expect(await codeOf(identity.keys.delete(caller.call(), id))).toBe("not_found");
      }
      expect((await identity.keys.list(caller.call(), {})).apiKeys.map((key) => key.keyId)).toEqual([annsKey.keyId]);
    }
    expect((await identity.keys.get(root.call(), keyId)).apiKey.state).toBe("active");
  });

  it("[AU17] a key without keys:manage still sees itself, and a session has no key", async () => {
    const key = await newKey(identity, root, { scopes: ["articles:read"] });
    expect((await identity.keys.self(key.call())).apiKey.keyId).toBe(key.keyId);
    expect(await codeOf(identity.keys.self(root.call()))).toBe("not_found");
  });

  it("[AU17] keys are listed newest first, page by page, by state", async () => {
    const made: string[] = [];
    for (let at = 0; at < 5; at += 1) {
      store.clock.nowMs += 1;
      made.unshift((await newKey(identity, root)).keyId);
    }
    const first = await identity.keys.list(root.call(), { limit: 2 });
    const second = await identity.keys.list(root.call(), { limit: 2, nextToken: first.nextToken });
    const third = await identity.keys.list(root.call(), { limit: 2, nextToken: second.nextToken });
    expect([first, second, third].flatMap((page) => page.apiKeys.map((key) => key.keyId))).toEqual(made);
    expect(third).not.toHaveProperty("nextToken");
    await identity.keys.revoke(root.call(), made[1] ?? "");
    expect((await identity.keys.list(root.call(), { state: "revoked" })).apiKeys.map((key) => key.keyId)).toEqual([made[1]]);
    expect(await codeOf(identity.keys.list(root.call(), { state: "active", nextToken: first.nextToken }))).toBe("invalid_next_token");
  });

  it("[AU18] an active key cannot be deleted", async () => {
    const { key, keyId } = await newKey(identity, root);
    expect(await codeOf(identity.keys.delete(root.call(), keyId))).toBe("key_active");
    expect(await use(key)).toBe("done");
  });

  it("[AU18] a revoked or expired key is deleted with its hash and its last use", async () => {
    const revoked = await newKey(identity, root, { scopes: ["articles:read"] });
    const expired = await newKey(identity, root, { expiresAt: new Date(store.clock.nowMs + 1000).toISOString() });
    await identity.settled();
    await identity.keys.revoke(root.call(), revoked.keyId);
    store.clock.nowMs += 1000;
    for (const { key, keyId } of [revoked, expired]) {
      await identity.keys.delete(root.call(), keyId);
      expect(await use(key)).toBe("unauthenticated");
      expect(await codeOf(identity.keys.get(root.call(), keyId))).toBe("not_found");
      expect(await codeOf(identity.keys.delete(root.call(), keyId))).toBe("not_found");
      expect(await identity.directory.find(keyHashSpace, hashSecretText(key))).toBeUndefined();
      expect(await identity.storage.records.get(apiKeyUse, keyId)).toBeUndefined();
    }
    expect((await identity.keys.list(root.call(), {})).apiKeys).toEqual([]);
  });

  it("[AU67] a deletion with If-Match fails if the key is changed while it runs", async () => {
    let change = async () => {};
    const around = (storage: Store["storage"]): Store["storage"] => ({
      ...storage,
      async commit(batch) {
        const isRelease = batch.records?.some(({ op, type }) => op === "delete" && type.name === "directory") === true;
        if (isRelease) await change();
        return storage.commit(batch);
      },
    });
    const raced = await createIdentity(store, { around });
    const { keyId } = await newKey(raced, root);
    const { revision } = await raced.keys.revoke(root.call(), keyId);
    change = async () => {
      change = async () => {};
      await raced.keys.update(root.call(), keyId, { name: "Renamed meanwhile" });
    };
    expect(await codeOf(raced.keys.delete(root.call({ ifMatch: [`"r${revision}"`] }), keyId))).toBe("precondition_failed");
    const seen = await raced.keys.get(root.call(), keyId);
    expect(seen.apiKey.name).toBe("Renamed meanwhile");
    await raced.keys.delete(root.call({ ifMatch: [`"r${seen.revision}"`] }), keyId);
    expect(await codeOf(raced.keys.get(root.call(), keyId))).toBe("not_found");
    await raced.settled();
  });

  it("[AU18] name and description change under If-Match and leave the rest of the key unchanged", async () => {
    const expiresAt = new Date(store.clock.nowMs + 1000).toISOString();
    const { key, keyId } = await newKey(identity, root, { expiresAt });
    const { revision } = await identity.keys.get(root.call(), keyId);
    const stale = root.call({ ifMatch: [`"r${revision + 7}"`] });
    expect(await codeOf(identity.keys.update(stale, keyId, { name: "New" }))).toBe("precondition_failed");
    expect(await codeOf(identity.keys.delete(stale, keyId))).toBe("precondition_failed");
    const updated = await identity.keys.update(root.call({ ifMatch: [`"r${revision}"`] }), keyId, { name: "New", description: "why" });
    expect(updated).toMatchObject({ apiKey: { name: "New", description: "why", expiresAt }, revision: revision + 1 });
    expect((await identity.keys.get(root.call(), keyId)).revision).toBe(revision + 1);
    expect(await use(key)).toBe("done");
    store.clock.nowMs += 1000;
    expect(await use(key)).toBe("key_expired");
  });

  it("[AU31] changes of keys are in the audit stream, without the text of the key", async () => {
    const { key, keyId } = await newKey(identity, root);
    await identity.keys.update(root.call(), keyId, { name: "Other" });
    await identity.keys.revoke(root.call(), keyId);
    await identity.keys.delete(root.call(), keyId);
    const events = auditOf(identity).filter((line) => line.keyId === keyId);
    expect(events.map((line) => line.event)).toEqual(["key.created", "key.updated", "key.revoked", "key.deleted"]);
    for (const event of events) expect(event.by).toMatchObject({ username: "root" });
    expect(identity.lines.join("")).not.toContain(key.slice(13));
  });
});
