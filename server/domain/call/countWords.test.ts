/** Tests how the words of a text are counted. */
import { expect, test } from "vitest";
import { countWords } from "./countWords.ts";

test("[EX5] words are counted as people count them", () => {
  expect(countWords("It's a hand-dug well: 12 m, tief und naß — déjà vu.")).toBe(11);
  expect(countWords("井戸を掘る: a de\u0301ja\u0300 vu")).toBe(8);
});
