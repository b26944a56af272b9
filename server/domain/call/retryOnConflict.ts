/**
 * This module retries an attempt (read, decide, commit) while concurrent commits conflict with it. The attempt returns
 * `conflict` when its commit found a changed record. Each attempt must read all records again.
 */
import { AppError } from "../../../api/schema/error.ts";

export const conflict = Symbol("conflict");

const maxAttempts = 100;

export async function retryOnConflict<Value>(attempt: () => Promise<Value | typeof conflict>): Promise<Value> {
  for (let made = 0; made < maxAttempts; made += 1) {
    const value = await attempt();
    if (value !== conflict) return value;
  }
  throw new AppError("unavailable", "Too many changes to the same record at once; try again shortly.", { retryAfter: 1 });
}
