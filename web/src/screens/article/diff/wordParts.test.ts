import { expect, test } from "vitest";
import { toWordParts } from "./wordParts.ts";

test("a correction is shown by whole words", () => {
  expect(toWordParts("would do the same.", "would do that.")).toEqual([
    { op: "equal", text: "would do " },
    { op: "delete", text: "the same" },
    { op: "insert", text: "that" },
    { op: "equal", text: "." },
  ]);
});

test("an empty replacement removes all words", () => {
  expect(toWordParts("All of it", "")).toEqual([{ op: "delete", text: "All of it" }]);
});

test("a word in a script with marks stays whole", () => {
  expect(toWordParts("कविता", "कवित")).toEqual([
    { op: "delete", text: "कविता" },
    { op: "insert", text: "कवित" },
  ]);
});
