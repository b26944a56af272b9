import { expect, test } from "vitest";
import { toCloseReason } from "./closeReason.ts";

test("a close reason that is too long for its frame ends with a whole word", () => {
  expect(toCloseReason("x".repeat(123))).toBe("x".repeat(123));
  expect(toCloseReason(`${"word ".repeat(24)}end`)).toBe(`${"word ".repeat(24)}end`);
  expect(toCloseReason("word ".repeat(40))).toBe(`${"word ".repeat(23)}word…`);
  expect(toCloseReason(`${"word ".repeat(23)}longer words`)).toBe(`${"word ".repeat(22)}word…`);
});

test("a close reason without a space is cut between characters", () => {
  expect(toCloseReason("é".repeat(100))).toBe(`${"é".repeat(60)}…`);
  expect(toCloseReason("😀".repeat(40))).toBe(`${"😀".repeat(30)}…`);
});
