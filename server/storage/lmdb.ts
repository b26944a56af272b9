/**
 * The embedded store: LMDB and blob files under one directory, for one process.
 *
 * What is acknowledged is on disk. All writes go through one group commit; reads are synchronous behind
 * the promises of the port. Named leases, rates and the bus live in memory, since no other process shares
 * the directory; so at a start every lease is free.
 */
import { mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { createRecentPuts, scheduleCollect } from "./blobCollect.ts";
import { createBlobFiles, toSha256 } from "./blobFiles.ts";
import { createStoreClock } from "./clock.ts";
import { commitBatch } from "./commitBatch.ts";
import { createDiskSpace, type DiskSpaceOptions } from "./diskSpace.ts";
import { claimDue, findDue, oldestDue, readDueRow, renewDue } from "./dueRows.ts";
import { wholeTable } from "./keyValue.ts";
import { createLeases, toFirstFence } from "./leases.ts";
import { createLmdbWriteMap, LmdbReader, openLmdb } from "./lmdbDatabase.ts";
import { LmdbLog } from "./lmdbLog.ts";
import { LmdbMeta } from "./lmdbMeta.ts";
import { createLmdbWriter, type LmdbWriter } from "./lmdbWriter.ts";
import { partitionCount, type Storage, StorageDamagedError } from "./port.ts";
import { createProcessBus } from "./processBus.ts";
import { lockDirectory } from "./processLock.ts";
import { createRates } from "./rates.ts";
import { createReads } from "./reads.ts";
import { type AnyRecordType, createRecordTypes } from "./recordType.ts";
import { Regroup } from "./regroup.ts";
import { isMarked, markStore, toLostStore } from "./storeMark.ts";
import { storeVersion } from "./storeVersion.ts";
import { syncDirectory } from "./syncDirectory.ts";

export { isLmdbWriteRejection } from "./lmdbDatabase.ts";

export interface LmdbStorageOptions {
  /** Made when it is missing; held by this process alone until `close`. */
  readonly directory: string;
  /** When given, a record of any other type is refused as a bug. */
  readonly recordTypes?: readonly AnyRecordType[];
  /** Free space below which writes are refused; at most a tenth of the file system. */
  readonly diskReserveMiB?: number;
  /** The disk is broken, not full: writes are refused for good, and the process should end. By default it does. */
  readonly onDiskError?: (error: Error) => void;
  readonly now?: () => number;
  readonly regroupEveryMs?: number;
  readonly regroupBytes?: number;
}

const MiB = 1024 * 1024;
const partitions = Array.from({ length: partitionCount }, (_, partition) => partition);

function crash(error: Error): void {
  queueMicrotask(() => {
    throw error;
  });
}

/** Opens the store, or makes it. Throws a StorageDamagedError when it is damaged, newer, or held by another process. */
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

/** `opened` takes what must be ended, in order, at `close`. */
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
  const map = createLmdbWriteMap(db);
  const reader = new LmdbReader(db);
  opened.push(() => reader.close());
  const meta = new LmdbMeta(reader);
  if (meta.isNew && lost !== undefined) throw new StorageDamagedError(lost);
  const log = new LmdbLog(db, reader);
  log.replay();
  const clock = createStoreClock({ notBeforeMs: meta.notBeforeMs, ...(options.now === undefined ? {} : { now: options.now }) });
  const space: DiskSpaceOptions = { directory, onDiskError, probe: () => void writer.probe() };
  const disk = createDiskSpace(options.diskReserveMiB === undefined ? space : { ...space, reserveMiB: options.diskReserveMiB });
  opened.push(disk.close);
  const writer: LmdbWriter = createLmdbWriter({
    db,
    map,
    reader,
    log,
    regroup: new Regroup(db, map, log),
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
  // A new store exists once this is on disk; an old one can be read although the disk is full.
  if (disk.refusal() === undefined) await writer.probe();
  const refusal = disk.refusal();
  if (meta.isNew && refusal !== undefined) throw refusal;
  if (refusal === undefined) markStore(directory);
  const regroupTimer = setInterval(() => void writer.regroup(), regroupEveryMs).unref();
  opened.push(() => clearInterval(regroupTimer));

  return {
    ...createReads(reader),
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
        // The row first: a file without one would stay for ever.
        await write((store, nowMs) => scheduleCollect(store, partition, sha256, nowMs));
        try {
          await files.put(partition, sha256, bytes);
        } catch (reason) {
          throw disk.failed(reason);
        }
        return sha256;
      },
      get: (partition, sha256) => files.get(partition, sha256),
      // In a transaction, so that no commit that names the blob is on its way.
      collect: (partition, sha256) =>
        write((store) => {
          if (recentPuts.mayRemove(store, partition, sha256)) files.remove(partition, sha256);
        }),
    },
    bus: createProcessBus(),
    commit: (batch) =>
      write((store, nowMs) => commitBatch({ store, logs: log, nowMs, leaseFence: leases.fence, hasBlob: files.has, recordTypes }, batch)),
    now: clock.now,
    async status() {
      return {
        kind: "embedded",
        durable: true,
        writes: disk.refusal() === undefined ? "ok" : "refused",
        usedMiB: Math.ceil(statSync(join(path, "data.mdb")).size / MiB),
        diskFreeMiB: disk.freeMiB(),
        storeVersion,
      };
    },
    close,
  };
}
