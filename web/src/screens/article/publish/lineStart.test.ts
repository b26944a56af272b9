import { expect, test } from "vitest";
import { toLineStart } from "./lineStart.ts";

test("a finding leads to the start of its line, and one behind the text to its end", () => {
  const text = "# Kites\n\nTODO\n";
  expect([1, 2, 3, 9].map((line) => toLineStart(text, line))).toEqual([0, 8, 9, text.length]);
});
