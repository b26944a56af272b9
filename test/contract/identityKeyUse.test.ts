/** Tests which requests an API key authenticates, when it ends, and when its last use is recorded, on each store. */
import { describe, expect, it } from "vitest";
import { apiKeyUse } from "../../server/domain/identity/access/credentialRecords.ts";
import { createApiKeyText } from "../../server/domain/identity/auth/apiKeyText.ts";
import { keyHashSpace } from "../../server/domain/identity/auth/authenticator.ts";
import { hashSecretText } from "../../server/domain/identity/auth/secretHash.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
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

describe.each(stores)("use of API keys on the %s store", (_name, open) => {
  let store: Store;
  let identity: Identity;
  let root: Person;

  eachWithIdentity(open, async (opened) => {
    ({ store, identity } = opened);
    root = await firstOperator(identity);
  });

  const use = (key: string) => codeOf(identity.authenticator.authenticate({ apiKey: key }));

  it("[AU10] a text that is not a key of this store is refused", async () => {
    const text = createApiKeyText();
    for (const key of [text, `${text.slice(0, -1)}x`, "", "svc_", "x".repeat(10_000), root.accessToken])
      expect(await use(key)).toBe("unauthenticated");
    expect(await codeOf(identity.authenticator.authenticate({ bearer: text }))).toBe("unauthenticated");
    expect(await codeOf(identity.authenticator.authenticate({}))).toBe("unauthenticated");
  });

  it("[AU10] a directory entry that leads to a key with another hash authenticates nobody", async () => {
    const { keyId } = await newKey(identity, root);
    const text = createApiKeyText();
    await identity.directory.claim(keyHashSpace, hashSecretText(text), keyId, async () => true);
    expect(await use(text)).toBe("unauthenticated");
  });

  it("[AU12] a revoked key is refused on the next request, at other nodes too", async () => {
    const otherNode = await createIdentity(store);
    const { key, keyId } = await newKey(identity, root);
    expect(await codeOf(otherNode.authenticator.authenticate({ apiKey: key }))).toBe("done");
    store.clock.nowMs += 5;
    const { apiKey } = await identity.keys.revoke(root.call(), keyId);
    expect(apiKey).toMatchObject({ state: "revoked", revokedAt: new Date(store.clock.nowMs).toISOString() });
    expect(await use(key)).toBe("key_revoked");
    expect(await codeOf(otherNode.authenticator.authenticate({ apiKey: key }))).toBe("key_revoked");
    await otherNode.settled();
  });

  it("[AU12] revoking again gives the same answer, and two concurrent revocations both succeed", async () => {
    const { keyId } = await newKey(identity, root);
    await identity.settled();
    const both = await Promise.all([identity.keys.revoke(root.call(), keyId), identity.keys.revoke(root.call(), keyId)]);
    store.clock.nowMs += 1000;
    const again = await identity.keys.revoke(root.call(), keyId);
    for (const { apiKey } of both) expect(apiKey).toEqual(again.apiKey);
  });

  it("[AU12] the fact of a revocation is in the commit that revokes", async () => {
    const { keyId } = await newKey(identity, root);
    const batches: unknown[] = [];
    const watched = root.call({
      commit: (batch) => {
        batches.push(
          ...(batch.logs ?? []).flatMap((log) =>
            log.op === "append" ? log.entries.map((entry) => JSON.parse(String(Buffer.from(entry)))) : [],
          ),
        );
        return identity.storage.commit(batch);
      },
    });
    await identity.keys.revoke(watched, keyId);
    await identity.keys.revoke(watched, keyId);
    expect(batches).toEqual([{ kind: "key.revoked", keyId }]);
    expect(auditOf(identity).filter((line) => line.event === "key.revoked")).toHaveLength(1);
  });

  it("[AU12] a key may revoke itself, and another key only with keys:manage", async () => {
    const plain = await newKey(identity, root, { scopes: ["articles:read"] });
    const other = await newKey(identity, root, { scopes: ["articles:read"] });
    const manager = await newKey(identity, root, { scopes: ["keys:manage"] });
    expect(await codeOf(identity.keys.revoke(plain.call(), other.keyId))).toBe("insufficient_scope");
    expect(await codeOf(identity.keys.revoke(plain.call(), "key_01HZZZZZZZ00ZZZZZZZZZZZZZZ"))).toBe("insufficient_scope");
    expect(await use(other.key)).toBe("done");
    expect((await identity.keys.revoke(plain.call(), plain.keyId)).apiKey.state).toBe("revoked");
    expect(await use(plain.key)).toBe("key_revoked");
    await identity.keys.revoke(manager.call(), other.keyId);
    expect(await use(other.key)).toBe("key_revoked");
  });

  it("[AU13] a key ends at its expiry by store time, whether or not the expiry is recorded", async () => {
    const expiresAt = new Date(store.clock.nowMs + 1000).toISOString();
    const { key, keyId } = await newKey(identity, root, { expiresAt });
    store.clock.nowMs += 999;
    expect(await use(key)).toBe("done");
    store.clock.nowMs += 1;
    expect(await use(key)).toBe("key_expired");
    expect((await identity.keys.get(root.call(), keyId)).apiKey.state).toBe("expired");
    const listed = async (state: "active" | "expired") =>
      (await identity.keys.list(root.call(), { state })).apiKeys.map((found) => found.keyId);
    expect(await listed("expired")).toEqual([keyId]);
    expect(await listed("active")).toEqual([]);
  });

  it("[AU13] a due row records the expiry of a key", async () => {
    const { keyId } = await newKey(identity, root, { expiresAt: new Date(store.clock.nowMs + 1000).toISOString() });
    store.clock.nowMs += 1000;
    identity.pump.start();
    const partition = partitionOfId(keyId);
    await expect.poll(async () => identity.storage.counts.get(partition, [["apiKey.active", root.principal.accountId]])).toEqual([0]);
    await identity.pump.drain(AbortSignal.timeout(5000));
    expect(await codeOf(identity.keys.revoke(root.call(), keyId))).toBe("invalid_transition");
  });

  it("[AU13] an expiry must be in the future", async () => {
    for (const nowMs of [store.clock.nowMs, store.clock.nowMs - 1]) {
      const refused = identity.createKey(root.call(), { name: "late", expiresAt: new Date(nowMs).toISOString() });
      await expect(refused).rejects.toMatchObject({ code: "validation_failed", facts: { errors: [{ pointer: "/expiresAt" }] } });
    }
    expect((await identity.keys.list(root.call(), {})).apiKeys).toEqual([]);
  });

  it("[AU19] the last use is recorded at most once a minute, without changing the entity tag", async () => {
    const { key, keyId } = await newKey(identity, root);
    await identity.settled();
    const { apiKey, revision } = await identity.keys.get(root.call(), keyId);
    const first = new Date(store.clock.nowMs).toISOString();
    expect(apiKey.lastUsedAt).toBe(first);
    for (const [stepMs, expected] of [
      [59_999, first],
      [1, new Date(store.clock.nowMs + 60_000).toISOString()],
    ] as const) {
      store.clock.nowMs += stepMs;
      await use(key);
      await identity.settled();
      expect((await identity.keys.get(root.call(), keyId)).apiKey.lastUsedAt).toBe(expected);
    }
    expect((await identity.keys.get(root.call(), keyId)).revision).toBe(revision);
  });

  it("[AU19] within a minute a node asks the store once when a key was last used", async () => {
    let reads = 0;
    const counting = await createIdentity(store, {
      around: (storage) => ({
        ...storage,
        records: {
          ...storage.records,
          get(type, key) {
            if ((type as unknown) === apiKeyUse) reads += 1;
            return storage.records.get(type, key);
          },
        },
      }),
    });
    const { key } = await newKey(identity, root);
    for (let at = 0; at < 20; at += 1) await counting.authenticator.authenticate({ apiKey: key });
    await counting.settled();
    expect(reads).toBe(1);
  });

  it("[AU19] a store that refuses writes does not delay a request", async () => {
    const { key } = await newKey(identity, root);
    await identity.settled();
    const full = await createIdentity(store, {
      around: (storage) => ({ ...storage, commit: () => Promise.reject(new Error("no space left")) }),
    });
    store.clock.nowMs += 120_000;
    expect(await codeOf(full.authenticator.authenticate({ apiKey: key }))).toBe("done");
    await full.settled();
  });

  it("[AU22] a disabled account's keys are refused at once and work again when it is enabled", async () => {
    const ann = await newPerson(identity, root, "ann");
    const { key } = await newKey(identity, ann);
    await identity.accounts.update(root.call(), "ann", { disabled: true });
    expect(await use(key)).toBe("unauthenticated");
    await identity.accounts.update(root.call(), "ann", { disabled: false });
    expect(await use(key)).toBe("done");
  });
});
