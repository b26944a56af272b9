import { expect, test } from "vitest";
import { type DiffPart, type DiffRow, toRows } from "./diffRows.ts";

const equal = (text: string): DiffPart => ({ op: "equal", text });
const insert = (text: string): DiffPart => ({ op: "insert", text });
const remove = (text: string): DiffPart => ({ op: "delete", text });

function toText({ before, after }: DiffRow): readonly (string | undefined)[] {
  return [before, after].map((line) => line && `${line.number} ${line.parts.map(({ text }) => text).join("")}`);
}
const rowsOf = (...changes: DiffPart[]) => toRows({ fromLine: 3, fromLines: 1, toLine: 5, toLines: 1, changes }).map(toText);

test("a changed word stands in the same row on both sides", () => {
  expect(rowsOf(equal("It is "), remove("teh"), insert("the"), equal(" draft.\n"))).toEqual([["3 It is teh draft.", "5 It is the draft."]]);
});

test("an added line has nothing beside it, and the next equal lines stand side by side again", () => {
  expect(rowsOf(equal("One\n"), insert("Two\n"), equal("Three\n"))).toEqual([
    ["3 One", "5 One"],
    [undefined, "6 Two"],
    ["4 Three", "7 Three"],
  ]);
});

test("removed and added lines stand beside each other until one side has no more", () => {
  expect(rowsOf(remove("a\nb\n"), insert("c\n"), equal("d\n"))).toEqual([
    ["3 a", "5 c"],
    ["4 b", undefined],
    ["5 d", "6 d"],
  ]);
});

test("lines that became one line stand beside it", () => {
  expect(rowsOf(equal("One"), remove("\n"), insert(" "), equal("two\n"))).toEqual([
    ["3 One", undefined],
    ["4 two", "5 One two"],
  ]);
});

test("a last line without a line end is shown on both sides", () => {
  expect(rowsOf(equal("a\nb "), remove("c"), insert("d"))).toEqual([
    ["3 a", "5 a"],
    ["4 b c", "6 b d"],
  ]);
});
