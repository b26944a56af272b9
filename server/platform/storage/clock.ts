/**
 * The store clock returns store time: Unix milliseconds that never go back.
 *
 * It starts at the wall-clock time, or at `notBeforeMs` if the wall clock is behind the time already returned by the
 * store. It then advances with the monotonic clock of the machine. A jump of the wall clock therefore neither ends a
 * lease early nor delays a timer.
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
