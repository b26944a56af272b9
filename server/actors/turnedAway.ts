/**
 * When work comes back that found its line full: one after the other, at the pace at which a full line could take it in.
 * All at once, a long backlog for one slow endpoint would keep the node busy with turning it away again. It knows
 * neither rows nor lanes.
 */

/** At most so far ahead; what is beyond shares the moments of what is before it. */
const mostAheadMs = 300_000;
/** What comes back in one part of the pause comes back together. */
const partsOfPause = 10;
/** Lines are forgotten once nothing of theirs is still to come; it is looked for above so many. */
const fewLines = 100;

export interface TurnedAway {
  /** In Unix milliseconds; `mostWaiting` is how many the line holds. */
  toReturnAtMs(line: string, mostWaiting: number): number;
}

/** `pauseMs`: how long at least something stays away, and in which time a whole line may come back. */
export function createTurnedAway({ now, pauseMs }: { readonly now: () => number; readonly pauseMs: number }): TurnedAway {
  const nextByLine = new Map<string, number>();
  const partMs = pauseMs / partsOfPause;

  function forget(nowMs: number): void {
    if (nextByLine.size <= fewLines) return;
    for (const [line, nextMs] of nextByLine) if (nextMs <= nowMs) nextByLine.delete(line);
  }

  return {
    toReturnAtMs(line, mostWaiting) {
      const nowMs = now();
      const firstMs = nowMs + pauseMs;
      const nextMs = Math.max(nextByLine.get(line) ?? 0, firstMs);
      const atMs = nextMs - firstMs > mostAheadMs ? firstMs : nextMs;
      forget(nowMs);
      nextByLine.set(line, atMs + pauseMs / mostWaiting);
      return Math.ceil(atMs / partMs) * partMs;
    },
  };
}
