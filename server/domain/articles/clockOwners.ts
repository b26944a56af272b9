/**
 * ClockOwners maps ranges of Yjs clocks to the owners that claimed them. An owner is a small number that the caller gives
 * a meaning.
 *
 * The first claim of a clock counts, as in Yjs, which ignores a second version of a struct. Ranges that follow each other
 * and have the same owner are stored as one, so a long text typed by one author takes a few numbers.
 */

/** Ranges of one client id: ascending, without overlap. A range begins at its clock in `from` and ends before that in `to`. */
interface Ranges {
  readonly from: number[];
  readonly to: number[];
  readonly owner: number[];
}

/** Numbers of one range in the packed form: owner, client id, first clock, clock after the last. */
export const packedSize = 4;

export class ClockOwners {
  readonly #clients = new Map<number, Ranges>();

  /** Claims the clocks from `from` to `to` − 1 that have no owner yet. */
  claim(owner: number, clientId: number, from: number, to: number): void {
    let ranges = this.#clients.get(clientId);
    if (ranges === undefined) {
      ranges = { from: [], to: [], owner: [] };
      this.#clients.set(clientId, ranges);
    }
    let at = findEndingAfter(ranges, from);
    for (let clock = from; clock < to; ) {
      const next = ranges.from[at] ?? Number.POSITIVE_INFINITY;
      if (next > clock) {
        const end = Math.min(to, next);
        at = insert(ranges, at, clock, end, owner);
        clock = end;
      } else {
        clock = ranges.to[at] as number;
        at += 1;
      }
    }
  }

  /** Adds the ranges of another `ClockOwners` in packed form, in their order. */
  claimAll(packed: Float64Array): void {
    for (let at = 0; at < packed.length; at += packedSize) {
      const [owner, clientId, from, to] = packed.subarray(at, at + packedSize) as unknown as [number, number, number, number];
      this.claim(owner, clientId, from, to);
    }
  }

  /** Calls `visit` for the parts of a range in ascending order. `owner` is undefined for clocks that have none. */
  visit(clientId: number, from: number, to: number, visit: (from: number, to: number, owner: number | undefined) => void): void {
    const ranges = this.#clients.get(clientId);
    let at = ranges === undefined ? 0 : findEndingAfter(ranges, from);
    for (let clock = from; clock < to; ) {
      const next = ranges?.from[at] ?? Number.POSITIVE_INFINITY;
      const isOwned = next <= clock;
      const end = Math.min(to, isOwned ? (ranges?.to[at] as number) : next);
      visit(clock, end, isOwned ? ranges?.owner[at] : undefined);
      if (isOwned) at += 1;
      clock = end;
    }
  }

  /** Calls `visit` for each range that ends after the clock that `endOf` returns for its client id, without the part before it. */
  visitAfter(endOf: (clientId: number) => number, visit: (owner: number, clientId: number, from: number, to: number) => void): void {
    for (const [clientId, ranges] of this.#clients) {
      const end = endOf(clientId);
      for (let at = findEndingAfter(ranges, end); at < ranges.from.length; at += 1) {
        visit(ranges.owner[at] as number, clientId, Math.max(end, ranges.from[at] as number), ranges.to[at] as number);
      }
    }
  }

  pack(): Float64Array {
    const packed: number[] = [];
    this.visitAfter(
      () => 0,
      (owner, clientId, from, to) => packed.push(owner, clientId, from, to),
    );
    return Float64Array.from(packed);
  }
}

/** Index of the first range that ends after the clock. */
function findEndingAfter({ to }: Ranges, clock: number): number {
  let low = 0;
  let high = to.length;
  // Most claims follow the last range.
  if (high > 0 && (to[high - 1] as number) <= clock) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((to[middle] as number) > clock) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Inserts a range before the one at `at`, or lengthens the one before it. Returns the index of the range that follows. */
function insert(ranges: Ranges, at: number, from: number, to: number, owner: number): number {
  if (at > 0 && ranges.to[at - 1] === from && ranges.owner[at - 1] === owner) {
    ranges.to[at - 1] = to;
    return at;
  }
  ranges.from.splice(at, 0, from);
  ranges.to.splice(at, 0, to);
  ranges.owner.splice(at, 0, owner);
  return at + 1;
}
