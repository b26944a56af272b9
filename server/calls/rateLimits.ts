/**
 * Token buckets of callers: which ones a request draws from, and what its answer says of them.
 *
 * A request draws from all its buckets or, when one is short, from none. It knows no operations; who the subject
 * is (a credential, an address) is its caller's to say.
 */
import type { LimitField, Limits, RateLimit } from "../../api/limits.ts";
import { AppError } from "../../api/schema/error.ts";
import type { RateDemand, RatePolicy, Storage } from "../storage/port.ts";

export type RateField = Extract<LimitField, `rate.${string}`>;

export interface Draw {
  /** `ratelimit-policy` and `ratelimit` of the default bucket; empty when that is off. */
  readonly headers: Readonly<Record<string, string>>;
  /** Set when a bucket was short. */
  readonly refusal?: AppError;
}

export interface RateLimits {
  /** `subject` is whose buckets these are, such as a key id or `address:203.0.113.7`. */
  draw(fields: readonly RateField[], subject: string): Promise<Draw>;
}

const noHeaders = Object.freeze({});

export function createRateLimits({ storage, limits }: { storage: Pick<Storage, "rates">; limits: Limits }): RateLimits {
  const policies = new Map<RateField, RatePolicy>();
  for (const [field, limit] of Object.entries(limits) as [RateField, RateLimit][]) {
    if (field.startsWith("rate.") && limit !== "off") policies.set(field, limit);
  }
  const shown = policies.get("rate.default");
  const policyHeader = shown === undefined ? "" : `"default";q=${shown.count};w=${shown.seconds}`;

  return {
    async draw(fields, subject) {
      const demands: RateDemand[] = [];
      for (const field of fields) {
        const policy = policies.get(field);
        if (policy !== undefined) demands.push({ bucket: `${field}/${subject}`, policy });
      }
      if (demands.length === 0) return { headers: noHeaders };
      const answers = await storage.rates.take(demands);
      const first = answers[0];
      const headers =
        shown === undefined || first === undefined || demands[0]?.policy !== shown
          ? noHeaders
          : { "ratelimit-policy": policyHeader, ratelimit: `"default";r=${first.remaining};t=${secondsToFull(shown, first.remaining)}` };
      const short = answers.findIndex((answer) => !answer.allowed);
      if (short === -1) return { headers };
      const { bucket, policy } = demands[short] as RateDemand;
      const retryAfter = Math.max(1, Math.ceil((answers[short]?.retryAfterMs ?? 0) / 1000));
      const allowed = `${policy.count} in ${policy.seconds} s (burst ${policy.burst})`;
      const detail = `Too many requests: ${bucket.slice(0, bucket.indexOf("/"))} allows ${allowed}. Try again in ${retryAfter} s.`;
      return { headers, refusal: new AppError("rate_limited", detail, { retryAfter }) };
    },
  };
}

function secondsToFull(policy: RatePolicy, remaining: number): number {
  return Math.ceil(((policy.burst - remaining) * policy.seconds) / policy.count);
}
