/** Tests workspaces, their settings and counters, and who can reach them, on each store. */
import { describe, expect, it } from "vitest";
import { Workspace } from "../../api/schema/workspace.ts";
import { membershipRecord, withNextCounter, workspaceRecord } from "../../server/domain/identity/workspaces/records.ts";
import { codeOf } from "../support/codeOf.ts";
import { createIdentity, eachWithIdentity, type Identity, newKey, newTeam, type Person, type Store, stores } from "./identityFixture.ts";

describe.each(stores)("workspaces on the %s store", (_name, open) => {
  let store: Store;
  let identity: Identity;
  let root: Person;
  let ann: Person;
  let bob: Person;
  let team: string;

  eachWithIdentity(open, async (opened) => {
    ({ store, identity } = opened);
    ({ root, ann, bob, team } = await newTeam(opened));
  });

  const add = (by: Person | { call: Person["call"] }, username: string, role: "admin" | "member" = "member", workspaceId = team) =>
    identity.members.add(by.call(), workspaceId, { username, role });
  const listed = async (person: { call: Person["call"] }) =>
    (await identity.workspaces.list(person.call(), {})).workspaces.map((workspace) => workspace.workspaceId);
  const roleOf = async (person: { principal: Person["principal"] }, workspaceId = team) =>
    (await identity.accessResolver.resolve(person.principal, "workspace", workspaceId, { deleted: false }))?.role;

  it("[WS1] a workspace belongs to its creator and is listed at once", async () => {
    store.clock.nowMs += 1;
    const created = await identity.workspaces.create(ann.call(), { name: "News", type: "team", settings: { tone: "dry" } });
    expect(created).toEqual({
      workspaceId: expect.stringMatching(/^ws_/),
      name: "News",
      type: "team",
      ownerUsername: "ann",
      message: "Workspace created.",
    });
    const { workspace } = await identity.workspaces.get(ann.call(), created.workspaceId);
    const expected = {
      workspaceId: created.workspaceId,
      name: "News",
      type: "team",
      ownerUsername: "ann",
      members: [{ username: "ann", role: "owner" }],
      createdAt: store.clock.nowMs / 1000,
      updatedAt: store.clock.nowMs / 1000,
      settings: { tone: "dry" },
      svcProjectCounter: 0,
      svcBriefCounter: 0,
      svcArticleCounter: 0,
    };
    expect(workspace).toEqual(expected);
    expect(Workspace.safeParse(workspace).success).toBe(true);
    const { workspaces } = await identity.workspaces.list(ann.call(), {});
    expect(workspaces[0]).toEqual({ ...expected, effectivePermission: "write" });
  });

  it("[WS1] workspaces are listed newest first, page by page, to their members only", async () => {
    const own = (await listed(ann)).at(-1);
    const made = [team];
    for (let at = 0; at < 4; at += 1) {
      store.clock.nowMs += 1;
      made.unshift((await identity.workspaces.create(ann.call(), { name: `W${at}`, type: "team" })).workspaceId);
    }
    const first = await identity.workspaces.list(ann.call(), { limit: 4 });
    const second = await identity.workspaces.list(ann.call(), { limit: 4, nextToken: first.nextToken });
    expect([...first.workspaces, ...second.workspaces].map((workspace) => workspace.workspaceId)).toEqual([...made, own]);
    expect(second).not.toHaveProperty("nextToken");
    expect(await listed(bob)).toHaveLength(1);
    expect(await codeOf(identity.workspaces.list(bob.call(), { nextToken: first.nextToken }))).toBe("invalid_next_token");
  });

  it("[WS2] the role in the workspace decides what is allowed: owner, admin, member", async () => {
    await add(ann, "bob");
    await add(ann, "root", "admin");
    expect([await roleOf(ann), await roleOf(root), await roleOf(bob)]).toEqual(["owner", "admin", "write"]);
  });

  it("[WS2] an article is visible to everyone who can see its workspace", async () => {
    const articleId = "art_01HZZZZZZZ00ZZZZZZZZZZZZZZ";
    const withArticle = await createIdentity(store, {
      locateArticle: async (id, { deleted }) => (id === articleId && deleted ? { workspaceId: team } : undefined),
    });
    const resolve = (person: Person, id: string, deleted: boolean) =>
      withArticle.accessResolver.resolve(person.principal, "article", id, { deleted });
    expect(await resolve(ann, articleId, true)).toMatchObject({ workspaceId: team, role: "owner" });
    expect(await resolve(ann, articleId, false)).toBeUndefined();
    expect(await resolve(bob, articleId, true)).toBeUndefined();
    expect(await resolve(ann, "art_ZZ", true)).toBeUndefined();
  });

  it("[WS3] settings are merged under If-Match, and an empty change keeps the entity tag", async () => {
    const { revision } = await identity.workspaces.get(ann.call(), team);
    const update = (request: object, ifMatch?: number) =>
      identity.workspaces.update(ann.call(ifMatch === undefined ? {} : { ifMatch: [`"r0-${ifMatch}"`] }), team, request);
    store.clock.nowMs += 1000;
    expect(await update({ settings: { a: { b: 1, c: 2 }, d: [1] } }, revision)).toEqual({ message: "Workspace updated." });
    expect(await codeOf(update({ name: "Stale" }, revision))).toBe("precondition_failed");
    await update({ name: "Renamed", settings: { a: { b: null }, e: "x" } }, revision + 1);
    expect(await identity.workspaces.get(ann.call(), team)).toMatchObject({
      revision: revision + 2,
      workspace: { name: "Renamed", settings: { a: { c: 2 }, d: [1], e: "x" }, updatedAt: store.clock.nowMs / 1000 },
    });
    for (const request of [{}, { name: "Renamed" }, { settings: {} }, { settings: { nothing: null } }]) {
      expect(await update(request)).toEqual({ message: "Nothing to change." });
    }
    expect((await identity.workspaces.get(ann.call(), team)).revision).toBe(revision + 2);
  });

  it("[WS3] settings stay within their limits, also when several changes add up", async () => {
    const half = "x".repeat(40 * 1024);
    await identity.workspaces.update(ann.call(), team, { settings: { a: half } });
    const refused = identity.workspaces.update(ann.call(), team, { settings: { b: half } });
    await expect(refused).rejects.toMatchObject({ code: "validation_failed", facts: { errors: [{ pointer: "/settings" }] } });
    let deep: unknown = 1;
    for (let level = 0; level < 9; level += 1) deep = { a: deep };
    expect(await codeOf(identity.workspaces.update(ann.call(), team, { settings: { b: deep } as never }))).toBe("validation_failed");
    expect(await codeOf(identity.workspaces.create(ann.call(), { name: "x", type: "team", settings: { b: deep } as never }))).toBe(
      "validation_failed",
    );
    expect((await identity.workspaces.get(ann.call(), team)).workspace.settings).toEqual({ a: half });
  });

  it("[WS3] of many concurrent changes none is lost", async () => {
    await Promise.all(
      Array.from({ length: 20 }, (_, at) => identity.workspaces.update(ann.call(), team, { settings: { [`key${at}`]: at } })),
    );
    const { settings = {} } = (await identity.workspaces.get(ann.call(), team)).workspace;
    expect(Object.keys(settings)).toHaveLength(20);
  });

  it("[WS8] a key limited to workspaces reaches and lists only those", async () => {
    const own = (await listed(ann)).at(-1) ?? "";
    const key = await newKey(identity, ann, { workspaceIds: [team as never] });
    expect(await roleOf(key, team)).toBe("owner");
    expect(await roleOf(key, own)).toBeUndefined();
    expect(await listed(key)).toEqual([team]);
    expect(await codeOf(identity.workspaces.get(key.call(), own))).toBe("not_found");
    expect(await codeOf(identity.workspaces.update(key.call(), own, { name: "x" }))).toBe("not_found");
    expect(await codeOf(add(key, "bob", "member", own))).toBe("not_found");
    expect(await codeOf(add(key, "bob"))).toBe("done");
  });

  it("[WS8] a key limited to workspaces cannot create another workspace", async () => {
    const before = await listed(ann);
    const key = await newKey(identity, ann, { workspaceIds: [team as never] });
    expect(await codeOf(identity.workspaces.create(key.call(), { name: "Beyond", type: "team" }))).toBe("insufficient_permission");
    expect(await listed(ann)).toEqual(before);
    const wide = await newKey(identity, ann, {});
    expect(await codeOf(identity.workspaces.create(wide.call(), { name: "Within", type: "team" }))).toBe("done");
  });

  it("[WS8] a key loses a workspace when its account loses the membership", async () => {
    await add(ann, "bob");
    const key = await newKey(identity, bob, { workspaceIds: [team as never] });
    expect(await roleOf(key)).toBe("write");
    await identity.members.remove(ann.call(), team, "bob");
    expect(await roleOf(key)).toBeUndefined();
    expect(await listed(key)).toEqual([]);
  });

  it("[WS9] the workspace's record decides, and a leftover row elsewhere shows nothing", async () => {
    const value = { accountId: bob.principal.accountId, workspaceId: team, workspaceCreatedAt: store.clock.nowMs / 1000 };
    const partition = membershipRecord.partitionOf(membershipRecord.keyOf(value));
    await identity.storage.commit({ partition, records: [{ op: "put", type: membershipRecord, value, replacing: null }] });
    expect(await listed(bob)).toHaveLength(1);
    expect(await roleOf(bob)).toBeUndefined();
  });

  it("[WS10] a counter issues each number once, in the commit that uses it", async () => {
    const next = async (): Promise<number> => {
      const stored = await identity.storage.records.get(workspaceRecord, team);
      if (stored === undefined) throw new Error("gone");
      const { number, write } = await withNextCounter(identity.storage, stored.value, "article");
      const result = await identity.storage.commit({ partition: workspaceRecord.partitionOf(team), records: [write] });
      return result.ok ? number : next();
    };
    const numbers = await Promise.all(Array.from({ length: 15 }, next));
    expect(numbers.sort((one, other) => one - other)).toEqual(Array.from({ length: 15 }, (_, at) => at + 1));
    expect((await identity.workspaces.get(ann.call(), team)).workspace).toMatchObject({ svcArticleCounter: 15, svcBriefCounter: 0 });
  });

  it("[WS14] numbers continue from an older store that kept the counters in the workspace record", async () => {
    const stored = await identity.storage.records.get(workspaceRecord, team);
    if (stored === undefined) throw new Error("gone");
    const partition = workspaceRecord.partitionOf(team);
    const value = { ...stored.value, counters: { article: 7, project: 2, brief: 3 } };
    await identity.storage.commit({ partition, records: [{ op: "put", type: workspaceRecord, value, replacing: stored }] });
    expect((await identity.workspaces.get(ann.call(), team)).workspace).toMatchObject({ svcArticleCounter: 7, svcBriefCounter: 3 });
    for (const expected of [8, 9]) {
      const { number, write } = await withNextCounter(identity.storage, value, "article");
      expect(number).toBe(expected);
      await identity.storage.commit({ partition, records: [write] });
    }
    const { workspaces } = await identity.workspaces.list(ann.call(), {});
    expect(workspaces).toContainEqual(expect.objectContaining({ workspaceId: team, svcArticleCounter: 9, svcBriefCounter: 3 }));
  });
});
