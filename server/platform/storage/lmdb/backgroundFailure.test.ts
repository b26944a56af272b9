/** Tests failures of the embedded store that no caller sees: a process without free file descriptors, and a failed regroup. */
import { spawnSync } from "node:child_process";
import { closeSync, openSync, readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Storage, StorageUnavailableError } from "../port.ts";
import { createLmdbStorage } from "./lmdbStorage.ts";
import { Regroup } from "./regroup.ts";

let directory = "";
let storage: Storage;
const errors: Error[] = [];
beforeEach(async () => {
  errors.length = 0;
  directory = await mkdtemp(join(tmpdir(), "background-failure-"));
  storage = await createLmdbStorage({ directory, regroupBytes: 1, onDiskError: (error) => void errors.push(error) });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await storage.close();
  await rm(directory, { recursive: true });
});

const append = () => storage.commit({ partition: 7, logs: [{ op: "append", log: "l", entries: [Buffer.from("x")] }] });

/** Sets the limit of open files of this process. */
function limitOpenFiles(limit: number): void {
  const { status, error } = spawnSync("prlimit", ["--pid", `${process.pid}`, `--nofile=${limit}:`], { stdio: "ignore" });
  if (status !== 0) throw error ?? new Error("this test lowers its limit of open files and needs prlimit of util-linux");
}

function readOpenFileLimit(): number {
  const { stdout } = spawnSync("prlimit", ["--pid", `${process.pid}`, "--nofile", "--output=SOFT", "--noheadings"], { encoding: "utf8" });
  return Number(stdout);
}

/** Opens files until the process has no free descriptor, and runs `work`. */
async function withoutFreeDescriptor(work: () => Promise<void>): Promise<void> {
  const limit = readOpenFileLimit();
  const highest = Math.max(...readdirSync("/proc/self/fd").map(Number));
  limitOpenFiles(highest + 20);
  const held: number[] = [];
  try {
    expect(() => {
      for (;;) held.push(openSync("/dev/null", "r"));
    }).toThrow("EMFILE");
    await work();
  } finally {
    for (const descriptor of held) closeSync(descriptor);
    limitOpenFiles(limit);
  }
}

test("[ST98] without a free file descriptor, blobs are unavailable and all other writes continue", async () => {
  const kept = await storage.blobs.put(7, Buffer.from("kept"));
  await withoutFreeDescriptor(async () => {
    await expect(storage.blobs.put(7, Buffer.from("new"))).rejects.toThrow(StorageUnavailableError);
    await expect(storage.blobs.get(7, kept)).rejects.toThrow(StorageUnavailableError);
    expect(await append()).toMatchObject({ ok: true });
  });
  const put = await storage.blobs.put(7, Buffer.from("new"));
  expect(Buffer.from((await storage.blobs.get(7, put)) ?? []).toString()).toBe("new");
  expect(errors).toEqual([]);
});

test("[ST99] a fault in the regroup refuses all later writes and is reported once", async () => {
  const fault = new Error("a fault in the regroup");
  vi.spyOn(Regroup.prototype, "write").mockImplementation(() => {
    throw fault;
  });
  await append();
  await vi.waitFor(() => expect(errors).toEqual([fault]));
  await expect(append()).rejects.toThrow(StorageUnavailableError);
  expect((await storage.status()).writes).toBe("refused");
  expect(errors).toHaveLength(1);
});
