/** Tests the upgrade of index rows on each store: what it writes, interruptions, concurrent writers and a full disk. */
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { upgradeIndexes } from "../../server/platform/storage/indexUpgrade.ts";
import { type Storage, StorageFullError } from "../../server/platform/storage/port.ts";
import { defineRecord } from "../../server/platform/storage/recordType.ts";
import { createDyingStorage } from "../support/dyingStorage.ts";
import { createManualTime } from "../support/manualTime.ts";
import { everyStorage } from "../support/storages.ts";

interface Note {
  readonly id: string;
  readonly word: string;
}

const base = {
  name: "testNote",
  version: 1,
  partitionOf: (id: string) => Number(id.slice(0, 2)),
  keyOf: ({ id }: Note) => id,
  counts: ({ word }: Note) => [["note.count", word] as const],
};
const earlier = defineRecord<Note>({ ...base, indexes: ({ id }) => [["note.all", id]] });
const later = defineRecord<Note>({
  ...base,
  indexVersion: 2,
  indexes: ({ id, word }) => [
    ["note.all", id],
    ["note.word", word, id],
  ],
});

const log = pino({ level: "silent" });
const idOf = (number: number) => `${number % 2 === 0 ? "03" : "41"}/${String(number).padStart(3, "0")}`;

describe.each(everyStorage())("upgrade of indexes on %s", (_name, openStorage) => {
  let storage: Storage;
  let close: () => Promise<void>;
  beforeEach(async () => {
    ({ storage, close } = await openStorage(createManualTime()));
  });
  afterEach(() => close());

  const add = (type: typeof later, id: string, word: string) =>
    storage.commit({ partition: base.partitionOf(id), records: [{ op: "put", type, value: { id, word }, replacing: null }] });
  async function addAll(count: number): Promise<readonly string[]> {
    const ids = Array.from({ length: count }, (_, number) => idOf(number));
    for (const id of ids) await add(earlier, id, "old");
    return ids.toSorted();
  }
  const withWord = async (word: string) => {
    const scans = [3, 41].map((partition) => storage.index.scan({ partition, prefix: ["note.word", word], limit: 1000 }));
    return (await Promise.all(scans)).flat().map(({ target }) => target);
  };
  /** Changes a record, also while an upgrade writes it. */
  async function change(id: string): Promise<void> {
    for (let isDone = false; !isDone; ) {
      const stored = await storage.records.get(later, id);
      if (stored === undefined) throw new Error(`${id} is missing`);
      const records = [{ op: "put", type: later, value: { id, word: "changed" }, replacing: stored }] as const;
      isDone = (await storage.commit({ partition: 3, records })).ok;
    }
  }
  const upgrade = (on: Storage = storage) => upgradeIndexes({ storage: on, recordTypes: [later], log, atOnce: 10 });

  test("[ST110] every older record gets its index rows, and nothing else of it changes", async () => {
    const ids = await addAll(25);
    await add(later, "03/new", "new");
    expect(await withWord("old")).toEqual([]);
    await upgrade();
    expect(await withWord("old")).toEqual(ids);
    expect(await withWord("new")).toEqual(["03/new"]);
    expect(
      await storage.counts.get(3, [
        ["note.count", "old"],
        ["note.count", "new"],
      ]),
    ).toEqual([13, 1]);
    expect((await storage.records.get(later, "03/000"))?.value).toEqual({ id: "03/000", word: "old" });
    expect((await storage.records.get(later, "03/new"))?.revision).toBe(1);
    let scans = 0;
    const scanOlder: Storage["records"]["scanOlder"] = (type, partition) => {
      scans += 1;
      return storage.records.scanOlder(type, partition);
    };
    await upgrade({ ...storage, records: { ...storage.records, scanOlder } });
    expect(scans).toBe(0);
    // A server of the earlier version can still read the rows.
    expect(await storage.records.get(earlier, "03/000")).toMatchObject({ value: { word: "old" } });
  });

  test("[ST110] the next change or deletion of an older record completes or removes its rows", async () => {
    await addAll(3);
    const [first, second] = await storage.records.getMany(later, ["03/000", "41/001"]);
    if (first === undefined || second === undefined) throw new Error("the notes are missing");
    await storage.commit({ partition: 3, records: [{ op: "put", type: later, value: { ...first.value, word: "old" }, replacing: first }] });
    await storage.commit({ partition: 41, records: [{ op: "delete", type: later, replacing: second }] });
    expect(await withWord("old")).toEqual(["03/000"]);
    await upgrade();
    expect(await withWord("old")).toEqual(["03/000", "03/002"]);
    expect(await storage.index.scan({ partition: 41, prefix: ["note.all"], limit: 9 })).toEqual([]);
  });

  test("[ST110] an upgrade that dies at any write is continued by the next start", async () => {
    const ids = await addAll(25);
    for (let dieAt = 1; dieAt <= 3; dieAt += 1) {
      const dying = createDyingStorage(storage, dieAt % 2 === 0 ? 2 : 1, dieAt % 2 === 0 ? "before" : "after");
      void upgrade(dying);
      await expect.poll(() => dying.dead).toBe(true);
    }
    expect((await withWord("old")).length).toBeGreaterThan(0);
    await upgrade();
    expect(await withWord("old")).toEqual(ids);
  });

  test("[ST110] records that another process writes meanwhile keep its values, and two upgrades at once share the work", async () => {
    const ids = await addAll(25);
    let isDisturbed = false;
    const disturbed: Storage = {
      ...storage,
      async commit(batch) {
        if (!isDisturbed) {
          isDisturbed = true;
          for (const id of ["03/004", "03/006"]) await change(id);
        }
        return storage.commit(batch);
      },
    };
    await Promise.all([upgrade(disturbed), upgrade()]);
    expect(await withWord("changed")).toEqual(["03/004", "03/006"]);
    expect(await withWord("old")).toEqual(ids.filter((id) => id !== "03/004" && id !== "03/006"));
  });

  test("[ST110] without space the store is opened as it is, and the next start completes it", async () => {
    const ids = await addAll(5);
    const full: Storage = { ...storage, commit: () => Promise.reject(new StorageFullError("no space")) };
    await upgrade(full);
    expect(await withWord("old")).toEqual([]);
    await upgrade();
    expect(await withWord("old")).toEqual(ids);
  });
});
