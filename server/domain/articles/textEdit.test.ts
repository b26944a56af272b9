import fc from "fast-check";
import { expect, test } from "vitest";
import { applyTextEdit } from "./textEdit.ts";

const letters = fc.array(fc.constantFrom("a", "b", " ", "🙂"), { maxLength: 40 }).map((parts) => parts.join(""));
const some = fc.array(fc.constantFrom("a", "b", " ", "🙂"), { minLength: 1, maxLength: 3 }).map((parts) => parts.join(""));

/** Returns every position of `wanted`, including overlapping ones. */
function placesOf(text: string, wanted: string): number[] {
  return Array.from({ length: text.length }, (_, at) => at).filter((at) => text.startsWith(wanted, at));
}

test("[AR14] a text is replaced only if it occurs once or an occurrence is named", () => {
  fc.assert(
    fc.property(letters, some, letters, (text, find, replace) => {
      const places = placesOf(text, find);
      const only = applyTextEdit(text, { find, replace }, 1000);
      if (places.length === 1) expect(only).toEqual({ kind: "edited", text: text.replace(find, () => replace) });
      else expect(only).toMatchObject({ kind: "rejected", code: places.length === 0 ? "anchor_not_found" : "anchor_ambiguous" });
      if (places.length === 0) return;
      expect(applyTextEdit(text, { find, replace, occurrence: "first" }, 1000)).toEqual({
        kind: "edited",
        text: text.replace(find, () => replace),
      });
      expect(applyTextEdit(text, { find, replace, occurrence: "all" }, 10_000)).toEqual({
        kind: "edited",
        text: text.replaceAll(find, () => replace),
      });
      const separate = text.split(find).length - 1;
      expect(applyTextEdit(text, { find, replace, occurrence: separate + 1 }, 1000)).toMatchObject({
        kind: "rejected",
        code: "anchor_not_found",
      });
      const second = applyTextEdit(text, { find, replace, occurrence: 2 }, 1000);
      if (separate >= 2) {
        const at = text.indexOf(find, text.indexOf(find) + find.length);
        expect(second).toEqual({ kind: "edited", text: text.slice(0, at) + replace + text.slice(at + find.length) });
      }
    }),
    { numRuns: 1000 },
  );
});

test("[AR14] prefix and suffix select the place and are kept; neighbouring edits may share them", () => {
  expect(applyTextEdit("a-x a+x", { find: "x", replace: "y", prefix: "+" }, 100)).toEqual({ kind: "edited", text: "a-x a+y" });
  expect(applyTextEdit("x1 x2", { find: "x", replace: "y", suffix: "2" }, 100)).toEqual({ kind: "edited", text: "x1 y2" });
  expect(applyTextEdit(",a,a,", { find: "a", replace: "b", prefix: ",", suffix: ",", occurrence: "all" }, 100)).toEqual({
    kind: "edited",
    text: ",b,b,",
  });
});

test("[AR13] a search through a repetitive text takes linear time", () => {
  const text = "a".repeat(2_000_000);
  const find = `b${"a".repeat(100_000)}`;
  const before = process.cpuUsage();
  expect(applyTextEdit(text, { find, replace: "" }, 3_000_000)).toMatchObject({ code: "anchor_not_found" });
  expect(applyTextEdit(`${text}${find}`, { find, replace: "x" }, 3_000_000)).toEqual({ kind: "edited", text: `${text}x` });
  // There are millions of overlapping occurrences. Most are found after the search has switched its method.
  const many = applyTextEdit(text, { find: "a".repeat(1000), replace: "b", occurrence: "all" }, 3_000_000);
  expect(many).toEqual({ kind: "edited", text: "b".repeat(2000) });
  // The built-in search would take minutes.
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(10_000);
});

test("[AR15] a result above the limit is refused before it is built", () => {
  const edit = { find: "a", replace: "b".repeat(1_000_000), occurrence: "all" as const };
  expect(applyTextEdit("a".repeat(100_000), edit, 2_000_000)).toEqual({ kind: "too_large" });
});
