/**
 * Regrouping: the entries of groups move into chunks of their logs, positions kept, and the groups go.
 *
 * It works in slices, each inside some transaction of the store, so that no commit waits long for it. A
 * log's row names the last group that is in its chunks, and the groups stay until every log of theirs is
 * done: after a crash between any two slices, replaying skips what is already in chunks.
 */
import type { KeyValueWriter } from "./keyValue.ts";
import type { LmdbDatabase } from "./lmdbDatabase.ts";
import { chunkKey, chunkPrefix, groupKey, type LmdbLog, type LogRow, type LogState, lastGroupKey, logRowKey } from "./lmdbLog.ts";
import { encodeChunk, type Run } from "./logBytes.ts";
import { afterAll } from "./orderedKey.ts";

const chunkBytes = 256 * 1024;
const sliceBytes = 1024 * 1024;
const sliceLogs = 256;
const sliceGroups = 1024;

interface Pass {
  readonly through: number;
  readonly waiting: string[];
  /** Logs whose row says only that they were dropped. */
  readonly dropped: Set<string>;
}

interface Slice {
  readonly logs: readonly string[];
  readonly dropped: readonly string[];
  readonly groupsThrough: number;
}

export class Regroup {
  readonly #db: LmdbDatabase;
  readonly #store: KeyValueWriter;
  readonly #log: LmdbLog;
  #pass: Pass | undefined;
  #slice: Slice | undefined;
  #droppedBefore = new Set<string>();

  constructor(db: LmdbDatabase, store: KeyValueWriter, log: LmdbLog) {
    this.#db = db;
    this.#store = store;
    this.#log = log;
  }

  get running(): boolean {
    return this.#pass !== undefined;
  }

  /** False when there is nothing to regroup. */
  start(): boolean {
    if (this.#pass === undefined && this.#log.firstGroup <= this.#log.lastGroup) {
      this.#pass = { through: this.#log.lastGroup, waiting: [...this.#log.active.keys()], dropped: new Set() };
    }
    return this.running;
  }

  /** Does the next slice, first in a transaction. */
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
    return { logs, dropped, groupsThrough: this.#log.firstGroup - 1 };
  }

  #writeLog(key: string, state: LogState): number {
    const row = this.#log.row(key);
    if (state.stale) {
      for (const chunk of this.#store.keys({ start: chunkPrefix(key), end: chunkPrefix(key) + afterAll })) this.#store.delete(chunk);
      if (row === undefined && state.tail === 0) return 0;
    } else if (row !== undefined && row.trimmedTo < state.trimmedTo) this.#trimChunks(key, state);
    let bytes = 0;
    let chunk: Run[] = [];
    let size = 0;
    const write = () => {
      const [first] = chunk;
      if (first !== undefined) void this.#db.put(chunkKey(key, first.first), encodeChunk(chunk));
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

  /** Removes the chunks of which every entry was trimmed. */
  #trimChunks(key: string, { trimmedTo, chunkedTo }: LogState): void {
    const end = chunkKey(key, trimmedTo + 1);
    const chunks = this.#store.keys({ start: chunkPrefix(key), end });
    const [next] = this.#store.keys({ start: end, end: chunkPrefix(key) + afterAll, limit: 1 });
    // A chunk ends where the next one begins; the last of these may reach beyond what was trimmed.
    const lastEndsInside = next === end || (next === undefined && chunkedTo <= trimmedTo);
    for (const chunk of lastEndsInside ? chunks : chunks.slice(0, -1)) this.#store.delete(chunk);
  }

  #removeGroups(pass: Pass): Slice {
    const groupsThrough = Math.min(pass.through, this.#log.firstGroup + sliceGroups - 1);
    for (let number = this.#log.firstGroup; number <= groupsThrough; number += 1) this.#store.delete(groupKey(number));
    if (groupsThrough === pass.through) {
      this.#store.put(lastGroupKey, String(this.#log.lastGroup));
      // Those of the pass before: groups written during it, which name the dropped log, are gone only now.
      for (const key of this.#droppedBefore) {
        if (!this.#log.active.has(key) && this.#log.row(key)?.tail === 0) this.#store.delete(logRowKey(key));
      }
    }
    return { logs: [], dropped: [], groupsThrough };
  }

  /** The transaction is durable. Returns the logs that are whole in chunks now; comes before the log's own `committed`. */
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

  /** Nothing of the transaction happened. */
  undo(): void {
    this.#slice = undefined;
  }
}
