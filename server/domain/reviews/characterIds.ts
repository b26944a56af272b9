/**
 * Converts between offsets in a Yjs text and the ids of its characters, for many of them in one pass over the text.
 *
 * The relative positions of Yjs do the same for one position, but each conversion walks through the text. The ids of a
 * document never change, so an id finds its character wherever edits have moved it. Deleted characters have no offset.
 */
import type * as Y from "yjs";
import type { CharacterId } from "../../../machines/reviewContext.ts";

/**
 * Calls `visit` for each run of characters of the text, in order, until it returns false. `offset` is where the run begins.
 * A document of 1 MB can have 100,000 runs, so nothing is allocated for them.
 */
function visitRuns(text: Y.Text, visit: (client: number, clock: number, length: number, offset: number) => boolean): void {
  let offset = 0;
  for (let item = text._start; item !== null; item = item.right) {
    if (item.deleted || !item.countable) continue;
    if (!visit(item.id.client, item.id.clock, item.length, offset)) return;
    offset += item.length;
  }
}

/** Returns the id of the character at each offset. Every offset must be inside the text. */
export function toCharacterIds(text: Y.Text, offsets: readonly number[]): readonly CharacterId[] {
  const ids = new Map<number, CharacterId>();
  const wanted = [...new Set(offsets)].sort((a, b) => a - b);
  let next = 0;
  visitRuns(text, (client, clock, length, offset) => {
    for (let at = wanted[next]; at !== undefined && at < offset + length; at = wanted[next]) {
      ids.set(at, { client, clock: clock + at - offset });
      next += 1;
    }
    return next < wanted.length;
  });
  return offsets.map((offset) => {
    const id = ids.get(offset);
    if (id === undefined) throw new RangeError(`the text has no character at offset ${offset}`);
    return id;
  });
}

/** Returns the offset of each character; undefined for a character that is deleted or not in this text. */
export function toOffsets(text: Y.Text, ids: readonly CharacterId[]): readonly (number | undefined)[] {
  const clocks = new Map<number, number[]>();
  for (const { client, clock } of ids) {
    const known = clocks.get(client);
    if (known === undefined) clocks.set(client, [clock]);
    else known.push(clock);
  }
  for (const wanted of clocks.values()) wanted.sort((a, b) => a - b);
  const offsets = new Map<string, number>();
  visitRuns(text, (client, clock, length, offset) => {
    const wanted = clocks.get(client);
    if (wanted === undefined) return true;
    for (let index = firstFrom(wanted, clock); index < wanted.length; index += 1) {
      const at = wanted[index] as number;
      if (at >= clock + length) break;
      offsets.set(`${client}/${at}`, offset + at - clock);
    }
    return true;
  });
  return ids.map(({ client, clock }) => offsets.get(`${client}/${clock}`));
}

/** Index of the first number that is at least `from`, in an ascending list. */
function firstFrom(numbers: readonly number[], from: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] as number) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}
