/**
 * The storage port: what the server may ask of a store, and what a store must promise.
 *
 * Everything that must be true together goes through `commit`: records, logs and due rows of one
 * partition change all at once or not at all. Index rows, unique rules, counts, expiry rows and blob
 * references are never written by hand: the adapter derives them (`derive.ts`) from the old and the
 * new value of a record, so they cannot drift.
 *
 * A conflict is a value (`{ ok: false }`), never an exception. Exceptions are for a store that cannot
 * answer: `StorageFullError`, `StorageUnavailableError`, `StorageDamagedError`.
 */

/** Number of partitions; fixed in the store's meta row at its first start. */
export const partitionCount = 64;

/** 0 … 63. Every server-made id carries it, so id → partition needs no look-up. */
export type Partition = number;

/** One element of an index key; numbers sort numerically, strings by code point, numbers before strings. */
export type IndexPart = string | number;

/** Name of the index, then the tuple it is ordered by. At most 1,900 bytes once encoded. */
export type IndexKey = readonly [index: string, ...parts: IndexPart[]];

/** The declaration of one kind of record: the only place that knows how it is found. */
export interface RecordType<Value> {
  /** Stable name, part of every key on disk. Never reused. */
  readonly name: string;
  /** Version written with each row; an older row is upgraded when read and written back at its next write. */
  readonly version: number;
  /** `upgrades[n]` turns a value of version n into one of version n + 1. */
  readonly upgrades?: Readonly<Record<number, (older: unknown) => unknown>>;
  /** Where a record with this key lives. */
  readonly partitionOf: (key: string) => Partition;
  readonly keyOf: (value: Value) => string;
  readonly indexes?: (value: Value) => readonly IndexKey[];
  /** No two records of a partition may share one of these. */
  readonly unique?: (value: Value) => readonly IndexKey[];
  /** Each key named counts this record once. */
  readonly counts?: (value: Value) => readonly IndexKey[];
  /** SHA-256 (hex) of the blobs this record needs; the last reference gone, a due row deletes the blob. */
  readonly blobs?: (value: Value) => readonly string[];
  /** Unix milliseconds of store time after which a due row deletes this record; absent: never. */
  readonly expiresAtMs?: (value: Value) => number | undefined;
}

/** A record as read: `revision` counts its writes from 1 and is the condition of the next one. */
export interface Stored<Value> {
  readonly value: Value;
  readonly revision: number;
}

/** `replacing: null` demands that the record is absent; otherwise that it still has that revision. */
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
       * The same entries are also appended to this other log of the partition. In both logs each entry's bytes are
       * preceded by its position in the other one, 8 bytes big-endian: only the write itself knows both.
       */
      readonly twin?: LogName;
    }
  /** Forget all entries up to and including `through`; `read` below it reports a gap from then on. */
  | { readonly op: "trim"; readonly log: LogName; readonly through: number }
  | { readonly op: "drop"; readonly log: LogName };

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * Work to be done at or after a moment. A lease is nothing but a due time in the future: a row born
 * leased is scheduled for `now + LEASE_MS`, claiming moves it on and raises its fence.
 */
export interface DueRow {
  /** Unique in its partition; effect rows use `<actor id>:<actor revision>:<index>`. */
  readonly id: string;
  /** Which worker takes it, such as `effect`, `checkpoint`, `record.expire`, `blob.collect`. */
  readonly kind: string;
  readonly dueAtMs: number;
  readonly payload: Json;
  /** How often it was claimed before (a row as `claim` hands it out: before that claim); the backoff counts on it. */
  readonly attempts: number;
}

export interface ClaimedRow extends DueRow {
  readonly partition: Partition;
  /** Rises at each claim; every write about the row under an older fence is refused. */
  readonly fence: number;
}

export type DueWrite =
  /** A new row starts at fence 1; over an existing id it replaces the row and raises its fence. */
  | { readonly op: "schedule"; readonly row: DueRow }
  /** Like `schedule`, but an existing row of that id stays as it is. */
  | { readonly op: "arm"; readonly row: DueRow }
  /** The work is done: remove the row. A conflict when the fence has moved on or the row is gone. */
  | { readonly op: "acknowledge"; readonly id: string; readonly fence: number }
  /** Hand the row back for a later moment. A conflict when the fence has moved on or the row is gone. */
  | {
      readonly op: "postpone";
      readonly id: string;
      readonly fence: number;
      readonly dueAtMs: number;
      readonly attempts: number;
      readonly payload?: Json;
    }
  /** Remove the row whoever holds it; no row is no conflict. */
  | { readonly op: "cancel"; readonly id: string };

/** A condition on something the batch does not write. */
export type Requirement =
  | { readonly kind: "revision"; readonly type: RecordType<never>; readonly key: string; readonly revision: number | "absent" }
  /** The lease was not acquired again since the acquisition that has this fence, nor given up. */
  | { readonly kind: "fence"; readonly lease: string; readonly atLeast: number }
  /** The due row is there and was not claimed since it had this fence; judged before the batch. */
  | { readonly kind: "due"; readonly id: string; readonly fence: number }
  /** The log ends at this position before the batch; 0: it is empty. */
  | { readonly kind: "tail"; readonly log: LogName; readonly position: number };

/** What changes together. All of it belongs to one partition. */
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
  /** `key` is that of the record which holds the rule. */
  | { readonly kind: "unique"; readonly rule: IndexKey; readonly key: string }
  | { readonly kind: "fence"; readonly lease: string }
  | { readonly kind: "due"; readonly id: string }
  | { readonly kind: "tail"; readonly log: LogName };

export type CommitResult =
  | {
      readonly ok: true;
      /** For each append of the batch, in order: the position of its last entry. */
      readonly positions: readonly number[];
      /** For each record write of the batch, in order: the new revision (0 for a delete). */
      readonly revisions: readonly number[];
    }
  | { readonly ok: false; readonly conflict: Conflict };

export interface LogEntry {
  /** Gap-free from 1, given by the store inside the write. */
  readonly position: number;
  readonly bytes: Uint8Array;
}

export type LogRead =
  | { readonly gap: false; readonly entries: readonly LogEntry[]; readonly tail: number }
  /** `after` lies below what was trimmed: the reader must start from a stored state. */
  | { readonly gap: true; readonly firstKept: number; readonly tail: number };

export interface IndexScan {
  readonly partition: Partition;
  /** Every key that starts with these parts, in key order. */
  readonly prefix: IndexKey;
  /** Start strictly after this key (before it when `reverse`). */
  readonly after?: IndexKey;
  readonly reverse?: boolean;
  readonly limit: number;
}

export interface IndexRow {
  readonly key: IndexKey;
  /** Key of the record that the row points to. */
  readonly target: string;
}

export interface Lease {
  readonly partition: Partition;
  readonly name: string;
  readonly owner: string;
  /** Rises at each acquisition; `require` it in every commit made under the lease. */
  readonly fence: number;
}

/** Tokens a bucket gains: `count` every `seconds`, up to `burst`. */
export interface RatePolicy {
  readonly count: number;
  readonly seconds: number;
  readonly burst: number;
}

export interface RateDemand {
  readonly bucket: string;
  readonly policy: RatePolicy;
  /** Tokens wanted; default 1. */
  readonly cost?: number;
}

export interface RateAnswer {
  readonly allowed: boolean;
  readonly remaining: number;
  /** Milliseconds until one token is there (0 when there is one now); for a refused demand, until its cost is. */
  readonly retryAfterMs: number;
}

export interface StorageStatus {
  readonly kind: "memory" | "embedded" | "redis";
  /** False when an acknowledged write may be lost by design; `reason` says why. */
  readonly durable: boolean;
  readonly reason?: string;
  readonly writes: "ok" | "refused";
  readonly usedMiB?: number;
  readonly maxMiB?: number;
  readonly diskFreeMiB?: number;
  readonly storeVersion: number;
}

export interface Storage {
  readonly records: {
    get<Value>(type: RecordType<Value>, key: string): Promise<Stored<Value> | undefined>;
    /** Answers in the order of `keys`; `undefined` where there is none. */
    getMany<Value>(type: RecordType<Value>, keys: readonly string[]): Promise<readonly (Stored<Value> | undefined)[]>;
    /** All records of a type in a partition, in key order: for export, repair and tests, never for a request. */
    scan<Value>(type: RecordType<Value>, partition: Partition): AsyncIterable<Stored<Value>>;
  };
  readonly index: {
    scan(scan: IndexScan): Promise<readonly IndexRow[]>;
  };
  readonly counts: {
    get(partition: Partition, keys: readonly IndexKey[]): Promise<readonly number[]>;
  };
  readonly log: {
    /** Entries after a position, oldest first, at most `limit` of them and about `maxBytes`. */
    read(where: { partition: Partition; log: LogName; after: number; limit: number; maxBytes?: number }): Promise<LogRead>;
    /** Position of the last entry; 0 for an empty log. */
    tail(partition: Partition, log: LogName): Promise<number>;
  };
  readonly due: {
    /** Takes rows that are due now; each is the caller's for `leaseMs`. Their `dueAtMs` is when they fell due. */
    claim(options: { partitions: readonly Partition[]; limit: number; leaseMs: number }): Promise<readonly ClaimedRow[]>;
    /** False when the fence has moved on: the caller must stop. */
    renew(row: Pick<ClaimedRow, "partition" | "id" | "fence">, leaseMs: number): Promise<boolean>;
    get(partition: Partition, id: string): Promise<ClaimedRow | undefined>;
    stats(): Promise<{ rows: number; oldestDueAtMs?: number }>;
  };
  readonly leases: {
    acquire(partition: Partition, name: string, owner: string, leaseMs: number): Promise<Lease | undefined>;
    renew(lease: Lease, leaseMs: number): Promise<boolean>;
    release(lease: Lease): Promise<void>;
  };
  readonly rates: {
    /** Takes from all buckets or, when one of them is short, from none. */
    take(demands: readonly RateDemand[]): Promise<readonly RateAnswer[]>;
  };
  readonly blobs: {
    /** Durable when it resolves; returns the SHA-256 in hex. Must precede the commit that names it. */
    put(partition: Partition, bytes: Uint8Array): Promise<string>;
    get(partition: Partition, sha256: string): Promise<Uint8Array | undefined>;
    /** Removes the blob if no record refers to it (the worker of `blob.collect` calls this). */
    collect(partition: Partition, sha256: string): Promise<void>;
  };
  /** Best effort, between nodes and inside one: wake-ups and presence, never the truth. */
  readonly bus: {
    publish(topic: string, message: Uint8Array): void;
    /** Returns the function that ends the subscription. */
    subscribe(topic: string, listener: (message: Uint8Array) => void): () => void;
  };
  /** Durable when it resolves. */
  commit(batch: Batch): Promise<CommitResult>;
  /** Store time in Unix milliseconds: never goes back while the store is open. */
  now(): number;
  status(): Promise<StorageStatus>;
  /** Resolves when all that was accepted is durable. */
  close(): Promise<void>;
}

/** No space for writes (or a store that refuses them for lack of memory): answers 507 `disk_full`. */
export class StorageFullError extends Error {
  override readonly name = "StorageFullError";
}

/** The store cannot be reached or did not answer: 503 `unavailable`. It is unknown whether a write happened. */
export class StorageUnavailableError extends Error {
  override readonly name = "StorageUnavailableError";
}

/** The store is damaged, newer than this server, or held by another process: the server does not start. */
export class StorageDamagedError extends Error {
  override readonly name = "StorageDamagedError";
}
