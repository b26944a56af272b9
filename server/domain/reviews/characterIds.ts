/**
 * Converts between offsets in a Yjs text and the ids of its characters, for many of them in one pass over the text.
 *
 * The relative positions of Yjs do the same for one position, but each conversion walks through the text. The ids of a
 * document never change, so an id finds its character wherever edits have moved it. Deleted characters have no offset.
 */
import type * as Y from "yjs";
import type { CharacterId } from "../../../machines/reviewContext.ts";

/** One run of characters of one client, as it is stored in the text. */
interface Piece {
  readonly client: number;
  readonly clock: number;
  readonly length: number;
  /** Offset of the first character; undefined if the piece is deleted. */
  readonly offset: number | undefined;
}

function* piecesOf(text: Y.Text): Generator<Piece> {
  let offset = 0;
  for (let item = text._start; item !== null; item = item.right) {
    const isShown = !item.deleted && item.countable;
    yield { client: item.id.client, clock: item.id.clock, length: item.length, offset: isShown ? offset : undefined };
    if (isShown) offset += item.length;
  }
}

/** Returns the id of the character at each offset. Every offset must be inside the text. */
export function toCharacterIds(text: Y.Text, offsets: readonly number[]): readonly CharacterId[] {
  const ids = new Map<number, CharacterId>();
  const wanted = [...new Set(offsets)].sort((a, b) => a - b);
  let next = 0;
  for (const { client, clock, length, offset } of piecesOf(text)) {
    if (offset === undefined) continue;
    for (let at = wanted[next]; at !== undefined && at < offset + length; at = wanted[next]) {
      ids.set(at, { client, clock: clock + at - offset });
      next += 1;
    }
    if (next === wanted.length) break;
  }
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
  for (const { client, clock, length, offset } of piecesOf(text)) {
    const wanted = offset === undefined ? undefined : clocks.get(client);
    if (wanted === undefined || offset === undefined) continue;
    for (let index = firstFrom(wanted, clock); index < wanted.length; index += 1) {
      const at = wanted[index] as number;
      if (at >= clock + length) break;
      offsets.set(`${client}/${at}`, offset + at - clock);
    }
  }
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
