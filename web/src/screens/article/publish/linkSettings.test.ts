import { expect, test } from "vitest";
import { toChanges, toLocalTime } from "./linkSettings.ts";

const before = { slug: "kites", expiresAt: "", indexable: false, gate: "off" } as const;

test("only the settings that were changed are sent", () => {
  expect(toChanges({ ...before, indexable: true }, before)).toEqual({ indexable: true });
  expect(toChanges({ ...before, slug: " kites " }, before)).toEqual({});
});

test("an expiry is sent as Unix seconds, and its removal as null", () => {
  const seconds = Math.floor(new Date(2026, 11, 24, 18, 30).getTime() / 1000);
  const field = toLocalTime(seconds);
  expect(field).toBe("2026-12-24T18:30");
  expect(toChanges({ ...before, expiresAt: field }, before)).toEqual({ expiresAt: seconds });
  expect(toChanges(before, { ...before, expiresAt: field })).toEqual({ expiresAt: null });
});
