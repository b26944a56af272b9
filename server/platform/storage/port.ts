/**
 * The storage port defines what the server may ask of a store, and what each store adapter must promise.
 *
 * All changes that must happen together go through `commit`: records, logs and due rows of one partition change all at
 * once or not at all. Callers never write index rows, unique rules, counts, expiry rows or blob references. The adapter
 * derives them (`derive.ts`) from the old and the new value of a record, so they cannot disagree with the record.
 *
 * A conflict is a return value (`{ ok: false }`), never an exception. Exceptions mean that the store cannot answer:
 * `StorageFullError`, `StorageUnavailableError`, `StorageDamagedError`.
 */

/** Number of partitions. It is written into the store's meta row at its first start and cannot change afterwards. */
export const partitionCount = 64;

/** Partition number, 0 to 63. Every id made by the server contains it, so the partition of an id is known without a look-up. */
export type Partition = number;

/** One element of an index key. Numbers sort numerically, strings by code point, and numbers come before strings. */
export type IndexPart = string | number;

/** Name of the index, followed by the tuple that orders its rows. The encoded key has at most 1,900 bytes. */
export type IndexKey = readonly [index: string, ...parts: IndexPart[]];

/** Declares one kind of record. Only this declaration knows the partition, key and index rows of such a record. */
export interface RecordType<Value> {
  /** Stable name; it is part of every key on disk. A name is never reused for another record type. */
  readonly name: string;
  /** Version written with each row. An older row is upgraded each time it is read, and stored upgraded by its next write. */
  readonly version: number;
  /** `upgrades[n]` turns a value of version n into a value of version n + 1. */
  readonly upgrades?: Readonly<Record<number, (older: unknown) => unknown>>;
  /** Partition that stores the record with this key. */
  readonly partitionOf: (key: string) => Partition;
  readonly keyOf: (value: Value) => string;
  readonly indexes?: (value: Value) => readonly IndexKey[];
  /**
   * Version of `indexes`, written with each row; default 1. Raise it when `indexes` returns keys that it did not return for
   * the same value before. The next write of an older row adds all of its index rows, and `indexUpgrade.ts` writes every
   * older row again at the start of a server.
   */
  readonly indexVersion?: number;
  /** Keys that at most one record of the partition may have. */
  readonly unique?: (value: Value) => readonly IndexKey[];
  /** Counters that include this record; the record adds 1 to each of them. */
  readonly counts?: (value: Value) => readonly IndexKey[];
  /** Counters to which the record adds a whole number, such as its bytes. Their keys differ from those of `counts`. */
  readonly sums?: (value: Value) => readonly { readonly key: IndexKey; readonly amount: number }[];
  /** SHA-256 (hex) of the blobs this record needs. When the last reference to a blob is gone, a due row deletes the blob. */
  readonly blobs?: (value: Value) => readonly string[];
  /** Store time (Unix milliseconds) from which a due row deletes this record; `undefined`: never. */
  readonly expiresAtMs?: (value: Value) => number | undefined;
}

/** A record as read. `revision` counts the writes of the record from 1; the next write uses it as its precondition. */
export interface Stored<Value> {
  readonly value: Value;
  readonly revision: number;
}

/**
 * `replacing` is the precondition of the write. `null` requires that the record is absent; otherwise the record must
 * still have that revision.
 */
export type RecordWrite<Value = unknown> =
  | { readonly op: "put"; readonly type: RecordType<Value>; readonly value: Value; readonly replacing: Stored<Value> | null }
  | { readonly op: "delete"; readonly type: RecordType<Value>; readonly replacing: Stored<Value> };

/** Name of a log inside its partition, such as `document/art_…` or `access`. */
export type LogName = string;

export type LogWrite =
  | {
      readonly op: "append";
      readonly log: LogName;
      readonly entries: readonly Uint8Array[];
      /**
       * Second log of the same partition to which the same entries are appended. In both logs the bytes of each entry
       * are preceded by the entry's position in the other log (8 bytes, big-endian). The store adds this prefix because
       * both positions are known only during the write.
       */
      readonly twin?: LogName;
    }
  /** Deletes all entries up to and including `through`. A later `read` that starts below `through` reports a gap. */
  | { readonly op: "trim"; readonly log: LogName; readonly through: number }
  | { readonly op: "drop"; readonly log: LogName };

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * Work that becomes due at a point in time. A lease on a row is only a due time in the future: a row that is created
 * leased is scheduled for `now + LEASE_MS`, and each claim moves the due time forward and raises the fence.
 */
export interface DueRow {
  /** Unique in its partition. Effect rows use `<actor id>:<actor revision>:<index>`. */
  readonly id: string;
  /** Selects the worker that handles the row, such as `effect`, `checkpoint`, `record.expire`, `blob.collect`. */
  readonly kind: string;
  readonly dueAtMs: number;
  readonly payload: Json;
  /** Number of earlier claims; in a row returned by `claim`, that claim is not included. The retry backoff depends on it. */
  readonly attempts: number;
}

export interface ClaimedRow extends DueRow {
  readonly partition: Partition;
  /** Raised by each claim. A write about the row with an older fence is a conflict. */
  readonly fence: number;
}

export type DueWrite =
  /** Adds a row with fence 1. If a row with this id exists, it is replaced and its fence is raised. */
  | { readonly op: "schedule"; readonly row: DueRow }
  /** Like `schedule`, but an existing row with this id is left unchanged. */
  | { readonly op: "arm"; readonly row: DueRow }
  /** Removes the row because its work is done. Conflict if the fence has changed or the row is gone. */
  | { readonly op: "acknowledge"; readonly id: string; readonly fence: number }
  /** Releases the row and makes it due at a later time. Conflict if the fence has changed or the row is gone. */
  | {
      readonly op: "postpone";
      readonly id: string;
      readonly fence: number;
      readonly dueAtMs: number;
      readonly attempts: number;
      readonly payload?: Json;
    }
  /** Removes the row even if a worker has claimed it. A missing row is not a conflict. */
  | { readonly op: "cancel"; readonly id: string };

/** A precondition on data that the batch does not write. */
export type Requirement =
  | { readonly kind: "revision"; readonly type: RecordType<never>; readonly key: string; readonly revision: number | "absent" }
  /** The lease was neither released nor acquired again since the acquisition that returned this fence. */
  | { readonly kind: "fence"; readonly lease: string; readonly atLeast: number }
  /** The due row exists and was not claimed since it had this fence. The state before the batch is checked. */
  | { readonly kind: "due"; readonly id: string; readonly fence: number }
  /** The last entry of the log has this position before the batch; 0: the log is empty. */
  | { readonly kind: "tail"; readonly log: LogName; readonly position: number };

/** Changes that are committed together. All of them belong to one partition. */
export interface Batch {
  readonly partition: Partition;
  // biome-ignore lint/suspicious/noExplicitAny: a batch mixes record types; each write is checked where it is built
  readonly records?: readonly RecordWrite<any>[];
  readonly logs?: readonly LogWrite[];
  readonly due?: readonly DueWrite[];
  readonly require?: readonly Requirement[];
}

export type Conflict =
  | { readonly kind: "record"; readonly type: string; readonly key: string }
  /** `key` is the key of the record that already has this unique rule. */
  | { readonly kind: "unique"; readonly rule: IndexKey; readonly key: string }
  | { readonly kind: "fence"; readonly lease: string }
  | { readonly kind: "due"; readonly id: string }
  | { readonly kind: "tail"; readonly log: LogName };

export type CommitResult =
  | {
      readonly ok: true;
      /** Position of the last appended entry, for each append of the batch in order. */
      readonly positions: readonly number[];
      /** New revision (0 for a delete), for each record write of the batch in order. */
      readonly revisions: readonly number[];
    }
  | { readonly ok: false; readonly conflict: Conflict };

export interface LogEntry {
  /** Counts from 1 without gaps; the store assigns it during the write. */
  readonly position: number;
  readonly bytes: Uint8Array;
}

export type LogRead =
  | { readonly gap: false; readonly entries: readonly LogEntry[]; readonly tail: number }
  /** `after` is below the trimmed part of the log, so entries are missing. The reader must start from a stored state. */
  | { readonly gap: true; readonly firstKept: number; readonly tail: number };

export interface IndexScan {
  readonly partition: Partition;
  /** Selects all keys that start with these parts, in key order. */
  readonly prefix: IndexKey;
  /** Start strictly after this key (strictly before it if `reverse`). */
  readonly after?: IndexKey;
  readonly reverse?: boolean;
  readonly limit: number;
}

export interface IndexRow {
  readonly key: IndexKey;
  /** Key of the record to which the row belongs. */
  readonly target: string;
}

export interface Lease {
  readonly partition: Partition;
  readonly name: string;
  readonly owner: string;
  /** Raised by each acquisition. Every commit made under the lease must `require` it. */
  readonly fence: number;
}

/** Refill rate of a token bucket: `count` tokens every `seconds`, with a capacity of `burst` tokens. */
export interface RatePolicy {
  readonly count: number;
  readonly seconds: number;
  readonly burst: number;
}

export interface RateDemand {
  readonly bucket: string;
  readonly policy: RatePolicy;
  /** Number of tokens to take; default 1. */
  readonly cost?: number;
}

export interface RateAnswer {
  readonly allowed: boolean;
  readonly remaining: number;
  /**
   * Milliseconds until one token is available (0 if one is available now). For a refused demand: until its whole cost
   * is available.
   */
  readonly retryAfterMs: number;
}

export interface StorageStatus {
  readonly kind: "memory" | "embedded" | "redis";
  /** False if the configuration of the store allows an acknowledged write to be lost; `reason` names the cause. */
  readonly durable: boolean;
  readonly reason?: string;
  readonly writes: "ok" | "refused";
  readonly usedMiB?: number;
  readonly maxMiB?: number;
  readonly diskFreeMiB?: number;
  readonly storeVersion: number;
}

export interface Storage {
  /** False if this process makes every change of the store, and no other process hears the bus. */
  readonly isShared: boolean;
  readonly records: {
    get<Value>(type: RecordType<Value>, key: string): Promise<Stored<Value> | undefined>;
    /** Returns the records in the order of `keys`; `undefined` for a missing record. */
    getMany<Value>(type: RecordType<Value>, keys: readonly string[]): Promise<readonly (Stored<Value> | undefined)[]>;
    /** All records of a type in a partition, in key order. For export, repair and tests; too slow for a request. */
    scan<Value>(type: RecordType<Value>, partition: Partition): AsyncIterable<Stored<Value>>;
    /** Like `scan`, but only records whose row has a lower `indexVersion` than the type. */
    scanOlder<Value>(type: RecordType<Value>, partition: Partition): AsyncIterable<Stored<Value>>;
  };
  readonly index: {
    scan(scan: IndexScan): Promise<readonly IndexRow[]>;
  };
  readonly counts: {
    get(partition: Partition, keys: readonly IndexKey[]): Promise<readonly number[]>;
  };
  readonly log: {
    /** Returns the entries after a position, oldest first: at most `limit` entries and about `maxBytes` bytes. */
    read(where: { partition: Partition; log: LogName; after: number; limit: number; maxBytes?: number }): Promise<LogRead>;
    /** Position of the last entry; 0 for an empty log. */
    tail(partition: Partition, log: LogName): Promise<number>;
  };
  readonly due: {
    /** Claims rows that are due now, each for `leaseMs`. `dueAtMs` of a returned row is its due time before the claim. */
    claim(options: { partitions: readonly Partition[]; limit: number; leaseMs: number }): Promise<readonly ClaimedRow[]>;
    /** Extends the claim. Returns false if the fence has changed; the caller must then stop working on the row. */
    renew(row: Pick<ClaimedRow, "partition" | "id" | "fence">, leaseMs: number): Promise<boolean>;
    get(partition: Partition, id: string): Promise<ClaimedRow | undefined>;
    /** Earliest due time of all rows, claimed ones included; `undefined` without rows. */
    nextDueAtMs(): Promise<number | undefined>;
    stats(): Promise<{ rows: number; oldestDueAtMs?: number }>;
  };
  readonly leases: {
    acquire(partition: Partition, name: string, owner: string, leaseMs: number): Promise<Lease | undefined>;
    renew(lease: Lease, leaseMs: number): Promise<boolean>;
    release(lease: Lease): Promise<void>;
  };
  readonly rates: {
    /** Takes tokens from all buckets; takes none if one bucket has too few. */
    take(demands: readonly RateDemand[]): Promise<readonly RateAnswer[]>;
  };
  readonly blobs: {
    /**
     * Stores a blob and returns its SHA-256 in hex. The blob is durable when the promise resolves. Call this before the
     * commit of the record that names the blob.
     */
    put(partition: Partition, bytes: Uint8Array): Promise<string>;
    get(partition: Partition, sha256: string): Promise<Uint8Array | undefined>;
    /** Reads at most `maxBytes` bytes of the blob from the offset `from` on, so that a large blob is never in memory as a whole. */
    getPart(partition: Partition, sha256: string, from: number, maxBytes: number): Promise<Uint8Array | undefined>;
    /** Removes the blob if no record refers to it. The worker of `blob.collect` calls this. */
    collect(partition: Partition, sha256: string): Promise<void>;
  };
  /**
   * Best-effort messages inside a node and between nodes, for wake-ups and presence. Messages may be lost, so no state
   * may depend on them.
   */
  readonly bus: {
    publish(topic: string, message: Uint8Array): void;
    /** Returns the function that ends the subscription. */
    subscribe(topic: string, listener: (message: Uint8Array) => void): () => void;
  };
  /** Applies the batch if all its preconditions hold. The change is durable when the promise resolves. */
  commit(batch: Batch): Promise<CommitResult>;
  /** Store time in Unix milliseconds. It never goes back while the store is open. */
  now(): number;
  status(): Promise<StorageStatus>;
  /** Resolves when all accepted writes are durable. */
  close(): Promise<void>;
}

/** The store has no disk space or memory left for writes. The server answers 507 `disk_full`. */
export class StorageFullError extends Error {
  override readonly name = "StorageFullError";
}

/**
 * The store is unreachable or did not answer; the server answers 503 `unavailable`. It is unknown whether the write was
 * applied.
 */
export class StorageUnavailableError extends Error {
  override readonly name = "StorageUnavailableError";
}

/** The store is damaged, newer than this server, or in use by another process. The server does not start. */
export class StorageDamagedError extends Error {
  override readonly name = "StorageDamagedError";
}
