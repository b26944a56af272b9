/**
 * Store time: Unix milliseconds that never go back, whatever happens to the clock on the wall.
 *
 * It starts at the wall's time, or at `notBeforeMs` when the wall stands behind what was already handed
 * out, and advances by the machine's monotonic clock: a jump of the wall neither ends a lease early nor
 * holds a timer up.
 */
export interface StoreClock {
  now(): number;
}

export function createStoreClock(options: { readonly notBeforeMs?: number; readonly now?: () => number } = {}): StoreClock {
  let latestMs = options.notBeforeMs ?? 0;
  const origin = Math.max(Date.now(), latestMs) - performance.now();
  const read = options.now ?? (() => Math.floor(origin + performance.now()));
  return {
    now() {
      latestMs = Math.max(latestMs, read());
      return latestMs;
    },
  };
}
