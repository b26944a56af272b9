/**
 * Token buckets in memory. A bucket that is full again is the same as none, so it is forgotten: the map
 * holds the callers of the last moments, not of all time. A crash forgets all of them.
 */
import type { RateAnswer, RateDemand, RatePolicy } from "./port.ts";

interface Bucket {
  tokens: number;
  atMs: number;
  fullAtMs: number;
}

const bucketsBeforeSweep = 4096;

export function createRates(now: () => number): (demands: readonly RateDemand[]) => readonly RateAnswer[] {
  const buckets = new Map<string, Bucket>();
  let sweepAt = bucketsBeforeSweep;

  function refill(name: string, policy: RatePolicy, atMs: number): Bucket {
    const bucket = buckets.get(name) ?? { tokens: policy.burst, atMs, fullAtMs: atMs };
    const gained = ((atMs - bucket.atMs) * policy.count) / (policy.seconds * 1000);
    bucket.tokens = Math.min(policy.burst, bucket.tokens + gained);
    bucket.atMs = atMs;
    buckets.set(name, bucket);
    return bucket;
  }

  function sweep(atMs: number): void {
    for (const [name, bucket] of buckets) if (bucket.fullAtMs <= atMs) buckets.delete(name);
    sweepAt = Math.max(bucketsBeforeSweep, buckets.size * 2);
  }

  return (demands) => {
    const atMs = now();
    const drawn = demands.map(({ bucket, policy, cost = 1 }) => ({ policy, cost, bucket: refill(bucket, policy, atMs) }));
    const wantedBefore = new Map<Bucket, number>();
    const allowed = drawn.map(({ bucket, cost }) => {
      const wanted = (wantedBefore.get(bucket) ?? 0) + cost;
      wantedBefore.set(bucket, wanted);
      return bucket.tokens >= wanted;
    });
    const takes = allowed.every((enough) => enough);
    const answers = drawn.map(({ policy, cost, bucket }, at): RateAnswer => {
      if (takes) {
        bucket.tokens -= cost;
        bucket.fullAtMs = atMs + ((policy.burst - bucket.tokens) * policy.seconds * 1000) / policy.count;
      }
      const wanted = Math.min(policy.burst, allowed[at] === true ? 1 : cost);
      const missing = Math.max(0, wanted - bucket.tokens);
      return {
        allowed: allowed[at] === true,
        remaining: Math.floor(bucket.tokens),
        retryAfterMs: Math.ceil((missing * policy.seconds * 1000) / policy.count),
      };
    });
    if (buckets.size > sweepAt) sweep(atMs);
    return answers;
  };
}
