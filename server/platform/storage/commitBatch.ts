/**
 * A batch commit checks a batch and applies it to an ordered map.
 *
 * Every precondition is checked and every change is planned before the first write, so a refused or invalid batch
 * changes nothing.
 *
 * It does not access the disk: logs, leases and blob files are reached through `CommitContext`.
 */
import { collectKind, collectRowId, type DerivedChanges, derive, expireKind } from "./derive.ts";
import { hasDueRow, type KeptRow, readDueRow, toDueChanges, toScheduled } from "./dueRows.ts";
import {
  applyChanges,
  blobKey,
  type Change,
  countKey,
  indexRowKey,
  type KeyValueWriter,
  logKey,
  recordKey,
  uniqueKey,
} from "./keyValue.ts";
import { fromByteText, toByteText } from "./orderedKey.ts";
import type { Batch, CommitResult, Conflict, DueWrite, IndexKey, LogName, LogWrite, Partition, RecordWrite } from "./port.ts";
import { decodeRow, encodeRow, hasOlderIndex, revisionOfRow } from "./recordRow.ts";
import type { AnyRecordType, RecordTypes } from "./recordType.ts";

/** Writes to logs inside the transaction of a commit. */
export interface LogWriter {
  /** Throws if the write is invalid; called before any write of the batch. */
  check(partition: Partition, write: LogWrite): void;
  /** Appends entries and returns the position of the last entry. */
  append(partition: Partition, log: LogName, entries: readonly Uint8Array[]): number;
  trim(partition: Partition, log: LogName, through: number): void;
  drop(partition: Partition, log: LogName): void;
}

export function checkLogWrite(partition: Partition, write: LogWrite): void {
  logKey(partition, write.log);
  if (write.op === "trim" && !Number.isSafeInteger(write.through))
    throw new TypeError(`${write.log} cannot be trimmed to ${write.through}`);
  if (write.op === "append" && !write.entries.every((entry) => entry instanceof Uint8Array))
    throw new TypeError(`${write.log} takes bytes`);
  if (write.op === "append" && write.twin !== undefined) {
    logKey(partition, write.twin);
    if (write.twin === write.log) throw new TypeError(`${write.log} cannot be its own twin`);
  }
}

/** Length of the prefix of each twin entry: its position in the other log. */
const twinPositionBytes = 8;

function toTwinEntry(position: number, bytes: Uint8Array): Uint8Array {
  const entry = new Uint8Array(twinPositionBytes + bytes.byteLength);
  new DataView(entry.buffer).setBigUint64(0, BigInt(position));
  entry.set(bytes, twinPositionBytes);
  return entry;
}

export interface CommitContext {
  readonly store: KeyValueWriter;
  readonly logs: LogWriter;
  readonly nowMs: number;
  /** Fence of the lease's latest acquisition; `undefined` if the lease is unknown or was released. */
  readonly leaseFence: (partition: Partition, name: string) => number | undefined;
  readonly hasBlob: (partition: Partition, sha256: string) => boolean;
  /** Revision of a record row, if the store knows it without reading the row. */
  readonly revisionOf?: (row: string) => number | undefined;
  /** If given, a record of any other type is refused as a programming error. */
  readonly recordTypes?: RecordTypes | undefined;
}

class Refusal {
  readonly conflict: Conflict;
  constructor(conflict: Conflict) {
    this.conflict = conflict;
  }
}

/** Plans one batch, then writes it. */
class Commit {
  readonly #context: CommitContext;
  readonly #batch: Batch;
  readonly #changes: Change[] = [];
  readonly #revisions: number[] = [];
  readonly #records = new Set<string>();
  readonly #due = new Map<string, { readonly before: KeptRow | undefined; now: KeptRow | null }>();
  /** Encoded rule → its holder after this batch; null if the batch frees the rule. */
  readonly #unique = new Map<string, string | null>();
  readonly #counts = new Map<string, number>();
  readonly #blobs = new Map<string, number>();

  constructor(context: CommitContext, batch: Batch) {
    this.#context = context;
    this.#batch = batch;
  }

  run(): CommitResult {
    try {
      this.#require();
      const changes = (this.#batch.records ?? []).map((write) => this.#record(write));
      for (const { derived, owner } of changes) this.#derived(derived, owner);
      for (const { derived, owner } of changes) this.#uniqueRules(derived, owner);
      for (const write of this.#batch.due ?? []) this.#dueWrite(write);
      for (const { derived } of changes) this.#expiry(derived);
      this.#planCounts();
      this.#planBlobs();
      this.#planDue();
      for (const write of this.#batch.logs ?? []) this.#context.logs.check(this.#batch.partition, write);
    } catch (reason) {
      if (reason instanceof Refusal) return { ok: false, conflict: reason.conflict };
      throw reason;
    }
    applyChanges(this.#context.store, this.#changes);
    return { ok: true, positions: this.#log(), revisions: this.#revisions };
  }

  #require(): void {
    const { partition, require = [] } = this.#batch;
    for (const requirement of require) {
      if (requirement.kind === "fence") {
        const { lease, atLeast } = requirement;
        if (this.#context.leaseFence(partition, lease) !== atLeast) throw new Refusal({ kind: "fence", lease });
        continue;
      }
      if (requirement.kind === "due") {
        const { id, fence } = requirement;
        if (readDueRow(this.#context.store, partition, id)?.fence !== fence) throw new Refusal({ kind: "due", id });
        continue;
      }
      if (requirement.kind === "tail") {
        const { log, position } = requirement;
        if (this.#context.logs.append(partition, log, []) !== position) throw new Refusal({ kind: "tail", log });
        continue;
      }
      const { type, key, revision } = requirement;
      this.#checkPartition(type, key);
      if (this.#revisionOf(recordKey.of(partition, type.name, key)) !== revision)
        throw new Refusal({ kind: "record", type: type.name, key });
    }
  }

  #revisionOf(row: string): number | "absent" {
    const known = this.#context.revisionOf?.(row);
    if (known !== undefined) return known;
    const text = this.#context.store.get(row);
    return text === undefined ? "absent" : revisionOfRow(text);
  }

  #checkPartition(type: AnyRecordType, key: string): void {
    const partition = type.partitionOf(key);
    if (partition !== this.#batch.partition) {
      throw new Error(`a batch of partition ${this.#batch.partition} names ${type.name} ${key} of partition ${partition}`);
    }
  }

  #record(write: RecordWrite<unknown>): { readonly derived: DerivedChanges; readonly owner: string } {
    const { type, replacing } = write;
    const { store, recordTypes } = this.#context;
    if (recordTypes !== undefined && recordTypes.get(type.name) !== type) throw new Error(`record type ${type.name} is not listed`);
    const key = type.keyOf(write.op === "put" ? write.value : write.replacing.value);
    if (replacing !== null && type.keyOf(replacing.value) !== key) throw new Error(`${type.name} ${key} replaces a record of another key`);
    this.#checkPartition(type, key);
    const row = recordKey.of(this.#batch.partition, type.name, key);
    if (this.#records.has(row)) throw new Error(`a batch writes ${type.name} ${key} twice`);
    this.#records.add(row);
    const text = store.get(row);
    const revision = text === undefined ? undefined : revisionOfRow(text);
    if (revision !== replacing?.revision) throw new Refusal({ kind: "record", type: type.name, key });
    // The derived rows to remove are computed from the stored value. If the caller changed its copy, that copy would
    // leave rows behind.
    const older = text === undefined ? undefined : decodeRow(type, text).value;
    if (write.op === "put") {
      const next = encodeRow(type, { value: write.value, revision: (revision ?? 0) + 1 });
      this.#revisions.push((revision ?? 0) + 1);
      this.#changes.push([row, next]);
    } else {
      this.#revisions.push(0);
      this.#changes.push([row, null]);
    }
    const olderIndex = text !== undefined && hasOlderIndex(type, text);
    const derived = derive(type, key, older, write.op === "put" ? write.value : undefined, olderIndex);
    for (const encoded of derived.indexRemoved) this.#changes.push([indexRowKey(this.#batch.partition, encoded, key), null]);
    for (const encoded of derived.indexAdded) this.#changes.push([indexRowKey(this.#batch.partition, encoded, key), "1"]);
    return { derived, owner: `${type.name}\x00${toByteText(key)}` };
  }

  #derived(derived: DerivedChanges, owner: string): void {
    for (const encoded of derived.uniqueRemoved) {
      const row = uniqueKey(this.#batch.partition, encoded);
      if (this.#context.store.get(row) !== owner) continue;
      this.#unique.set(encoded, null);
      this.#changes.push([row, null]);
    }
    for (const [encoded, move] of derived.counts) this.#counts.set(encoded, (this.#counts.get(encoded) ?? 0) + move);
    for (const [sha256, move] of derived.blobs) this.#blobs.set(sha256, (this.#blobs.get(sha256) ?? 0) + move);
  }

  /** Runs after all records of the batch have freed their rules, so that two records can swap a rule. */
  #uniqueRules(derived: DerivedChanges, owner: string): void {
    for (const [encoded, rule] of derived.uniqueAdded) {
      const row = uniqueKey(this.#batch.partition, encoded);
      const planned = this.#unique.get(encoded);
      const holder = planned === undefined ? this.#context.store.get(row) : planned;
      if (holder !== undefined && holder !== null && holder !== owner) this.#refuseUnique(rule, holder);
      this.#unique.set(encoded, owner);
      this.#changes.push([row, owner]);
    }
  }

  #refuseUnique(rule: IndexKey, holder: string): never {
    throw new Refusal({ kind: "unique", rule, key: fromByteText(holder.slice(holder.indexOf("\x00") + 1)) });
  }

  #dueState(id: string): { readonly before: KeptRow | undefined; now: KeptRow | null } {
    const known = this.#due.get(id);
    if (known !== undefined) return known;
    const before = readDueRow(this.#context.store, this.#batch.partition, id);
    const state = { before, now: before ?? null };
    this.#due.set(id, state);
    return state;
  }

  #dueWrite(write: DueWrite): void {
    const id = write.op === "schedule" || write.op === "arm" ? write.row.id : write.id;
    // An append arms a row that usually exists already, so the row is not parsed for that.
    if (write.op === "arm" && !this.#due.has(id) && hasDueRow(this.#context.store, this.#batch.partition, id)) return;
    const state = this.#dueState(id);
    switch (write.op) {
      case "arm":
        if (state.now === null) state.now = toScheduled(undefined, write.row);
        return;
      case "schedule":
        state.now = toScheduled(state.now ?? undefined, write.row);
        return;
      case "cancel":
        state.now = null;
        return;
      case "acknowledge":
      case "postpone": {
        if (state.now?.fence !== write.fence) throw new Refusal({ kind: "due", id });
        if (write.op === "acknowledge") state.now = null;
        else {
          const { dueAtMs, attempts, payload = state.now.payload } = write;
          state.now = { ...state.now, dueAtMs, attempts, payload };
        }
      }
    }
  }

  #expiry({ expiry }: DerivedChanges): void {
    if (expiry === undefined) return;
    const { id, dueAtMs, payload } = expiry;
    if (dueAtMs === null) this.#dueWrite({ op: "cancel", id });
    else this.#dueWrite({ op: "schedule", row: { id, kind: expireKind, dueAtMs, payload, attempts: 0 } });
  }

  #planCounts(): void {
    for (const [encoded, move] of this.#counts) {
      if (move === 0) continue;
      const row = countKey(this.#batch.partition, encoded);
      const next = Number(this.#context.store.get(row) ?? "0") + move;
      if (next === 0) this.#changes.push([row, null]);
      else this.#changes.push([row, String(next)]);
    }
  }

  #planBlobs(): void {
    const { partition } = this.#batch;
    for (const [sha256, move] of this.#blobs) {
      if (move === 0) continue;
      if (move > 0 && !this.#context.hasBlob(partition, sha256)) throw new Error(`a batch names the blob ${sha256}, which was not put`);
      const row = blobKey(partition, sha256);
      const next = Number(this.#context.store.get(row) ?? "0") + move;
      if (next > 0) this.#changes.push([row, String(next)]);
      else {
        this.#changes.push([row, null]);
        // The row is armed, not scheduled: an existing row of a recent put must keep its later time, so that the blob
        // can still be named.
        const id = collectRowId(sha256);
        this.#dueWrite({ op: "arm", row: { id, kind: collectKind, dueAtMs: this.#context.nowMs, payload: { sha256 }, attempts: 0 } });
      }
    }
  }

  #planDue(): void {
    for (const { before, now } of this.#due.values()) {
      if (before === (now ?? undefined)) continue;
      this.#changes.push(...toDueChanges(this.#batch.partition, before, now));
    }
  }

  #append({ log, entries, twin }: LogWrite & { readonly op: "append" }): number {
    const { partition } = this.#batch;
    const { logs } = this.#context;
    if (twin === undefined) return logs.append(partition, log, entries);
    const [tail, twinTail] = [logs.append(partition, log, []), logs.append(partition, twin, [])];
    logs.append(
      partition,
      twin,
      entries.map((bytes, at) => toTwinEntry(tail + 1 + at, bytes)),
    );
    return logs.append(
      partition,
      log,
      entries.map((bytes, at) => toTwinEntry(twinTail + 1 + at, bytes)),
    );
  }

  #log(): readonly number[] {
    const { partition, logs = [] } = this.#batch;
    const positions: number[] = [];
    for (const write of logs) {
      if (write.op === "append") positions.push(this.#append(write));
      else if (write.op === "trim") this.#context.logs.trim(partition, write.log, write.through);
      else this.#context.logs.drop(partition, write.log);
    }
    return positions;
  }
}

/** Checks and writes one batch. After a conflict or a planning error the store is unchanged. */
export function commitBatch(context: CommitContext, batch: Batch): CommitResult {
  return new Commit(context, batch).run();
}
