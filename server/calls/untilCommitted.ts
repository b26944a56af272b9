/**
 * Reads, decides and commits again while somebody else's commit comes between. An attempt answers
 * `conflict` when its commit found something changed; it must read everything anew each time.
 */
import { AppError } from "../../api/schema/error.ts";

export const conflict = Symbol("conflict");

const maxAttempts = 100;

export async function untilCommitted<Value>(attempt: () => Promise<Value | typeof conflict>): Promise<Value> {
  for (let made = 0; made < maxAttempts; made += 1) {
    const value = await attempt();
    if (value !== conflict) return value;
  }
  throw new AppError("unavailable", "Too many changes to the same record at once; try again shortly.", { retryAfter: 1 });
}
