import { expect, test } from "vitest";
import { toLineSpans, toLiveSpans, toShares } from "./blame.ts";

const ana = { username: "ana", kind: "user" } as const;
const bo = { username: "bo", kind: "user" } as const;
const agent = { username: "ana", kind: "agent" } as const;

test("authors keep their text where it is now, and text that was written since has none", () => {
  const spans = [
    { ...ana, start: 0, end: 10 },
    { ...bo, start: 10, end: 21 },
  ];
  const live = toLiveSpans(spans, "The first.The second.", "New: The first.The own second.");
  const textOf = (author: string) =>
    live
      .filter(({ username }) => username === author)
      .map(({ start, end }) => "New: The first.The own second.".slice(start, end))
      .join("");
  expect(textOf("ana")).toBe("The first.");
  expect(textOf("bo")).toBe("The second.");
});

test("a line belongs to the author of most of it, and neighbouring lines of one author are one span", () => {
  const text = "aaaa\naabb\nbbbb\n\ncccc\n";
  const spans = [
    { ...ana, start: 0, end: 7 },
    { ...bo, start: 7, end: 15 },
    { ...agent, start: 16, end: 21 },
  ];
  expect(toLineSpans(spans, text)).toEqual([
    { ...ana, fromLine: 1, toLine: 1 },
    { ...bo, fromLine: 2, toLine: 3 },
    { ...agent, fromLine: 5, toLine: 5 },
  ]);
});

test("a person and the agent that works for the person have shares of their own", () => {
  const spans = [
    { ...ana, start: 0, end: 1 },
    { ...agent, start: 1, end: 4 },
  ];
  expect(toShares(spans)).toEqual([
    { ...agent, share: 0.75 },
    { ...ana, share: 0.25 },
  ]);
});
