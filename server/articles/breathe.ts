/** Lets the event loop run: a long computation in steps must not hold up everybody's keystrokes. */
import { setImmediate } from "node:timers/promises";

const sliceMs = 8;

/** Call between two steps; it waits a turn only when the slice is used up. */
export function createBreath(): () => Promise<void> {
  let startedAt = performance.now();
  return async () => {
    if (performance.now() - startedAt < sliceMs) return;
    await setImmediate();
    startedAt = performance.now();
  };
}
