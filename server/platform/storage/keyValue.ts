/**
 * This module defines the ordered map used by the memory and the LMDB adapter, and the keys of each kind of row in it.
 *
 * Keys are byte text (`orderedKey.ts`): a table letter, one character for the partition, then the row's own key. The
 * logic of commits and queues is written once for this map and runs on both adapters.
 */
import { afterAll, fromByteText, toByteText } from "./orderedKey.ts";
import { type Partition, partitionCount } from "./port.ts";

export interface KeyRange {
  readonly start: string;
  /** Exclusive. */
  readonly end: string;
  readonly reverse?: boolean;
  readonly limit?: number;
}

export interface KeyValueReader {
  get(key: string): string | undefined;
  keys(range: KeyRange): readonly string[];
}

/** Used inside a write transaction; reads see the writes of that transaction. */
export interface KeyValueWriter extends KeyValueReader {
  put(key: string, value: string): void;
  delete(key: string): void;
}

/** A key and its new value; null deletes the key. */
export type Change = readonly [key: string, value: string | null];

export function applyChanges(store: KeyValueWriter, changes: readonly Change[]): void {
  for (const [key, value] of changes) {
    if (value === null) store.delete(key);
    else store.put(key, value);
  }
}

/**
 * Maximum length of record keys and log names. Together with the rest of a row's key they fit into LMDB's limit of
 * 1,978 bytes.
 */
const maxNameBytes = 1024;
/** Longer than `maxNameBytes`, because the id of an expiry row contains a record type's name and a record's key. */
const maxDueIdBytes = 1200;

function toName(text: string, what: string, maxBytes = maxNameBytes): string {
  const bytes = toByteText(text);
  if (bytes.length === 0 || bytes.length > maxBytes)
    throw new RangeError(`${what} takes ${bytes.length} bytes; 1 to ${maxBytes} are possible`);
  return bytes;
}

function toTable(letter: string): (partition: Partition) => string {
  const prefixes = Array.from({ length: partitionCount }, (_, partition) => letter + String.fromCharCode(0x30 + partition));
  return (partition) => {
    const prefix = prefixes[partition];
    if (prefix === undefined) throw new RangeError(`there is no partition ${partition}`);
    return prefix;
  };
}

const recordTable = toTable("r");
export const indexTable = toTable("i");
const uniqueTable = toTable("u");
const countTable = toTable("c");
const blobTable = toTable("b");
const dueTable = toTable("d");
export const dueOrderTable = toTable("q");
const logTable = toTable("L");

export const recordKey = {
  of: (partition: Partition, type: string, key: string) => `${recordTable(partition)}${type}\x00${toName(key, `a key of ${type}`)}`,
  range: (partition: Partition, type: string): KeyRange => {
    const prefix = `${recordTable(partition)}${type}\x00`;
    return { start: prefix, end: prefix + afterAll };
  },
};

export const uniqueKey = (partition: Partition, encoded: string) => uniqueTable(partition) + encoded;
export const countKey = (partition: Partition, encoded: string) => countTable(partition) + encoded;
export const blobKey = (partition: Partition, sha256: string) => blobTable(partition) + sha256;
export const dueKey = (partition: Partition, id: string) => dueTable(partition) + toName(id, "the id of a due row", maxDueIdBytes);

/** The log's own key. It has no final 0x00 byte; the keys of the log's chunks add that byte. */
export function logKey(partition: Partition, log: string): string {
  if (log.includes("\x00")) throw new RangeError("the name of a log cannot hold a NUL");
  return logTable(partition).slice(1) + toName(log, "the name of a log");
}

/** Range of all rows of a table, in all partitions. */
export const wholeTable = (letter: "d"): KeyRange => ({ start: letter, end: letter + afterAll });

/** No index part begins with the byte 0x00, so the rows of one key come before every longer key. */
export function indexRowKey(partition: Partition, encoded: string, target: string): string {
  return `${indexTable(partition)}${encoded}\x00${toName(target, "the key of an indexed record")}`;
}

export const targetOfIndexRow = (row: string, end: number) => fromByteText(row.slice(end + 1));
