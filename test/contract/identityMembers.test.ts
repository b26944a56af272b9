/** Tests the members of workspaces: who changes them, and what follows from a change, on each store. */
import { describe, expect, it } from "vitest";
import { membershipKey, membershipRecord } from "../../server/domain/identity/workspaces/records.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { codeOf } from "../support/codeOf.ts";
import { createDyingStorage } from "../support/dyingStorage.ts";
import {
  auditOf,
  createIdentity,
  eachWithIdentity,
  type Identity,
  leaseMs,
  newPerson,
  newTeam,
  type Person,
  type Store,
  stores,
} from "./identityFixture.ts";

describe.each(stores)("members on the %s store", (_name, open) => {
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

  it("[WS4] a member is added by username, once, and sees the workspace at once", async () => {
    expect(await add(ann, "bob")).toEqual({ workspaceId: team, member: { username: "bob", role: "member", type: "direct" } });
    expect((await listed(bob))[0]).toBe(team);
    expect(await codeOf(add(ann, "bob", "admin"))).toBe("already_exists");
    expect(await codeOf(add(ann, "ann"))).toBe("already_exists");
    expect(await codeOf(add(ann, "nobody"))).toBe("not_found");
    expect((await identity.ownAccount.get(bob.call())).workspaces).toBe(2);
  });

  it("[WS4] members are listed by username, page by page", async () => {
    for (const username of ["zoe", "carl", "dora"]) await newPerson(identity, root, username);
    for (const username of ["zoe", "bob", "carl", "dora"]) await add(ann, username);
    const list = (query: object) => identity.members.list(bob.call(), team, query);
    const first = await list({ limit: 3 });
    const second = await list({ limit: 3, nextToken: first.nextToken });
    expect([...first.collaborators, ...second.collaborators].map((member) => member.username)).toEqual([
      "ann",
      "bob",
      "carl",
      "dora",
      "zoe",
    ]);
    expect(second).not.toHaveProperty("nextToken");
    expect(first.collaborators[0]).toEqual({ username: "ann", role: "owner", type: "direct" });
    expect((await list({ type: "direct" })).collaborators).toHaveLength(5);
    expect(await list({ type: "invited" })).toEqual({ collaborators: [] });
    expect(await codeOf(list({ type: "direct", nextToken: first.nextToken }))).toBe("invalid_next_token");
    expect(await codeOf(list({ limit: 101 }))).toBe("validation_failed");
  });

  it("[WS4] members added at the same time are all stored", async () => {
    const names = ["c1", "c2", "c3", "c4", "c5", "c6"];
    for (const name of names) await newPerson(identity, root, name);
    await Promise.all(names.map((name) => add(ann, name)));
    expect((await identity.members.list(ann.call(), team, {})).collaborators.map((member) => member.username)).toEqual(["ann", ...names]);
  });

  it("[WS5] the owner cannot be changed or removed, so there is always one", async () => {
    await add(ann, "bob", "admin");
    for (const caller of [ann, bob]) {
      expect(await codeOf(identity.members.update(caller.call(), team, "ann", "member"))).toBe("last_owner");
      expect(await codeOf(identity.members.update(caller.call(), team, "ann", "admin"))).toBe("last_owner");
      expect(await codeOf(identity.members.remove(caller.call(), team, "ann"))).toBe("last_owner");
    }
    expect(await roleOf(ann)).toBe("owner");
  });

  it("[WS5] an administrator changes roles, and setting the same role changes nothing", async () => {
    await add(ann, "bob");
    const { revision } = await identity.workspaces.get(ann.call(), team);
    expect(await identity.members.update(ann.call(), team, "bob", "member")).toEqual({ username: "bob", role: "member", type: "direct" });
    expect((await identity.workspaces.get(ann.call(), team)).revision).toBe(revision);
    expect(await identity.members.update(ann.call(), team, "bob", "admin")).toEqual({ username: "bob", role: "admin", type: "direct" });
    expect(await roleOf(bob)).toBe("admin");
    expect(await codeOf(identity.members.update(ann.call(), team, "nobody", "admin"))).toBe("not_found");
  });

  it("[WS6] a member may leave and may change nothing for others", async () => {
    await add(ann, "bob");
    await add(ann, "root");
    expect(await codeOf(add(bob, "root"))).toBe("insufficient_role");
    expect(await codeOf(identity.members.update(bob.call(), team, "root", "admin"))).toBe("insufficient_role");
    expect(await codeOf(identity.members.update(bob.call(), team, "bob", "admin"))).toBe("insufficient_role");
    expect(await codeOf(identity.members.remove(bob.call(), team, "root"))).toBe("insufficient_role");
    expect(await codeOf(identity.workspaces.update(bob.call(), team, { name: "Mine" }))).toBe("insufficient_role");
    await identity.members.remove(bob.call(), team, "bob");
    expect(await roleOf(bob)).toBeUndefined();
    expect(await listed(bob)).toHaveLength(1);
    await identity.members.remove(ann.call(), team, "root");
    expect(await codeOf(identity.members.remove(ann.call(), team, "root"))).toBe("not_found");
  });

  it("[WS7] every member change has its access fact in its commit, and subscribers receive it", async () => {
    identity.access.start();
    await identity.access.ready();
    const batches: number[] = [];
    const watched = ann.call({
      commit: (batch) => {
        batches.push((batch.logs ?? []).length);
        return identity.storage.commit(batch);
      },
    });
    await identity.members.add(watched, team, { username: "bob", role: "member" });
    await identity.members.update(watched, team, "bob", "admin");
    await identity.members.remove(watched, team, "bob");
    expect(batches).toEqual([1, 1, 1]);
    const fact = { kind: "membership.changed", workspaceId: team, accountId: bob.principal.accountId };
    await expect.poll(() => identity.facts).toEqual([fact, fact, fact]);
    identity.access.stop();
    expect(auditOf(identity).filter((line) => line.workspaceId === team)).toMatchObject([
      { event: "member.added", member: "bob", role: "member", by: { username: "ann" } },
      { event: "member.updated", member: "bob", role: "admin" },
      { event: "member.removed", member: "bob" },
    ]);
  });

  it("[WS7] the list of workspaces follows the members even if the node dies after the commit", async () => {
    // Write 1 commits the change. The later writes update the list.
    for (const dieAt of [1, 2, 3]) {
      const change = (await roleOf(bob)) === undefined ? "add" : "remove";
      const dying = createDyingStorage(store.storage, dieAt, dieAt === 1 ? "after" : "before");
      const dies = await createIdentity({ storage: dying, clock: store.clock });
      const call = ann.call({ commit: (batch) => dying.commit(batch) });
      if (change === "add") void dies.members.add(call, team, { username: "bob", role: "member" });
      else void dies.members.remove(call, team, "bob");
      await expect.poll(() => dying.dead).toBe(true);
      expect(await roleOf(bob)).toBe(change === "add" ? "write" : undefined);
      store.clock.nowMs += leaseMs;
      const rows = await identity.storage.due.claim({ partitions: [partitionOfId(team)], limit: 100, leaseMs });
      const mine = rows.filter((row) => row.kind === "membership.project");
      expect(mine.length).toBeGreaterThan(0);
      for (const row of mine) {
        expect(await identity.manifest.workers?.[row.kind]?.(row, AbortSignal.timeout(1000))).toEqual({ kind: "done" });
        await identity.storage.commit({ partition: row.partition, due: [{ op: "acknowledge", id: row.id, fence: row.fence }] });
      }
      expect((await listed(bob)).includes(team)).toBe(change === "add");
    }
  });

  it("[WS7] a completed change leaves no row behind", async () => {
    const before = (await identity.storage.due.stats()).rows;
    await add(ann, "bob");
    await identity.members.remove(ann.call(), team, "bob");
    await identity.workspaces.create(bob.call(), { name: "x", type: "team" });
    expect((await identity.storage.due.stats()).rows).toBe(before);
  });

  it("[WS7] after a concurrent add and remove, the list agrees with the members", async () => {
    for (let round = 0; round < 10; round += 1) {
      await codeOf(add(ann, "bob"));
      const other = await createIdentity(store);
      await Promise.all([
        codeOf(identity.members.remove(ann.call(), team, "bob")),
        codeOf(other.members.add(ann.call(), team, { username: "bob", role: "member" })),
        codeOf(other.members.remove(ann.call(), team, "bob")),
        codeOf(identity.members.add(ann.call(), team, { username: "bob", role: "admin" })),
      ]);
      const projected = await identity.storage.records.get(membershipRecord, membershipKey(bob.principal.accountId, team));
      expect([round, projected !== undefined]).toEqual([round, (await roleOf(bob)) !== undefined]);
    }
  });

  it("[WS11] a role that is lost between the check and the commit no longer counts", async () => {
    await add(ann, "bob", "admin");
    let demoted = false;
    const call = bob.call({
      commit: async (batch) => {
        if (!demoted) {
          demoted = true;
          await identity.members.update(ann.call(), team, "bob", "member");
        }
        return identity.storage.commit(batch);
      },
    });
    expect(await codeOf(identity.members.add(call, team, { username: "root", role: "admin" }))).toBe("insufficient_role");
    expect(await roleOf(root)).toBeUndefined();
  });
});
