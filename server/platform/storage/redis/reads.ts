/** This module loads records, index rows and counts from Redis. */
import { afterAll, decodeKey, encodeKey, fromByteText } from "../orderedKey.ts";
import type { IndexScan, Partition, RecordType, Storage, Stored } from "../port.ts";
import { decodeRow, hasOlderIndex } from "../recordRow.ts";
import type { Calls } from "./commands.ts";
import { digestLength } from "./commitLayout.ts";
import type { Reply } from "./connection.ts";
import { redisKeys, splitEncoded, toArgument, toRecordField } from "./keys.ts";

const pageSize = 256;

function toText(row: Reply | undefined): string | undefined {
  return Buffer.isBuffer(row) ? row.toString("utf8", digestLength) : undefined;
}

function toStored<Value>(type: RecordType<Value>, row: Reply | undefined): Stored<Value> | undefined {
  const text = toText(row);
  return text === undefined ? undefined : decodeRow(type, text);
}

/** Bounds for `ZRANGE BYLEX`. */
const including = (bytes: string) => toArgument(`[${bytes}`);
const excluding = (bytes: string) => toArgument(`(${bytes}`);

/** Returns the bounds of a scan in the sorted set of its index; `bounds` is `undefined` if no row can match. */
function toBounds({ prefix, after, reverse = false }: IndexScan) {
  const { name, rest } = splitEncoded(encodeKey(prefix));
  let low = including(rest);
  let high = excluding(rest + afterAll);
  if (after !== undefined) {
    const other = splitEncoded(encodeKey(after));
    // A row is its key, then 0x00, then its target. Rows of longer keys follow.
    const rows = `${other.rest}\x00`;
    if (other.name !== name) {
      if (other.name < name === reverse) return { name, bounds: undefined };
    } else if (reverse) {
      if (rows < rest) return { name, bounds: undefined };
      if (rows < rest + afterAll) high = excluding(rows);
    } else if (rows + afterAll > rest) low = including(rows + afterAll);
  }
  return { name, bounds: reverse ? [high, low] : [low, high] };
}

export function createRedisReads(calls: Calls): Pick<Storage, "records" | "index" | "counts"> {
  async function getMany<Value>(type: RecordType<Value>, keys: readonly string[]): Promise<readonly (Stored<Value> | undefined)[]> {
    const byPartition = new Map<Partition, number[]>();
    for (const [at, key] of keys.entries()) {
      const partition = type.partitionOf(key);
      const places = byPartition.get(partition);
      if (places === undefined) byPartition.set(partition, [at]);
      else places.push(at);
    }
    const found = new Array<Stored<Value> | undefined>(keys.length).fill(undefined);
    await Promise.all(
      [...byPartition].map(async ([partition, places]) => {
        const fields = places.map((at) => toArgument(toRecordField(partition, type.name, keys[at] as string)));
        const rows = (await calls.read(partition, ["HMGET", redisKeys.records(partition, type.name), ...fields])) as readonly Reply[];
        for (const [place, at] of places.entries()) found[at] = toStored(type, rows[place]);
      }),
    );
    return found;
  }

  /**
   * Lists all keys first. Records that exist at the start are returned unless they are deleted meanwhile; records added
   * during the scan may be missing.
   */
  async function* scanRows<Value>(
    type: RecordType<Value>,
    partition: Partition,
    isWanted: (text: string) => boolean,
  ): AsyncIterable<Stored<Value>> {
    const hash = redisKeys.records(partition, type.name);
    const fields = (await calls.read(partition, ["HKEYS", hash])) as readonly Buffer[];
    const keys = fields.map((field) => field.toString("latin1")).sort((one, other) => (one < other ? -1 : 1));
    for (let at = 0; at < keys.length; at += pageSize) {
      const rows = (await calls.read(partition, ["HMGET", hash, ...keys.slice(at, at + pageSize).map(toArgument)])) as readonly Reply[];
      for (const row of rows) {
        const text = toText(row);
        if (text !== undefined && isWanted(text)) yield decodeRow(type, text);
      }
    }
  }

  return {
    records: {
      async get(type, key) {
        const partition = type.partitionOf(key);
        const field = toArgument(toRecordField(partition, type.name, key));
        return toStored(type, await calls.read(partition, ["HGET", redisKeys.records(partition, type.name), field]));
      },
      getMany,
      scan: (type, partition) => scanRows(type, partition, () => true),
      scanOlder: (type, partition) => scanRows(type, partition, (text) => hasOlderIndex(type, text)),
    },
    index: {
      async scan(options) {
        const { partition, reverse = false, limit } = options;
        const { name, bounds } = toBounds(options);
        if (bounds === undefined || limit <= 0) return [];
        const key = redisKeys.index(partition, name);
        const order = reverse ? ["REV"] : [];
        const members = await calls.read(partition, ["ZRANGE", key, ...bounds, "BYLEX", ...order, "LIMIT", "0", String(limit)]);
        return (members as readonly Buffer[]).map((member) => {
          const row = name + member.toString("latin1");
          const { key: parts, end } = decodeKey(row);
          return { key: parts, target: fromByteText(row.slice(end + 1)) };
        });
      },
    },
    counts: {
      async get(partition, keys) {
        if (keys.length === 0) return [];
        const fields = keys.map((key) => toArgument(encodeKey(key)));
        const counts = (await calls.read(partition, ["HMGET", redisKeys.counts(partition), ...fields])) as readonly Reply[];
        return counts.map((count) => Number(count ?? 0));
      },
    },
  };
}
