/**
 * Wakes holds the times at which to check for due rows, earliest first, and uses one timer for all of them.
 *
 * It holds at most `maxMoments` times. The latest ones are dropped, because a poll finds rows that fall due then.
 */
import type { After } from "./after.ts";

const maxMoments = 1000;

export interface Wakes {
  add(atMs: number): void;
  /** Before `start` and after `stop` nothing runs. */
  start(): void;
  stop(): void;
}

export function createWakes({ now, after, look }: { now: () => number; after: After; look: () => void }): Wakes {
  /** Ascending. */
  const moments: number[] = [];
  let started = false;
  let stopTimer = () => {};

  function arm(): void {
    stopTimer();
    const [next] = moments;
    if (next === undefined || !started) return;
    stopTimer = after(Math.max(1, next - now()), () => {
      const nowMs = now();
      while (moments[0] !== undefined && moments[0] <= nowMs) moments.shift();
      arm();
      // A timer may fire slightly early. The time is then still in the list, and `arm` has set a new timer for it.
      if (next <= nowMs) look();
    });
  }

  return {
    add(atMs) {
      let at = moments.length;
      while (at > 0 && (moments[at - 1] as number) > atMs) at -= 1;
      if (at >= maxMoments || moments[at - 1] === atMs) return;
      moments.splice(at, 0, atMs);
      if (moments.length > maxMoments) moments.pop();
      if (at === 0) arm();
    },
    start() {
      started = true;
      arm();
    },
    stop() {
      started = false;
      stopTimer();
    },
  };
}
