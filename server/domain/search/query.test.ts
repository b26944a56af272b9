import { expect, test } from "vitest";
import { parseQuery, toExpression } from "./query.ts";

const termsOf = (q: string) => parseQuery(q, 32).map(({ tokens, isPrefix }) => tokens.join(" ") + (isPrefix ? "*" : ""));

test("[SR2] words are terms, quoted words are one term, and the last word is a beginning", () => {
  expect(termsOf("Power cut")).toEqual(["power", "cut*"]);
  expect(termsOf("power cut ")).toEqual(["power", "cut"]);
  expect(termsOf("power c")).toEqual(["power", "c"]);
  expect(termsOf('safe "Power Cut" now')).toEqual(["safe", "power cut", "now*"]);
  expect(termsOf('"power cut"')).toEqual(["power cut"]);
  expect(termsOf("„power cut“")).toEqual(["power cut"]);
  expect(termsOf('draft "power cu')).toEqual(["draft", "power cu*"]);
  expect(termsOf("cut cut, cut!")).toEqual(["cut"]);
});

test("[SR3] a part of a text without spaces is a phrase of its pairs, and one character the beginning of a pair", () => {
  expect(termsOf("東京タワー")).toEqual(["東京 京タ タワ ワー"]);
  expect(termsOf("京")).toEqual(["京*"]);
  expect(termsOf("iPhone発売")).toEqual(["iphone", "発売"]);
  // In the index the last character of a run comes between the run and the next word.
  expect(termsOf('"東京都 tower"')).toEqual(["東京 京都 都 tower"]);
});

test("[SR5] a character other than a letter or digit only separates words and never reaches the expression", () => {
  const { raw } = String;
  for (const q of ["a AND* b) OR (c", raw`title:"x" NEAR(y z) ^w -v +u {t}`, "'; DROP TABLE words; --", "%_\u0000*\\"]) {
    const terms = parseQuery(`${q} end`, 32);
    const expression = toExpression(terms, { places: ["ws1article"] });
    expect(expression.replace(/"[\p{L}\p{N} ]*"/gu, "w")).toMatch(
      /^\(\{title body extra\} : \(w( \*)?( AND w( \*)?)*\)\) AND \(scope : \(\(w\)\)\)$/,
    );
  }
  expect(toExpression(parseQuery("a b", 2), { places: ["p", "q"], folder: "f" })).toBe(
    '({title body extra} : ("a" AND "b")) AND (scope : (("p" OR "q") AND "f"))',
  );
});

test("[SR5] a query without words, or with too many, is refused with a pointer", () => {
  for (const q of ["", " ", '""', "?!…", "---", "\u0000", "🙂"]) {
    expect(() => parseQuery(q, 32)).toThrow(
      expect.objectContaining({ code: "validation_failed", facts: { errors: [expect.objectContaining({ pointer: "/q" })] } }),
    );
  }
  expect(parseQuery("one two", 2)).toHaveLength(2);
  expect(() => parseQuery("one two three", 2)).toThrow("at most 2 words");
  expect(() => parseQuery("一二三四", 2)).toThrow("at most 2 words");
});
