/**
 * This module keeps token buckets in memory.
 *
 * A full bucket is equal to no bucket, so full buckets are deleted and the map holds only recent callers. The number of
 * buckets is bounded (PL62): above it, the fuller half is deleted, so callers near their limit stay limited. A crash forgets
 * all buckets.
 */
import type { RateAnswer, RateDemand, RatePolicy } from "./port.ts";

interface Bucket {
  tokens: number;
  atMs: number;
  fullAtMs: number;
}

const bucketsBeforeSweep = 4096;
/** A bucket takes about 250 bytes. */
const defaultMaxBuckets = 100_000;

export function createRates(
  now: () => number,
  maxBuckets: number = defaultMaxBuckets,
): (demands: readonly RateDemand[]) => readonly RateAnswer[] {
  const buckets = new Map<string, Bucket>();
  let sweepAt = Math.min(bucketsBeforeSweep, maxBuckets);

  function refill(name: string, policy: RatePolicy, atMs: number): Bucket {
    let bucket = buckets.get(name);
    if (bucket === undefined) {
      bucket = { tokens: policy.burst, atMs, fullAtMs: atMs };
      buckets.set(name, bucket);
    }
    const gained = ((atMs - bucket.atMs) * policy.count) / (policy.seconds * 1000);
    bucket.tokens = Math.min(policy.burst, bucket.tokens + gained);
    bucket.atMs = atMs;
    return bucket;
  }

  function sweep(atMs: number): void {
    for (const [name, bucket] of buckets) if (bucket.fullAtMs <= atMs) buckets.delete(name);
    if (buckets.size > maxBuckets) {
      const fullestFirst = [...buckets].sort(([, one], [, other]) => one.fullAtMs - other.fullAtMs);
      for (const [name] of fullestFirst.slice(0, buckets.size - Math.floor(maxBuckets / 2))) buckets.delete(name);
    }
    sweepAt = Math.min(maxBuckets, Math.max(bucketsBeforeSweep, buckets.size * 2));
  }

  /** Called for every request, so it creates few objects besides its answer. */
  return (demands) => {
    const atMs = now();
    const drawn: Bucket[] = [];
    const allowed: boolean[] = [];
    let takes = true;
    for (const { bucket: name, policy, cost = 1 } of demands) {
      const bucket = refill(name, policy, atMs);
      let wanted = cost;
      for (let before = 0; before < drawn.length; before += 1) {
        if (drawn[before] === bucket) wanted += demands[before]?.cost ?? 1;
      }
      const enough = bucket.tokens >= wanted;
      if (!enough) takes = false;
      drawn.push(bucket);
      allowed.push(enough);
    }
    const answers: RateAnswer[] = [];
    for (let at = 0; at < demands.length; at += 1) {
      const { policy, cost = 1 } = demands[at] as RateDemand;
      const bucket = drawn[at] as Bucket;
      const enough = allowed[at] === true;
      if (takes) {
        bucket.tokens -= cost;
        bucket.fullAtMs = atMs + ((policy.burst - bucket.tokens) * policy.seconds * 1000) / policy.count;
      }
      const wanted = Math.min(policy.burst, enough ? 1 : cost);
      const missing = Math.max(0, wanted - bucket.tokens);
      const retryAfterMs = Math.ceil((missing * policy.seconds * 1000) / policy.count);
      answers.push({ allowed: enough, remaining: Math.floor(bucket.tokens), retryAfterMs });
    }
    if (buckets.size > sweepAt) sweep(atMs);
    return answers;
  };
}
