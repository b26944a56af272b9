/** The unit of work: several actors in one commit, and results of effects that are computed when they are committed. */
import { beforeEach, describe, expect, test } from "vitest";
import { CommitConflict, type UnitOfWork } from "../../server/platform/actors/port.ts";
import { createIds } from "../../server/platform/storage/ids.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { type ActorNode, createActorNode } from "../support/actorNode.ts";
import { createManualTime, type ManualTime } from "../support/manualTime.ts";
import { createParcelKind, type ParcelKind, parcelRecord } from "../support/parcelMachine.ts";

const partition = 7;
let time: ManualTime;
let storage: Storage;
let node: ActorNode;
let kind: ParcelKind;
let ids: string[];

async function setUp(run: Parameters<typeof createParcelKind>[0]): Promise<void> {
  time = createManualTime();
  storage = time.watch(createMemoryStorage({ now: time.now }));
  const parcel = createParcelKind(run);
  kind = parcel.kind;
  node = createActorNode(storage, time, [parcel.provided]);
  const source = createIds(time);
  ids = [source.next("art", partition), source.next("art", partition)];
  for (const id of ids) await node.actors.create(kind, id, {});
}
beforeEach(() => setUp(async () => ({ kind: "done" })));

async function read(id: string) {
  const stored = await storage.records.get(parcelRecord, id);
  if (stored === undefined) throw new Error("no such parcel");
  return stored;
}

/** What another node does: the record has another revision from now on. */
async function touch(id: string): Promise<void> {
  const stored = await read(id);
  await storage.commit({ partition, records: [{ op: "put", type: parcelRecord, value: stored.value, replacing: stored }] });
}

const note = { type: "parcel.note" } as const;

describe("one commit of several transitions", () => {
  const toOptions = () => ({ operation: "test", partition, committer: storage });

  test("[AC21] a unit is committed whole or not at all, and gathered again after each conflict", async () => {
    const [first = "", second = ""] = ids;
    let decisions = 0;
    const notes = await node.actors.commitUnit(toOptions(), async (unit) => {
      decisions += 1;
      for (const id of [first, second]) await unit.send(kind, id, note);
      if (decisions < 3) await touch(second);
      return decisions;
    });
    expect(notes).toBe(3);
    expect((await read(first)).value.context.notes).toBe(1);
    expect((await read(second)).value.context.notes).toBe(1);
  });

  test("[AC21] further events to one actor continue from the result of the one before, in one write", async () => {
    const [first = ""] = ids;
    const stored = await read(first);
    await node.actors.commitUnit(toOptions(), async (unit) => {
      for (let sent = 0; sent < 3; sent += 1) await unit.send(kind, first, note);
      expect(await unit.read(kind, first)).toMatchObject({ value: { context: { notes: 3 } }, revision: stored.revision });
    });
    const after = await read(first);
    expect([after.value.context.notes, after.value.step, after.revision]).toEqual([3, stored.value.step + 3, stored.revision + 1]);
  });

  test("[AC21] all code of a unit sees one version of an actor, and a change after it is a conflict", async () => {
    const [first = ""] = ids;
    const seen: number[] = [];
    await node.actors.commitUnit(toOptions(), async (unit) => {
      const before = await unit.read(kind, first);
      if (seen.length === 0) await touch(first);
      const after = await unit.read(kind, first);
      expect(after?.revision).toBe(before?.revision);
      seen.push(after?.revision ?? 0);
      await unit.send(kind, first, note);
    });
    expect(seen).toEqual([1, 2]);
    expect((await read(first)).revision).toBe(3);
  });

  test("[AC21] an effect that a later event of the same unit removes never runs, and leaves no row", async () => {
    const ran: string[] = [];
    await setUp(async ({ actorId }) => {
      ran.push(actorId);
      return { kind: "done" };
    });
    const [first = "", second = ""] = ids;
    await node.actors.commitUnit(toOptions(), async (unit) => {
      await unit.send(kind, first, { type: "parcel.send", parts: ["a"] });
      await unit.send(kind, first, { type: "parcel.discard" });
      expect(await unit.read(kind, first)).toBeUndefined();
      await unit.send(kind, second, { type: "parcel.send", parts: ["a"] });
      expect(ran).toEqual([]);
    });
    await time.until(() => ran.length === 2);
    expect(new Set(ran)).toEqual(new Set([second]));
    expect(await storage.records.get(parcelRecord, first)).toBeUndefined();
  });

  test("[AC21] a unit refuses a second write of a record, and an actor that it knows cannot be created", async () => {
    const [first = ""] = ids;
    const stored = await read(first);
    const write = { op: "put", type: parcelRecord, value: stored.value, replacing: stored } as const;
    const unit = node.actors.openUnit(partition);
    unit.record(write);
    expect(() => unit.record(write)).toThrow(`writes the record parcel/${first} twice`);
    await unit.send(kind, first, note);
    await expect(unit.commit(storage.commit)).rejects.toThrow(`writes the record parcel/${first} twice`);
    expect(() => unit.create(kind, first, {})).toThrow("already contains");
    expect((await read(first)).revision).toBe(stored.revision);
  });

  test("[AC21] a unit in which nothing was gathered commits nothing", async () => {
    const committer = { commit: () => Promise.reject(new Error("there is nothing to commit")) };
    const [first = ""] = ids;
    const value = await node.actors.commitUnit({ ...toOptions(), committer }, async (unit) => {
      await unit.read(kind, first);
      return "unchanged";
    });
    expect(value).toBe("unchanged");
  });

  test("[AC21] a conflict that gathering again cannot solve is thrown, and nothing runs after the commit", async () => {
    let ran = false;
    const gather = async (unit: UnitOfWork) => {
      unit.due({ op: "acknowledge", id: "none", fence: 1 });
      unit.afterCommit(() => {
        ran = true;
      });
    };
    await expect(node.actors.commitUnit(toOptions(), gather)).rejects.toThrow(CommitConflict);
    expect(ran).toBe(false);
  });

  test("[AC40] a function that fails after a commit neither fails the commit nor stops the others", async () => {
    const [first = ""] = ids;
    const ran: string[] = [];
    const { kind: failing, provided } = createParcelKind(async () => ({ kind: "done" }), {
      committed: () => {
        throw new Error("committed failed");
      },
    });
    const { actors } = createActorNode(storage, time, [provided]);
    const value = await actors.commitUnit(toOptions(), async (unit) => {
      await unit.send(failing, first, note);
      unit.afterCommit(() => {
        throw new Error("a wake-up failed");
      });
      unit.afterCommit(() => void ran.push("second"));
      return "stored";
    });
    expect(value).toBe("stored");
    expect(ran).toEqual(["second"]);
    expect((await read(first)).value.context.notes).toBe(1);
  });

  test("[AC41] a send answers with the actor as the commit leaves it, after further events that were gathered", async () => {
    const [first = ""] = ids;
    let answered: number | undefined;
    const sent = await node.actors.send(kind, first, note, {
      gather: async (unit) => void (await unit.send(kind, first, note)),
      commit(batch, next) {
        answered = next.context.notes;
        return storage.commit(batch);
      },
    });
    const stored = await read(first);
    expect(stored.value.context.notes).toBe(2);
    expect([sent.value.context.notes, answered, sent.revision]).toEqual([2, 2, stored.revision]);
  });
});

test("[AC22] a result computed when it is accepted uses the newest state of the actor", async () => {
  const seen: number[] = [];
  await setUp(async ({ actorId, params }) => ({
    kind: "decide",
    async decide(_unit, previous) {
      const { part } = params as { part: string };
      if (part === "first") {
        seen.push(previous.value.context.notes);
        if (seen.length < 3) {
          const value = { ...previous.value, context: { ...previous.value.context, notes: previous.value.context.notes + 1 } };
          await storage.commit({ partition, records: [{ op: "put", type: parcelRecord, value, replacing: previous }] });
        }
      }
      expect(previous.value.id).toBe(actorId);
      return { event: { type: "part.sent", part } };
    },
  }));
  const [first = ""] = ids;
  await node.actors.send(kind, first, { type: "parcel.send", parts: ["first", "second"] });
  await time.until(async () => (await read(first)).value.state === "sent");
  expect(seen).toEqual([0, 1, 2]);
  expect((await read(first)).value.context).toMatchObject({ results: { first: 1, second: 1 }, order: ["first", "second"], notes: 2 });
});
