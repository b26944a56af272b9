import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { contract } from "../../../api/contract/contract.ts";
import { jsonOf, type OperationSpec } from "../../../api/contract/operation.ts";
import { sampleOf } from "../../../test/contract/schemaSample.ts";
import { compileJsonWriter } from "./jsonWriter.ts";

function sameText(schema: z.ZodType, value: unknown): void {
  expect(compileJsonWriter(schema)(value)).toBe(JSON.stringify(value));
}

describe("JSON of answers", () => {
  it("[API17] every reply of the contract is written as JSON.stringify writes it", () => {
    for (const group of Object.values(contract)) {
      for (const spec of Object.values(group as Record<string, OperationSpec>)) {
        for (const reply of Object.values(spec.replies)) {
          if (reply === null) continue;
          const schema = jsonOf(reply)?.schema as z.ZodType;
          for (const optional of [false, true]) sameText(schema, sampleOf(schema, optional));
        }
      }
    }
  });

  it("[API17] any text and number is written correctly, also half surrogates and control characters", () => {
    const schema = z.strictObject({ text: z.string(), n: z.number(), list: z.array(z.string()) });
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom('"', "\\", "\u2028", "\ud800", "\udc00", "\u0000", "\n", "é", "🗼") }),
    );
    const value = fc.record({ text: texts, n: fc.double({ noNaN: true, noDefaultInfinity: true }), list: fc.array(texts) });
    fc.assert(fc.property(value, (given) => sameText(schema, given)));
  });

  it("[API17] optional, null, empty and nested members are written in their places", () => {
    const inner = z.strictObject({ a: z.number().optional(), b: z.boolean().optional() });
    const schema = z.strictObject({
      first: z.string().optional(),
      nothing: z.string().nullable(),
      inner: inner.optional(),
      list: z.array(inner.nullable()),
      kind: z.enum(["x", 'quo"te']),
      open: z.record(z.string(), z.json()),
      either: z.union([z.string(), z.number()]),
      "odd name\n": z.literal("v").optional(),
    });
    sameText(schema, { nothing: null, list: [], kind: "x", open: {}, either: 1 });
    sameText(schema, {
      first: "f",
      nothing: "n",
      inner: {},
      list: [null, {}, { b: true }],
      kind: 'quo"te',
      open: { k: [1, null] },
      either: "e",
      "odd name\n": "v",
    });
    sameText(schema, { nothing: null, inner: { a: -0, b: false }, list: [{ a: 1e21 }], kind: "x", open: {}, either: 1 });
    sameText(inner, {});
    const loose = z.strictObject({
      u: z.union([z.string(), z.undefined()]),
      n: z.number().optional().nullable(),
      list: z.array(z.string().optional()),
      s: z.string(),
    });
    sameText(loose, { u: undefined, n: undefined, list: ["a", undefined], s: "s" });
    sameText(loose, { u: "u", n: null, list: [], s: "s" });
    sameText(z.object({ a: z.number() }), { a: 1, more: 2 });
  });
});
