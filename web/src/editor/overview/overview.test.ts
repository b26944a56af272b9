/** Tests the figures and the outline of a text. */
import { Text } from "@codemirror/state";
import { expect, test } from "vitest";
import { stateOf } from "../core/testState.ts";
import { readOutline } from "./outline.ts";
import { measureText } from "./statistics.ts";

const textOf = (text: string) => Text.of(text.split("\n"));

test("[WA36] words are counted as the server counts those of an article", () => {
  expect(measureText(textOf("It's a hand-dug well: 12 m, tief und naß — déjà vu."))?.words).toBe(11);
  expect(measureText(textOf("井戸を掘る: a de\u0301ja\u0300 vu"))?.words).toBe(8);
  expect(measureText(textOf(""))).toEqual({ words: 0, characters: 0, readingMinutes: 0 });
  expect(measureText(textOf("a\n😀"))).toEqual({ words: 1, characters: 2, readingMinutes: 1 });
  expect(measureText(textOf("word ".repeat(231)))?.readingMinutes).toBe(2);
  expect(measureText(textOf("字".repeat(1000)))?.readingMinutes).toBe(2);
});

test("[WA36] a long text is counted in pieces, and after a change only what changed is counted again", () => {
  const text = textOf("one two three\n".repeat(20_000));
  let pieces = 0;
  const allow = (count: number) => {
    let left = count;
    return () => {
      if (left === 0) return false;
      left -= 1;
      pieces += 1;
      return true;
    };
  };
  expect(measureText(text, allow(10))).toBeUndefined();
  expect(measureText(text, allow(Number.POSITIVE_INFINITY))?.words).toBe(60_000);
  expect(pieces).toBeGreaterThan(100);
  pieces = 0;
  const changed = text.replace(5, 5, textOf(" four"));
  expect(measureText(changed, allow(Number.POSITIVE_INFINITY))?.words).toBe(60_001);
  expect(pieces).toBeLessThan(5);
});

test("[WA36] the outline has the headings with their texts and places, and not those of quotes and front matter", () => {
  const state = stateOf(
    "---\n# no\n---\n# **One** `two`\n\n> # quoted\n\nThree [four](https://a.example)\n---\n\n###### \n\n```\n# code\n```",
  );
  const position = (text: string) => state.doc.toString().indexOf(text);
  expect(readOutline(state)).toEqual([
    { level: 1, text: "One two", position: position("# **One**") },
    { level: 2, text: "Three four", position: position("Three") },
    { level: 6, text: "", position: position("######") },
  ]);
});
