/**
 * This module merges several index scans into one, ordered by the key parts that follow their prefixes.
 *
 * Each source reads ahead on its own. The rows read by one request are therefore bounded by the number of sources and
 * the wanted rows, not by the total number of rows. This module knows keys, but not the records they point to.
 */
import type { IndexKey, IndexPart, IndexRow, IndexScan, Partition } from "../../platform/storage/port.ts";

export interface MergedScanOptions {
  readonly scan: (scan: IndexScan) => Promise<readonly IndexRow[]>;
  readonly sources: readonly { readonly partition: Partition; readonly prefix: IndexKey }[];
  readonly reverse: boolean;
  /** Key parts that follow a prefix. Every source starts strictly after them. */
  readonly after?: readonly IndexPart[] | undefined;
  /** Return only rows whose first part after the prefix is in this range, both ends included. */
  readonly within?: Within | undefined;
}

export interface Within {
  readonly from?: IndexPart | undefined;
  readonly to?: IndexPart | undefined;
}

export interface MergedScan {
  /**
   * Returns the next rows, at most `count`. Returns fewer when `budget` rows were read or when all sources have ended. A
   * source reads at most `chunk` rows in one scan.
   */
  take(
    count: number,
    budget: number,
    chunk: number,
  ): Promise<{ readonly rows: readonly IndexRow[]; readonly read: number; readonly ended: boolean }>;
}

interface Source {
  readonly partition: Partition;
  readonly prefix: IndexKey;
  rows: readonly IndexRow[];
  at: number;
  ended: boolean;
  after: IndexKey | undefined;
}

/** Sorts after every id, so it marks the end of all keys that begin with the parts before it. */
const afterIds = "\u{10ffff}";

export function createMergedScan({ scan, sources, reverse, after, within }: MergedScanOptions): MergedScan {
  const begin = (prefix: IndexKey): IndexKey | undefined => {
    if (after !== undefined) return [...prefix, ...after];
    if (reverse) return within?.to === undefined ? undefined : [...prefix, within.to, afterIds];
    return within?.from === undefined ? undefined : [...prefix, within.from];
  };
  const open: Source[] = sources.map(({ partition, prefix }) => ({
    ...{ partition, prefix, rows: [], at: 0, ended: false },
    after: begin(prefix),
  }));

  const isBeyond = ({ prefix }: Source, { key }: IndexRow): boolean => {
    const first = key[prefix.length];
    const bound = reverse ? within?.from : within?.to;
    if (first === undefined || bound === undefined) return false;
    return reverse ? compareParts(first, bound) < 0 : compareParts(first, bound) > 0;
  };

  /** Reads the next rows of the source. Resolves with the number of rows that were read. */
  async function refill(source: Source, limit: number): Promise<number> {
    const { partition, prefix } = source;
    const rows = await scan({
      partition,
      prefix,
      limit,
      ...(source.after === undefined ? {} : { after: source.after }),
      ...(reverse ? { reverse: true } : {}),
    });
    const end = rows.findIndex((row) => isBeyond(source, row));
    source.rows = end < 0 ? rows : rows.slice(0, end);
    source.at = 0;
    source.ended = end >= 0 || rows.length < limit;
    source.after = rows.at(-1)?.key;
    return rows.length;
  }

  function next(): IndexRow | undefined {
    let best: Source | undefined;
    for (const source of open) {
      if (source.at >= source.rows.length) continue;
      if (best === undefined || compareRows(source, best) * (reverse ? -1 : 1) < 0) best = source;
    }
    if (best === undefined) return undefined;
    best.at += 1;
    return best.rows[best.at - 1];
  }

  return {
    async take(count, budget, chunk) {
      const rows: IndexRow[] = [];
      let read = 0;
      while (rows.length < count) {
        const empty = open.filter((source) => source.at >= source.rows.length && !source.ended);
        if (empty.length > 0) {
          if (read >= budget) return { rows, read, ended: false };
          // The smallest row is known only when the next row of every source is known, so each source reads at least one
          // row.
          const limit = Math.max(1, Math.min(chunk, Math.floor((budget - read) / empty.length)));
          const counts = await Promise.all(empty.map((source) => refill(source, limit)));
          read += counts.reduce((sum, each) => sum + each, 0);
          continue;
        }
        const row = next();
        if (row === undefined) return { rows, read, ended: true };
        rows.push(row);
      }
      return { rows, read, ended: false };
    },
  };
}

function compareRows(a: Source, b: Source): number {
  const [left, right] = [a.rows[a.at], b.rows[b.at]] as [IndexRow, IndexRow];
  return compareKeys(left.key.slice(a.prefix.length), right.key.slice(b.prefix.length));
}

/** Compares keys in the order of the storage port: numbers before strings, numbers by value, strings by code point. */
export function compareKeys(a: readonly IndexPart[], b: readonly IndexPart[]): number {
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const order = compareParts(a[at] as IndexPart, b[at] as IndexPart);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareParts(left: IndexPart, right: IndexPart): number {
  if (left === right) return 0;
  if (typeof left === "number" && typeof right === "number") return left - right;
  if (typeof left === "string" && typeof right === "string") return Buffer.compare(Buffer.from(left), Buffer.from(right));
  return typeof left === "number" ? -1 : 1;
}
