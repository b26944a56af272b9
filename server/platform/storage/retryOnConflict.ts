/**
 * RetryOnConflict repeats an attempt (read, decide, commit) while concurrent changes conflict with it. It is the only
 * such loop of the server.
 *
 * The first retries run at once, because most conflicts are resolved by reading again. Later retries wait a random time
 * (full jitter), so that many writers of one record do not collide in every round. Attempts and time are bounded: a
 * record that never stops changing costs its caller a 503 instead of a request that never ends (ST90, ST91).
 *
 * Each conflict is published on a diagnostics channel. The channel is process-wide, so the metrics count the conflicts
 * of every caller although no caller receives the metrics.
 */
import { channel } from "node:diagnostics_channel";
import { setTimeout as delay } from "node:timers/promises";
import { AppError } from "../../../api/schema/error.ts";

/** The value with which an attempt reports that a concurrent change made its decision invalid. */
export const conflict = Symbol("conflict");

/** One conflict of one attempt. `exhausted` means that no attempt follows and the caller gets a 503. */
export interface ConflictEvent {
  readonly operation: string;
  readonly outcome: "retried" | "exhausted";
}

/** Attempts of one operation. */
export const maxAttempts = 100;
/** No retry starts later than this after the first conflict, because one attempt of a long text can take a second. */
export const maxTotalMs = 10_000;
const immediateRetries = 3;
/** Upper bound of the first wait. It doubles with each further wait, up to `maxWaitMs`. */
const firstWaitMs = 2;
const maxWaitMs = 1000;
const retryAfterSeconds = 1;

const conflicts = channel("svc.storage.conflict");

/** Calls `observe` for each conflict of this process. Returns the function that ends it. */
export function observeConflicts(observe: (event: ConflictEvent) => void): () => void {
  const listener = (event: unknown) => observe(event as ConflictEvent);
  conflicts.subscribe(listener);
  return () => void conflicts.unsubscribe(listener);
}

/** Clock and random source, for tests. */
export interface RetryTiming {
  /** Resolves after `ms` milliseconds. */
  sleep(ms: number): Promise<unknown>;
  /** A number in [0, 1). */
  random(): number;
  /** A clock in milliseconds that never goes back. */
  nowMs(): number;
}

const realTiming: RetryTiming = { sleep: (ms) => delay(ms), random: Math.random, nowMs: () => performance.now() };

/** Upper bound of the wait before the given retry (the first retry is 1), in milliseconds. */
function waitBoundMs(retry: number): number {
  return retry <= immediateRetries ? 0 : Math.min(maxWaitMs, firstWaitMs * 2 ** (retry - immediateRetries - 1));
}

/**
 * Runs `attempt` until it returns a value other than `conflict`. Each attempt must read all its records again. Throws
 * `AppError` `unavailable` (503 with Retry-After) after `maxAttempts` attempts, or when the next attempt would start
 * more than `maxTotalMs` after the first conflict. An attempt that reports `conflict` must have changed nothing.
 *
 * @param operation Name of the operation in the metrics, such as "article.create". Never a value from a request.
 */
export async function retryOnConflict<Value>(
  operation: string,
  attempt: () => Promise<Value | typeof conflict>,
  timing: RetryTiming = realTiming,
): Promise<Value> {
  let value = await attempt();
  if (value !== conflict) return value;
  const giveUpAtMs = timing.nowMs() + maxTotalMs;
  for (let retry = 1; retry < maxAttempts; retry += 1) {
    const waitMs = timing.random() * waitBoundMs(retry);
    if (timing.nowMs() + waitMs > giveUpAtMs) break;
    conflicts.publish({ operation, outcome: "retried" } satisfies ConflictEvent);
    if (waitMs > 0) await timing.sleep(waitMs);
    value = await attempt();
    if (value !== conflict) return value;
  }
  conflicts.publish({ operation, outcome: "exhausted" } satisfies ConflictEvent);
  throw new AppError("unavailable", "The resource is changing too often at the moment; nothing was changed. Repeat the request.", {
    retryAfter: retryAfterSeconds,
  });
}
