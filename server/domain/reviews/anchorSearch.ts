/**
 * Finds the places of many texts in one long text.
 *
 * A rolling hash over the long text finds the places where one of the wanted texts may begin; only those are compared. The
 * wanted texts are grouped by length, so the long text is read at most once for each of six window lengths, however many
 * texts are wanted. The number of places and of compared characters is bounded, because a text that repeats itself has
 * more places than a caller can choose from. This module is pure: it runs in a worker thread for a long text.
 */

/** Lengths of the windows. A wanted text belongs to the longest window that it fills. */
const windows = [32, 16, 8, 4, 2, 1] as const;
/** Base of the rolling hash: odd, so that no bits are lost modulo 2^32. */
const base = 16_777_619;
const tableBits = 16;
/** Characters that all comparisons together may read; each text has an equal share. Comparing as many takes about 50 ms. */
const maxCompared = 2 ** 26;

export interface Places {
  /** Start of each place in ascending order, overlapping ones included. */
  readonly starts: readonly number[];
  /** There may be more places than `starts` has. */
  readonly isCut: boolean;
}

interface Wanted {
  readonly text: string;
  readonly starts: number[];
  /** Characters that comparisons with this text may still read. */
  left: number;
  isCut: boolean;
}

/** Finds at most `maxPlaces` places of each text. No text may be empty. */
export function findPlaces(text: string, texts: readonly string[], maxPlaces: number): readonly Places[] {
  const left = maxCompared / Math.max(1, texts.length);
  const wanted = new Map(texts.map((each): [string, Wanted] => [each, { text: each, starts: [], left, isCut: false }]));
  for (const [at, length] of windows.entries()) {
    const longer = windows[at - 1] ?? Number.POSITIVE_INFINITY;
    const group = [...wanted.values()].filter((each) => each.text.length >= length && each.text.length < longer);
    if (group.length > 0) findGroup(text, group, length, maxPlaces);
  }
  return texts.map((each) => wanted.get(each) as Wanted);
}

function findGroup(text: string, group: readonly Wanted[], length: number, maxPlaces: number): void {
  if (text.length < length) return;
  const byHash = new Map<number, Wanted[]>();
  const table = new Uint8Array(2 ** tableBits);
  for (const each of group) {
    const hash = hashOf(each.text, length);
    const others = byHash.get(hash);
    if (others === undefined) byHash.set(hash, [each]);
    else others.push(each);
    table[toSlot(hash)] = 1;
  }
  let power = 1;
  for (let at = 1; at < length; at += 1) power = Math.imul(power, base);
  let hash = hashOf(text, length);
  for (let start = 0; ; start += 1) {
    const found = table[toSlot(hash)] === 1 ? byHash.get(hash) : undefined;
    if (found !== undefined) {
      for (const each of found) compare(text, start, each, maxPlaces);
      // A text that is cut is not looked for any more, so that the time stays bounded.
      if (found.some(({ isCut }) => isCut)) {
        const left = found.filter(({ isCut }) => !isCut);
        if (left.length > 0) byHash.set(hash, left);
        else byHash.delete(hash);
        if (byHash.size === 0) return;
      }
    }
    const next = start + length;
    if (next >= text.length) return;
    hash = (Math.imul(hash - Math.imul(text.charCodeAt(start), power), base) + text.charCodeAt(next)) | 0;
  }
}

function compare(text: string, start: number, wanted: Wanted, maxPlaces: number): void {
  wanted.left -= wanted.text.length;
  if (wanted.left < 0) wanted.isCut = true;
  else if (!text.startsWith(wanted.text, start)) return;
  else if (wanted.starts.length === maxPlaces) wanted.isCut = true;
  else wanted.starts.push(start);
}

function hashOf(text: string, length: number): number {
  let hash = 0;
  for (let at = 0; at < length; at += 1) hash = (Math.imul(hash, base) + text.charCodeAt(at)) | 0;
  return hash;
}

function toSlot(hash: number): number {
  return (hash ^ (hash >>> tableBits)) & (2 ** tableBits - 1);
}
