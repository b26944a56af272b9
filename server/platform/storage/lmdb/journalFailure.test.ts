/** Tests writes of the embedded store that report an error although they are on disk. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Storage, StorageFullError } from "../port.ts";
import { defineRecord } from "../recordType.ts";
import { createLmdbStorage } from "./lmdbStorage.ts";
import { StagedMap } from "./stagedMap.ts";

const note = defineRecord<{ readonly id: string }>({
  name: "note",
  version: 1,
  partitionOf: () => 7,
  keyOf: ({ id }) => id,
});

const disk = vi.hoisted(() => ({ isFailing: false, synced: 0 }));
vi.mock("node:fs", async (load) => {
  const fs = await load<typeof import("node:fs")>();
  const { promisify } = await import("node:util");
  const real = promisify(fs.write) as (...args: unknown[]) => Promise<unknown>;
  const write = Object.assign(() => {}, {
    async [promisify.custom](...args: unknown[]) {
      const result = await real(...args);
      if (disk.isFailing) throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", errno: -28 });
      return result;
    },
  });
  const fdatasyncSync = (descriptor: number) => {
    disk.synced += 1;
    fs.fdatasyncSync(descriptor);
  };
  return { ...fs, default: fs, write, fdatasyncSync };
});

let directory = "";
let storage: Storage;
beforeEach(async () => {
  disk.isFailing = false;
  directory = await mkdtemp(join(tmpdir(), "journal-failure-"));
});
afterEach(async () => {
  await storage.close();
  await rm(directory, { recursive: true });
});

const type = (entry: string) => storage.commit({ partition: 7, logs: [{ op: "append", log: "l", entries: [Buffer.from(entry)] }] });
const readAll = async () => {
  const read = await storage.log.read({ partition: 7, log: "l", after: 0, limit: 100_000 });
  return read.gap ? [] : read.entries.map(({ bytes }) => Buffer.from(bytes).toString());
};

const putNote = (id: string) => storage.commit({ partition: 7, records: [{ op: "put", type: note, value: { id }, replacing: null }] });

/** Opens a store whose journal is in use and contains an entry. Returns all entries of the log. */
async function openWithJournal(): Promise<readonly string[]> {
  storage = await createLmdbStorage({ directory, regroupEveryMs: 20 });
  while ((await storage.status()).storeVersion < 2) await type("first");
  await storage.close();
  storage = await createLmdbStorage({ directory, regroupEveryMs: 3_600_000 });
  await type("kept");
  return readAll();
}

async function reopen(): Promise<void> {
  await storage.close();
  storage = await createLmdbStorage({ directory });
}

/** The store accepts writes again after a successful probe, which it makes once a second. */
const untilWritten = (write: () => Promise<unknown>) =>
  vi.waitFor(async () => expect(await write()).toMatchObject({ ok: true }), { timeout: 10_000, interval: 100 });

test("[ST97] a commit after a failed write of the journal is read after a restart, and the failed one is not", {
  timeout: 20_000,
}, async () => {
  const kept = await openWithJournal();
  disk.isFailing = true;
  await expect(type("failed")).rejects.toThrow(StorageFullError);
  disk.isFailing = false;
  await untilWritten(() => type("next"));
  await type("last");
  expect(await readAll()).toEqual([...kept, "next", "last"]);
  await reopen();
  expect(await readAll()).toEqual([...kept, "next", "last"]);
});

test("[ST97] a failed write of the journal is not read after a restart, even if no log was written after it", {
  timeout: 20_000,
}, async () => {
  const kept = await openWithJournal();
  disk.isFailing = true;
  await expect(type("failed")).rejects.toThrow(StorageFullError);
  disk.isFailing = false;
  await untilWritten(() => putNote("a"));
  await reopen();
  expect(await readAll()).toEqual(kept);
  await type("next");
  await reopen();
  expect(await readAll()).toEqual([...kept, "next"]);
});

test("[ST97] a commit after a failed transaction of LMDB that is on disk all the same is read after a restart", async () => {
  const kept = await openWithJournal();
  const write = StagedMap.prototype.write;
  let next: Promise<unknown> | undefined;
  vi.spyOn(StagedMap.prototype, "write").mockImplementationOnce(async function (this: StagedMap, db) {
    next = type("next");
    await write.call(this, db);
    throw Object.assign(new Error("No space left on device"), { code: 28 });
  });
  const failed = storage.commit({
    partition: 7,
    records: [{ op: "put", type: note, value: { id: "a" }, replacing: null }],
    logs: [{ op: "append", log: "l", entries: [Buffer.from("failed")] }],
  });
  await expect(failed).rejects.toThrow(StorageFullError);
  expect(await next).toMatchObject({ ok: true });
  await reopen();
  expect(await readAll()).toEqual([...kept, "next"]);
});

test("[ST96] the files of the journal are synced at the start, because a restored copy may not be on disk yet", async () => {
  await openWithJournal();
  disk.synced = 0;
  await reopen();
  expect(disk.synced).toBe(2);
});
