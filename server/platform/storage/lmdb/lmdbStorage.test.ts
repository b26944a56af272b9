/** Tests what only a store on disk does: it is closed and reopened, locks other processes out, and refuses unsafe files. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { buildProgram } from "../../../../test/support/childProgram.ts";
import { type Storage, StorageDamagedError } from "../port.ts";
import { defineRecord } from "../recordType.ts";
import { isLmdbWriteRejection, openLmdb } from "./database.ts";
import { createLmdbStorage, type LmdbStorageOptions } from "./lmdbStorage.ts";

interface Note {
  readonly id: string;
  readonly blobs?: readonly string[];
}
const note = defineRecord<Note>({
  name: "note",
  version: 1,
  partitionOf: () => 7,
  keyOf: (value) => value.id,
  indexes: (value) => [["notes", value.id]],
  unique: (value) => [["id", value.id]],
  counts: () => [["notes"]],
  blobs: (value) => value.blobs ?? [],
});

const startMs = 1_900_000_000_000;
let directory = "";
let opened: Storage[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "lmdb-"));
});
afterEach(async () => {
  for (const storage of opened) await storage.close();
  opened = [];
  await rm(directory, { recursive: true });
});

async function open(options: Partial<LmdbStorageOptions> = {}): Promise<Storage> {
  const storage = await createLmdbStorage({ directory, ...options });
  opened.push(storage);
  return storage;
}

const append = (log: string, ...entries: string[]) => ({ op: "append", log, entries: entries.map((entry) => Buffer.from(entry)) }) as const;

async function readAll(storage: Storage, log: string, after = 0): Promise<readonly string[]> {
  const read = await storage.log.read({ partition: 7, log, after, limit: 100_000 });
  if (read.gap) throw new Error("a gap");
  return read.entries.map(({ position, bytes }) => `${position}:${Buffer.from(bytes)}`);
}

describe("the embedded store over restarts", () => {
  test("[ST25] every acknowledged write is present after a restart", async () => {
    const first = await open();
    const sha256 = await first.blobs.put(7, Buffer.from("blob"));
    const due = { id: "d", kind: "k", dueAtMs: 9e12, payload: { deep: [1] }, attempts: 3 };
    await first.commit({
      partition: 7,
      records: [{ op: "put", type: note, value: { id: "a", blobs: [sha256] }, replacing: null }],
      logs: [append("l", "one", "two"), { op: "trim", log: "l", through: 1 }, append("gone", "x")],
      due: [{ op: "schedule", row: due }],
    });
    await first.commit({ partition: 7, logs: [{ op: "drop", log: "gone" }] });
    await first.close();
    const second = await open();
    expect(await second.records.get(note, "a")).toEqual({ value: { id: "a", blobs: [sha256] }, revision: 1 });
    expect(await second.index.scan({ partition: 7, prefix: ["notes"], limit: 9 })).toEqual([{ key: ["notes", "a"], target: "a" }]);
    expect(await second.counts.get(7, [["notes"]])).toEqual([1]);
    expect(await readAll(second, "l", 1)).toEqual(["2:two"]);
    expect(await second.log.read({ partition: 7, log: "l", after: 0, limit: 1 })).toEqual({ gap: true, firstKept: 2, tail: 2 });
    expect(await second.log.tail(7, "gone")).toBe(0);
    expect(await second.due.get(7, "d")).toEqual({ ...due, partition: 7, fence: 1 });
    expect(Buffer.from((await second.blobs.get(7, sha256)) ?? []).toString()).toBe("blob");
    expect(await second.commit({ partition: 7, logs: [append("l", "three"), append("gone", "again")] })).toMatchObject({
      positions: [3, 1],
    });
  });

  test("[ST13] regrouping and restarts in any order keep every position", async () => {
    const kept: string[] = [];
    for (let round = 0; round < 8; round += 1) {
      // Odd rounds regroup after each write. Even rounds leave all regrouping to the replay of the next start.
      const storage = await open(round % 2 === 1 ? { regroupBytes: 1 } : {});
      for (let at = 0; at < 25; at += 1) {
        const entries = [`${round}.${at}`, "x".repeat(at * 400)];
        await storage.commit({ partition: 7, logs: [append("l", ...entries), append(`other ${at % 5}`, "y")] });
        for (const entry of entries) kept.push(`${kept.length + 1}:${entry}`);
      }
      expect(await readAll(storage, "l")).toEqual(kept);
      expect(await readAll(storage, "l", 333)).toEqual(kept.slice(333));
      await storage.close();
    }
    const storage = await open();
    for (let other = 0; other < 5; other += 1) expect(await storage.log.tail(7, `other ${other}`)).toBe(40);
  });

  test("[ST14] logs that were trimmed or dropped during regrouping stay so after a restart", async () => {
    const write = async (storage: Storage, ...logs: NonNullable<Parameters<Storage["commit"]>[0]["logs"]>) => {
      await storage.commit({ partition: 7, logs });
    };
    let storage = await open({ regroupBytes: 1 });
    await write(storage, append("trimmed", "1", "2", "3", "4"), append("dropped", "1", "2"), append("anew", "1", "2", "3"));
    await storage.close();
    storage = await open();
    await write(storage, append("trimmed", "5", "6"), append("dropped", "3"), append("anew", "4"));
    await write(storage, { op: "trim", log: "trimmed", through: 5 }, { op: "drop", log: "dropped" }, { op: "drop", log: "anew" });
    await write(storage, append("anew", "first"));
    await storage.close();
    for (const regroupBytes of [1e9, 1, 1e9]) {
      storage = await open({ regroupBytes });
      await write(storage, append("beside", "x"));
      expect(await readAll(storage, "trimmed", 5)).toEqual(["6:6"]);
      expect(await storage.log.read({ partition: 7, log: "trimmed", after: 4, limit: 1 })).toEqual({ gap: true, firstKept: 6, tail: 6 });
      expect(await readAll(storage, "dropped")).toEqual([]);
      expect(await readAll(storage, "anew")).toEqual(["1:first"]);
      await storage.close();
    }
  });

  test("[ST14] a new log under the name of a dropped one has none of its entries", async () => {
    const storage = await open({ regroupBytes: 1 });
    const writes = [...["1", "2", "3", "4"].map((entry) => append("l", `old ${entry}`)), { op: "drop", log: "l" } as const];
    for (const write of [...writes, append("l", "1", "2", "3"), append("l", "4", "5")]) {
      await storage.commit({ partition: 7, logs: [write] });
      // Each of these commits also regroups a slice, so that every write becomes its own chunk.
      for (let turn = 0; turn < 4; turn += 1) await storage.commit({ partition: 7, logs: [append("beside", "x")] });
    }
    for (let after = 0; after < 5; after += 1) {
      expect(await readAll(storage, "l", after)).toEqual(["1:1", "2:2", "3:3", "4:4", "5:5"].slice(after));
    }
  });

  test("[ST12] at a start every lease of the earlier process is free, and fences keep rising", async () => {
    const first = await open();
    const before = await first.leases.acquire(7, "room", "one", 3_600_000);
    await first.close();
    const second = await open();
    const after = await second.leases.acquire(7, "room", "two", 1000);
    expect(after?.fence).toBeGreaterThan(before?.fence ?? Number.POSITIVE_INFINITY);
    const late = { kind: "fence", lease: "room", atLeast: before?.fence ?? 0 } as const;
    expect(await second.commit({ partition: 7, require: [late] })).toEqual({ ok: false, conflict: { kind: "fence", lease: "room" } });
  });

  test("[ST21] store time does not go back over a restart, even if the clock did", async () => {
    let nowMs = startMs;
    const first = await open({ now: () => nowMs });
    for (; nowMs < startMs + 220; nowMs += 30) await first.commit({ partition: 7, logs: [append("l", "x")] });
    const last = first.now();
    await first.close();
    const second = await open({ now: () => startMs - 3_600_000 });
    expect(second.now()).toBeGreaterThanOrEqual(last - 30);
  });
});

describe("records that the embedded store keeps in memory", () => {
  const put = (id: string, blobs: readonly string[], replacing: Awaited<ReturnType<typeof read>>) =>
    ({ partition: 7, records: [{ op: "put", type: note, value: { id, blobs }, replacing: replacing ?? null }] }) as const;
  const read = (storage: Storage, id: string) => storage.records.get(note, id);

  test("[ST94] while a commit runs, reads show the old record; after it, and after a delete, the new state", async () => {
    const storage = await open();
    await storage.commit(put("a", [], undefined));
    const before = await read(storage, "a");
    const sha256 = await storage.blobs.put(7, Buffer.from("blob"));
    let isDone = false;
    const commit = storage.commit(put("a", [sha256], before)).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      expect(await read(storage, "a")).toEqual(before);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await commit).toMatchObject({ ok: true });
    const after = await read(storage, "a");
    expect(after).toEqual({ value: { id: "a", blobs: [sha256] }, revision: 2 });
    expect(await storage.commit({ partition: 7, require: [{ kind: "revision", type: note, key: "a", revision: 1 }] })).toMatchObject({
      conflict: { kind: "record" },
    });
    await storage.commit({ partition: 7, records: [{ op: "delete", type: note, replacing: after as NonNullable<typeof after> }] });
    expect(await read(storage, "a")).toBeUndefined();
    expect(await storage.commit({ partition: 7, require: [{ kind: "revision", type: note, key: "a", revision: "absent" }] })).toMatchObject(
      {
        ok: true,
      },
    );
  });

  test("[ST94] in one transaction, a commit sees the records that earlier commits of it changed", async () => {
    const storage = await open();
    await storage.commit(put("a", [], undefined));
    const before = await read(storage, "a");
    const require = (revision: number) => ({ kind: "revision", type: note, key: "a", revision }) as const;
    const results = await Promise.all([
      storage.commit({ partition: 7, logs: [append("l", "1")], require: [require(1)] }),
      storage.commit(put("a", [], before)),
      storage.commit({ partition: 7, logs: [append("l", "2")], require: [require(1)] }),
      storage.commit({ partition: 7, logs: [append("l", "3")], require: [require(2)] }),
    ]);
    expect(results.map(({ ok }) => ok)).toEqual([true, true, false, true]);
    expect(await readAll(storage, "l")).toEqual(["1:1", "2:3"]);
  });

  test("[ST94] after a failed transaction, reads show the state before it, and later commits are seen", async () => {
    const storage = await open();
    await storage.commit(put("a", [], undefined));
    const before = await read(storage, "a");
    // The index row of this record is too long for a key, which shows only when it is written.
    const failing = put("k".repeat(1000), [], undefined);
    const results = await Promise.allSettled([storage.commit(put("a", [], before)), storage.commit(failing)]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(await read(storage, "a")).toEqual(before);
    expect(await storage.commit(put("a", [], before))).toMatchObject({ ok: true, revisions: [2] });
    expect(await read(storage, "a")).toMatchObject({ revision: 2 });
  });
});

describe("an embedded store that must not be opened", () => {
  test("[ST20] a second process in the directory stops with a message, and a killed one leaves it free", async () => {
    const held = await open();
    await expect(createLmdbStorage({ directory })).rejects.toThrow(/held by another process \(pid \d+\)/);
    await held.close();
    const program = buildProgram(join(import.meta.dirname, "../../../../test/fault/storageChild.ts"));
    const child = fork(program, ["hold", directory], { silent: true });
    await once(child, "message");
    const refusal = await createLmdbStorage({ directory }).catch((reason: unknown) => reason);
    expect(refusal).toBeInstanceOf(StorageDamagedError);
    expect(String(refusal)).toContain(`pid ${child.pid}`);
    child.kill("SIGKILL");
    await once(child, "exit");
    const storage = await open();
    expect((await storage.status()).writes).toBe("ok");
    expect(readdirSync(directory).filter((name) => name.startsWith("in-use-"))).toHaveLength(1);
  });

  test("[ST20] of several processes that start in one directory, one opens it", async () => {
    const starts = await Promise.allSettled([1, 2, 3, 4].map(() => createLmdbStorage({ directory })));
    const open = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
    opened.push(...open);
    expect(open).toHaveLength(1);
    for (const start of starts) if (start.status === "rejected") expect(start.reason).toBeInstanceOf(StorageDamagedError);
  });

  test("[ST20] a directory whose path is too long for a socket is locked all the same", async () => {
    const deep = join(directory, "d".repeat(120));
    const storage = await createLmdbStorage({ directory: deep });
    await expect(createLmdbStorage({ directory: deep })).rejects.toThrow(StorageDamagedError);
    await storage.close();
    await (await createLmdbStorage({ directory: deep })).close();
  });

  test.each([
    ["mversion", "3", /version 3/],
    ["mpartitions", "32", /32 partitions/],
    [`t${"1".padStart(14, "0")}`, "\u0001\u0000", /cannot be read/],
    [`t${"1".padStart(14, "0")}`, "\u0001\u0002\u0000\u0037l", /cannot be read/],
  ])("[ST20] a store with %s = %j is refused, and untouched", async (key, value, message) => {
    const first = await open();
    await first.commit({ partition: 7, records: [{ op: "put", type: note, value: { id: "a" }, replacing: null }] });
    await first.close();
    const change = async (text: string | undefined) => {
      const db = openLmdb(join(directory, "store"));
      const before = db.getString(key);
      await db.batch(() => void (text === undefined ? db.remove(key) : db.put(key, text)));
      await db.close();
      return before;
    };
    const before = await change(value);
    const refusal = await createLmdbStorage({ directory }).catch((reason: unknown) => reason);
    expect(refusal).toBeInstanceOf(StorageDamagedError);
    expect(String(refusal)).toMatch(message);
    expect(await change(before)).toBe(value);
    expect(await (await open()).records.get(note, "a")).toBeDefined();
  });

  test("[ST20] a missing log group is detected at the start", async () => {
    const first = await open();
    for (const entry of ["1", "2", "3"]) await first.commit({ partition: 7, logs: [append("l", entry)] });
    await first.close();
    const db = openLmdb(join(directory, "store"));
    await db.batch(() => void db.remove(`t${"2".padStart(14, "0")}`));
    await db.close();
    await expect(createLmdbStorage({ directory })).rejects.toThrow(/group 2 is missing/);
  });

  test("[ST20] a file that is not a store is refused", async () => {
    mkdirSync(join(directory, "store"));
    for (const content of ["x", "x".repeat(20_000), Buffer.alloc(20_000)]) {
      writeFileSync(join(directory, "store", "data.mdb"), content);
      await expect(createLmdbStorage({ directory })).rejects.toThrow(StorageDamagedError);
    }
  });

  test("[ST20] a store that is empty or gone is reported, and not replaced by a new one", async () => {
    const first = await open();
    await first.commit({ partition: 7, records: [{ op: "put", type: note, value: { id: "a" }, replacing: null }] });
    await first.close();
    const data = join(directory, "store", "data.mdb");
    const content = readFileSync(data);
    const refused = () => expect(createLmdbStorage({ directory })).rejects.toThrow(/held a store, and now .*data\.mdb is missing or empty/);
    writeFileSync(data, "");
    await refused();
    expect(statSync(data).size).toBe(0);
    await rm(join(directory, "store"), { recursive: true });
    await refused();
    expect(existsSync(join(directory, "store"))).toBe(false);
    // Another LMDB program would have created this file.
    await openLmdb(join(directory, "store")).close();
    await refused();
    writeFileSync(data, content);
    expect(await (await open()).records.get(note, "a")).toBeDefined();
  });

  test("[ST20] the rest of a first start that was killed before its first commit is not a lost store", async () => {
    mkdirSync(join(directory, "store"));
    writeFileSync(join(directory, "store", "data.mdb"), "");
    writeFileSync(join(directory, "store", "lock.mdb"), "");
    await (await open()).close();
    await expect(open()).resolves.toBeDefined();
  });

  test("[ST19] rejections of LMDB's writer are distinguished from all others", () => {
    const inside = new Error("Commit failed");
    inside.stack = "Error: Commit failed\n    at rejectCommit (file:///app/node_modules/lmdb/write.js:612:17)";
    expect(isLmdbWriteRejection(inside)).toBe(true);
    expect(isLmdbWriteRejection(new Error("lmdb/write.js"))).toBe(false);
    expect(isLmdbWriteRejection("lmdb/write.js")).toBe(false);
  });
});
