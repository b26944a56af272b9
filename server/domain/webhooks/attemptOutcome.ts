/**
 * This module decides what a response means for a delivery and which part of the response is stored. It has no side
 * effects.
 */
import type { DeliveryExchange } from "../../../machines/delivery.ts";
import type { OutboundOutcome } from "../../platform/outbound/fetch.ts";

export type AttemptOutcome =
  | Exclude<OutboundOutcome, { readonly kind: "withheld" }>
  | { readonly kind: "failed"; readonly reason: "secret_unavailable" };

/** Maximum total size of the stored response headers, in characters. */
const maxHeaderCharacters = 4096;

export function isDelivered(outcome: AttemptOutcome): boolean {
  return outcome.kind === "answered" && outcome.status >= 200 && outcome.status < 300;
}

/** Returns the pause that an overloaded receiver requests, in milliseconds from `nowMs`. Only status 429 and 503 count. */
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
