/**
 * This module derives changes from a record's old and new value: index rows, unique rules, counts, blob references and
 * the expiry row.
 *
 * Every store adapter writes exactly these changes, in the transaction of the record itself.
 *
 * It does not know the stores: it returns keys as byte text, and the adapter applies the changes.
 */
import { encodeKey } from "./orderedKey.ts";
import type { IndexKey, Json, RecordType } from "./port.ts";

/** Kind of the due row that deletes an expired record. */
export const expireKind = "record.expire";
/** Kind of the due row that removes a blob without references. */
export const collectKind = "blob.collect";

function expireRowId(type: string, key: string): string {
  return `expire/${type}/${key}`;
}

export function collectRowId(sha256: string): string {
  return `blob/${sha256}`;
}

export interface DerivedChanges {
  readonly indexRemoved: readonly string[];
  readonly indexAdded: readonly string[];
  readonly uniqueRemoved: readonly string[];
  readonly uniqueAdded: ReadonlyMap<string, IndexKey>;
  /** Encoded key → change of the count; never 0. */
  readonly counts: ReadonlyMap<string, number>;
  /** SHA-256 → change of the number of references; never 0. */
  readonly blobs: ReadonlyMap<string, number>;
  /** `undefined`: the expiry row does not change. `dueAtMs: null`: the expiry row is removed. */
  readonly expiry: { readonly id: string; readonly dueAtMs: number | null; readonly payload: Json } | undefined;
}

function toEncoded(keys: readonly IndexKey[] | undefined): Map<string, IndexKey> {
  const encoded = new Map<string, IndexKey>();
  for (const key of keys ?? []) encoded.set(encodeKey(key), key);
  return encoded;
}

function toMoves(removed: Iterable<string>, added: Iterable<string>): Map<string, number> {
  const moves = new Map<string, number>();
  for (const key of new Set(added)) moves.set(key, 1);
  for (const key of new Set(removed)) {
    if (moves.has(key)) moves.delete(key);
    else moves.set(key, -1);
  }
  return moves;
}

type Sum = { readonly key: IndexKey; readonly amount: number };

/** Returns the changes of the counters, from which both the counts and the sums of a record are read. */
function toCountChanges(counts: Map<string, number>, removed: readonly Sum[], added: readonly Sum[]): Map<string, number> {
  for (const { key, amount, sign } of [...removed.map((sum) => ({ ...sum, sign: -1 })), ...added.map((sum) => ({ ...sum, sign: 1 }))]) {
    const encoded = encodeKey(key);
    const change = (counts.get(encoded) ?? 0) + sign * amount;
    if (change === 0) counts.delete(encoded);
    else counts.set(encoded, change);
  }
  return counts;
}

function without(keys: ReadonlyMap<string, IndexKey>, others: ReadonlyMap<string, IndexKey>): Map<string, IndexKey> {
  const left = new Map<string, IndexKey>();
  for (const [encoded, key] of keys) if (!others.has(encoded)) left.set(encoded, key);
  return left;
}

/**
 * Returns the derived changes of one record. `older` is `undefined` for a new record, `newer` for a deleted one. With
 * `olderIndex`, some index rows of `older` may be missing, so all rows of `newer` are added.
 */
export function derive<Value>(
  type: RecordType<Value>,
  key: string,
  older: Value | undefined,
  newer: Value | undefined,
  olderIndex = false,
): DerivedChanges {
  const keysOf = (of: ((value: Value) => readonly IndexKey[]) | undefined, value: Value | undefined) =>
    toEncoded(of === undefined || value === undefined ? undefined : of(value));
  const oldIndex = keysOf(type.indexes, older);
  const newIndex = keysOf(type.indexes, newer);
  const oldUnique = keysOf(type.unique, older);
  const newUnique = keysOf(type.unique, newer);
  const blobsOf = (value: Value | undefined) => (type.blobs === undefined || value === undefined ? [] : type.blobs(value));
  const sumsOf = (value: Value | undefined) => (type.sums === undefined || value === undefined ? [] : type.sums(value));
  const expiresAt = (value: Value | undefined) => (value === undefined ? undefined : type.expiresAtMs?.(value));
  const oldExpiry = expiresAt(older);
  const newExpiry = expiresAt(newer);
  return {
    indexRemoved: [...without(oldIndex, newIndex).keys()],
    indexAdded: olderIndex ? [...newIndex.keys()] : [...without(newIndex, oldIndex).keys()],
    uniqueRemoved: [...without(oldUnique, newUnique).keys()],
    uniqueAdded: without(newUnique, oldUnique),
    counts: toCountChanges(toMoves(keysOf(type.counts, older).keys(), keysOf(type.counts, newer).keys()), sumsOf(older), sumsOf(newer)),
    blobs: toMoves(blobsOf(older), blobsOf(newer)),
    expiry:
      oldExpiry === newExpiry
        ? undefined
        : { id: expireRowId(type.name, key), dueAtMs: newExpiry ?? null, payload: { type: type.name, key } },
  };
}
