/** Tests a journal write that reports an error although its record is on disk. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Storage, StorageFullError } from "../port.ts";
import { createLmdbStorage } from "./lmdbStorage.ts";

const disk = vi.hoisted(() => ({ isFailing: false }));
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
  return { ...fs, default: fs, write };
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

test("[ST96] a commit after a failed write of the journal is read after a restart, and the failed one is not", {
  timeout: 20_000,
}, async () => {
  storage = await createLmdbStorage({ directory, regroupEveryMs: 20 });
  while ((await storage.status()).storeVersion < 2) await type("first");
  await storage.close();
  storage = await createLmdbStorage({ directory, regroupEveryMs: 3_600_000 });
  await type("kept");
  const kept = await readAll();
  disk.isFailing = true;
  await expect(type("failed")).rejects.toThrow(StorageFullError);
  disk.isFailing = false;
  // The store accepts writes again after a successful probe, which it makes once a second.
  await vi.waitFor(async () => expect(await type("next")).toMatchObject({ ok: true }), { timeout: 10_000, interval: 100 });
  await type("last");
  expect(await readAll()).toEqual([...kept, "next", "last"]);
  await storage.close();
  storage = await createLmdbStorage({ directory });
  expect(await readAll()).toEqual([...kept, "next", "last"]);
});
