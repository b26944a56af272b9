/**
 * This module names the key of each kind of row in Redis.
 *
 * All keys of a partition contain the same hash tag, so a commit touches only one slot of a Cluster. The tag contains
 * only the partition number, never text from a caller.
 *
 * This module defines names only; other modules read and write the values.
 */
import { dueKey, logKey, recordKey } from "../keyValue.ts";
import { type Partition, partitionCount } from "../port.ts";

/** Argument of a Redis command: ASCII text, or bytes. */
export type Argument = string | Buffer;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are bytes like any other
const ascii = /^[\x00-\x7f]*$/;

/**
 * Converts byte text (one character per byte) to a command argument. Text with characters above 0x7F becomes a Buffer,
 * because the client would encode those characters as UTF-8.
 */
export function toArgument(byteText: string): Argument {
  return ascii.test(byteText) ? byteText : Buffer.from(byteText, "latin1");
}

const tags = Array.from({ length: partitionCount }, (_, partition) => `svc:{p${String(partition).padStart(2, "0")}}:`);

function toTag(partition: Partition): string {
  const tag = tags[partition];
  if (tag === undefined) throw new RangeError(`there is no partition ${partition}`);
  return tag;
}

/** Length of the prefix that `keyValue.ts` puts before a name: a table letter and the partition. */
const tableLength = 2;

/** Encode a record's key, a log's name and a due row's id. They throw if the text is not allowed in a store. */
export const toRecordField = (partition: Partition, type: string, key: string) =>
  recordKey.of(partition, type, key).slice(tableLength + type.length + 1);
export const toLogName = (partition: Partition, log: string) => logKey(partition, log).slice(tableLength - 1);
export const toDueId = (partition: Partition, id: string) => dueKey(partition, id).slice(tableLength);

/**
 * Splits an encoded index key. Each index is one sorted set whose members omit the name of the index (the first part of
 * the key).
 */
export function splitEncoded(encoded: string): { readonly name: string; readonly rest: string } {
  const end = encoded.indexOf("\x00") + 1;
  return { name: encoded.slice(0, end), rest: encoded.slice(end) };
}

export const redisKeys = {
  /** Hash: layout version, number of partitions, store time, the last lease fence. */
  meta: (partition: Partition) => `${toTag(partition)}m`,
  /** Hash of one record type: record key → row. */
  records: (partition: Partition, type: string) => `${toTag(partition)}r:${type}`,
  /** Sorted set of one index, all scores 0; `name` is encoded. */
  index: (partition: Partition, name: string) => toArgument(`${toTag(partition)}i:${name}`),
  /** Hash: encoded rule → record that has it. */
  unique: (partition: Partition) => `${toTag(partition)}u`,
  counts: (partition: Partition) => `${toTag(partition)}c`,
  /** Hash: SHA-256 → number of references. */
  blobReferences: (partition: Partition) => `${toTag(partition)}b`,
  /** Hash of one blob: its pieces by number, the number of pieces (`n`), and the time until which its commit may follow (`u`). */
  blob: (partition: Partition, sha256: string) => `${toTag(partition)}b:${sha256}`,
  /** Hash: id of a due row → row. */
  due: (partition: Partition) => `${toTag(partition)}d`,
  /** Sorted set: ids of due rows, ordered by due time. */
  dueOrder: (partition: Partition) => `${toTag(partition)}q`,
  /** Hash: name of a log → `<tail>:<trimmed to>`. */
  logs: (partition: Partition) => `${toTag(partition)}l`,
  /** Stream of one log, with entry ids `<position>-0`; `name` is byte text. */
  log: (partition: Partition, name: string) => toArgument(`${toTag(partition)}l:${name}`),
  /** Hash: name of a lease → its fence. */
  leases: (partition: Partition) => `${toTag(partition)}h`,
  /** Sorted set: names of leases, ordered by end time. */
  leaseEnds: (partition: Partition) => `${toTag(partition)}e`,
  /** Hash of one token bucket. It has an expiry time in Redis. */
  bucket: (partition: Partition, name: string) => toArgument(`${toTag(partition)}t:${name}`),
} as const;
