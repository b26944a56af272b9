/**
 * The LMDB log stores the logs of the embedded store.
 *
 * All log writes of one transaction are stored as one value, a group, under the next group number: in LMDB, or in the
 * journal (`journal.ts`). The runs of groups that are not yet regrouped are also kept in memory. `regroup.ts` later moves
 * them into chunks, one set of chunks per log.
 *
 * Writes are staged while a transaction runs. `committed` applies them with the same function that replays a group at
 * the start. This module does not know the due queue and never waits.
 */
import { checkLogWrite, type LogWriter } from "../commitBatch.ts";
import { type KeyValueWriter, logKey } from "../keyValue.ts";
import { decodeChunk, decodeGroup, encodeGroup, LogReader, type LogSection, type Run, type UnwrittenSection } from "../logBytes.ts";
import { afterAll } from "../orderedKey.ts";
import { type LogRead, type Partition, StorageDamagedError } from "../port.ts";
import type { LmdbReader } from "./database.ts";
import type { JournalRecord } from "./journal.ts";

/** State of a log that has entries or changes in groups. Any other log consists only of its row and its chunks. */
export interface LogState {
  tail: number;
  trimmedTo: number;
  /** Entries up to this position are in chunks on disk. */
  chunkedTo: number;
  /** The row and the chunks on disk belong to an earlier log of this name that was dropped. */
  stale: boolean;
  /** Entries after `chunkedTo`. */
  recent: Run[];
}

/** The stored row of a regrouped log. `group` is the number of the last group whose writes it includes. */
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
/** Key of the number up to which all groups were moved into chunks and removed. */
const regroupedKey = "mgroup";
/** Key of the number of a group that was already written, wherever it is stored. */
const writtenKey = "mwritten";

interface Staged {
  tail: number;
  trimmedTo: number;
  appended: (UnwrittenSection & { readonly op: "append" }) | undefined;
}

export class LmdbLog implements LogWriter {
  readonly #reader: LmdbReader;
  readonly active = new Map<string, LogState>();
  #firstGroup = 1;
  #lastGroup = 0;
  #recentBytes = 0;
  #unwritten: UnwrittenSection[] = [];
  readonly #staged = new Map<string, Staged>();
  /** The sections of the encoded group. Undefined if the transaction has no group. */
  #written: readonly LogSection[] | undefined;

  constructor(reader: LmdbReader) {
    this.#reader = reader;
  }

  get firstGroup(): number {
    return this.#firstGroup;
  }

  get lastGroup(): number {
    return this.#lastGroup;
  }

  /** Bytes of entries in memory that a regroup would free. */
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

  /**
   * Reads all groups that were not regrouped: those in LMDB, and those that were found in the journal. Throws a
   * StorageDamagedError if a group is missing or does not continue its log.
   */
  replay(journaled: readonly JournalRecord[], hasJournal: boolean): void {
    this.#lastGroup = Number(this.#reader.get(regroupedKey) ?? "0");
    this.#firstGroup = this.#lastGroup + 1;
    const held = new Map<string, number>();
    for (const [index, { number, read }] of this.#findGroups(journaled).entries()) {
      // In a store of version 1, the stored number can be lower than that of the last removed group.
      if (index === 0 && (!hasJournal || number <= this.#firstGroup)) this.#firstGroup = number;
      else if (number !== this.#lastGroup + 1) throw new StorageDamagedError(`log group ${this.#lastGroup + 1} is missing`);
      const value = read();
      if (value === undefined) throw new StorageDamagedError(`log group ${number} cannot be read`);
      for (const section of decodeGroup(value, number)) {
        const heldTo = held.get(section.key) ?? this.row(section.key)?.group ?? 0;
        held.set(section.key, heldTo);
        if (number > heldTo) this.#apply(section);
      }
      this.#lastGroup = number;
    }
    if (this.#lastGroup < Number(this.#reader.get(writtenKey) ?? "0")) {
      throw new StorageDamagedError(`log group ${this.#lastGroup + 1} is missing`);
    }
  }

  /** Returns the groups in the order of their numbers. A group in LMDB replaces one of the journal, whose write had failed. */
  #findGroups(journaled: readonly JournalRecord[]): readonly { readonly number: number; readonly read: () => Buffer | undefined }[] {
    const groups = new Map<number, () => Buffer | undefined>();
    for (const { number, group } of journaled) if (number > this.#lastGroup) groups.set(number, () => group);
    for (const key of this.#reader.keys({ start: "t", end: `t${afterAll}` })) {
      groups.set(Number.parseInt(key.slice(1), 16), () => this.#reader.getBytes(key));
    }
    return [...groups].map(([number, read]) => ({ number, read })).sort((one, other) => one.number - other.number);
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

  /** Subtracts runs that are no longer kept in memory from `recentBytes`. */
  forget(runs: readonly Run[]): void {
    for (const run of runs) this.#recentBytes -= run.packed.byteLength;
  }

  /** Records that the groups up to this number were removed. */
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

  /** Stages the number up to which groups are in chunks. */
  writeRegrouped(store: KeyValueWriter, through = this.#firstGroup - 1): void {
    store.put(regroupedKey, String(through));
  }

  /** Stages the number of the last group, so that the next start notices if groups are missing at the end. */
  writeLastGroup(store: KeyValueWriter): void {
    store.put(writtenKey, String(this.#lastGroup));
  }

  /**
   * Encodes the writes of the transaction as one group, as its last step. Undefined if there are none. With `mayBeEmpty`
   * there is always a group.
   */
  encode(mayBeEmpty: boolean): Buffer | undefined {
    if (this.#unwritten.length === 0 && !mayBeEmpty) return undefined;
    const { value, sections } = encodeGroup(this.#unwritten);
    this.#written = sections;
    return value;
  }

  /**
   * Applies the staged writes after the transaction is durable. `chunked` lists the logs that a regroup has moved
   * completely into chunks; a log of this list stays active only if this transaction also wrote to it.
   */
  committed(chunked: readonly string[]): void {
    const touched = new Set<string>();
    for (const section of this.#written ?? []) {
      this.#apply(section);
      touched.add(section.key);
    }
    for (const key of chunked) if (!touched.has(key)) this.active.delete(key);
    if (this.#written !== undefined) this.#lastGroup += 1;
    this.undo();
  }

  /** Discards the staged writes after a rollback. */
  undo(): void {
    this.#unwritten = [];
    this.#written = undefined;
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
    let at = findRunIndex(state.recent, reader.next);
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

/** Index of the run that contains a position, or of the first run after it. */
function findRunIndex(runs: readonly Run[], position: number): number {
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
