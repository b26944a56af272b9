/**
 * This module stores facts about the embedded store itself: its layout version, the number of partitions, the number of
 * starts, and the store time reached. It writes them inside transactions of other writes, never in its own.
 */
import type { KeyValueReader, KeyValueWriter } from "../keyValue.ts";
import { partitionCount, StorageDamagedError } from "../port.ts";

/** Version of a store in which all log groups are in LMDB. */
const plainVersion = 1;
/** Version of a store with a journal, which contains writes that an older server would not find. */
const journalVersion = 2;

const versionKey = "mversion";
const partitionsKey = "mpartitions";
const startsKey = "mstarts";
const timeKey = "mtime";
/**
 * Store time is written at most this often. The next start adds this interval, because the time since the last write
 * was not stored.
 */
const timeStepMs = 100;

export class LmdbMeta {
  readonly isNew: boolean;
  /** Number of this start, counted from 1. */
  readonly start: number;
  /** Store time must not be earlier than this. */
  readonly notBeforeMs: number;
  #version: number;
  #startWritten = false;
  #timeMs = 0;
  #staged: number | undefined;

  /** Throws a StorageDamagedError if the store has a newer version or another number of partitions. */
  constructor(store: KeyValueReader) {
    const version = store.get(versionKey);
    this.isNew = version === undefined;
    this.#version = Number(version ?? plainVersion);
    if (this.#version > journalVersion) {
      throw new StorageDamagedError(`the store has version ${version}; this server knows stores up to version ${journalVersion}`);
    }
    const partitions = store.get(partitionsKey) ?? (this.isNew ? String(partitionCount) : "no");
    if (partitions !== String(partitionCount)) {
      throw new StorageDamagedError(`the store has ${partitions} partitions; this server has ${partitionCount}`);
    }
    this.start = Number(store.get(startsKey) ?? "0") + 1;
    const timeMs = store.get(timeKey);
    this.notBeforeMs = timeMs === undefined ? 0 : Number(timeMs) + timeStepMs;
  }

  get version(): number {
    return this.#version;
  }

  /** Stages the version of a store with a journal. */
  requireJournal(store: KeyValueWriter): void {
    this.#version = journalVersion;
    store.put(versionKey, String(journalVersion));
  }

  /** Must be called inside a transaction that writes something else. Returns true if it wrote the time. */
  write(store: KeyValueWriter, nowMs: number): boolean {
    if (!this.#startWritten) {
      store.put(versionKey, String(this.#version));
      store.put(partitionsKey, String(partitionCount));
      store.put(startsKey, String(this.start));
    }
    if (nowMs - this.#timeMs < timeStepMs) return false;
    store.put(timeKey, String(nowMs));
    this.#staged = nowMs;
    return true;
  }

  committed(): void {
    this.#startWritten = true;
    this.#timeMs = this.#staged ?? this.#timeMs;
  }
}
