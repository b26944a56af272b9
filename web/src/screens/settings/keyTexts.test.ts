import { expect, test } from "vitest";
import { accessOf, expiryOf, today } from "./keyTexts.ts";

test("the access of a key is named as in the form, and by its scopes otherwise", () => {
  expect(accessOf({})).toBe("Full access");
  expect(accessOf({ scopes: ["conversions:execute"] })).toBe("Conversions only");
  expect(accessOf({ scopes: ["articles:read", "reviews:write"] })).toBe("articles:read, reviews:write");
  expect(accessOf({ scopes: ["conversions:execute", "articles:read"] })).toBe("conversions:execute, articles:read");
});

test("a key expires after days, at the end of a chosen day, or never", () => {
  const nowMs = Date.parse("2026-11-23T12:00:00.125Z");
  expect(expiryOf("30", "", nowMs)).toBe("2026-12-23T12:00:00.125Z");
  expect(expiryOf("never", "2026-12-01", nowMs)).toBeUndefined();
  const chosen = expiryOf("date", "2026-12-01", nowMs) ?? "";
  expect(chosen).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:59\.999Z$/);
  expect(new Date(chosen)).toEqual(new Date(2026, 11, 1, 23, 59, 59, 999));
});

test("the first day to choose is that of the reader's clock", () => {
  expect(today(new Date(2027, 0, 5, 0, 0, 1).getTime())).toBe("2027-01-05");
});
