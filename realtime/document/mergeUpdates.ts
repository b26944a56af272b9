/** mergeUpdates merges Yjs updates into one, also very many of them. */
import * as Y from "yjs";

/** The time of one merge grows with the square of the number of updates, so larger numbers are merged in groups. */
const groupSize = 64;

export function mergeUpdates(updates: readonly Uint8Array[]): Uint8Array {
  let merged = updates;
  while (merged.length > groupSize) {
    const groups: Uint8Array[] = [];
    for (let at = 0; at < merged.length; at += groupSize) groups.push(Y.mergeUpdates(merged.slice(at, at + groupSize)));
    merged = groups;
  }
  return merged.length === 1 ? (merged[0] as Uint8Array) : Y.mergeUpdates([...merged]);
}
