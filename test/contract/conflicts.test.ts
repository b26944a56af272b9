/** Every operation that repeats after a conflict ends when its store answers each commit with a conflict. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createDirectory } from "../../server/platform/storage/directory.ts";
import { createHousekeeping } from "../../server/platform/storage/housekeeping.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import type { ClaimedRow, Storage } from "../../server/platform/storage/port.ts";
import { createRecordTypes, defineRecord } from "../../server/platform/storage/recordType.ts";
import { observeConflicts } from "../../server/platform/storage/retryOnConflict.ts";
import { codeOf } from "../support/codeOf.ts";
import { createManualTime } from "../support/manualTime.ts";
import { addWorkspace, createArticleNode, createCall } from "./articleFixture.ts";
import { createIdentity, firstOperator, newPerson, stores } from "./identityFixture.ts";

// The waits between attempts end at once here.
vi.mock("node:timers/promises", () => ({ setTimeout: async () => {} }));

/** A store whose commits all meet a conflict while `storm` is on. */
function inStorm(storage: Storage) {
  const state = { storm: false };
  const stormy: Storage = {
    ...storage,
    commit: async (batch) => (state.storm ? { ok: false, conflict: { kind: "record", type: "any", key: "any" } } : storage.commit(batch)),
  };
  return { state, stormy };
}

const exhausted: string[] = [];
let stop: () => void;
beforeEach(() => {
  exhausted.length = 0;
  stop = observeConflicts(({ operation, outcome }) => {
    if (outcome === "exhausted") exhausted.push(operation);
  });
});
afterEach(() => stop());

describe("a store that answers every commit with a conflict", () => {
  test("[ST90] ends every change of an article as unavailable", async () => {
    const time = createManualTime();
    const { state, stormy } = inStorm(createMemoryStorage({ now: time.now }));
    const node = createArticleNode(stormy, time);
    const workspaceId = await addWorkspace(stormy);
    const call = () => createCall(stormy, workspaceId, partitionOfId(workspaceId), { role: "admin" });
    const { article } = await node.articles.create({ workspaceId, title: "One", content: "text" }, call());
    const { articleId } = article;
    state.storm = true;
    const codes = await Promise.all(
      [
        node.articles.create({ workspaceId, title: "Two" }, call()),
        node.articles.update(articleId, { title: "Other" }, call()),
        node.articles.delete(articleId, false, call()),
        node.articles.delete(articleId, true, call()),
        node.commits.create(articleId, { message: "m" }, call()),
        node.documentStore.updateLog.append(articleId, []),
        node.documentStore.updateLog.saveState(articleId, 1, new Uint8Array(2)),
      ].map(codeOf),
    );
    expect(codes).toEqual(codes.map(() => "unavailable"));
    expect(exhausted.toSorted()).toEqual([
      "article.change",
      "article.create",
      "article.purge",
      "article.trash",
      "commit.write",
      "document.append",
      "document.saveState",
    ]);
    state.storm = false;
    expect((await node.articles.get(articleId)).article).toEqual(article);
    await node.pump.drain(AbortSignal.timeout(1000));
  });

  test("[ST90] ends every change of an account as unavailable", async () => {
    const [, open] = stores[0] as (typeof stores)[number];
    const store = await open();
    const { state, stormy } = inStorm(store.storage);
    const identity = await createIdentity({ clock: store.clock, storage: stormy });
    const operator = await firstOperator(identity);
    const person = await newPerson(identity, operator, "ann");
    const { keyId } = await identity.createKey(person.call(), { name: "key" });
    const workspace = await identity.workspaces.create(person.call(), { name: "Team", type: "team" });
    state.storm = true;
    const codes = await Promise.all(
      [
        identity.sessions.token(identity.callOf(), { grantType: "refresh_token", refreshToken: person.refreshToken }),
        identity.sessions.logout(person.call()),
        identity.keys.update(person.call(), keyId, { name: "other" }),
        identity.workspaces.update(person.call(), workspace.workspaceId, { name: "Other" }),
        identity.members.add(person.call(), workspace.workspaceId, { username: "root", role: "member" }),
        identity.registry.change(
          person.principal.accountId,
          async (before) => ({ next: { ...before, displayName: "A" } }),
          (batch) => stormy.commit(batch),
        ),
      ].map(codeOf),
    );
    expect(codes).toEqual(codes.map(() => "unavailable"));
    expect(exhausted.toSorted()).toEqual([
      "account.change",
      "key.update",
      "members.change",
      "session.end",
      "session.refresh",
      "workspace.update",
    ]);
    await store.close();
  });

  test("[ST90] ends a claim of the directory and the deletion of an expired record as unavailable", async () => {
    const note = defineRecord<{ readonly id: string; readonly endsAtMs: number }>({
      name: "note",
      version: 1,
      partitionOf: () => 3,
      keyOf: ({ id }) => id,
      expiresAtMs: ({ endsAtMs }) => endsAtMs,
    });
    let nowMs = 1_900_000_000_000;
    const { state, stormy } = inStorm(createMemoryStorage({ now: () => nowMs }));
    const directory = createDirectory(stormy);
    await directory.claim("slug", "mine", "one", async () => true);
    await stormy.commit({ partition: 3, records: [{ op: "put", type: note, value: { id: "n", endsAtMs: nowMs + 10 }, replacing: null }] });
    nowMs += 1000;
    const [row] = (await stormy.due.claim({ partitions: [3], limit: 1, leaseMs: 5000 })) as [ClaimedRow];
    const housekeeping = createHousekeeping(stormy, createRecordTypes([note]));
    state.storm = true;
    const works = [directory.claim("slug", "new", "one", async () => true), directory.release("slug", "mine", "one"), housekeeping(row)];
    expect(await Promise.all(works.map(codeOf))).toEqual(["unavailable", "unavailable", "unavailable"]);
    expect(exhausted.toSorted()).toEqual(["directory.claim", "directory.release", "record.expire"]);
    state.storm = false;
    expect(await directory.find("slug", "mine")).toBe("one");
    expect(await stormy.records.get(note, "n")).toBeDefined();
  });
});
