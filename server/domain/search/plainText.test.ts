import fc from "fast-check";
import { expect, test } from "vitest";
import { toPlainText } from "./plainText.ts";

const plain = (markdown: string) => toPlainText(markdown).replace(/\s+/g, " ").trim();

test("[SR19] the syntax of Markdown is removed, and its words stay", () => {
  for (const [markdown, text] of [
    ["# Title #\n\nText", "Title Text"],
    ["## Why C#", "Why C#"],
    ["Title\n=====\n\nText\n\n---\n\nMore", "Title Text More"],
    ["**Bold**, *slanted*, ***both***, __bold__, _slanted_, ~~gone~~", "Bold, slanted, both, bold, slanted, gone"],
    ["**bold *and slanted* words**", "bold and slanted words"],
    ['A [link](https://example.org/a_(b) "Title") and [one](<x y>).', "A link and one."],
    ["[ref][1] and [other][]\n\n[1]: https://example.org\n[other]: /x", "ref and other"],
    ["![A tower](tower.svg) by the sea", "A tower by the sea"],
    ["[![Badge](b.svg)](https://example.org)", "Badge"],
    ["- one\n* two\n  + three\n- [x] done\n1. first", "one two three done 1. first"],
    ["> quoted\n>> twice", "quoted twice"],
    ["| Name | Value |\n|:---|---:|\n| a \\| b | `c` |", "Name Value a | b c"],
    ["Use `npm ci`, ``a ` b`` and\n\n```sh\n# comment\nrm *.txt\n```\n\nend", "Use npm ci, a ` b and # comment rm *.txt end"],
    ["```code``` begins **bold**\n\n*and* more", "code begins bold and more"],
    ["A note[^1].\n\n[^1]: Its text.", "A note. Its text."],
    ["a <b>bold</b> <br/> <!-- hidden **x** --> word <https://example.org>", "a bold word https://example.org"],
    ["---\nlang: de\n---\n\nText", "Text"],
    ["\\*not slanted\\* and \\# no heading", "*not slanted* and # no heading"],
  ] as const) {
    expect(plain(markdown), markdown).toBe(text);
  }
});

test("[SR19] characters that are no syntax stay", () => {
  for (const text of [
    "2 * 3 and 2 ** 3",
    "snake_case_name and *.txt",
    "a < b > c, Vec<T>",
    "list[0] and {x: [1, 2]}",
    "Stop! [Really]",
    "3~4",
    "one ` two",
    "#hashtag",
    "[open and ](closed",
    "C:\\path",
  ]) {
    expect(plain(text), text).toBe(text);
  }
});

test("[SR19] words without syntax are unchanged, and any text is read in linear time", () => {
  const word = fc.stringMatching(/^[a-zé東]{1,8}$/);
  fc.assert(
    fc.property(fc.array(word, { maxLength: 20 }), (words) => {
      expect(plain(words.join(" "))).toBe(words.join(" "));
      expect(plain(words.map((each) => `**${each}**`).join(" "))).toBe(words.join(" "));
    }),
  );
  for (const piece of ["*a ", "[", "](", "[a](", "<!--", "<a ", "> ", "`a``", "_", "![", "\\", "[^1", "- ", "#", "| "]) {
    const hostile = piece.repeat(Math.floor(500_000 / piece.length));
    const startedAt = performance.now();
    toPlainText(hostile);
    // Generous: a pass that is not linear takes minutes.
    expect(performance.now() - startedAt, piece).toBeLessThan(10_000);
  }
});
