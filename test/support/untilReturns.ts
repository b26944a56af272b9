/** Asks again until the answer is one: what `vi.waitFor` does, also where no test runs. */
import { setTimeout as pause } from "node:timers/promises";

const betweenMs = 20;

/** Resolves with what `attempt` returns; throws what it threw last when `withinMs` are over. */
export async function untilReturns<Value>(attempt: () => Value | Promise<Value>, withinMs: number): Promise<Value> {
  for (const endMs = performance.now() + withinMs; ; await pause(betweenMs)) {
    try {
      return await attempt();
    } catch (reason) {
      if (performance.now() > endMs) throw reason;
    }
  }
}
