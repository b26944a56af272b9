/**
 * Moments at which to look again, earliest first, on one timer. It holds so many at most; the ones furthest away
 * are dropped, since a poll finds what falls due then.
 */
import type { After } from "./after.ts";

const maxMoments = 1000;

export interface Wakes {
  add(atMs: number): void;
  /** Until then nothing is run, and after `stop` nothing any more. */
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
      // A timer may fire a little early; then the moment is still there and is waited for anew.
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
