/**
 * This module limits rates with token buckets that all nodes share.
 *
 * A node draws up to one second of tokens ahead and grants from them without asking Redis. Tokens not used within that
 * second are returned with the next draw. Therefore a bucket may grant too much: at most one second of tokens for each
 * additional node. A crash may lose some tokens.
 */
import { createHash } from "node:crypto";
import { type Partition, partitionCount, type RateAnswer, type RateDemand, type RatePolicy } from "../port.ts";
import type { Calls } from "./commands.ts";
import type { Reply } from "./connection.ts";
import { redisKeys } from "./keys.ts";
import { redisScripts } from "./scripts.ts";

interface Bucket {
  /** Tokens drawn from Redis and not granted yet. */
  held: number;
  /** Tokens that were left in Redis at `atMs`. */
  left: number;
  atMs: number;
  /** `held` and `left` are used until this time. */
  untilMs: number;
}

type Wanted = readonly [name: string, { readonly policy: RatePolicy; sum: number }];

const aheadMs = 1000;
/** Maximum number of draws for one demand, if other demands of this node keep taking the drawn tokens. */
const roundsAtMost = 5;
/** Redis deletes a bucket this long after the bucket would be full again. */
const marginMs = 60_000;
const bucketsBeforeSweep = 4096;

/** The hash prevents a caller from choosing the partition through the bucket name. */
function partitionOfBucket(name: string): Partition {
  return createHash("sha256").update(name).digest().readUInt32BE(0) % partitionCount;
}

const gainOf = ({ count, seconds }: RatePolicy) => count / (seconds * 1000);

export function createRedisRates(calls: Calls, now: () => number): (demands: readonly RateDemand[]) => Promise<readonly RateAnswer[]> {
  const buckets = new Map<string, Bucket>();
  let sweepAt = bucketsBeforeSweep;

  function totalOf(bucket: Bucket, policy: RatePolicy, nowMs: number): number {
    return Math.min(policy.burst, bucket.left + Math.max(0, nowMs - bucket.atMs) * gainOf(policy) + bucket.held);
  }

  async function draw(name: string, policy: RatePolicy, needed: number): Promise<void> {
    const nowMs = now();
    const known = buckets.get(name);
    const back = known === undefined || known.untilMs <= nowMs - aheadMs ? 0 : known.held;
    // The returned tokens must not be granted during the call.
    if (known !== undefined) known.held = 0;
    const partition = partitionOfBucket(name);
    const wanted = Math.max(needed, Math.min(policy.burst, gainOf(policy) * aheadMs));
    const lifetimeMs = Math.ceil(policy.burst / gainOf(policy)) + marginMs;
    const numbers = [nowMs, gainOf(policy), policy.burst, back, needed, wanted, lifetimeMs];
    const [granted, left] = (await calls.run({
      partition,
      script: redisScripts.drawTokens,
      keys: [redisKeys.bucket(partition, name)],
      args: numbers.map(String),
      repeatable: true,
    })) as readonly Reply[];
    const bucket = buckets.get(name) ?? { held: 0, left: 0, atMs: 0, untilMs: 0 };
    buckets.set(name, bucket);
    bucket.held += Number(granted);
    bucket.left = Number(left);
    bucket.atMs = nowMs;
    bucket.untilMs = nowMs + aheadMs;
  }

  function sweep(nowMs: number): void {
    for (const [name, { untilMs }] of buckets) if (untilMs <= nowMs - aheadMs) buckets.delete(name);
    sweepAt = Math.max(bucketsBeforeSweep, buckets.size * 2);
  }

  return async (demands) => {
    // Several demands may name the same bucket, so it must hold the sum of their costs.
    const wanted = new Map<string, Wanted[1]>();
    const sums = demands.map(({ bucket, policy, cost = 1 }) => {
      const asked = wanted.get(bucket) ?? { policy, sum: 0 };
      wanted.set(bucket, asked);
      asked.sum += cost;
      return asked.sum;
    });
    if (buckets.size > sweepAt) sweep(now());
    const isFresh = (name: string) => (buckets.get(name)?.untilMs ?? 0) > now();
    const isShort = ([name, { policy, sum }]: Wanted) => totalOf(buckets.get(name) as Bucket, policy, now()) < sum;
    const holds = ([name, { sum }]: Wanted) => (buckets.get(name) as Bucket).held >= sum;
    let takes = false;
    // Other demands of this node use the same buckets. No `await` may stand between the last check and the taking of
    // the tokens.
    for (let round = 0; round < roundsAtMost; round += 1) {
      const all = [...wanted];
      const unknown = all.filter(([name]) => !isFresh(name));
      if (unknown.length === 0 && all.some(isShort)) break;
      const lacking = unknown.length > 0 ? unknown : all.filter((each) => !holds(each));
      takes = lacking.length === 0;
      if (takes) break;
      await Promise.all(lacking.map(([name, { policy, sum }]) => draw(name, policy, sum)));
    }
    const afterMs = now();
    const allowed = demands.map(
      ({ bucket: name, policy }, at) => takes || totalOf(buckets.get(name) as Bucket, policy, afterMs) >= (sums[at] as number),
    );
    // Enough tokens exist, but other demands took them in every round. The demands were refused, so the answers must say so.
    if (!takes && !allowed.includes(false)) allowed.fill(false);
    if (takes) for (const [name, { sum }] of wanted) (buckets.get(name) as Bucket).held -= sum;
    return demands.map(({ bucket: name, policy, cost = 1 }, at) => {
      const total = totalOf(buckets.get(name) as Bucket, policy, afterMs);
      const enough = allowed[at] === true;
      const missing = Math.max(0, Math.min(policy.burst, enough ? 1 : cost) - total);
      return { allowed: enough, remaining: Math.floor(total), retryAfterMs: Math.ceil(missing / gainOf(policy)) };
    });
  };
}
