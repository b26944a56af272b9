import { expect, test } from "vitest";
import { handleAt, matchNames, splitMentions } from "./mentions.ts";

test("a handle is completed from its @ up to the caret", () => {
  expect(handleAt("Ask @An about it", 7)).toEqual({ start: 4, query: "an" });
  expect(handleAt("@", 1)).toEqual({ start: 0, query: "" });
});

test("an @ inside of a word, such as an address, begins no handle", () => {
  expect(handleAt("ana@example", 11)).toBeUndefined();
  expect(handleAt("@ana is", 7)).toBeUndefined();
});

test("names that begin with the typed letters come first", () => {
  expect(matchNames(["bo", "diana", "ana", "anders"], "an", 2)).toEqual(["ana", "anders"]);
  expect(matchNames(["bo", "diana", "ana"], "an", 5)).toEqual(["ana", "diana"]);
});

test("the mentioned accounts of a text are marked, and other words are not", () => {
  expect(splitMentions("@Ana. and @nobody", ["ana"])).toEqual([
    { at: 0, text: "@Ana", isMention: true },
    { at: 4, text: ". and @nobody", isMention: false },
  ]);
});
