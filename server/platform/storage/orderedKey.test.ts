import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeKey, encodeKey, fromByteText, maxIndexKeyBytes, toByteText } from "./orderedKey.ts";
import type { IndexKey, IndexPart } from "./port.ts";

/** Any UTF-16 text, including unpaired surrogates. */
const anyText = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 6 }).map((units) => String.fromCharCode(...units));
const anyNumber = fc.double({ noNaN: true }).map((value) => (Object.is(value, -0) ? 0 : value));
const anyKey = fc
  .tuple(anyText, fc.array(fc.oneof<fc.Arbitrary<IndexPart>[]>(anyText, anyNumber), { maxLength: 4 }))
  .map(([index, parts]): IndexKey => [index, ...parts]);

function compareText(one: string, other: string): number {
  const [these, those] = [one, other].map((text) => Array.from(text, (character) => character.codePointAt(0) ?? 0)) as [number[], number[]];
  for (const [at, code] of these.entries()) {
    if (at >= those.length) return 1;
    if (code !== those[at]) return code - (those[at] as number);
  }
  return these.length - those.length;
}

function compareKeys(one: IndexKey, other: IndexKey): number {
  for (const [at, part] of one.entries()) {
    const against = other[at];
    if (against === undefined) return 1;
    if (typeof part === "number" && typeof against === "number") {
      if (part !== against) return part < against ? -1 : 1;
    } else if (typeof part === "string" && typeof against === "string") {
      const order = compareText(part, against);
      if (order !== 0) return order;
    } else return typeof part === "number" ? -1 : 1;
  }
  return one.length - other.length;
}

describe("index keys as byte text", () => {
  test("[ST5] any key can be read back from its byte text, at any position in a longer key", () => {
    fc.assert(
      fc.property(anyKey, (key) => {
        const encoded = encodeKey(key);
        expect(decodeKey(`i7${encoded}\x00nothing of it`, 2)).toEqual({ key, end: encoded.length + 2 });
        expect(Buffer.from(encoded, "latin1").toString("latin1")).toBe(encoded);
        expect(encoded).not.toContain("\xff");
      }),
    );
  });

  test("[ST5] the byte order of two keys is the order of their tuples", () => {
    fc.assert(
      fc.property(anyKey, anyKey, (one, other) => {
        const [first, second] = [encodeKey(one), encodeKey(other)];
        expect(first < second ? -1 : first > second ? 1 : 0).toBe(Math.sign(compareKeys(one, other)));
        expect(Buffer.compare(Buffer.from(first, "latin1"), Buffer.from(second, "latin1"))).toBe(Math.sign(compareKeys(one, other)));
      }),
      { numRuns: 1000 },
    );
  });

  test("[ST5] one key is a prefix of another only if its parts are", () => {
    fc.assert(
      fc.property(anyKey, anyKey, (one, other) => {
        const begins = one.every((part, at) => Object.is(part, other[at]));
        expect(encodeKey(other).startsWith(encodeKey(one))).toBe(begins);
      }),
    );
  });

  test("[ST5] text is encoded as UTF-8 bytes, and half surrogate pairs stay distinct", () => {
    expect(toByteText("ä😀")).toBe(Buffer.from("ä😀").toString("latin1"));
    fc.assert(fc.property(anyText, (text) => fromByteText(toByteText(text)) === text));
    expect(fromByteText(toByteText("\ud7ff\udc00\ud83d"))).toBe("\ud7ff\udc00\ud83d");
  });

  test("[ST5] a key that no store could hold is refused", () => {
    expect(encodeKey(["i", "x".repeat(maxIndexKeyBytes - 5)])).toHaveLength(maxIndexKeyBytes - 5 + 5);
    expect(() => encodeKey(["i", "x".repeat(maxIndexKeyBytes - 4)])).toThrow(RangeError);
    expect(() => encodeKey(["i", Number.NaN])).toThrow(RangeError);
    expect(encodeKey(["i", -0])).toBe(encodeKey(["i", 0]));
    expect(encodeKey(["i", Number.NEGATIVE_INFINITY]) < encodeKey(["i", -Number.MAX_VALUE])).toBe(true);
    expect(encodeKey(["i", Number.POSITIVE_INFINITY]) > encodeKey(["i", Number.MAX_VALUE])).toBe(true);
  });
});
