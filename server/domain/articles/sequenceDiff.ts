/**
 * Computes the differences of two sequences of numbers in bounded time.
 *
 * Myers' greedy search finds the shortest edit script while the sequences are similar. Where they are not, elements that
 * occur exactly once in both become anchors (patience diff), and the ranges between the anchors are compared again. A range
 * that is still undecided when the budget is used up becomes one replacement: correct, but larger than necessary.
 */

/** `a[aStart, aEnd)` is replaced by `b[bStart, bEnd)`. */
export interface Span {
  readonly aStart: number;
  readonly aEnd: number;
  readonly bStart: number;
  readonly bEnd: number;
}

/** Steps left, one for each comparison of the search. A text of 2 MiB with thousands of edits uses about a tenth of the budget. */
export interface DiffBudget {
  steps: number;
}

const maxScript = 1000;
const maxDepth = 12;

/** Returns the spans that turn `a` into `b`: ascending, never touching each other, and never empty on both sides. */
export function diffSequences(a: Int32Array, b: Int32Array, budget: DiffBudget): Span[] {
  const spans: Span[] = [];
  diffRange(a, b, { aStart: 0, aEnd: a.length, bStart: 0, bEnd: b.length }, budget, maxDepth, spans);
  return spans;
}

function diffRange(a: Int32Array, b: Int32Array, range: Span, budget: DiffBudget, depth: number, spans: Span[]): void {
  let { aStart, aEnd, bStart, bEnd } = range;
  while (aStart < aEnd && bStart < bEnd && a[aStart] === b[bStart]) {
    aStart += 1;
    bStart += 1;
  }
  while (aEnd > aStart && bEnd > bStart && a[aEnd - 1] === b[bEnd - 1]) {
    aEnd -= 1;
    bEnd -= 1;
  }
  if (aStart === aEnd && bStart === bEnd) return;
  const inner = { aStart, aEnd, bStart, bEnd };
  if (aStart === aEnd || bStart === bEnd) {
    add(spans, inner);
    return;
  }
  const shortest = searchShortest(a, b, inner, budget);
  if (shortest !== undefined) {
    for (const span of shortest) add(spans, span);
    return;
  }
  const anchors = depth === 0 ? [] : findAnchors(a, b, inner);
  if (anchors.length === 0) {
    add(spans, inner);
    return;
  }
  let from = { a: aStart, b: bStart };
  for (const anchor of [...anchors, { a: aEnd, b: bEnd }]) {
    diffRange(a, b, { aStart: from.a, aEnd: anchor.a, bStart: from.b, bEnd: anchor.b }, budget, depth - 1, spans);
    from = { a: anchor.a + 1, b: anchor.b + 1 };
  }
}

/** Appends a span, or extends the last span if the new one touches it. */
function add(spans: Span[], span: Span): void {
  const last = spans.at(-1);
  if (last !== undefined && last.aEnd === span.aStart && last.bEnd === span.bStart) {
    spans[spans.length - 1] = { ...last, aEnd: span.aEnd, bEnd: span.bEnd };
  } else {
    spans.push(span);
  }
}

const unreached = -1;

/** The furthest point on diagonal k after one more step: down from diagonal k + 1 or right from k − 1, and never outside the grid. */
function arrive(left: number, right: number, k: number, aLength: number, bLength: number): { readonly x: number; readonly down: boolean } {
  const down = right === unreached || right - k > bLength ? unreached : right;
  const across = left === unreached || left >= aLength ? unreached : left + 1;
  return down >= across ? { x: down, down: true } : { x: across, down: false };
}

/** Finds the shortest script (Myers). Undefined when it would be longer than `maxScript` or the budget is used up. */
function searchShortest(a: Int32Array, b: Int32Array, range: Span, budget: DiffBudget): Span[] | undefined {
  const { aStart, bStart } = range;
  const aLength = range.aEnd - aStart;
  const bLength = range.bEnd - bStart;
  const limit = Math.min(maxScript, aLength + bLength);
  // furthest[k + offset] is the largest x (index in `a`) that a script of the current length reaches on diagonal k = x − y.
  const offset = limit + 1;
  const furthest = new Int32Array(2 * limit + 3).fill(unreached);
  const trace: Int32Array[] = [];
  for (let length = 0; length <= limit; length += 1) {
    trace.push(furthest.slice(offset - length - 1, offset + length + 2));
    for (let k = -length; k <= length; k += 2) {
      const first =
        length === 0 ? 0 : arrive(furthest[offset + k - 1] as number, furthest[offset + k + 1] as number, k, aLength, bLength).x;
      let x = first;
      if (x !== unreached) while (x < aLength && x - k < bLength && a[aStart + x] === b[bStart + x - k]) x += 1;
      furthest[offset + k] = x;
      budget.steps -= 1 + x - first;
      if (x === aLength && x - k === bLength) return backtrack(range, trace, length);
    }
    if (budget.steps <= 0) return undefined;
  }
  return undefined;
}

/** Follows the trace back from the end. Every step that is not diagonal becomes part of a span. */
function backtrack({ aStart, aEnd, bStart, bEnd }: Span, trace: readonly Int32Array[], script: number): Span[] {
  const aLength = aEnd - aStart;
  const bLength = bEnd - bStart;
  const spans: Span[] = [];
  let [x, y] = [aLength, bLength];
  for (let length = script; length > 0; length -= 1) {
    const furthest = trace[length] as Int32Array;
    const k = x - y;
    const left = furthest[k + length] as number;
    const right = furthest[k + length + 2] as number;
    const arrived = arrive(left, right, k, aLength, bLength);
    const after = { x: arrived.x, y: arrived.x - k };
    x = arrived.down ? after.x : after.x - 1;
    y = arrived.down ? after.y - 1 : after.y;
    const last = spans.at(-1);
    if (last !== undefined && last.aStart === aStart + after.x && last.bStart === bStart + after.y) {
      spans[spans.length - 1] = { ...last, aStart: aStart + x, bStart: bStart + y };
    } else {
      spans.push({ aStart: aStart + x, aEnd: aStart + after.x, bStart: bStart + y, bEnd: bStart + after.y });
    }
  }
  return spans.reverse();
}

/** The longest sequence of elements that occur exactly once in each range and have the same order in both. */
function findAnchors(a: Int32Array, b: Int32Array, range: Span): readonly { a: number; b: number }[] {
  const placesInA = oncePlaces(a, range.aStart, range.aEnd);
  const placesInB = oncePlaces(b, range.bStart, range.bEnd);
  // The pairs ascend in `a`. Patience sorting finds their longest subsequence that also ascends in `b`.
  const pairs: { a: number; b: number; before: number }[] = [];
  const piles: number[] = [];
  for (const [element, inA] of placesInA) {
    const inB = placesInB.get(element);
    if (inA < 0 || inB === undefined || inB < 0) continue;
    let low = 0;
    let high = piles.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((pairs[piles[middle] as number]?.b as number) < inB) low = middle + 1;
      else high = middle;
    }
    pairs.push({ a: inA, b: inB, before: low === 0 ? -1 : (piles[low - 1] as number) });
    piles[low] = pairs.length - 1;
  }
  const anchors: { a: number; b: number }[] = [];
  for (let at = piles.at(-1) ?? -1; at >= 0; ) {
    const pair = pairs[at] as { a: number; b: number; before: number };
    anchors.push({ a: pair.a, b: pair.b });
    at = pair.before;
  }
  return anchors.reverse();
}

/** Maps each element to its index, or to −1 if it occurs more than once, in order of first occurrence. */
function oncePlaces(elements: Int32Array, start: number, end: number): Map<number, number> {
  const places = new Map<number, number>();
  for (let at = start; at < end; at += 1) {
    const element = elements[at] as number;
    places.set(element, places.has(element) ? -1 : at);
  }
  return places;
}
