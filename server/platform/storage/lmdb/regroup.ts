/**
 * This module moves the entries of groups into chunks of their logs, with unchanged positions, and removes the groups.
 *
 * It works in slices, each inside a transaction of the store, so that no commit waits long for it. The row of a log
 * contains the number of the last group that is in its chunks, and a group is removed only after all logs in it were
 * moved. After a crash between two slices, the replay skips the entries that are already in chunks.
 */
import { encodeChunk, type Run } from "../logBytes.ts";
import { afterAll } from "../orderedKey.ts";
import type { Journal } from "./journal.ts";
import { chunkKey, chunkPrefix, groupKey, type LmdbLog, type LogRow, type LogState, logRowKey } from "./log.ts";
import type { StagedMap } from "./stagedMap.ts";

const chunkBytes = 256 * 1024;
const sliceBytes = 1024 * 1024;
const sliceLogs = 256;
const sliceGroups = 1024;

interface Pass {
  readonly through: number;
  readonly waiting: string[];
  /** Logs whose row only says that the log was dropped. */
  readonly dropped: Set<string>;
}

interface Slice {
  readonly logs: readonly string[];
  readonly dropped: readonly string[];
  readonly groupsThrough: number;
}

export class Regroup {
  readonly #store: StagedMap;
  readonly #log: LmdbLog;
  readonly #journal: Journal;
  #pass: Pass | undefined;
  #slice: Slice | undefined;
  #droppedBefore = new Set<string>();

  constructor(store: StagedMap, log: LmdbLog, journal: Journal) {
    this.#store = store;
    this.#log = log;
    this.#journal = journal;
  }

  get running(): boolean {
    return this.#pass !== undefined;
  }

  /** Starts a pass. Returns false if there is nothing to regroup. */
  start(): boolean {
    if (this.#pass === undefined && this.#log.firstGroup <= this.#log.lastGroup) {
      this.#pass = { through: this.#log.lastGroup, waiting: [...this.#log.active.keys()], dropped: new Set() };
    }
    return this.running;
  }

  /** Writes the next slice, as the first step of a transaction. */
  write(): void {
    const pass = this.#pass;
    if (pass === undefined) return;
    this.#slice = pass.waiting.length > 0 ? this.#writeLogs(pass.waiting) : this.#removeGroups(pass);
  }

  #writeLogs(waiting: readonly string[]): Slice {
    const logs: string[] = [];
    const dropped: string[] = [];
    let bytes = 0;
    for (const key of waiting) {
      if (bytes >= sliceBytes || logs.length >= sliceLogs) break;
      logs.push(key);
      const state = this.#log.active.get(key);
      if (state === undefined) continue;
      bytes += this.#writeLog(key, state);
      if (state.tail === 0) dropped.push(key);
    }
    // The rows of these logs already name the last group.
    this.#log.writeLastGroup(this.#store);
    return { logs, dropped, groupsThrough: this.#log.firstGroup - 1 };
  }

  #writeLog(key: string, state: LogState): number {
    const row = this.#log.row(key);
    if (state.stale) {
      for (const chunk of this.#store.keys({ start: chunkPrefix(key), end: chunkPrefix(key) + afterAll })) this.#store.delete(chunk);
    } else if (row !== undefined && row.trimmedTo < state.trimmedTo) this.#trimChunks(key, state);
    let bytes = 0;
    let chunk: Run[] = [];
    let size = 0;
    const write = () => {
      const [first] = chunk;
      if (first !== undefined) this.#store.putBytes(chunkKey(key, first.first), encodeChunk(chunk));
      chunk = [];
      size = 0;
    };
    for (const run of state.recent) {
      if (run.first + run.count - 1 <= state.trimmedTo) continue;
      if (size > 0 && size + run.packed.byteLength > chunkBytes) write();
      chunk.push(run);
      size += run.packed.byteLength;
      bytes += run.packed.byteLength;
    }
    write();
    const next: LogRow = { tail: state.tail, trimmedTo: state.trimmedTo, group: this.#log.lastGroup };
    this.#store.put(logRowKey(key), JSON.stringify(next));
    return bytes;
  }

  /** Removes the chunks whose entries were all trimmed. */
  #trimChunks(key: string, { trimmedTo, chunkedTo }: LogState): void {
    const end = chunkKey(key, trimmedTo + 1);
    const chunks = this.#store.keys({ start: chunkPrefix(key), end });
    const [next] = this.#store.keys({ start: end, end: chunkPrefix(key) + afterAll, limit: 1 });
    // A chunk ends where the next chunk begins. The last of these chunks may contain entries that were not trimmed.
    const lastEndsInside = next === end || (next === undefined && chunkedTo <= trimmedTo);
    for (const chunk of lastEndsInside ? chunks : chunks.slice(0, -1)) this.#store.delete(chunk);
  }

  #removeGroups(pass: Pass): Slice {
    const stored = this.#store.keys({ start: groupKey(0), end: groupKey(pass.through + 1), limit: sliceGroups });
    const last = stored.length < sliceGroups ? undefined : stored.at(-1);
    const groupsThrough = last === undefined ? pass.through : Number.parseInt(last.slice(1), 16);
    for (const key of stored) this.#store.delete(key);
    this.#log.writeRegrouped(this.#store, groupsThrough);
    this.#journal.stageRelease(this.#store, groupsThrough);
    if (groupsThrough === pass.through) {
      // Rows of logs dropped in the previous pass. They were needed until now, because groups written during that pass
      // may still contain the dropped log. A row that names a later group is needed until the end of the next pass.
      for (const key of this.#droppedBefore) {
        const row = this.#log.row(key);
        if (!this.#log.active.has(key) && row?.tail === 0 && row.group <= groupsThrough) this.#store.delete(logRowKey(key));
      }
    }
    return { logs: [], dropped: [], groupsThrough };
  }

  /**
   * Updates the log state after the transaction is durable, and returns the logs that are now completely in chunks.
   * Must run before `committed` of the log.
   */
  committed(): readonly string[] {
    const pass = this.#pass;
    const slice = this.#slice;
    this.#slice = undefined;
    if (pass === undefined || slice === undefined) return [];
    pass.waiting.splice(0, slice.logs.length);
    for (const key of slice.dropped) pass.dropped.add(key);
    for (const key of slice.logs) {
      const state = this.#log.active.get(key);
      if (state === undefined) continue;
      this.#log.forget(state.recent);
      state.recent = [];
      state.chunkedTo = state.tail;
      state.stale = false;
    }
    this.#log.forgetGroups(slice.groupsThrough);
    if (slice.logs.length === 0 && slice.groupsThrough === pass.through) {
      this.#droppedBefore = pass.dropped;
      this.#pass = undefined;
    }
    return slice.logs;
  }

  /** Discards the slice after a rollback. */
  undo(): void {
    this.#slice = undefined;
  }
}
