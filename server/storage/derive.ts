/**
 * What follows from a record's old and new value: index rows, unique rules, counts, blob references and
 * the expiry row. Every adapter writes exactly these changes, in the transaction of the record itself.
 *
 * It knows no store: keys come out as byte text, and applying them is the adapter's part.
 */
import { encodeKey } from "./orderedKey.ts";
import type { IndexKey, Json, RecordType } from "./port.ts";

/** Kind of the due row that deletes a record whose time has come. */
export const expireKind = "record.expire";
/** Kind of the due row that removes a blob no record refers to. */
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
  /** Encoded key → how the count moves; never 0. */
  readonly counts: ReadonlyMap<string, number>;
  /** SHA-256 → how the number of references moves; never 0. */
  readonly blobs: ReadonlyMap<string, number>;
  /** `undefined`: the expiry row stays as it is. */
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

function without(keys: ReadonlyMap<string, IndexKey>, others: ReadonlyMap<string, IndexKey>): Map<string, IndexKey> {
  const left = new Map<string, IndexKey>();
  for (const [encoded, key] of keys) if (!others.has(encoded)) left.set(encoded, key);
  return left;
}

/** `undefined` for the old value of a new record and for the new value of a deleted one. */
export function derive<Value>(type: RecordType<Value>, key: string, older: Value | undefined, newer: Value | undefined): DerivedChanges {
  const keysOf = (of: ((value: Value) => readonly IndexKey[]) | undefined, value: Value | undefined) =>
    toEncoded(of === undefined || value === undefined ? undefined : of(value));
  const oldIndex = keysOf(type.indexes, older);
  const newIndex = keysOf(type.indexes, newer);
  const oldUnique = keysOf(type.unique, older);
  const newUnique = keysOf(type.unique, newer);
  const blobsOf = (value: Value | undefined) => (type.blobs === undefined || value === undefined ? [] : type.blobs(value));
  const expiresAt = (value: Value | undefined) => (value === undefined ? undefined : type.expiresAtMs?.(value));
  const oldExpiry = expiresAt(older);
  const newExpiry = expiresAt(newer);
  return {
    indexRemoved: [...without(oldIndex, newIndex).keys()],
    indexAdded: [...without(newIndex, oldIndex).keys()],
    uniqueRemoved: [...without(oldUnique, newUnique).keys()],
    uniqueAdded: without(newUnique, oldUnique),
    counts: toMoves(keysOf(type.counts, older).keys(), keysOf(type.counts, newer).keys()),
    blobs: toMoves(blobsOf(older), blobsOf(newer)),
    expiry:
      oldExpiry === newExpiry
        ? undefined
        : { id: expireRowId(type.name, key), dueAtMs: newExpiry ?? null, payload: { type: type.name, key } },
  };
}
