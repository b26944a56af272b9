/**
 * parseLimits reads `LIMITS`: a JSON object that overrides fields of `api/limits.ts`, or `off`.
 *
 * `off` removes every rate and count limit but keeps all sizes, lifetimes and validity rules. This module knows no
 * other setting and starts nothing.
 */
import { z } from "zod";
import { defaultLimits, type LimitField, type Limits, type RateLimit } from "../../../api/limits.ts";

/** The kind of a field decides which values are allowed. */
type LimitKind = "rate" | "count" | "size" | "time";

const counts: readonly LimitField[] = [
  "keys.active",
  "conversion.waiting",
  "review.perArticle",
  "review.replies",
  "review.mentions",
  "sockets.anonymous",
  "sockets.anonymousAddress",
  "sockets.held",
  "sockets.article",
  "sockets.credential",
  "sse.credential",
  "sse.address",
  "webhook.inFlight",
  "webhook.inFlightProcess",
];

/** Larger values would overflow: a frame length of 32 bits, a timer of Node. Lifetimes are at most ten years. */
const maxSize = 2 ** 30;
const maxTimerMs = 2 ** 31 - 1;
const maxLifetimeMs = 10 * 365 * 24 * 3_600_000;
const timers: readonly LimitField[] = [
  "socket.authMs",
  "socket.refusalMs",
  "webhook.totalMs",
  "webhook.connectMs",
  "model.quietMs",
  "model.totalMs",
];

const fields = Object.keys(defaultLimits) as LimitField[];

function kindOf(field: LimitField): LimitKind {
  if (typeof defaultLimits[field] !== "number") return "rate";
  if (counts.includes(field) || field.endsWith(".perWorkspace")) return "count";
  return field.startsWith("keep.") || field.endsWith("Ms") || field === "webhook.retryAfter" || field === "webhook.oldSecret"
    ? "time"
    : "size";
}

const wholeNumber = (max: number) =>
  z.int(`must be a whole number from 1 to ${max}`).min(1, `must be at least 1`).max(max, `must be at most ${max}`);

const ratePolicy: z.ZodType<RateLimit> = z.union(
  [z.literal("off"), z.strictObject({ count: z.number().positive(), seconds: z.number().positive(), burst: z.number().min(1) })],
  { error: `must be "off" or {"count": …, "seconds": …, "burst": …} with positive numbers` },
);

function schemaOf(field: LimitField): z.ZodType {
  const kind = kindOf(field);
  if (kind === "rate") return ratePolicy;
  if (kind === "time") return wholeNumber(timers.includes(field) ? maxTimerMs : maxLifetimeMs);
  return wholeNumber(kind === "count" ? Number.MAX_SAFE_INTEGER : maxSize);
}

const overrides = z.strictObject(Object.fromEntries(fields.map((field) => [field, schemaOf(field).optional()])));

/**
 * Pairs in which the first field must not be greater than the second, because the first could otherwise never be
 * reached.
 */
const ordered: readonly (readonly [LimitField, LimitField])[] = [
  ["list.limitDefault", "list.limitMax"],
  ["frame.update", "frame.bytes"],
  ["socket.credential", "frame.bytes"],
  ["sockets.anonymousAddress", "sockets.anonymous"],
  // A body larger than the in-flight limit would be refused forever, with the advice to try again.
  ["body.json", "body.inFlightAccount"],
  ["body.text", "body.inFlightAccount"],
  ["body.inFlightAccount", "body.inFlight"],
  ["body.public", "body.inFlightAddress"],
  ["body.inFlightAddress", "body.inFlight"],
  ["article.file", "document.bytes"],
  ["webhook.connectMs", "webhook.totalMs"],
  ["model.quietMs", "model.totalMs"],
];

function withoutLimits(): Limits {
  const entries = fields.map((field) => {
    const kind = kindOf(field);
    return [field, kind === "rate" ? "off" : kind === "count" ? Number.MAX_SAFE_INTEGER : defaultLimits[field]];
  });
  return Object.fromEntries(entries) as Limits;
}

/** Parses the text of `LIMITS`. Each problem names its field. */
export function parseLimits(text: string): { readonly limits: Limits } | { readonly problems: readonly string[] } {
  if (text === "off") return { limits: withoutLimits() };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return { problems: [`not JSON: ${(error as Error).message}`] };
  }
  const parsed = overrides.safeParse(json);
  if (!parsed.success) return { problems: parsed.error.issues.flatMap(toProblems) };
  const limits = { ...defaultLimits, ...parsed.data } as Limits;
  const problems = ordered
    .filter(([low, high]) => (limits[low] as number) > (limits[high] as number))
    .map(([low, high]) => `${low} (${limits[low]}) may not be above ${high} (${limits[high]})`);
  return problems.length > 0 ? { problems } : { limits };
}

/** Fields that differ from the defaults, for /readyz. */
export function changedLimits(limits: Limits): readonly { readonly name: string; readonly value: string }[] {
  return fields
    .filter((field) => JSON.stringify(limits[field]) !== JSON.stringify(defaultLimits[field]))
    .map((field) => ({ name: `LIMITS.${field}`, value: JSON.stringify(limits[field]) }));
}

function toProblems(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code !== "unrecognized_keys") return [`${issue.path.join(".") || "the value"}: ${issue.message}`];
  return issue.keys.map((key) => `unknown field ${JSON.stringify(key)}; known fields are ${near(key)}`);
}

/** Returns the fields of the same family as `key`, or the names of all families if there is no such family. */
function near(key: string): string {
  const family = fields.filter((field) => field.split(".")[0] === key.split(".")[0]);
  const families = [...new Set(fields.map((field) => `${field.split(".")[0]}.*`))];
  return (family.length > 0 ? family : families).join(", ");
}
