/** This module scans index rows that are in memory, such as the results of a search in the order of a list. */
import type { IndexRow, IndexScan } from "../../platform/storage/port.ts";
import { compareKeys } from "./mergedScan.ts";

export function startsWith(key: readonly unknown[], prefix: readonly unknown[]): boolean {
  return prefix.every((part, at) => key[at] === part);
}

/** Same result as `storage.index.scan` if the index contained only these rows, which are in key order. */
export function scanRows(rows: readonly IndexRow[], { prefix, after, reverse = false, limit }: IndexScan): readonly IndexRow[] {
  const list = rows.filter(({ key }) => {
    if (!startsWith(key, prefix)) return false;
    if (after === undefined) return true;
    const order = compareKeys(key, after);
    return reverse ? order < 0 : order > 0;
  });
  return (reverse ? list.reverse() : list).slice(0, limit);
}
