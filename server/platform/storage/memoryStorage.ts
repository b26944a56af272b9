/**
 * Memory storage implements the whole storage port in memory, for unit tests.
 *
 * It uses the same commit, queue and key logic as the embedded store, on a sorted list. All data ends with the process,
 * so `status().durable` is false.
 */
import { createHash } from "node:crypto";
import { createRecentPuts, scheduleCollect } from "./blobCollect.ts";
import { createStoreClock } from "./clock.ts";
import { type CommitContext, checkLogWrite, commitBatch, type LogWriter } from "./commitBatch.ts";
import { claimDue, oldestDue, readDueRow, renewDue } from "./dueRows.ts";
import { blobKey, type KeyRange, type KeyValueWriter, logKey } from "./keyValue.ts";
import { createLeases } from "./leases.ts";
import { type Partition, partitionCount, type Storage } from "./port.ts";
import { createProcessBus } from "./processBus.ts";
import { createRates } from "./rates.ts";
import { createReads } from "./reads.ts";
import { type AnyRecordType, createRecordTypes } from "./recordType.ts";
import { storeVersion } from "./storeVersion.ts";

/** A map that also keeps its keys in order. */
class SortedMap implements KeyValueWriter {
  readonly #values = new Map<string, string>();
  readonly #keys: string[] = [];

  #at(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] as string) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  get(key: string): string | undefined {
    return this.#values.get(key);
  }

  keys({ start, end, reverse = false, limit = Number.POSITIVE_INFINITY }: KeyRange): readonly string[] {
    const from = this.#at(start);
    const to = this.#at(end);
    if (reverse) return this.#keys.slice(Math.max(from, to - limit), to).reverse();
    return this.#keys.slice(from, Math.min(to, from + limit));
  }

  put(key: string, value: string): void {
    if (!this.#values.has(key)) this.#keys.splice(this.#at(key), 0, key);
    this.#values.set(key, value);
  }

  delete(key: string): void {
    if (this.#values.delete(key)) this.#keys.splice(this.#at(key), 1);
  }
}

interface MemoryLog {
  readonly entries: Uint8Array[];
  /** Position of the entry before `entries[0]`. */
  before: number;
  trimmedTo: number;
}

function createLogs(): LogWriter & { readonly port: Storage["log"] } {
  const logs = new Map<string, MemoryLog>();
  const open = (partition: Partition, log: string) => {
    const key = logKey(partition, log);
    const found = logs.get(key) ?? { entries: [], before: 0, trimmedTo: 0 };
    logs.set(key, found);
    return found;
  };
  const tailOf = (log: MemoryLog | undefined) => (log === undefined ? 0 : log.before + log.entries.length);
  return {
    check: checkLogWrite,
    append(partition, name, entries) {
      const log = open(partition, name);
      for (const bytes of entries) log.entries.push(Uint8Array.from(bytes));
      return tailOf(log);
    },
    trim(partition, name, through) {
      const log = open(partition, name);
      log.trimmedTo = Math.max(log.trimmedTo, Math.min(through, tailOf(log)));
      log.entries.splice(0, log.trimmedTo - log.before);
      log.before = log.trimmedTo;
    },
    drop: (partition, name) => void logs.delete(logKey(partition, name)),
    port: {
      tail: async (partition, name) => tailOf(logs.get(logKey(partition, name))),
      async read({ partition, log: name, after, limit, maxBytes = Number.POSITIVE_INFINITY }) {
        const log = logs.get(logKey(partition, name));
        const tail = tailOf(log);
        if (log === undefined) return { gap: false, entries: [], tail };
        if (after < log.trimmedTo) return { gap: true, firstKept: log.trimmedTo + 1, tail };
        const entries = [];
        let bytesRead = 0;
        for (let position = after + 1; position <= tail && entries.length < limit && bytesRead < maxBytes; position += 1) {
          const bytes = log.entries[position - log.before - 1] as Uint8Array;
          entries.push({ position, bytes });
          bytesRead += bytes.byteLength;
        }
        return { gap: false, entries, tail };
      },
    },
  };
}

interface MemoryStorage extends Storage {
  /** Every later write fails with this error, as on a full disk. A call with `undefined` ends this. */
  failWrites(error: Error | undefined): void;
}

interface MemoryStorageOptions {
  readonly now?: () => number;
  /** If given, a record of any other type is refused. */
  readonly recordTypes?: readonly AnyRecordType[];
}

export function createMemoryStorage(options: MemoryStorageOptions = {}): MemoryStorage {
  const clock = createStoreClock(options.now === undefined ? {} : { now: options.now });
  const store = new SortedMap();
  const logs = createLogs();
  const leases = createLeases(clock.now);
  const takeRates = createRates(clock.now);
  const blobs = new Map<string, Uint8Array>();
  const recentPuts = createRecentPuts(clock.now);
  const recordTypes = options.recordTypes === undefined ? undefined : createRecordTypes(options.recordTypes);
  const partitions = Array.from({ length: partitionCount }, (_, partition) => partition);
  let failure: Error | undefined;
  let closed = false;

  function write<Result>(work: (nowMs: number) => Result): Result {
    if (closed) throw new Error("the store is closed");
    if (failure !== undefined) throw failure;
    return work(clock.now());
  }
  const context = (nowMs: number): CommitContext => ({
    store,
    logs,
    nowMs,
    leaseFence: leases.fence,
    hasBlob: (partition, sha256) => blobs.has(blobKey(partition, sha256)),
    recordTypes,
  });

  return {
    // Nodes of one test share the store, each as if it were a process of its own.
    isShared: true,
    ...createReads(store),
    log: logs.port,
    due: {
      claim: async (claim) => write((nowMs) => claimDue(store, claim, nowMs)),
      renew: async (row, leaseMs) => write((nowMs) => renewDue(store, row, leaseMs, nowMs)),
      async get(partition, id) {
        const row = readDueRow(store, partition, id);
        return row === undefined ? undefined : { ...row, partition };
      },
      nextDueAtMs: async () => oldestDue(store, partitions),
      async stats() {
        const rows = store.keys({ start: "d", end: "e" }).length;
        const oldestDueAtMs = oldestDue(store, partitions);
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
      put: async (partition, bytes) =>
        write((nowMs) => {
          const sha256 = createHash("sha256").update(bytes).digest("hex");
          blobs.set(blobKey(partition, sha256), Uint8Array.from(bytes));
          recentPuts.add(partition, sha256);
          scheduleCollect(store, partition, sha256, nowMs);
          return sha256;
        }),
      async get(partition, sha256) {
        const bytes = blobs.get(blobKey(partition, sha256));
        return bytes === undefined ? undefined : Uint8Array.from(bytes);
      },
      getPart: async (partition, sha256, from, maxBytes) => blobs.get(blobKey(partition, sha256))?.slice(from, from + maxBytes),
      collect: async (partition, sha256) =>
        write(() => {
          if (recentPuts.mayRemove(store, partition, sha256)) blobs.delete(blobKey(partition, sha256));
        }),
    },
    bus: createProcessBus(),
    commit: async (batch) => write((nowMs) => commitBatch(context(nowMs), batch)),
    now: clock.now,
    status: async () => ({
      kind: "memory",
      durable: false,
      reason: "the store is in memory and ends with the process",
      writes: failure === undefined ? "ok" : "refused",
      storeVersion,
    }),
    async close() {
      closed = true;
    },
    failWrites(error) {
      failure = error;
    },
  };
}
