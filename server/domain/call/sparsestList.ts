/**
 * This module chooses one of several lists that each contain every wanted item: the list that a page reads fastest.
 *
 * A search for two words has one list for each word. In the list of the rarer word, the same number of rows reaches
 * further, so fewer rows have to be read and filtered. The lists must have the same order.
 */
import type { IndexKey, IndexPart, IndexRow, IndexScan, Partition } from "../../platform/storage/port.ts";
import { compareKeys } from "./mergedScan.ts";

/** More lists than this are not compared, because each costs a scan. */
const maxLists = 4;

export interface SparsestListOptions {
  readonly scan: (scan: IndexScan) => Promise<readonly IndexRow[]>;
  readonly partition: Partition;
  readonly lists: readonly [IndexKey, ...IndexKey[]];
  readonly reverse: boolean;
  /** Rows read of each list. */
  readonly sample: number;
}

interface Sample {
  readonly list: IndexKey;
  readonly rows: number;
  /** Key parts of the last row after those of the list. Undefined when the list has no further rows. */
  readonly reaches: readonly IndexPart[] | undefined;
}

/** Returns the list and the number of rows that were read for the choice. */
export async function findSparsestList(options: SparsestListOptions): Promise<{ readonly list: IndexKey; readonly read: number }> {
  const { scan, partition, lists, reverse, sample } = options;
  if (lists.length === 1 || sample < 1) return { list: lists[0], read: 0 };
  const samples = await Promise.all(
    lists.slice(0, maxLists).map(async (list): Promise<Sample> => {
      const rows = await scan({ partition, prefix: list, limit: sample, ...(reverse ? { reverse } : {}) });
      const last = rows.length < sample ? undefined : rows.at(-1);
      return { list, rows: rows.length, reaches: last?.key.slice(list.length) };
    }),
  );
  const [first] = samples.toSorted((a, b) => compareSamples(a, b, reverse));
  return { list: first?.list ?? lists[0], read: samples.reduce((sum, { rows }) => sum + rows, 0) };
}

/** Sorts the list that needs fewer rows first: a short list by its length, a long one by how far its sample reaches. */
function compareSamples(a: Sample, b: Sample, reverse: boolean): number {
  if (a.reaches === undefined || b.reaches === undefined) return a.rows - b.rows;
  return compareKeys(a.reaches, b.reaches) * (reverse ? 1 : -1);
}
