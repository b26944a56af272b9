/** Returns the pause before an attempt. It doubles with each failure, up to a limit, and is spread so that clients do not return together. */

const firstPauseMs = 250;
const longestPauseMs = 5000;

/** `failures`: attempts that failed since the last success, at least 1. `random`: from 0 to 1. */
export function backoffMs(failures: number, random: number): number {
  const pauseMs = Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs);
  return pauseMs * (0.5 + random / 2);
}
