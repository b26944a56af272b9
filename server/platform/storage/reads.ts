/** This module implements the read methods of the storage port on an ordered map: records, index rows and counts. */
import { countKey, indexTable, type KeyValueReader, recordKey, targetOfIndexRow } from "./keyValue.ts";
import { afterAll, decodeKey, encodeKey } from "./orderedKey.ts";
import type { IndexScan, Partition, RecordType, Storage, Stored } from "./port.ts";
import { decodeRow, hasOlderIndex } from "./recordRow.ts";
import type { RowCache } from "./rowCache.ts";

const scanPage = 256;

const earlier = (one: string, other: string) => [one, other].sort()[0] as string;
const later = (one: string, other: string) => [one, other].sort()[1] as string;

function toIndexRange({ partition, prefix, after, reverse = false, limit }: IndexScan) {
  const table = indexTable(partition);
  const start = table + encodeKey(prefix);
  const end = start + afterAll;
  if (after === undefined) return { start, end, reverse, limit };
  // A row is its key, then 0x00, then its target. Rows of longer keys follow.
  const rows = `${table}${encodeKey(after)}\x00`;
  if (reverse) return { start, end: earlier(rows, end), reverse, limit };
  return { start: later(rows + afterAll, start), end, reverse, limit };
}

/** `cache`: for `records.get`, if the store may use one. */
export function createReads(store: KeyValueReader, cache?: RowCache): Pick<Storage, "records" | "index" | "counts"> {
  function read<Value>(type: RecordType<Value>, row: string): Stored<Value> | undefined {
    const text = store.get(row);
    return text === undefined ? undefined : decodeRow(type, text);
  }
  const rowOf = <Value>(type: RecordType<Value>, key: string) => recordKey.of(type.partitionOf(key), type.name, key);
  function get<Value>(type: RecordType<Value>, key: string): Stored<Value> | undefined {
    const row = rowOf(type, key);
    const cached = cache?.get<Value>(type, row);
    if (cached !== undefined) return cached;
    const text = store.get(row);
    if (text === undefined) return undefined;
    const stored = decodeRow(type, text);
    cache?.add(type, row, stored, text.length);
    return stored;
  }
  async function* scanRows<Value>(
    type: RecordType<Value>,
    partition: Partition,
    isWanted: (text: string) => boolean,
  ): AsyncIterable<Stored<Value>> {
    let { start, end } = recordKey.range(partition, type.name);
    for (;;) {
      // Reads one page at a time, so no read transaction stays open while the caller works.
      const rows = store.keys({ start, end, limit: scanPage });
      for (const row of rows) {
        const text = store.get(row);
        if (text !== undefined && isWanted(text)) yield decodeRow(type, text);
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < scanPage) return;
      start = `${last}\x00`;
    }
  }
  return {
    records: {
      get: async (type, key) => get(type, key),
      getMany: async (type, keys) => keys.map((key) => read(type, rowOf(type, key))),
      scan: (type, partition) => scanRows(type, partition, () => true),
      scanOlder: (type, partition) => scanRows(type, partition, (text) => hasOlderIndex(type, text)),
    },
    index: {
      scan: async (options) =>
        store.keys(toIndexRange(options)).map((row) => {
          const { key, end } = decodeKey(row, 2);
          return { key, target: targetOfIndexRow(row, end) };
        }),
    },
    counts: {
      get: async (partition, keys) => keys.map((key) => Number(store.get(countKey(partition, encodeKey(key))) ?? "0")),
    },
  };
}
