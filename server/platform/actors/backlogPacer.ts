/**
 * BacklogPacer decides when a row that found its line full is due again.
 *
 * The rows return at the rate at which a full line can take them. If they all returned at once, a long backlog for one
 * slow endpoint would keep the node busy with refusing the same rows again. This module knows neither rows nor lanes.
 */

/**
 * A return time is at most this far ahead. Rows beyond it start again with the first return time, together with earlier
 * rows.
 */
const maxAheadMs = 300_000;
/** Return times are rounded up to a tenth of the pause, so that rows return in groups. */
const partsOfPause = 10;
/** Above this number of lines, lines whose last return time has passed are removed. */
const fewLines = 100;

export interface BacklogPacer {
  /** Returns Unix milliseconds. `maxWaiting` is the number of rows that the line can hold. */
  toReturnAtMs(line: string, maxWaiting: number): number;
}

/**
 * `pauseMs` is the minimum time until a row returns. It is also the time in which as many rows return as one line
 * holds.
 */
export function createBacklogPacer({ now, pauseMs }: { readonly now: () => number; readonly pauseMs: number }): BacklogPacer {
  const nextByLine = new Map<string, number>();
  const partMs = pauseMs / partsOfPause;

  function forget(nowMs: number): void {
    if (nextByLine.size <= fewLines) return;
    for (const [line, nextMs] of nextByLine) if (nextMs <= nowMs) nextByLine.delete(line);
  }

  return {
    toReturnAtMs(line, maxWaiting) {
      const nowMs = now();
      const firstMs = nowMs + pauseMs;
      const nextMs = Math.max(nextByLine.get(line) ?? 0, firstMs);
      const atMs = nextMs - firstMs > maxAheadMs ? firstMs : nextMs;
      forget(nowMs);
      nextByLine.set(line, atMs + pauseMs / maxWaiting);
      return Math.ceil(atMs / partMs) * partMs;
    },
  };
}
