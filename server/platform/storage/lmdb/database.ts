/**
 * This module opens LMDB as an ordered map of byte text, and provides a map for reads.
 *
 * Reads use a snapshot. It is renewed when a transaction is acknowledged, not when the transaction ends, so that the
 * data in the file and the data in memory (tails of logs) change together.
 *
 * `overlappingSync` is off so that a commit is synced before it is visible; no reader sees data that a power cut could
 * undo. `eventTurnBatching` is off because the adapter groups writes itself, and because a failed commit would then
 * leave a rejection that no caller can catch. Writes go through `batch()`: if one of them fails, LMDB's thread aborts the
 * transaction.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { open, type RootDatabaseOptions } from "lmdb";
import type { KeyRange, KeyValueReader } from "../keyValue.ts";
import { StorageDamagedError, StorageUnavailableError } from "../port.ts";
import { checkLmdbFile } from "./file.ts";

interface Snapshot {
  done(): void;
}

interface ReadOptions {
  readonly transaction?: Snapshot;
}

/** The part of LMDB's database that the adapter uses. The package's own type declarations lack some of it. */
export interface LmdbDatabase {
  put(key: string, value: string | Uint8Array): Promise<boolean>;
  remove(key: string): Promise<boolean>;
  getString(key: string, options?: ReadOptions): string | undefined;
  getBinary(key: string, options?: ReadOptions): Buffer | undefined;
  getKeys(range: KeyRange & ReadOptions & { readonly exclusiveStart?: boolean; readonly inclusiveEnd?: boolean }): Iterable<string>;
  getKeysCount(range: KeyRange & ReadOptions): number;
  /** Executes all writes that `work` makes in one transaction, or none. The promise resolves when it is durable. */
  batch(work: () => void): Promise<boolean>;
  /** The next snapshot will contain the latest transaction. */
  resetReadTxn(): void;
  useReadTransaction(): Snapshot;
  close(): Promise<void>;
}

const keyEncoder = {
  writeKey(key: string, target: Buffer, start: number): number {
    // LMDB enlarges its buffer after a RangeError. Without it the key would be cut off silently and become a different key.
    if (start + key.length > target.length) throw new RangeError("the key does not fit the buffer");
    return start + target.write(key, start, "latin1");
  },
  readKey(source: Buffer, start: number, end: number): string {
    return source.toString("latin1", start, end);
  },
};

/**
 * Opens the database in `path`, and creates it if it does not exist. If `lost` is given, a missing database is an error
 * with that message. Throws a StorageDamagedError if the database is missing in that case or cannot be read.
 */
export function openLmdb(path: string, lost?: string): LmdbDatabase {
  const found = checkLmdbFile(join(path, "data.mdb"));
  if (found === "none" && lost !== undefined) throw new StorageDamagedError(lost);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const options: RootDatabaseOptions = {
    encoding: "binary",
    keyEncoder,
    overlappingSync: false,
    eventTurnBatching: false,
    maxDbs: 1,
  };
  try {
    return open(path, options) as unknown as LmdbDatabase;
  } catch (reason) {
    throw new StorageDamagedError(`the store in ${path} cannot be opened: ${reason instanceof Error ? reason.message : reason}`, {
      cause: reason,
    });
  }
}

function toBounds({ start, end, reverse = false, limit }: KeyRange) {
  const bounds = reverse ? { start: end, exclusiveStart: true, end: start, inclusiveEnd: true, reverse } : { start, end };
  return limit === undefined ? bounds : { ...bounds, limit };
}

/** Reads the state of the last acknowledged transaction. */
export class LmdbReader implements KeyValueReader {
  readonly #db: LmdbDatabase;
  #snapshot: Snapshot | undefined;

  constructor(db: LmdbDatabase) {
    this.#db = db;
    this.#snapshot = db.useReadTransaction();
  }

  get #options(): ReadOptions {
    if (this.#snapshot === undefined) throw new StorageUnavailableError("the store is closed");
    return { transaction: this.#snapshot };
  }

  get(key: string): string | undefined {
    return this.#db.getString(key, this.#options);
  }

  getBytes(key: string): Buffer | undefined {
    return this.#db.getBinary(key, this.#options);
  }

  keys(range: KeyRange): readonly string[] {
    return Array.from(this.#db.getKeys({ ...toBounds(range), ...this.#options }));
  }

  count(range: KeyRange): number {
    return this.#db.getKeysCount({ ...range, ...this.#options });
  }

  /** Called when a transaction was acknowledged; later reads see it. */
  renew(): void {
    this.close();
    this.#db.resetReadTxn();
    this.#snapshot = this.#db.useReadTransaction();
  }

  close(): void {
    this.#snapshot?.done();
    this.#snapshot = undefined;
  }
}

/**
 * True if an unhandled rejection comes from LMDB's writer. A failed commit can leave a rejection that no caller can
 * catch, although the adapter has already refused the affected writes. `main` ignores such a rejection instead of
 * ending the process.
 */
export function isLmdbWriteRejection(reason: unknown): boolean {
  return reason instanceof Error && /[\\/]lmdb[\\/](?:write\.js|dist[\\/]index\.cjs)/.test(reason.stack ?? "");
}
