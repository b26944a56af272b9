/**
 * Carries what somebody wrote against an older text onto the live text.
 *
 * Two lists of hunks on the same base meet here: `mine` (base → written) and `theirs` (base → live). Mine are
 * moved to where their place went. They remove only text that stood in the base and still stands: what came
 * after the base is never deleted, and text inserted on both sides is kept on both, theirs first. The same
 * change on both sides is one change, so a write that is sent twice is applied once.
 *
 * Pure; it knows offsets and text, not Yjs.
 */
import { diffTexts, type Hunk, trim } from "./textDiff.ts";

/** At `at` of the live text, `insert` goes in and then `remove` characters go out; offsets are those before any operation. */
export interface TextOperation {
  readonly at: number;
  readonly insert: string;
  readonly remove: number;
}

/**
 * Ascending operations that do not overlap. `mine` are the hunks from `base` to what was written, found beforehand:
 * the live text is held still while this runs.
 */
export function carryOver(base: string, mine: readonly Hunk[], live: string): TextOperation[] {
  const operations = base === live ? mine.map(toOperation) : carryHunks(mine, diffTexts(base, live));
  // Characters that are there already keep their identity, and with it the cursors and anchors that hold on to them.
  return operations
    .map(({ at, insert, remove }) => toOperation(trim(live, { start: at, end: at + remove, text: insert })))
    .filter(({ insert, remove }) => insert !== "" || remove > 0);
}

/**
 * At most `maxPlaces` operations with the same result. Those that touch become one; beyond that near ones do, and
 * the unchanged text between them is written anew: who types in there at that moment finds their letters beside it.
 */
export function joinNearest(live: string, operations: readonly TextOperation[], maxPlaces: number): TextOperation[] {
  return groupNearest(operations, ({ at }) => at, endOf, maxPlaces).map((group) => joinAll(live, group));
}

/**
 * At most `maxGroups` runs of neighbours, the longest of them as short as can be. Those that touch are together
 * in any case.
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

/** Operations on their way between threads, where thousands of small objects would take long. */
export interface PackedOperations {
  /** `at`, `remove` and the length of `insert` of each. */
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

/** Operations that were worked out on `planned`, carried onto what the text has become meanwhile. */
export function carryOperations(operations: readonly TextOperation[], planned: string, live: string): TextOperation[] {
  const mine = operations.map(({ at, insert, remove }): Hunk => ({ start: at, end: at + remove, text: insert }));
  return carryHunks(mine, diffTexts(planned, live));
}

function toOperation({ start, end, text }: Hunk): TextOperation {
  return { at: start, insert: text, remove: end - start };
}

/** Both lists ascend, and within one list no two hunks touch. */
export function carryHunks(mine: readonly Hunk[], theirs: readonly Hunk[]): TextOperation[] {
  const operations: TextOperation[] = [];
  let next = 0;
  /** How far live is ahead of base before `theirs[next]`. */
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
