/**
 * What the embedded store knows of itself: its layout's version, the number of partitions, how often it was
 * opened, and the store time it has reached. Written in the transactions of others, never in one of its own.
 */
import type { KeyValueReader, KeyValueWriter } from "./keyValue.ts";
import { partitionCount, StorageDamagedError } from "./port.ts";
import { storeVersion } from "./storeVersion.ts";

const versionKey = "mversion";
const partitionsKey = "mpartitions";
const startsKey = "mstarts";
const timeKey = "mtime";
/** Store time is written this often at most; the next start begins that much later. */
const timeStepMs = 100;

export class LmdbMeta {
  readonly isNew: boolean;
  /** Number of this start, from 1. */
  readonly start: number;
  /** Store time must not be before this. */
  readonly notBeforeMs: number;
  #startWritten = false;
  #timeMs = 0;
  #staged: number | undefined;

  /** Throws a StorageDamagedError for a store this server must not touch. */
  constructor(store: KeyValueReader) {
    const version = store.get(versionKey);
    this.isNew = version === undefined;
    if (version !== undefined && Number(version) > storeVersion) {
      throw new StorageDamagedError(`the store has version ${version}; this server knows stores up to version ${storeVersion}`);
    }
    const partitions = store.get(partitionsKey) ?? (this.isNew ? String(partitionCount) : "no");
    if (partitions !== String(partitionCount)) {
      throw new StorageDamagedError(`the store has ${partitions} partitions; this server has ${partitionCount}`);
    }
    this.start = Number(store.get(startsKey) ?? "0") + 1;
    const timeMs = store.get(timeKey);
    this.notBeforeMs = timeMs === undefined ? 0 : Number(timeMs) + timeStepMs;
  }

  /** In a transaction that writes. */
  write(store: KeyValueWriter, nowMs: number): void {
    if (!this.#startWritten) {
      store.put(versionKey, String(storeVersion));
      store.put(partitionsKey, String(partitionCount));
      store.put(startsKey, String(this.start));
    }
    if (nowMs - this.#timeMs < timeStepMs) return;
    store.put(timeKey, String(nowMs));
    this.#staged = nowMs;
  }

  committed(): void {
    this.#startWritten = true;
    this.#timeMs = this.#staged ?? this.#timeMs;
  }
}
