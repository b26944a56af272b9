/**
 * The logs of the embedded store. What one transaction writes to all logs is one value, a group, under the
 * next number; the runs of groups that were not yet regrouped are also in memory. `regroup.ts` moves them
 * to where they stay.
 *
 * Writes are staged while a transaction runs and become true in `committed`, by the same step that replays
 * a group at start. It knows nothing of queues and waits for nothing.
 */
import { checkLogWrite, type LogWriter } from "./commitBatch.ts";
import { logKey } from "./keyValue.ts";
import type { LmdbDatabase, LmdbReader } from "./lmdbDatabase.ts";
import { decodeChunk, decodeGroup, encodeGroup, LogReader, type LogSection, type Run, type UnwrittenSection } from "./logBytes.ts";
import { afterAll } from "./orderedKey.ts";
import { type LogRead, type Partition, StorageDamagedError } from "./port.ts";

/** A log with something in groups. A log without is its row and its chunks alone. */
export interface LogState {
  tail: number;
  trimmedTo: number;
  /** Chunks on disk hold what was written up to this position. */
  chunkedTo: number;
  /** The row and the chunks on disk are of a log that was dropped since. */
  stale: boolean;
  /** What was written after `chunkedTo`. */
  recent: Run[];
}

/** What is kept of a log that was regrouped; `group` is the last group that is in it. */
export interface LogRow {
  readonly tail: number;
  readonly trimmedTo: number;
  readonly group: number;
}

const toDigits = (number: number) => number.toString(16).padStart(14, "0");
export const groupKey = (number: number) => `t${toDigits(number)}`;
export const logRowKey = (key: string) => `L${key}`;
export const chunkPrefix = (key: string) => `k${key}\x00`;
export const chunkKey = (key: string, first: number) => chunkPrefix(key) + toDigits(first);
const firstOfChunk = (chunk: string) => Number.parseInt(chunk.slice(-14), 16);
/** The number of the last group when none is left. */
export const lastGroupKey = "mgroup";

interface Staged {
  tail: number;
  trimmedTo: number;
  appended: (UnwrittenSection & { readonly op: "append" }) | undefined;
}

export class LmdbLog implements LogWriter {
  readonly #db: LmdbDatabase;
  readonly #reader: LmdbReader;
  readonly active = new Map<string, LogState>();
  #firstGroup = 1;
  #lastGroup = 0;
  #recentBytes = 0;
  #unwritten: UnwrittenSection[] = [];
  readonly #staged = new Map<string, Staged>();
  #written: readonly LogSection[] = [];

  constructor(db: LmdbDatabase, reader: LmdbReader) {
    this.#db = db;
    this.#reader = reader;
  }

  get firstGroup(): number {
    return this.#firstGroup;
  }

  get lastGroup(): number {
    return this.#lastGroup;
  }

  /** Bytes in memory that a regroup would free. */
  get recentBytes(): number {
    return this.#recentBytes;
  }

  row(key: string): LogRow | undefined {
    const text = this.#reader.get(logRowKey(key));
    return text === undefined ? undefined : (JSON.parse(text) as LogRow);
  }

  #state(key: string): LogState {
    const active = this.active.get(key);
    if (active !== undefined) return active;
    const { tail, trimmedTo } = this.row(key) ?? { tail: 0, trimmedTo: 0 };
    return { tail, trimmedTo, chunkedTo: tail, stale: false, recent: [] };
  }

  /** Reads the groups that were not regrouped; throws a StorageDamagedError when they do not fit together. */
  replay(): void {
    this.#lastGroup = Number(this.#reader.get(lastGroupKey) ?? "0");
    this.#firstGroup = this.#lastGroup + 1;
    const held = new Map<string, number>();
    for (const [index, key] of this.#reader.keys({ start: "t", end: `t${afterAll}` }).entries()) {
      const number = Number.parseInt(key.slice(1), 16);
      if (index === 0) this.#firstGroup = number;
      else if (number !== this.#lastGroup + 1) throw new StorageDamagedError(`log group ${this.#lastGroup + 1} is missing`);
      const value = this.#reader.getBytes(key);
      if (value === undefined) throw new StorageDamagedError(`log group ${number} cannot be read`);
      for (const section of decodeGroup(value, number)) {
        const heldTo = held.get(section.key) ?? this.row(section.key)?.group ?? 0;
        held.set(section.key, heldTo);
        if (number > heldTo) this.#apply(section);
      }
      this.#lastGroup = number;
    }
  }

  #apply(section: LogSection): void {
    const { key } = section;
    const state = this.#state(key);
    this.active.set(key, state);
    if (section.op === "append") {
      const { run } = section;
      if (run.first !== state.tail + 1) throw new StorageDamagedError(`a log that ends at ${state.tail} goes on at ${run.first}`);
      state.tail += run.count;
      state.recent.push(run);
      this.#recentBytes += run.packed.byteLength;
    } else if (section.op === "trim") state.trimmedTo = section.through;
    else {
      this.forget(state.recent);
      this.active.set(key, { tail: 0, trimmedTo: 0, chunkedTo: 0, stale: true, recent: [] });
    }
  }

  /** These runs are no longer in memory. */
  forget(runs: readonly Run[]): void {
    for (const run of runs) this.#recentBytes -= run.packed.byteLength;
  }

  /** The groups up to this number are gone. */
  forgetGroups(through: number): void {
    this.#firstGroup = through + 1;
  }

  // Writing, inside a transaction.

  readonly check = checkLogWrite;

  #stage(key: string): Staged {
    const found = this.#staged.get(key);
    if (found !== undefined) return found;
    const { tail, trimmedTo } = this.#state(key);
    const staged = { tail, trimmedTo, appended: undefined };
    this.#staged.set(key, staged);
    return staged;
  }

  append(partition: Partition, log: string, entries: readonly Uint8Array[]): number {
    const key = logKey(partition, log);
    const staged = this.#stage(key);
    if (entries.length === 0) return staged.tail;
    if (staged.appended === undefined) {
      staged.appended = { op: "append", key, first: staged.tail + 1, entries: [] };
      this.#unwritten.push(staged.appended);
    }
    for (const entry of entries) staged.appended.entries.push(entry);
    staged.tail += entries.length;
    return staged.tail;
  }

  trim(partition: Partition, log: string, through: number): void {
    const key = logKey(partition, log);
    const staged = this.#stage(key);
    const trimmedTo = Math.min(through, staged.tail);
    if (trimmedTo <= staged.trimmedTo) return;
    staged.trimmedTo = trimmedTo;
    this.#unwritten.push({ op: "trim", key, through: trimmedTo });
  }

  drop(partition: Partition, log: string): void {
    const key = logKey(partition, log);
    if (this.#stage(key).tail === 0) return;
    this.#staged.set(key, { tail: 0, trimmedTo: 0, appended: undefined });
    this.#unwritten.push({ op: "drop", key });
  }

  /** Writes the group, last in its transaction; false when there is none. */
  write(): boolean {
    if (this.#unwritten.length === 0) return false;
    const { value, sections } = encodeGroup(this.#unwritten);
    void this.#db.put(groupKey(this.#lastGroup + 1), value);
    this.#written = sections;
    return true;
  }

  /** The transaction is durable; it left nothing of the logs `chunked` in groups but what it wrote itself. */
  committed(chunked: readonly string[]): void {
    const touched = new Set<string>();
    for (const section of this.#written) {
      this.#apply(section);
      touched.add(section.key);
    }
    for (const key of chunked) if (!touched.has(key)) this.active.delete(key);
    if (this.#written.length > 0) this.#lastGroup += 1;
    this.undo();
  }

  /** Nothing of the transaction happened. */
  undo(): void {
    this.#unwritten = [];
    this.#written = [];
    this.#staged.clear();
  }

  // Reading.

  tail(partition: Partition, log: string): number {
    return this.#state(logKey(partition, log)).tail;
  }

  read(where: { partition: Partition; log: string; after: number; limit: number; maxBytes?: number }): LogRead {
    const { partition, log, after, limit, maxBytes = Number.POSITIVE_INFINITY } = where;
    const key = logKey(partition, log);
    const state = this.#state(key);
    if (after < state.trimmedTo) return { gap: true, firstKept: state.trimmedTo + 1, tail: state.tail };
    const reader = new LogReader(after, limit, maxBytes);
    if (!state.stale) this.#readChunks(key, state.chunkedTo, reader);
    let at = lastNotAfter(state.recent, reader.next);
    for (; at < state.recent.length && !reader.full; at += 1) reader.take(state.recent[at] as Run);
    return { gap: false, entries: reader.entries, tail: state.tail };
  }

  #readChunks(key: string, chunkedTo: number, reader: LogReader): void {
    if (reader.next > chunkedTo || reader.full) return;
    const start = chunkPrefix(key);
    const [begin] = this.#reader.keys({ start, end: chunkKey(key, reader.next + 1), reverse: true, limit: 1 });
    for (let from = begin ?? start; reader.next <= chunkedTo && !reader.full; ) {
      const [chunk] = this.#reader.keys({ start: from, end: start + afterAll, limit: 1 });
      const value = chunk === undefined ? undefined : this.#reader.getBytes(chunk);
      const expected = reader.next;
      if (chunk !== undefined && value !== undefined) reader.take(decodeChunk(value, firstOfChunk(chunk)));
      if (reader.next === expected) throw new StorageDamagedError(`position ${expected} of a log is missing`);
      from = `${chunk}\x00`;
    }
  }
}

/** Index of the run that holds a position, or of the first run after it. */
function lastNotAfter(runs: readonly Run[], position: number): number {
  let low = 0;
  let high = runs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const run = runs[middle] as Run;
    if (run.first + run.count <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}
