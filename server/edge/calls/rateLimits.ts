/**
 * `createRateLimits` draws from the token buckets of a caller and builds the rate limit headers and the refusal.
 *
 * A request draws from all its buckets or, if one has too few tokens, from none. This module does not know the
 * operations. The caller passes the subject, such as a credential id or an address.
 */
import type { LimitField, Limits, RateLimit } from "../../../api/limits.ts";
import { AppError } from "../../../api/schema/error.ts";
import type { RateAnswer, RateDemand, RatePolicy, Storage } from "../../platform/storage/port.ts";
import { createRates } from "../../platform/storage/rates.ts";

export type RateField = Extract<LimitField, `rate.${string}`>;

export interface Draw {
  /** Value of the header `ratelimit-policy` for the shown limit; empty if that limit is off. */
  readonly policy: string;
  /** Value of the header `ratelimit` for the shown limit. Undefined if that limit is off or was not drawn from. */
  readonly rateLimit?: string | undefined;
  /** Set if a bucket had too few tokens. */
  readonly refusal?: AppError | undefined;
}

export interface RateLimits {
  /** Draws one token from the bucket of each field. `subject` owns the buckets: a key id or `address:203.0.113.7`. */
  draw(fields: readonly RateField[], subject: string): Promise<Draw>;
}

/** `shown` is the limit that the headers describe. It must be the first of the drawn fields. */
export function createRateLimits(
  { storage, limits }: { readonly storage: Pick<Storage, "rates">; readonly limits: Limits },
  shown: RateField = "rate.default",
): RateLimits {
  const policies = new Map<RateField, RatePolicy>();
  for (const [field, limit] of Object.entries(limits) as [RateField, RateLimit][]) {
    if (field.startsWith("rate.") && limit !== "off") policies.set(field, limit);
  }
  const name = `"${shown.slice("rate.".length)}"`;
  const shownPolicy = policies.get(shown);
  const policy = shownPolicy === undefined ? "" : `${name};q=${shownPolicy.count};w=${shownPolicy.seconds}`;
  const untouched: Draw = { policy };

  return {
    async draw(fields, subject) {
      const demands: RateDemand[] = [];
      for (const field of fields) {
        const demanded = policies.get(field);
        if (demanded !== undefined) demands.push({ bucket: `${field}/${subject}`, policy: demanded });
      }
      if (demands.length === 0) return untouched;
      const answers = await storage.rates.take(demands);
      let rateLimit: string | undefined;
      if (shownPolicy !== undefined && demands[0]?.policy === shownPolicy) {
        const remaining = answers[0]?.remaining ?? 0;
        rateLimit = `${name};r=${remaining};t=${secondsToFull(shownPolicy, remaining)}`;
      }
      for (let at = 0; at < answers.length; at += 1) {
        if (answers[at]?.allowed === false) return { policy, rateLimit, refusal: toRateLimited(demands[at], answers[at]) };
      }
      return { policy, rateLimit };
    },
  };
}

/** Creates limits that only this node counts, in memory, for routes that must answer while the store is unreachable (PL62). */
export function createNodeRateLimits(
  { storage, limits }: { readonly storage: Pick<Storage, "now">; readonly limits: Limits },
  shown: RateField,
): RateLimits {
  const take = createRates(storage.now);
  return createRateLimits({ storage: { rates: { take: async (demands) => take(demands) } }, limits }, shown);
}

/** Returns the headers that show a draw; none if the limit is off. */
export function toRateHeaders({ policy, rateLimit }: Draw): Readonly<Record<string, string>> {
  return rateLimit === undefined ? {} : { "ratelimit-policy": policy, ratelimit: rateLimit };
}

function toRateLimited(demand: RateDemand | undefined, answer: RateAnswer | undefined): AppError {
  const retryAfter = Math.max(1, Math.ceil((answer?.retryAfterMs ?? 0) / 1000));
  const { bucket = "", policy } = demand ?? {};
  const allowed = policy === undefined ? "" : ` allows ${policy.count} in ${policy.seconds} s (burst ${policy.burst})`;
  const detail = `Too many requests: ${bucket.slice(0, bucket.indexOf("/"))}${allowed}. Try again in ${retryAfter} s.`;
  return new AppError("rate_limited", detail, { retryAfter });
}

function secondsToFull(policy: RatePolicy, remaining: number): number {
  return Math.ceil(((policy.burst - remaining) * policy.seconds) / policy.count);
}
