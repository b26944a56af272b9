/**
 * `createRateLimits` draws from the token buckets of a caller and builds the rate limit headers and the refusal.
 *
 * A request draws from all its buckets or, if one has too few tokens, from none. This module does not know the
 * operations. The caller passes the subject, such as a credential id or an address.
 */
import type { LimitField, Limits, RateLimit } from "../../../api/limits.ts";
import { AppError } from "../../../api/schema/error.ts";
import type { RateAnswer, RateDemand, RatePolicy, Storage } from "../../platform/storage/port.ts";

export type RateField = Extract<LimitField, `rate.${string}`>;

export interface Draw {
  /** Value of the header `ratelimit-policy` for the default bucket; empty if that limit is off. */
  readonly policy: string;
  /** Value of the header `ratelimit` for the default bucket. Undefined if that limit is off or was not drawn from. */
  readonly rateLimit?: string | undefined;
  /** Set if a bucket had too few tokens. */
  readonly refusal?: AppError | undefined;
}

export interface RateLimits {
  /** Draws one token from the bucket of each field. `subject` owns the buckets: a key id or `address:203.0.113.7`. */
  draw(fields: readonly RateField[], subject: string): Promise<Draw>;
}

export function createRateLimits({ storage, limits }: { storage: Pick<Storage, "rates">; limits: Limits }): RateLimits {
  const policies = new Map<RateField, RatePolicy>();
  for (const [field, limit] of Object.entries(limits) as [RateField, RateLimit][]) {
    if (field.startsWith("rate.") && limit !== "off") policies.set(field, limit);
  }
  const shown = policies.get("rate.default");
  const policy = shown === undefined ? "" : `"default";q=${shown.count};w=${shown.seconds}`;
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
      if (shown !== undefined && demands[0]?.policy === shown) {
        const remaining = answers[0]?.remaining ?? 0;
        rateLimit = `"default";r=${remaining};t=${secondsToFull(shown, remaining)}`;
      }
      for (let at = 0; at < answers.length; at += 1) {
        if (answers[at]?.allowed === false) return { policy, rateLimit, refusal: toRateLimited(demands[at], answers[at]) };
      }
      return { policy, rateLimit };
    },
  };
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
