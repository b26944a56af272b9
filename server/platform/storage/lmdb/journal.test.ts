/** Tests the journal of the embedded store: acknowledged writes survive crashes, incomplete writes and reuse of its files. */
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Storage, StorageDamagedError } from "../port.ts";
import { defineRecord } from "../recordType.ts";
import { openLmdb } from "./database.ts";
import { createLmdbStorage, type LmdbStorageOptions } from "./lmdbStorage.ts";

const note = defineRecord<{ readonly id: string }>({
  name: "note",
  version: 1,
  partitionOf: () => 7,
  keyOf: ({ id }) => id,
});

let directory = "";
let opened: Storage[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "journal-"));
});
afterEach(async () => {
  for (const storage of opened) await storage.close();
  opened = [];
  await rm(directory, { recursive: true });
});

/** Milliseconds by which the stores of this file are ahead of the machine's clock. */
let aheadMs = 0;

/** A regroup runs only when a test asks for one, by more bytes than `regroupBytes` or by a timer of its own. */
async function open(options: Partial<LmdbStorageOptions> = {}): Promise<Storage> {
  const storage = await createLmdbStorage({ directory, regroupEveryMs: 3_600_000, now: () => Date.now() + aheadMs, ...options });
  opened.push(storage);
  return storage;
}

const pathOf = (file: number, root = directory) => join(root, "store", `journal.${file}`);
const type = (storage: Storage, log: string, ...entries: string[]) =>
  storage.commit({ partition: 7, logs: [{ op: "append", log, entries: entries.map((entry) => Buffer.from(entry)) }] });
const putNote = (storage: Storage, id: string, log: string, entry: string) =>
  storage.commit({
    partition: 7,
    records: [{ op: "put", type: note, value: { id }, replacing: null }],
    logs: [{ op: "append", log, entries: [Buffer.from(entry)] }],
  });

const putEntry = (storage: Storage) => putNote(storage, "a", "l", "in LMDB");
/**
 * Puts a record after the time within which the store does not write facts about itself again. After a restart the clock of
 * the store can be 100 ms ahead of this one.
 */
async function putLater(storage: Storage): Promise<void> {
  aheadMs += 250;
  await storage.commit({ partition: 7, records: [{ op: "put", type: note, value: { id: "a" }, replacing: null }] });
}

async function readAll(storage: Storage, log: string): Promise<readonly string[]> {
  const read = await storage.log.read({ partition: 7, log, after: 0, limit: 100_000 });
  if (read.gap) throw new Error("a gap");
  return read.entries.map(({ bytes }) => Buffer.from(bytes).toString());
}

/** Makes a store whose journal is in use, and closes it. Returns the entries of the log `l`. */
async function makeJournal(): Promise<string[]> {
  const storage = await createLmdbStorage({ directory, regroupEveryMs: 10 });
  const kept: string[] = [];
  const typeNext = async () => {
    await type(storage, "l", `${kept.length}`);
    kept.push(`${kept.length}`);
  };
  // The journal is made in the background after the first write that could have used it.
  while ((await storage.status()).storeVersion < 2) await typeNext();
  await typeNext();
  await storage.close();
  return kept;
}

const readJournal = () => [0, 1].map((file) => readFileSync(pathOf(file)));

/** Compares the journal files with `before`. Returns the number of the changed file, the offset and the new bytes. */
function findChange(before: readonly Buffer[]) {
  for (const [file, after] of readJournal().entries()) {
    const changed = [...after.keys()].filter((at) => after[at] !== before[file]?.[at]);
    const [from] = changed;
    if (from !== undefined) return { file, from, record: after.subarray(from, (changed.at(-1) ?? from) + 1) };
  }
  throw new Error("nothing was written to the journal");
}

/** The file that contains these bytes. */
function fileWith(text: string): number {
  return readJournal().findIndex((bytes) => bytes.includes(text));
}

/** Closes a store as `kill -9` would leave it: a copy of its files is opened. */
async function openCopy(): Promise<Storage> {
  const copy = await mkdtemp(join(tmpdir(), "journal-copy-"));
  cpSync(directory, copy, { recursive: true, filter: (path) => !path.includes("in-use-") });
  const storage = await createLmdbStorage({ directory: copy, regroupEveryMs: 3_600_000 });
  const close = storage.close;
  return {
    ...storage,
    async close() {
      await close();
      rmSync(copy, { recursive: true });
    },
  };
}

describe("the journal of the embedded store", () => {
  test("[ST96] after a kill at any moment, writes of the journal and of LMDB are there in their order", async () => {
    const kept = await makeJournal();
    const storage = await open();
    for (let round = 0; round < 6; round += 1) {
      for (const step of [
        () => type(storage, "l", `typed ${round}`),
        () => putNote(storage, `n${round}`, "l", `noted ${round}`),
        () => type(storage, "l", `more ${round}`, `and more ${round}`),
      ]) {
        const result = await step();
        kept.splice(kept.length, 0, ...(await readAll(storage, "l")).slice(kept.length));
        expect(result).toMatchObject({ ok: true, positions: [kept.length] });
        const copy = await openCopy();
        expect(await readAll(copy, "l")).toEqual(kept);
        expect(await type(copy, "l", "after the restart")).toMatchObject({ ok: true, positions: [kept.length + 1] });
        await copy.close();
      }
    }
    expect(kept.slice(-4)).toEqual(["typed 5", "noted 5", "more 5", "and more 5"]);
    expect(await storage.status()).toMatchObject({ storeVersion: 2 });
  });

  test("[ST96] whatever part of the last record is on disk, all earlier ones are read and the place is used again", {
    timeout: 60_000,
  }, async () => {
    const kept = await makeJournal();
    const first = await open();
    await type(first, "l", "kept");
    kept.push("kept");
    const before = readJournal();
    await type(first, "l", "torn");
    await first.close();
    const { file, from, record } = findChange(before);
    expect(record.length).toBeGreaterThan(60);
    const descriptor = openSync(pathOf(file), "r+");
    for (let cut = 0; cut < record.length; cut += 1) {
      // Power may fail when only the front of a record is on disk, or only its end.
      for (const [start, end] of [
        [0, cut],
        [cut + 1, record.length],
      ] as const) {
        const torn = Buffer.from((before[file] as Buffer).subarray(from, from + record.length));
        record.copy(torn, start, start, end);
        writeSync(descriptor, torn, 0, torn.length, from);
        const storage = await createLmdbStorage({ directory, regroupEveryMs: 3_600_000 });
        expect(await readAll(storage, "l")).toEqual(kept);
        expect(await type(storage, "l", "next")).toMatchObject({ positions: [kept.length + 1] });
        await storage.close();
      }
    }
    closeSync(descriptor);
  });

  test("[ST96] a record that is damaged before another one is reported, and nothing is changed", async () => {
    await makeJournal();
    const storage = await open();
    await type(storage, "l", "damaged here");
    await type(storage, "l", "last");
    await storage.close();
    const path = pathOf(fileWith("damaged here"));
    const content = readFileSync(path);
    const damaged = Buffer.from(content);
    damaged.writeUInt8(0x58, damaged.indexOf("damaged here"));
    writeFileSync(path, damaged);
    await expect(createLmdbStorage({ directory })).rejects.toThrow(/journal\.\d is damaged before byte \d+/);
    expect(readFileSync(path).equals(damaged)).toBe(true);
    writeFileSync(path, content);
    expect((await readAll(await open(), "l")).slice(-2)).toEqual(["damaged here", "last"]);
  });

  test("[ST96] damage in the last two records is reported, because only one can be incomplete after a crash", async () => {
    await makeJournal();
    const storage = await open();
    await type(storage, "l", "damaged here");
    await type(storage, "l", "and here");
    await storage.close();
    const path = pathOf(fileWith("damaged here"));
    const content = readFileSync(path);
    for (const text of ["damaged here", "and here"]) content.writeUInt8(0x58, content.indexOf(text));
    writeFileSync(path, content);
    await expect(createLmdbStorage({ directory })).rejects.toThrow(/journal\.\d is damaged before byte \d+/);
  });

  const empty = (path: string) => writeFileSync(path, Buffer.alloc(statSync(path).size));
  test.each([
    ["missing", (path: string) => rmSync(path), putEntry, /journal\.\d is missing/],
    ["cut off", (path: string) => truncateSync(path, 1000), putEntry, /journal\.\d has 1000 bytes/],
    ["emptied, with later log writes in LMDB", empty, putEntry, /log group \d+ is missing/],
    ["emptied, with later writes of records in LMDB", empty, putLater, /log group \d+ is missing/],
  ])("[ST96] a journal file that is %s is reported instead of read as empty", async (_name, change, put, message) => {
    await makeJournal();
    const storage = await open();
    await type(storage, "l", "in the journal");
    await put(storage);
    await storage.close();
    change(pathOf(fileWith("in the journal")));
    const refusal = await createLmdbStorage({ directory }).catch((reason: unknown) => reason);
    expect(refusal).toBeInstanceOf(StorageDamagedError);
    expect(String(refusal)).toMatch(message);
  });

  test("[ST96] bytes of an earlier use are never read as records, even where a client made them look like one", async () => {
    await makeJournal();
    const first = await open();
    await type(first, "l", "x".repeat(200));
    await type(first, "l", "a second record, which the first one after the release does not reach");
    await first.close();
    const path = pathOf(fileWith("x".repeat(200)));
    const salt = () => readFileSync(path).subarray(0, 8);
    const earlier = salt();
    const regrouping = await createLmdbStorage({ directory, regroupEveryMs: 5 });
    // The rest of the file still contains the records of its earlier use.
    while (salt().equals(earlier)) await type(regrouping, "other", "y");
    expect(readFileSync(path).includes(earlier)).toBe(true);
    const kept = await readAll(regrouping, "l");
    await regrouping.close();
    const storage = await open();
    expect(await readAll(storage, "l")).toEqual(kept);
    await type(storage, "l", "after the release");
    await storage.close();
    expect((await readAll(await open(), "l")).slice(kept.length)).toEqual(["after the release"]);
  });

  test("[ST96] a store whose journal is full, released and used again keeps every entry", { timeout: 60_000 }, async () => {
    await makeJournal();
    const storage = await open({ regroupEveryMs: 20 });
    const counts = new Map<string, number>();
    const entry = "e".repeat(12_000);
    for (let at = 0; at < 1200; at += 1) {
      const log = `log ${at % 5}`;
      await type(storage, log, `${at} ${entry}`);
      counts.set(log, (counts.get(log) ?? 0) + 1);
    }
    await storage.close();
    const second = await open();
    for (const [log, count] of counts) {
      const entries = await readAll(second, log);
      expect(entries.map((text) => Number.parseInt(text, 10))).toEqual(
        Array.from({ length: count }, (_, at) => at * 5 + Number(log.slice(-1))),
      );
    }
  });

  test("[ST96] a store that is closed during a commit does not create its journal afterwards", async () => {
    const storage = await createLmdbStorage({ directory, regroupEveryMs: 3_600_000, regroupBytes: 1 });
    const last = type(storage, "l", "last");
    await Promise.all([last, storage.close()]);
    // A creation that is in progress has an open request to the file system.
    expect(process.getActiveResourcesInfo()).not.toContain("FSReqPromise");
    expect([existsSync(pathOf(0)), existsSync(pathOf(1))]).toEqual([false, false]);
    const second = await open();
    expect(await readAll(second, "l")).toEqual(["last"]);
  });

  test("[ST96] a store whose journal cannot be created works without it", async () => {
    const errors: Error[] = [];
    const options = { regroupBytes: 1, onDiskError: (error: Error) => void errors.push(error) };
    const storage = await open(options);
    mkdirSync(pathOf(1));
    // The commit starts a regroup, which tries to create the journal. `close` waits for it.
    await type(storage, "l", "1");
    await storage.close();
    const second = await open(options);
    await type(second, "l", "2");
    expect(await second.status()).toMatchObject({ storeVersion: 1, writes: "ok" });
    await second.close();
    expect(errors).toEqual([]);
    expect(existsSync(pathOf(0))).toBe(false);
    const third = await open();
    expect(await readAll(third, "l")).toEqual(["1", "2"]);
  });

  test("[ST96] a store without a journal keeps version 1, which earlier servers read; with one it has version 2", async () => {
    const storage = await open();
    await putNote(storage, "a", "l", "1");
    await storage.close();
    expect(readVersion()).toBe("1");
    await rm(directory, { recursive: true });
    await makeJournal();
    expect(readVersion()).toBe("2");
  });

  test("[ST96] store time does not go back over a restart after writes that only the journal has", async () => {
    await makeJournal();
    const ahead = Date.now() + 3_600_000;
    const storage = await open({ now: () => ahead });
    await type(storage, "l", "late");
    const last = storage.now();
    await storage.close();
    expect((await open()).now()).toBeGreaterThanOrEqual(last);
  });
});

function readRow(key: string): string | undefined {
  const db = openLmdb(join(directory, "store"));
  const value = db.getString(key);
  void db.close();
  return value;
}
const readVersion = () => readRow("mversion");
