/**
 * Where each kind of row lives in Redis. All keys of a partition carry its hash tag, so that one commit is one slot
 * of a Cluster; the tag is made of the partition's number, never of a caller's text.
 *
 * It knows names only; what stands under them is written and read elsewhere.
 */
import { dueKey, logKey, recordKey } from "./keyValue.ts";
import { type Partition, partitionCount } from "./port.ts";

/** What a command takes: text in ASCII, or bytes. */
export type Argument = string | Buffer;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are bytes like any other
const ascii = /^[\x00-\x7f]*$/;

/** Byte text (one character a byte) as the client must be given it, which would encode characters above 0x7F. */
export function toArgument(byteText: string): Argument {
  return ascii.test(byteText) ? byteText : Buffer.from(byteText, "latin1");
}

const tags = Array.from({ length: partitionCount }, (_, partition) => `svc:{p${String(partition).padStart(2, "0")}}:`);

function toTag(partition: Partition): string {
  const tag = tags[partition];
  if (tag === undefined) throw new RangeError(`there is no partition ${partition}`);
  return tag;
}

/** Length of what `keyValue.ts` puts before a name: a table letter and the partition. */
const tableLength = 2;

/** The bytes of a record's key, of a log's name and of a due row's id; each throws for what no store can keep. */
export const toRecordField = (partition: Partition, type: string, key: string) =>
  recordKey.of(partition, type, key).slice(tableLength + type.length + 1);
export const toLogName = (partition: Partition, log: string) => logKey(partition, log).slice(tableLength - 1);
export const toDueId = (partition: Partition, id: string) => dueKey(partition, id).slice(tableLength);

/** An index is one sorted set; its members do not repeat its name, which is the first part of an encoded key. */
export function splitEncoded(encoded: string): { readonly name: string; readonly rest: string } {
  const end = encoded.indexOf("\x00") + 1;
  return { name: encoded.slice(0, end), rest: encoded.slice(end) };
}

export const redisKeys = {
  /** Hash: layout version, partitions, store time, the last fence of a lease. */
  meta: (partition: Partition) => `${toTag(partition)}m`,
  /** Hash of a record type: the record's key to its row. */
  records: (partition: Partition, type: string) => `${toTag(partition)}r:${type}`,
  /** Sorted set of one index, all scores 0; `name` is encoded. */
  index: (partition: Partition, name: string) => toArgument(`${toTag(partition)}i:${name}`),
  /** Hash: encoded rule to who holds it. */
  unique: (partition: Partition) => `${toTag(partition)}u`,
  counts: (partition: Partition) => `${toTag(partition)}c`,
  /** Hash: SHA-256 to the number of references. */
  blobReferences: (partition: Partition) => `${toTag(partition)}b`,
  /** Hash of one blob: its pieces by number, how many there are (`n`), until when its commit may come (`u`). */
  blob: (partition: Partition, sha256: string) => `${toTag(partition)}b:${sha256}`,
  /** Hash: id of a due row to the row. */
  due: (partition: Partition) => `${toTag(partition)}d`,
  /** Sorted set: id of a due row by due time. */
  dueOrder: (partition: Partition) => `${toTag(partition)}q`,
  /** Hash: name of a log to `<tail>:<trimmed to>`. */
  logs: (partition: Partition) => `${toTag(partition)}l`,
  /** Stream of one log, ids `<position>-0`; `name` is byte text. */
  log: (partition: Partition, name: string) => toArgument(`${toTag(partition)}l:${name}`),
  /** Hash: name of a lease to its fence. */
  leases: (partition: Partition) => `${toTag(partition)}h`,
  /** Sorted set: name of a lease by the time it ends. */
  leaseEnds: (partition: Partition) => `${toTag(partition)}e`,
  /** Hash of one token bucket, which goes by itself. */
  bucket: (partition: Partition, name: string) => toArgument(`${toTag(partition)}t:${name}`),
} as const;
