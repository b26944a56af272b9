import { describe, expect, test } from "vitest";
import { isDelivered, toExchange, toRetryAfterMs } from "./attemptOutcome.ts";

const answered = (status: number, headers: Record<string, string | string[]> = {}, body = "") =>
  ({ kind: "answered", status, headers, body: Buffer.from(body), isComplete: true }) as const;

describe("attemptOutcome", () => {
  test("[WH5] only a 2xx counts as delivered", () => {
    for (const status of [200, 201, 202, 204, 299]) expect([status, isDelivered(answered(status))]).toEqual([status, true]);
    for (const status of [199, 300, 301, 302, 304, 307, 400, 404, 410, 429, 500, 503]) {
      expect([status, isDelivered(answered(status))]).toEqual([status, false]);
    }
    expect(isDelivered({ kind: "failed", reason: "timeout" })).toBe(false);
  });

  test("[WH6] Retry-After is read from 429 and 503, as seconds or as a date", () => {
    const nowMs = Date.parse("2026-11-21T00:00:00Z");
    const retryAfter = (status: number, value: string | string[]) => toRetryAfterMs(answered(status, { "retry-after": value }), nowMs);
    expect(retryAfter(429, "120")).toBe(120_000);
    expect(retryAfter(503, " 5 ")).toBe(5000);
    expect(retryAfter(503, ["7", "9"])).toBe(7000);
    expect(retryAfter(503, "Sat, 21 Nov 2026 00:01:00 GMT")).toBe(60_000);
    expect(retryAfter(503, "Fri, 20 Nov 2026 00:01:00 GMT")).toBe(0);
    for (const value of ["", "soon", "1e9x", "NaN"]) expect([value, retryAfter(503, value)]).toEqual([value, undefined]);
    expect(retryAfter(500, "120")).toBeUndefined();
    expect(toRetryAfterMs({ kind: "failed", reason: "timeout" }, nowMs)).toBeUndefined();
  });

  test("[WH7] only the headers and the beginning of the body of an answer are kept", () => {
    const kept = toExchange({ "x-svc-attempt": "1" }, answered(500, { "x-a": ["1", "2"], "x-b": "y".repeat(5000) }, "é".repeat(1000)), 7);
    expect(kept).toEqual({ requestHeaders: { "x-svc-attempt": "1" }, responseHeaders: { "x-a": "1, 2" }, responseBody: "ééé\ufffd" });
    expect(toExchange({}, { kind: "failed", reason: "timeout" }, 7)).toEqual({ requestHeaders: {} });
  });
});
