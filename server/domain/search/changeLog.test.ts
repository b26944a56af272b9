import pino from "pino";
import { expect, test, vi } from "vitest";
import { createMemoryStorage } from "../../platform/storage/memoryStorage.ts";
import { defineRecord } from "../../platform/storage/recordType.ts";
import { changeLog, decodeChange, recordSearchChanges } from "./changeLog.ts";

interface Note {
  readonly id: string;
  readonly text: string;
}

const types = ["note", "other"].map((name) => defineRecord<Note>({ name, version: 1, partitionOf: () => 3, keyOf: ({ id }) => id }));
const [note, other] = types as [(typeof types)[0], (typeof types)[0]];
const placeOfOther = { name: "other.place", record: other, isAffected: (before: Note, after: Note) => before.text !== after.text };
const log = pino({ level: "silent" });

function createStore() {
  const memory = createMemoryStorage();
  return { memory, storage: recordSearchChanges(memory, { records: [note], dependencies: [placeOfOther] }, log, 20) };
}

const put = (type: typeof note, id: string) => ({ op: "put", type, value: { id, text: "" }, replacing: null }) as const;

test("[SR6] a commit records the searched records that it writes or deletes, and no others", async () => {
  const { storage } = createStore();
  const woken = vi.fn();
  storage.bus.subscribe(changeLog, woken);
  await storage.commit({ partition: 3, records: [put(other, "x")] });
  const own = { op: "append", log: "own", entries: [new Uint8Array(1)] } as const;
  const result = await storage.commit({ partition: 3, records: [put(note, "a"), put(other, "y"), put(note, "b")], logs: [own] });
  expect(result).toEqual({ ok: true, positions: [1], revisions: [1, 1, 1] });
  const stored = await storage.records.get(note, "a");
  if (stored === undefined) throw new Error("the note is missing");
  await storage.commit({ partition: 3, records: [{ op: "delete", type: note, replacing: stored }] });
  const read = await storage.log.read({ partition: 3, log: changeLog, after: 0, limit: 9 });
  expect(read.gap ? [] : read.entries.map(({ bytes }) => decodeChange(bytes))).toEqual(
    ["a", "b", "a"].map((key) => ({ type: "note", key })),
  );
  await vi.waitFor(() => expect(woken.mock.calls).toEqual([[Uint8Array.of(3)], [Uint8Array.of(3)]]));
});

test("[SR15] a commit records a change on which other records depend, and no change that does not concern them", async () => {
  const { storage } = createStore();
  const value = { id: "x", text: "" };
  const write = async (text: string) => {
    const replacing = (await storage.records.get(other, "x")) ?? null;
    await storage.commit({ partition: 3, records: [{ op: "put", type: other, value: { ...value, text }, replacing }] });
  };
  for (const text of ["", "", "moved", "moved"]) await write(text);
  const read = await storage.log.read({ partition: 3, log: changeLog, after: 0, limit: 9 });
  expect(read.gap ? [] : read.entries.map(({ bytes }) => decodeChange(bytes))).toEqual([{ type: "other.place", key: "x" }]);
});

test("[SR6] a refused commit records nothing", async () => {
  const { storage } = createStore();
  await storage.commit({ partition: 3, records: [put(note, "a")] });
  expect(await storage.commit({ partition: 3, records: [put(note, "a")] })).toMatchObject({ ok: false });
  expect(await storage.log.tail(3, changeLog)).toBe(1);
});

test("[SR6] the log keeps at least half of its maximum, so a node that was away can follow it", async () => {
  const { storage, memory } = createStore();
  for (let at = 0; at < 40; at += 1) {
    await storage.commit({ partition: 3, records: Array.from({ length: 1 }, (_, place) => put(note, `${at}.${place}`)) });
  }
  await vi.waitFor(async () => {
    const read = await memory.log.read({ partition: 3, log: changeLog, after: 0, limit: 1 });
    expect(read).toMatchObject({ gap: true, firstKept: 31, tail: 40 });
  });
});
