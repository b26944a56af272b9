/** Tests several actors in one commit, and results that are computed when they are stored, while other writes occur. */
import { beforeEach, describe, expect, test } from "vitest";
import { commitTogether, foldMoves, leftBy } from "../../server/domain/call/together.ts";
import { CommitConflict } from "../../server/platform/actors/port.ts";
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
  kind = createParcelKind(run);
  node = createActorNode(storage, time, [kind]);
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

/** Acts like another node: gives the record another revision. */
async function touch(id: string): Promise<void> {
  const stored = await read(id);
  await storage.commit({ partition, records: [{ op: "put", type: parcelRecord, value: stored.value, replacing: stored }] });
}

describe("one commit of several moves", () => {
  test("[AC21] several moves are stored together or not at all, and decided again after a conflict", async () => {
    const [first = "", second = ""] = ids;
    let decisions = 0;
    const notes = await commitTogether(
      partition,
      (batch) => storage.commit(batch),
      async () => {
        decisions += 1;
        const moves = [await read(first), await read(second)].map((stored) => node.actors.move(kind, stored, { type: "parcel.note" }));
        if (decisions < 3) await touch(second);
        return { parts: moves, value: decisions };
      },
    );
    expect(notes).toBe(3);
    expect((await read(first)).value.context.notes).toBe(1);
    expect((await read(second)).value.context.notes).toBe(1);
  });

  test("[AC21] several moves of one actor become one write, each applied to the result of the one before", async () => {
    const [first = ""] = ids;
    const stored = await read(first);
    const note = (from: typeof stored) => node.actors.move(kind, from, { type: "parcel.note" });
    const parts = foldMoves([note(stored)], parcelRecord, stored, [note, note]);
    expect(leftBy(parts, parcelRecord, stored.value).context.notes).toBe(3);
    await commitTogether(
      partition,
      (batch) => storage.commit(batch),
      async () => ({ parts, value: undefined }),
    );
    const after = await read(first);
    expect([after.value.context.notes, after.value.step, after.revision]).toEqual([3, stored.value.step + 3, stored.revision + 1]);
  });

  test("[AC21] a conflict that a new decision cannot resolve is returned to the caller", async () => {
    const decide = async () => ({ parts: [{ due: [{ op: "acknowledge", id: "none", fence: 1 }] as const }], value: 0 });
    await expect(commitTogether(partition, (batch) => storage.commit(batch), decide)).rejects.toThrow(CommitConflict);
  });
});

test("[AC22] a result computed when it is accepted uses the newest state of the actor", async () => {
  const seen: number[] = [];
  await setUp(async ({ actorId, params }) => ({
    kind: "decide",
    async decide(previous) {
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
