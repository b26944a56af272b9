import fc from "fast-check";
import { expect, test } from "vitest";
import { toDiff } from "./diff.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`);

test("[CO10] the unified format has three lines of context and separates distant hunks", () => {
  const older = numbers(20);
  const newer = older.map((line) => (line === "line 2\n" ? "second\n" : line)).filter((line) => line !== "line 15\n");
  const { hunks, stats } = toDiff(older.join(""), `${newer.join("")}end`, "unified");
  expect(hunks.map((hunk) => hunk.text)).toEqual([
    "@@ -1,5 +1,5 @@\n line 1\n-line 2\n+second\n line 3\n line 4\n line 5\n",
    "@@ -12,9 +12,9 @@\n line 12\n line 13\n line 14\n-line 15\n line 16\n line 17\n line 18\n line 19\n line 20\n+end\n\\ No newline at end of file\n",
  ]);
  expect(stats).toEqual({ added: 2, removed: 2 });
  expect(toDiff("", "a\n", "unified").hunks[0]?.text).toBe("@@ -0,0 +1,1 @@\n+a\n");
  expect(toDiff("same\n", "same\n", "unified")).toEqual({ hunks: [], stats: { added: 0, removed: 0 } });
});

test("[CO10] the words format shows the changes inside the lines", () => {
  expect(toDiff("one two three\nkept\n", "one 2 three\nkept\n", "words").hunks).toEqual([
    {
      fromLine: 1,
      fromLines: 2,
      toLine: 1,
      toLines: 2,
      changes: [
        { op: "equal", text: "one " },
        { op: "delete", text: "two" },
        { op: "insert", text: "2" },
        { op: "equal", text: " three\nkept\n" },
      ],
    },
  ]);
});

test("[CO10] the hunks of both other formats contain both texts, except where they are equal", () => {
  const text = fc.array(fc.constantFrom("a\n", "b\n", "c c\n", "\r\n", "d"), { maxLength: 30 }).map((lines) => lines.join(""));
  fc.assert(
    fc.property(text, text, fc.constantFrom("json" as const, "words" as const), (from, to, format) => {
      const [older, newer] = [from.split(/(?<=\n)/), to.split(/(?<=\n)/)];
      for (const { fromLine, fromLines, toLine, toLines, changes = [] } of toDiff(from, to, format).hunks) {
        const side = (skipped: string) => changes.flatMap(({ op, text: part }) => (op === skipped ? [] : [part])).join("");
        expect(side("insert")).toBe(older.slice(fromLine - 1, fromLine - 1 + fromLines).join(""));
        expect(side("delete")).toBe(newer.slice(toLine - 1, toLine - 1 + toLines).join(""));
      }
    }),
    { numRuns: 500 },
  );
});

test("[CO10] tens of thousands of changed places are joined into fewer hunks, without losing any", () => {
  const lines = Array.from({ length: 40_000 }, (_, at) => `${at} one two three\n`);
  const from = lines.join("");
  const to = lines.map((line, at) => (at % 2 === 0 ? line : line.replace("two", "2"))).join("");
  for (const format of ["unified", "json", "words"] as const) {
    const { hunks, stats } = toDiff(from, to, format);
    expect(stats).toEqual({ added: 20_000, removed: 20_000 });
    const changes = hunks.flatMap((hunk) => hunk.changes ?? []);
    expect(hunks.length + changes.length).toBeLessThan(20_000);
    if (format === "unified") continue;
    const side = (skipped: string) => changes.flatMap(({ op, text }) => (op === skipped ? [] : [text])).join("");
    expect(from.endsWith(side("insert"))).toBe(true);
    expect(to.endsWith(side("delete"))).toBe(true);
  }
});
