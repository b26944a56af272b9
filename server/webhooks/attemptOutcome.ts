/** What an answer means for a delivery, and as much of it as is kept. Pure. */
import type { DeliveryExchange } from "../../machines/delivery.ts";
import type { OutboundOutcome } from "../outbound/fetch.ts";

export type AttemptOutcome =
  | Exclude<OutboundOutcome, { readonly kind: "withheld" }>
  | { readonly kind: "failed"; readonly reason: "secret_unavailable" };

/** Headers of an answer are kept up to here, counted in characters. */
const maxHeaderCharacters = 4096;

export function isDelivered(outcome: AttemptOutcome): boolean {
  return outcome.kind === "answered" && outcome.status >= 200 && outcome.status < 300;
}

/** The pause that an overloaded receiver asks for, in milliseconds from `nowMs`; only 429 and 503 may ask. */
export function toRetryAfterMs(outcome: AttemptOutcome, nowMs: number): number | undefined {
  if (outcome.kind !== "answered" || (outcome.status !== 429 && outcome.status !== 503)) return undefined;
  const header = outcome.headers["retry-after"];
  const value = (typeof header === "string" ? header : (header?.[0] ?? "")).trim();
  if (/^\d{1,10}$/.test(value)) return Number(value) * 1000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

export function toExchange(
  requestHeaders: Readonly<Record<string, string>>,
  outcome: AttemptOutcome,
  maxBodyBytes: number,
): DeliveryExchange {
  if (outcome.kind === "failed") return { requestHeaders };
  return {
    requestHeaders,
    responseHeaders: toKeptHeaders(outcome.headers),
    responseBody: Buffer.from(outcome.body.subarray(0, maxBodyBytes)).toString("utf8"),
  };
}

function toKeptHeaders(headers: Readonly<Record<string, string | readonly string[]>>): Record<string, string> {
  const kept: Record<string, string> = {};
  let left = maxHeaderCharacters;
  for (const [name, value] of Object.entries(headers)) {
    const text = typeof value === "string" ? value : value.join(", ");
    left -= name.length + text.length;
    if (left < 0) break;
    kept[name] = text;
  }
  return kept;
}
