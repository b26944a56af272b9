import { describe, expect, it } from "vitest";
import { defaultLimits, type Limits } from "../../../../api/limits.ts";
import type { Json } from "../../../platform/storage/port.ts";
import { checkSettings, mergeSettings, type Settings } from "./settings.ts";

/** The examples of RFC 7396, appendix A, whose target and patch are objects. */
const examples: readonly (readonly [target: Settings, patch: Settings, result: Settings])[] = [
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

describe("workspace settings", () => {
  it("[WS3] settings are merged by RFC 7396", () => {
    for (const [target, patch, result] of examples) expect(mergeSettings(target, patch)).toEqual(result);
    expect(mergeSettings(undefined, { a: { b: null, c: 1 } })).toEqual({ a: { c: 1 } });
  });

  it("[WS3] a member named __proto__ is handled like any other member", () => {
    const patch = JSON.parse('{"__proto__": {"polluted": true}, "a": {"__proto__": 1}}') as Settings;
    const merged = mergeSettings({}, patch);
    expect(JSON.stringify(merged)).toBe('{"__proto__":{"polluted":true},"a":{"__proto__":1}}');
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("[WS3] settings have the size and depth limits of free-form objects", () => {
    const limits: Limits = { ...defaultLimits, "body.freeForm": 100, "body.freeFormDepth": 3 };
    const nested = (depth: number): Json => (depth === 0 ? 1 : { a: nested(depth - 1) });
    expect(() => checkSettings(nested(3) as Settings, limits)).not.toThrow();
    expect(() => checkSettings(nested(4) as Settings, limits)).toThrow(expect.objectContaining({ code: "validation_failed" }));
    expect(() => checkSettings({ a: [[1]] }, limits)).not.toThrow();
    expect(() => checkSettings({ a: [[[1]]] }, limits)).toThrow(expect.objectContaining({ code: "validation_failed" }));
    expect(() => checkSettings({ a: "x".repeat(91) }, limits)).not.toThrow();
    expect(() => checkSettings({ a: "ü".repeat(47) }, limits)).toThrow(expect.objectContaining({ code: "validation_failed" }));
  });
});
