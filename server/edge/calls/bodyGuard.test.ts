import { describe, expect, it } from "vitest";
import { defaultLimits } from "../../../api/limits.ts";
import type { AppError } from "../../../api/schema/error.ts";
import { guardJson } from "./bodyGuard.ts";

const limits = {
  ...defaultLimits,
  "body.depth": 4,
  "body.keys": 10,
  "body.string": 12,
  "article.file": 30,
  "body.freeForm": 40,
  "body.freeFormDepth": 2,
};

function refusal(value: unknown, rules: { documentText?: boolean; freeForm?: string[] } = {}): unknown {
  try {
    guardJson(value, { limits, documentText: rules.documentText ?? false, freeForm: rules.freeForm ?? [] });
    return "taken";
  } catch (error) {
    const { code, facts } = error as AppError;
    return [code, facts.errors?.[0]?.pointer, facts.errors?.[0]?.code];
  }
}

describe("bounds of a body", () => {
  it("[API9] depth counts objects and arrays alike", () => {
    expect(refusal({ a: [{ b: [] }] })).toBe("taken");
    expect(refusal({ a: [{ b: [[]] }] })).toEqual(["validation_failed", "/a/0/b/0", "too_deep"]);
    expect(refusal([[[[1]]]])).toBe("taken");
    expect(refusal([[[[[1]]]]])).toEqual(["validation_failed", "/0/0/0/0", "too_deep"]);
  });

  it("[API9] the member limit counts names of objects and items of arrays together", () => {
    expect(refusal({ a: [1, 2, 3, 4], b: { c: 1, d: 2, e: 3, f: 4 } })).toBe("taken");
    expect(refusal({ a: [1, 2, 3, 4, 5], b: { c: 1, d: 2, e: 3, f: 4 } })).toEqual(["validation_failed", "", "too_big"]);
  });

  it("[API9] strings and names are limited in bytes of UTF-8", () => {
    expect(refusal({ a: "123456789012" })).toBe("taken");
    expect(refusal({ a: "1234567890123" })).toEqual(["validation_failed", "/a", "too_big"]);
    expect(refusal({ a: ["東東東東"] })).toBe("taken");
    expect(refusal({ a: ["東東東東東"] })).toEqual(["validation_failed", "/a/0", "too_big"]);
    expect(refusal({ "1234567890123": 1 })).toEqual(["validation_failed", "/1234567890123", "too_big"]);
  });

  it("[API9] document text is limited by article.file, and only in fields for document text", () => {
    const long = "x".repeat(30);
    const edit = { content: long, edits: [{ find: long, replace: long }] };
    expect(refusal(edit, { documentText: true })).toBe("taken");
    expect(refusal(edit)).toEqual(["validation_failed", "/content", "too_big"]);
    expect(refusal({ edits: [{ replace: `${long}x` }] }, { documentText: true })).toEqual([
      "content_too_large",
      "/edits/0/replace",
      "too_big",
    ]);
    expect(refusal({ title: long }, { documentText: true })).toEqual(["validation_failed", "/title", "too_big"]);
  });

  it("[AR15] half a surrogate pair in document text is refused with content_not_accepted", () => {
    for (const value of [{ content: "\ud800" }, { edits: [{ find: "a", replace: "\udc00" }] }]) {
      expect(refusal(value, { documentText: true })).toEqual(["content_not_accepted", expect.any(String), "invalid_text"]);
      expect(refusal(value)).toEqual(["validation_failed", expect.any(String), "invalid_text"]);
    }
  });

  it("[API9] half a surrogate pair and __proto__ are refused in every place", () => {
    expect(refusal({ a: ["\ud800"] })).toEqual(["validation_failed", "/a/0", "invalid_text"]);
    expect(refusal({ "\udc00": 1 })).toEqual(["validation_failed", "/\udc00", "invalid_text"]);
    expect(refusal({ a: "🗼" })).toBe("taken");
    expect(refusal(JSON.parse('{"a":{"__proto__":1}}'))).toEqual(["validation_failed", "/a/__proto__", "invalid_name"]);
  });

  it("[API9] free-form members have their own size and depth limits", () => {
    const freeForm = ["settings"];
    expect(refusal({ settings: { a: { b: "12345678" } } }, { freeForm })).toBe("taken");
    expect(refusal({ settings: { a: { b: [] } } }, { freeForm })).toEqual(["validation_failed", "/settings", "too_deep"]);
    expect(refusal({ settings: { a: "123456789012", b: "123456789012", c: 1 } }, { freeForm })).toEqual([
      "validation_failed",
      "/settings",
      "too_big",
    ]);
    expect(refusal({ other: { a: { b: [] } } }, { freeForm })).toBe("taken");
  });
});
