/**
 * LMDB storage implements the storage port with LMDB, a journal and blob files in one directory, for one process (the
 * embedded store).
 *
 * Every acknowledged write is on disk. All writes go through one group commit; reads are synchronous behind the
 * promises of the port. Named leases, rates and the bus live in memory because no other process uses the directory.
 * Therefore every lease is free after a start.
 */
import { mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { createRecentPuts, scheduleCollect } from "../blobCollect.ts";
import { createStoreClock } from "../clock.ts";
import { commitBatch } from "../commitBatch.ts";
import { createBlobFiles, toSha256 } from "../disk/blobFiles.ts";
import { createDiskSpace, type DiskSpaceOptions, toOutOfFiles } from "../disk/diskSpace.ts";
import { lockDirectory } from "../disk/processLock.ts";
import { syncDirectory } from "../disk/syncDirectory.ts";
import { claimDue, findDue, oldestDue, readDueRow, renewDue } from "../dueRows.ts";
import { wholeTable } from "../keyValue.ts";
import { createLeases, toFirstFence } from "../leases.ts";
import { type Batch, partitionCount, type Storage, StorageDamagedError } from "../port.ts";
import { createProcessBus } from "../processBus.ts";
import { createRates } from "../rates.ts";
import { createReads } from "../reads.ts";
import { type AnyRecordType, createRecordTypes } from "../recordType.ts";
import { RowCache } from "../rowCache.ts";
import { isMarked, markStore, toLostStore } from "../storeMark.ts";
import { LmdbReader, openLmdb } from "./database.ts";
import { Journal } from "./journal.ts";
import { LmdbLog } from "./log.ts";
import { LmdbMeta } from "./meta.ts";
import { Regroup } from "./regroup.ts";
import { StagedMap } from "./stagedMap.ts";
import { createLmdbWriter, type LmdbWriter } from "./writer.ts";

export { isLmdbWriteRejection } from "./database.ts";

export interface LmdbStorageOptions {
  /** Created if missing. This process holds it exclusively until `close`. */
  readonly directory: string;
  /** If given, a record of any other type is refused as a programming error. */
  readonly recordTypes?: readonly AnyRecordType[];
  /** Reserve of free space, at most a tenth of the file system. Writes are refused if less is free. */
  readonly diskReserveMiB?: number;
  /**
   * Called when the store cannot write any more: the disk is broken, not full, or the store found a fault of its own. All
   * later writes are refused, so the process should end. The default handler throws the error uncaught, which ends the process.
   */
  readonly onDiskError?: (error: Error) => void;
  readonly now?: () => number;
  readonly regroupEveryMs?: number;
  readonly regroupBytes?: number;
}

const MiB = 1024 * 1024;
const partitions = Array.from({ length: partitionCount }, (_, partition) => partition);

/** True for keystrokes: a batch that appends to logs, arms due rows and changes no record. */
function isAppend({ records = [], logs = [], due = [] }: Batch): boolean {
  return records.length === 0 && logs.length > 0 && logs.every(({ op }) => op === "append") && due.every(({ op }) => op === "arm");
}

function crash(error: Error): void {
  queueMicrotask(() => {
    throw error;
  });
}

/**
 * Opens the store and creates it if it is missing. Throws a StorageDamagedError if it is damaged, newer than this
 * server, or held by another process.
 */
export async function createLmdbStorage(options: LmdbStorageOptions): Promise<Storage> {
  const made = mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  const opened: (() => void | Promise<void>)[] = [await lockDirectory(options.directory)];
  const close = async () => {
    for (let end = opened.pop(); end !== undefined; end = opened.pop()) await end();
  };
  try {
    const storage = await openStore(options, opened, close);
    for (const name of [join(options.directory, "store"), options.directory]) await syncDirectory(name);
    if (made !== undefined) await syncDirectory(dirname(made));
    return storage;
  } catch (reason) {
    await close();
    throw reason;
  }
}

/** Adds to `opened` the functions that `close` must call, in reverse order. */
async function openStore(
  options: LmdbStorageOptions,
  opened: (() => void | Promise<void>)[],
  close: () => Promise<void>,
): Promise<Storage> {
  const { directory, onDiskError = crash, regroupEveryMs = 10_000, regroupBytes = 8 * MiB } = options;
  const recordTypes = options.recordTypes === undefined ? undefined : createRecordTypes(options.recordTypes);
  const path = join(directory, "store");
  const lost = isMarked(directory) ? toLostStore(directory) : undefined;
  const db = openLmdb(path, lost);
  opened.push(() => db.close());
  const reader = new LmdbReader(db);
  opened.push(() => reader.close());
  const meta = new LmdbMeta(reader);
  if (meta.isNew && lost !== undefined) throw new StorageDamagedError(lost);
  const journal = new Journal(path, reader);
  opened.push(() => journal.close());
  const log = new LmdbLog(reader);
  const staged = new StagedMap(reader);
  const rows = new RowCache();
  const journaled = journal.takeFound();
  log.replay(journaled, journal.isOpen);
  const notBeforeMs = journaled.reduce((latestMs, { timeMs }) => Math.max(latestMs, timeMs), meta.notBeforeMs);
  const clock = createStoreClock({ notBeforeMs, ...(options.now === undefined ? {} : { now: options.now }) });
  const space: DiskSpaceOptions = { directory, onDiskError, probe: () => void writer.probe() };
  const disk = createDiskSpace(options.diskReserveMiB === undefined ? space : { ...space, reserveMiB: options.diskReserveMiB });
  opened.push(disk.close);
  const writer: LmdbWriter = createLmdbWriter({
    db,
    staged,
    rows,
    reader,
    log,
    journal,
    regroup: new Regroup(staged, log, journal),
    meta,
    clock,
    disk,
    regroupBytes,
  });
  opened.push(writer.close);
  const { write } = writer;
  const leases = createLeases(clock.now, toFirstFence(meta.start));
  const takeRates = createRates(clock.now);
  const files = createBlobFiles(join(directory, "blobs"));
  const recentPuts = createRecentPuts(clock.now);
  // The probe is the first commit; it creates a new store on disk. An existing store is opened even if the disk is
  // full, so that it can be read.
  if (disk.refusal() === undefined) await writer.probe();
  const refusal = disk.refusal();
  if (meta.isNew && refusal !== undefined) throw refusal;
  if (refusal === undefined) markStore(directory);
  const readBlob = (read: () => Promise<Uint8Array | undefined>) =>
    read().catch((reason: unknown) => {
      throw toOutOfFiles(reason) ?? reason;
    });
  const facts = { leaseFence: leases.fence, hasBlob: files.has, recordTypes };
  const revisionOf = (row: string) => (staged.has(row) ? undefined : rows.revisionOf(row));
  const regroupTimer = setInterval(() => {
    // Rows of idle documents leave memory.
    rows.sweep();
    void writer.regroup();
  }, regroupEveryMs).unref();
  opened.push(() => clearInterval(regroupTimer));

  return {
    isShared: false,
    ...createReads(reader, rows),
    log: {
      read: async (where) => log.read(where),
      tail: async (partition, name) => log.tail(partition, name),
    },
    due: {
      async claim(claim) {
        if (findDue(reader, claim.partitions, clock.now(), 1).length === 0) return [];
        return write((store, nowMs) => claimDue(store, claim, nowMs));
      },
      renew: (row, leaseMs) => write((store, nowMs) => renewDue(store, row, leaseMs, nowMs)),
      async get(partition, id) {
        const row = readDueRow(reader, partition, id);
        return row === undefined ? undefined : { ...row, partition };
      },
      nextDueAtMs: async () => oldestDue(reader, partitions),
      async stats() {
        const rows = reader.count(wholeTable("d"));
        const oldestDueAtMs = oldestDue(reader, partitions);
        return oldestDueAtMs === undefined ? { rows } : { rows, oldestDueAtMs };
      },
    },
    leases: {
      acquire: async (partition, name, owner, leaseMs) => leases.acquire(partition, name, owner, leaseMs),
      renew: async (lease, leaseMs) => leases.renew(lease, leaseMs),
      release: async (lease) => leases.release(lease),
    },
    rates: { take: async (demands) => takeRates(demands) },
    blobs: {
      async put(partition, bytes) {
        const sha256 = await toSha256(bytes);
        recentPuts.add(partition, sha256);
        // The due row is written before the file, because a file without a due row would never be removed.
        await write((store, nowMs) => scheduleCollect(store, partition, sha256, nowMs));
        try {
          await files.put(partition, sha256, bytes);
        } catch (reason) {
          throw disk.failed(reason);
        }
        return sha256;
      },
      get: (partition, sha256) => readBlob(() => files.get(partition, sha256)),
      getPart: (partition, sha256, from, maxBytes) => readBlob(() => files.getPart(partition, sha256, from, maxBytes)),
      // Runs in a transaction, so that no commit which names the blob can be in progress.
      collect: (partition, sha256) =>
        write((store) => {
          if (recentPuts.mayRemove(store, partition, sha256)) files.remove(partition, sha256);
        }),
    },
    bus: createProcessBus(),
    commit: (batch) => write((store, nowMs) => commitBatch({ store, logs: log, nowMs, revisionOf, ...facts }, batch), isAppend(batch)),
    now: clock.now,
    async status() {
      return {
        kind: "embedded",
        durable: true,
        writes: disk.refusal() === undefined ? "ok" : "refused",
        usedMiB: Math.ceil(statSync(join(path, "data.mdb")).size / MiB),
        diskFreeMiB: disk.freeMiB(),
        storeVersion: meta.version,
      };
    },
    close,
  };
}
