/**
 * Merges changes that were written against an older text into the live text (three-way merge).
 *
 * The input is two lists of hunks on the same base: `mine` (base → written) and `theirs` (base → live). Each of my hunks
 * moves to its position in the live text. It removes only text that was in the base and is still live: text added after
 * the base is never deleted. Where both sides insert at the same position, both insertions are kept, theirs first. An
 * identical hunk on both sides is applied once, so sending a write twice has no further effect.
 *
 * This module is pure. It works on offsets and strings and must not know Yjs.
 */
import { diffTexts, type Hunk, trim } from "./textDiff.ts";

/** Replaces `remove` characters at offset `at` of the live text by `insert`. Offsets refer to the text before any operation. */
export interface TextOperation {
  readonly at: number;
  readonly insert: string;
  readonly remove: number;
}

/**
 * Merges `mine` into `live`; returns ascending operations that do not overlap. `mine` are the hunks from `base` to the written
 * text. The caller computes them beforehand, to keep the time short in which the live text must not change.
 */
export function carryOver(base: string, mine: readonly Hunk[], live: string): TextOperation[] {
  const operations = base === live ? mine.map(toOperation) : carryHunks(mine, diffTexts(base, live));
  // Characters that the live text already contains are not rewritten, so that cursors and anchors at them stay valid.
  return operations
    .map(({ at, insert, remove }) => toOperation(trim(live, { start: at, end: at + remove, text: insert })))
    .filter(({ insert, remove }) => insert !== "" || remove > 0);
}

/**
 * Reduces the list to at most `maxPlaces` operations with the same resulting text. Operations that touch are always joined.
 * If more remain than allowed, the nearest are joined too, and the unchanged text between them is rewritten. Characters that
 * an author types into such a text at that moment end up next to it.
 */
export function joinNearest(live: string, operations: readonly TextOperation[], maxPlaces: number): TextOperation[] {
  return groupNearest(operations, ({ at }) => at, endOf, maxPlaces).map((group) => joinAll(live, group));
}

/**
 * Groups neighbouring items into at most `maxGroups` groups and keeps the longest group as short as possible. Items that
 * touch are always in one group.
 */
export function groupNearest<Item>(
  items: readonly Item[],
  startOf: (item: Item) => number,
  endOfItem: (item: Item) => number,
  maxGroups: number,
): Item[][] {
  const group = (maxLength: number): Item[][] => {
    const groups: Item[][] = [];
    let run: Item[] = [];
    for (const item of items) {
      const [first, last] = [run[0], run.at(-1)];
      const fits = first !== undefined && endOfItem(item) - startOf(first) <= maxLength;
      if (fits || (last !== undefined && endOfItem(last) === startOf(item))) {
        run.push(item);
      } else {
        run = [item];
        groups.push(run);
      }
    }
    return groups;
  };
  let groups = group(-1);
  const last = items.at(-1);
  if (groups.length <= maxGroups || last === undefined) return groups;
  let [tooShort, enough] = [0, endOfItem(last)];
  while (enough - tooShort > 1) {
    const length = Math.floor((tooShort + enough) / 2);
    groups = group(length);
    if (groups.length > maxGroups) tooShort = length;
    else enough = length;
  }
  return group(enough);
}

function joinAll(live: string, group: readonly TextOperation[]): TextOperation {
  const [first, last] = [group[0] as TextOperation, group.at(-1) as TextOperation];
  if (first === last) return first;
  const parts: string[] = [];
  for (const [index, { at, insert }] of group.entries()) {
    const before = group[index - 1];
    if (before !== undefined) parts.push(live.slice(endOf(before), at));
    parts.push(insert);
  }
  return { at: first.at, insert: parts.join(""), remove: endOf(last) - first.at };
}

function endOf({ at, remove }: TextOperation): number {
  return at + remove;
}

/** Operations in a compact form for transfer between threads, because copying thousands of small objects is slow. */
export interface PackedOperations {
  /** Three numbers for each operation: `at`, `remove` and the length of `insert`. */
  readonly numbers: Int32Array;
  readonly inserts: string;
}

export function packOperations(operations: readonly TextOperation[]): PackedOperations {
  const numbers = Int32Array.from(operations.flatMap(({ at, remove, insert }) => [at, remove, insert.length]));
  return { numbers, inserts: operations.map(({ insert }) => insert).join("") };
}

export function unpackOperations({ numbers, inserts }: PackedOperations): TextOperation[] {
  const operations: TextOperation[] = [];
  let from = 0;
  for (let index = 0; index < numbers.length; index += 3) {
    const [at = 0, remove = 0, length = 0] = numbers.subarray(index, index + 3);
    operations.push({ at, remove, insert: inserts.slice(from, from + length) });
    from += length;
  }
  return operations;
}

/** Merges operations that were computed for the text `planned` into the current text `live`. */
export function carryOperations(operations: readonly TextOperation[], planned: string, live: string): TextOperation[] {
  const mine = operations.map(({ at, insert, remove }): Hunk => ({ start: at, end: at + remove, text: insert }));
  return carryHunks(mine, diffTexts(planned, live));
}

function toOperation({ start, end, text }: Hunk): TextOperation {
  return { at: start, insert: text, remove: end - start };
}

/** Merges two lists of hunks on the same base. Both lists must be ascending, and no two hunks of one list may touch. */
export function carryHunks(mine: readonly Hunk[], theirs: readonly Hunk[]): TextOperation[] {
  const operations: TextOperation[] = [];
  let next = 0;
  /** Offset in live minus offset in base, for positions before `theirs[next]`. */
  let shift = 0;
  for (const hunk of mine) {
    for (let other = theirs[next]; other !== undefined && other.end < hunk.start; other = theirs[next]) {
      shift += growth(other);
      next += 1;
    }
    const touching = theirs[next];
    if (touching !== undefined && isSame(hunk, touching)) continue;
    operations.push(...carryHunk(hunk, theirs, next, shift));
  }
  return operations;
}

function carryHunk(hunk: Hunk, theirs: readonly Hunk[], first: number, firstShift: number): TextOperation[] {
  let shift = firstShift;
  let at = hunk.start + shift;
  const touching = theirs[first];
  const goesBefore = touching?.start === hunk.start && touching.end > touching.start && hunk.end === hunk.start;
  if (touching !== undefined && touching.start <= hunk.start && !goesBefore) at = touching.start + shift + touching.text.length;
  const operations: TextOperation[] = [{ at, insert: hunk.text, remove: 0 }];
  const remove = (start: number, end: number) => {
    if (end <= start) return;
    const last = operations.at(-1);
    if (operations.length === 1 && last?.at === start + shift) operations[0] = { ...last, remove: end - start };
    else operations.push({ at: start + shift, insert: "", remove: end - start });
  };
  let from = hunk.start;
  for (let index = first; index < theirs.length; index += 1) {
    const other = theirs[index] as Hunk;
    if (other.start >= hunk.end) break;
    remove(from, Math.min(other.start, hunk.end));
    shift += growth(other);
    from = Math.max(from, other.end);
  }
  remove(from, hunk.end);
  return operations.filter((operation) => operation.insert !== "" || operation.remove > 0);
}

function growth({ start, end, text }: Hunk): number {
  return text.length - (end - start);
}

function isSame(a: Hunk, b: Hunk): boolean {
  return a.start === b.start && a.end === b.end && a.text === b.text;
}

export function applyOperations(live: string, operations: readonly TextOperation[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { at, insert, remove } of operations) {
    parts.push(live.slice(from, at), insert);
    from = at + remove;
  }
  return parts.join("") + live.slice(from);
}
