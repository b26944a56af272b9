/**
 * Fills the disk under the embedded store, frees it and continues, in one process. The full-disk test runs it in a
 * small file system. It writes one line with its findings to stdout.
 *
 * `storageFullChild.ts DIRECTORY RESERVE_MIB [journal]`. With `journal`, the store creates its journal before the disk is
 * filled, and one of eight writers writes to a log only.
 */
import { once } from "node:events";
import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createLmdbStorage, isLmdbWriteRejection } from "../../server/platform/storage/lmdb/lmdbStorage.ts";
import { type Storage, StorageFullError } from "../../server/platform/storage/port.ts";
import { append, type Item, itemType, put, text } from "../contract/storageTypes.ts";

export interface Seen {
  readonly acknowledgedWhenFull: number;
  readonly acknowledged: number;
  readonly lost: readonly string[];
  readonly statusWhenFull: string;
  readonly statusAfter: string;
  /** Names of the errors of writes while the disk was full. */
  readonly refusals: readonly string[];
  readonly readsWhenFull: number;
  /** The same after the store was closed and opened again on the full disk. */
  readonly readsAfterRestart: number;
  readonly diskErrors: readonly string[];
}

const partition = 5;
const body = "x".repeat(3000);
const [, , root = "", reserveMiB = "0", option] = process.argv;
const usesJournal = option === "journal";
const filler = join(root, "filler");
const diskErrors: string[] = [];

process.on("unhandledRejection", (reason) => {
  // Ignore these rejections, as the server's main module does.
  if (!isLmdbWriteRejection(reason)) throw reason;
});

const open = () =>
  createLmdbStorage({
    directory: join(root, "data"),
    diskReserveMiB: Number(reserveMiB),
    regroupEveryMs: 25,
    regroupBytes: 256 * 1024,
    onDiskError: (error) => diskErrors.push(String(error)),
  });

let serial = 0;
const acknowledged = new Map<number, number>();
/** Number of acknowledged entries of the log `typed`. Each entry is its own position. */
let typed = 0;

/** Appends one entry to a log. Only one call may run at a time. Returns the name of the error, if any. */
async function typeOne(storage: Storage): Promise<string | undefined> {
  try {
    const result = await storage.commit({ partition, logs: [append("typed", `${typed + 1}`)] });
    if (!result.ok) throw new Error("a conflict");
    [typed = 0] = result.positions;
    return undefined;
  } catch (reason) {
    if (reason instanceof StorageFullError) return reason.name;
    throw reason;
  }
}

/** Writes a record and two log entries. Returns the name of the error, if any. */
async function writeOne(storage: Storage): Promise<string | undefined> {
  const own = ++serial;
  const item: Item = { id: `05/${own}`, text: body, keys: [["s", own]], groups: ["g"] };
  try {
    const result = await storage.commit({ partition, records: [put(item)], logs: [append("l", `${own}`, body)] });
    if (!result.ok) throw new Error("a conflict");
    acknowledged.set(own, result.positions[0] ?? 0);
    return undefined;
  } catch (reason) {
    if (reason instanceof StorageFullError) return reason.name;
    throw reason;
  }
}

/** Returns everything that was acknowledged and is missing or incomplete. */
async function findLost(storage: Storage): Promise<readonly string[]> {
  const lost: string[] = [];
  const entries: string[] = [];
  for (let page = await storage.log.read({ partition, log: "l", after: 0, limit: 500 }); !page.gap && page.entries.length > 0; ) {
    for (const entry of page.entries) entries.push(text(entry.bytes));
    page = await storage.log.read({ partition, log: "l", after: entries.length, limit: 500 });
  }
  for (const [own, position] of acknowledged) {
    if ((await storage.records.get(itemType, `05/${own}`)) === undefined) lost.push(`record ${own}`);
    if (entries[position - 2] !== String(own) || entries[position - 1] !== body) lost.push(`entry ${own}`);
  }
  const [count] = await storage.counts.get(partition, [["group", "g"]]);
  if (entries.length !== 2 * (count ?? 0)) lost.push(`${count} records but ${entries.length} entries`);
  const page = await storage.log.read({ partition, log: "typed", after: 0, limit: typed + 9 });
  const read = page.gap ? [] : page.entries.map(({ bytes }) => text(bytes));
  if (read.join() !== Array.from({ length: typed }, (_, at) => `${at + 1}`).join()) lost.push(`${typed} typed, not ${read.length}`);
  return lost;
}

async function untilWritable(storage: Storage): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if ((await writeOne(storage)) === undefined) return;
    await delay(25);
  }
}

let storage = await open();
if (usesJournal) while ((await storage.status()).storeVersion < 2) await typeOne(storage);
const { bavail, bsize } = statfsSync(root);
writeFileSync(filler, Buffer.alloc(bavail * bsize - 10 * 1024 * 1024));
let full = false;
const fill = async (_: unknown, index: number) => {
  const write = usesJournal && index === 0 ? typeOne : writeOne;
  while (!full) full = (await write(storage)) !== undefined;
};
await Promise.all(Array.from({ length: 8 }, fill));
const acknowledgedWhenFull = acknowledged.size;
const refusals = (await Promise.all(Array.from({ length: 20 }, () => writeOne(storage)))).filter((name) => name !== undefined);
await storage.blobs.put(partition, Buffer.alloc(100)).catch((reason: Error) => refusals.push(reason.name));
async function countReadable(): Promise<number> {
  let readable = 0;
  for (const own of acknowledged.keys()) if ((await storage.records.get(itemType, `05/${own}`)) !== undefined) readable += 1;
  return readable;
}
const readsWhenFull = await countReadable();
const statusWhenFull = (await storage.status()).writes;
const lost = [...(await findLost(storage))];
// The store must also be readable after a restart.
await storage.close();
storage = await open();
const readsAfterRestart = await countReadable();
lost.push(...(await findLost(storage)));

rmSync(filler);
await untilWritable(storage);
const statusAfter = (await storage.status()).writes;
for (let more = 0; more < 100; more += 1) {
  await writeOne(storage);
  if (usesJournal) await typeOne(storage);
}
lost.push(...(await findLost(storage)));
await storage.close();
storage = await open();
lost.push(...(await findLost(storage)));
await storage.close();

const seen: Seen = {
  acknowledgedWhenFull,
  acknowledged: acknowledged.size,
  lost,
  statusWhenFull,
  statusAfter,
  refusals,
  readsWhenFull,
  readsAfterRestart,
  diskErrors,
};
process.stdout.write(JSON.stringify(seen));
if (process.stdout.writableNeedDrain) await once(process.stdout, "drain");
