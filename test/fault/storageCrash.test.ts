/** Tests the embedded store: it is killed repeatedly during writes and must contain everything that it acknowledged. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLmdbStorage } from "../../server/platform/storage/lmdb/lmdbStorage.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { itemType, text } from "../contract/storageTypes.ts";
import { buildProgram } from "../support/childProgram.ts";
import { toRounds } from "../support/faultRounds.ts";
import {
  type Acknowledged,
  afterSteps,
  blobOf,
  dueId,
  hasBlob,
  ownLog,
  partitionOf,
  partitions,
  type Report,
  recordId,
  toSha256,
  twinWords,
  typedLog,
} from "./storageHammer.ts";

const rounds = toRounds(4);
let directory = "";
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "crash-"));
});
afterAll(() => rm(directory, { recursive: true }));

const writer = buildProgram(join(import.meta.dirname, "storageChild.ts"));

/** All acknowledgements of all rounds so far. */
const acknowledged = { commits: [] as Acknowledged[], chains: new Map<number, number>(), steps: undefined as number | undefined, typed: 0 };

function take(report: Report): void {
  if ("commit" in report) acknowledged.commits.push(report.commit);
  else if ("chain" in report) acknowledged.chains.set(report.chain, report.revision);
  else if ("typed" in report) acknowledged.typed = report.typed;
  else acknowledged.steps = report.steps;
}

/** Runs a writer until it has reported this many lines, kills it, and reads all its reports. */
async function writeUntilKilled(reports: number, ...task: readonly string[]): Promise<void> {
  const [name = "", ...rest] = task;
  const child = fork(writer, [name, directory, ...rest], { execArgv: [], silent: true });
  let errors = "";
  child.stderr?.on("data", (bytes) => {
    errors += bytes;
  });
  const exit = once(child, "exit");
  let lines = 0;
  if (child.stdout === null) throw new Error("the writer has no stdout");
  for await (const line of createInterface({ input: child.stdout })) {
    // The kill may have cut off the last line.
    if (line.endsWith("}")) take(JSON.parse(line) as Report);
    if (++lines === reports) child.kill("SIGKILL");
  }
  expect([await exit, errors]).toEqual([[null, "SIGKILL"], ""]);
}

/** Returns the entries of a log and their first position. Fails if a position is missing. */
async function readLog(
  storage: Storage,
  partition: number,
  log: string,
  toEntry: (bytes: Uint8Array) => string = text,
): Promise<{ readonly trimmedTo: number; readonly entries: readonly string[] }> {
  const first = await storage.log.read({ partition, log, after: 0, limit: 1 });
  const trimmedTo = first.gap ? first.firstKept - 1 : 0;
  const entries: string[] = [];
  for (;;) {
    const page = await storage.log.read({ partition, log, after: trimmedTo + entries.length, limit: 500 });
    if (page.gap) throw new Error("a gap after the first kept position");
    for (const { position, bytes } of page.entries) {
      expect(position).toBe(trimmedTo + entries.length + 1);
      entries.push(toEntry(bytes));
    }
    if (page.entries.length === 0) {
      expect(page.tail).toBe(trimmedTo + entries.length);
      return { trimmedTo, entries };
    }
  }
}

/** `<position in the twin> <word>` */
const toTwinEntry = (bytes: Uint8Array) => `${Buffer.from(bytes).readBigUInt64BE(0)} ${text(bytes.subarray(8))}`;

/**
 * Checks that the twins name each other's positions and contain exactly the words of these serials. Returns the last
 * position of each twin in its own log.
 */
async function checkTwins(storage: Storage, partition: number, serials: readonly number[]): Promise<ReadonlyMap<number, number>> {
  const places = new Map<number, number>();
  const owns = new Map<string, readonly string[]>();
  for (const log of new Set(serials.map(ownLog))) owns.set(log, (await readLog(storage, partition, log, toTwinEntry)).entries);
  const { entries: all } = await readLog(storage, partition, "all", toTwinEntry);
  const words: string[] = [];
  for (const [at, entry] of all.entries()) {
    const [place = "", word = ""] = entry.split(" ");
    const serial = Number.parseInt(word, 10);
    expect(owns.get(ownLog(serial))?.[Number(place) - 1]).toBe(`${at + 1} ${word}`);
    words.push(word);
    places.set(serial, Number(place));
  }
  // The words are in the order of the commits, and each commit has all its words.
  expect(words).toEqual(serials.flatMap(twinWords));
  expect([...owns.values()].reduce((sum, { length }) => sum + length, 0)).toBe(all.length);
  return places;
}

/**
 * Checks that a commit that is visible anywhere is visible everywhere. Returns the positions of each in `b` and in its
 * own log.
 */
async function checkWhole(
  storage: Storage,
  partition: number,
): Promise<{ readonly positions: ReadonlyMap<number, number>; readonly owns: ReadonlyMap<number, number> }> {
  const { entries: serials, trimmedTo: none } = await readLog(storage, partition, "b");
  expect(none).toBe(0);
  const positions = new Map(serials.map((serial, at) => [Number(serial), at + 1]));
  expect(positions.size).toBe(serials.length);
  const pairs = await readLog(storage, partition, "a");
  expect(pairs.trimmedTo + pairs.entries.length).toBe(2 * serials.length);
  expect(pairs.entries).toEqual(serials.flatMap((serial) => [serial, `${serial}+`]).slice(pairs.trimmedTo));

  const records = await storage.records.getMany(itemType, [...positions.keys()].map(recordId));
  expect(records.map((record) => record?.value.text)).toEqual(serials.map((serial) => `text ${serial}`));
  let stored = 0;
  for await (const { value } of storage.records.scan(itemType, partition)) if (value.groups?.[0] === "g") stored += 1;
  expect(stored).toBe(serials.length);
  expect(
    await storage.counts.get(partition, [
      ["group", "g"],
      ["group", "chain"],
    ]),
  ).toEqual([serials.length, 1]);
  const rows = await storage.index.scan({ partition, prefix: ["item", "s"], limit: serials.length + 1 });
  expect(rows.map((row) => row.key[2])).toEqual([...positions.keys()].sort((one, other) => one - other));
  for (const serial of positions.keys())
    expect(await storage.due.get(partition, dueId(serial))).toMatchObject({ payload: serial, fence: 1 });
  return { positions, owns: await checkTwins(storage, partition, [...positions.keys()]) };
}

async function checkStore(storage: Storage, firstSerial: number): Promise<void> {
  const found = new Map<number, Awaited<ReturnType<typeof checkWhole>>>();
  for (const partition of partitions) found.set(partition, await checkWhole(storage, partition));
  for (const { serial, a, b, own, trimmedTo } of acknowledged.commits) {
    const partition = partitionOf(serial);
    const { positions, owns } = found.get(partition) ?? {};
    expect([serial, positions?.get(serial), 2 * b, owns?.get(serial)]).toEqual([serial, b, a, own]);
    if (trimmedTo !== undefined)
      expect(await storage.log.read({ partition, log: "a", after: trimmedTo - 1, limit: 1 })).toMatchObject({ gap: true });
    if (hasBlob(serial)) {
      const blob = await storage.blobs.get(partition, toSha256(blobOf(serial)));
      expect(blob !== undefined && blobOf(serial).equals(blob)).toBe(true);
    }
  }
  for (const [partition, revision] of acknowledged.chains) {
    const chain = await storage.records.get(itemType, `${partition}/chain`);
    expect(chain?.value.text).toBe(String(chain?.revision));
    expect([revision, revision + 1]).toContain(chain?.revision);
    // The next writer continues from this state, whether it was acknowledged or not.
    acknowledged.chains.set(partition, chain?.revision ?? 0);
  }
  const { steps } = acknowledged;
  if (steps !== undefined) {
    const { entries } = await readLog(storage, 20, "t");
    // A writer that finds an empty log continues from its own first serial.
    const reached = [steps, steps + 1, firstSerial * 6 + 1].find((reachable) => afterSteps(reachable).join() === entries.join());
    expect(reached, `${entries} after ${steps} steps`).toBeDefined();
    acknowledged.steps = reached;
  }
}

describe("the embedded store, killed", () => {
  test("[ST18][ST26] kill -9 at random moments loses no acknowledged write and leaves no partial one", async () => {
    for (let round = 0; round < rounds; round += 1) {
      const before = acknowledged.commits.length;
      const firstSerial = 1 + round * 1_000_000;
      await writeUntilKilled(1 + Math.floor(Math.random() * 2000), "hammer", String(firstSerial));
      const storage = await createLmdbStorage({ directory });
      await checkStore(storage, firstSerial);
      await storage.close();
      expect(acknowledged.commits.length).toBeGreaterThanOrEqual(before);
    }
    expect(acknowledged.commits.length).toBeGreaterThan(rounds);
  });

  test("[ST18][ST96] kill -9 among commits of one log entry each loses none that was acknowledged", async () => {
    for (let round = 0; round < rounds; round += 1) {
      await writeUntilKilled(1 + Math.floor(Math.random() * 400), "type");
      const storage = await createLmdbStorage({ directory });
      const { entries } = await readLog(storage, 20, typedLog);
      // The last entry may have become durable without a report.
      expect([acknowledged.typed, acknowledged.typed + 1]).toContain(entries.length);
      expect(entries).toEqual(entries.map((_, at) => `${at + 1}`));
      await storage.close();
    }
    const storage = await createLmdbStorage({ directory });
    expect(await storage.status()).toMatchObject({ storeVersion: 2 });
    await storage.close();
  });
});
