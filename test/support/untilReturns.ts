/** Repeats a call until it succeeds, like `vi.waitFor`, but also outside of tests. */
import { setTimeout as pause } from "node:timers/promises";

const betweenMs = 20;

/** Resolves with the result of `attempt`. Throws its last error after `withinMs`. */
export async function untilReturns<Value>(attempt: () => Value | Promise<Value>, withinMs: number): Promise<Value> {
  for (const endMs = performance.now() + withinMs; ; await pause(betweenMs)) {
    try {
      return await attempt();
    } catch (reason) {
      if (performance.now() > endMs) throw reason;
    }
  }
}
