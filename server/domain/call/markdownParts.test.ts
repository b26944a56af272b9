import fc from "fast-check";
import remarkFrontmatter from "remark-frontmatter";
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import { unified } from "unified";
import { expect, test } from "vitest";
import { makeLongDocument, testDocuments } from "../../../test/support/documents.ts";
import { remarkMath } from "./formulaSyntax.ts";
import { parseInParts } from "./markdownParts.ts";

const processor = unified().use(remarkParse).use(remarkGfm).use(remarkFrontmatter).use(remarkMath);
const parseWhole = (markdown: string) => processor.parse(markdown);

test.each(testDocuments)("[CV91] $name has the same tree in parts as in one piece", ({ markdown }) => {
  const whole = parseWhole(markdown);
  for (const partLength of [1, 40, 200, 1000]) {
    expect(parseInParts(markdown, parseWhole, partLength), `parts of ${partLength}`).toEqual(whole);
  }
});

/** Blocks whose borders, positions or references depend on other blocks. */
const blocks = [
  "A [one] and a [two][one], ![three] and a note[^1].",
  "Not defined: [nowhere], [^nowhere], [x]: y.",
  "[one]: https://example.com/1",
  '[three]: /3 "a\ntitle"\n[four\n  five]: /4',
  "> [Six]: /6\n> quoted [one]\ncontinued",
  "> [seven\n> eight]: /7\n\nSee [seven eight] and [SIX].",
  "[^1]: A note.\n\n    More of it.\n\n    - item",
  "[^nöte]: Another.\nlazy",
  "Back[^NÖTE] and [ONE][].",
  "`[a\\]b]`: [a\\]b]",
  "[a\\]b]: /ab",
  "- a\n- b\n\n  - c\n\n    ```\n    [one]: code\n\n    more\n    ```\n\n  d",
  "1. a\n\n\n2. b\n   [inner]: /i\n\n    code in b",
  "    indented [one]\n\n    [inner]: /no",
  "```\n[one]: code\n\nmore",
  "```",
  "~~~ js\nlet a;\n~~~",
  "   paragraph\twith\ttabs",
  "| a | b |\n|---|:-:|\n| [one] | [^1] |",
  "text\n| a |\n|---|",
  "---",
  "***",
  "Title\n===",
  "# Heading [inner] [one]",
  "<div>\n[one]\n\n*a*\n</div>",
  "<!-- open\n\n[one]: no",
  "-->",
  "- \n\n  foo",
  "* * *\n- x",
  "https://example.com/[one] www.example.com a@example.com",
  "\ufeffmark",
  "",
  "\\[one]: x",
  "$$\n[one]: x\n\n- a",
  "$$",
  "A $[one]$ and $$x\n",
];

test("[CV91] a text of any blocks has the same tree in parts as in one piece", () => {
  const text = fc
    .tuple(
      fc.constantFrom("Begin.\n\n", "---\ntitle: a\n\nb: [one]\n---\n", "\ufeffBegin.\n\n"),
      fc.array(fc.constantFrom(...blocks), { maxLength: 14 }),
      fc.constantFrom("\n", "\n\n", "\r\n\r\n", "\n \t\n\n"),
      fc.constantFrom("", "\n", "\n\n"),
    )
    .map(([front, parts, between, end]) => front + parts.join(between) + end);
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 120 }), (markdown, partLength) => {
      expect(parseInParts(markdown, parseWhole, partLength)).toEqual(parseWhole(markdown));
    }),
    { numRuns: 400 },
  );
});

/** Texts that mention a label, and definitions of it. The labels have letters that folding or trimming could lose. */
const distant = [
  ["Go [>] now", "[>]: /n"],
  ["list [x, y\\\n[b], [x\\ [b], [1, 2 \\> [b]", "[b]: /n"],
  ["[a\\>] and [b\\ ]", "[a\\>]: /n\n\n[b\\ ]: /n"],
  ["[\u3000注] [\u00a0a] [a] [\va] [\fa] [\ufeffa]", "[\u3000注]: /n\n\n[\u00a0a]: /n\n\n[\va]: /n\n\n[\fa]: /n\n\n[\ufeffa]: /n"],
  ["Go [a] now", "[\u00a0a]: /n"],
  [`[${"ß".repeat(600)}]`, `[${"ß".repeat(600)}]: /n`],
  [[996, 997, 998, 999, 1000].map((count) => `[^${"a".repeat(count)}]`).join(" "), `[^${"a".repeat(998)}]: Note.`],
  ["[a\0b] and [^\0]", "[a\0b]: /n\n\n[^\0]: Note."],
  ["[a\nb] and [a > b]", "> [a\n> b]: /n"],
  ["> [a\n> > b]", "[a > b]: /n"],
] as const;

test.each(distant)("[CV91] %j finds its definition %j in another part", (mention, definition) => {
  const filler = "A line of words that define nothing.\n\n".repeat(30);
  for (const markdown of [`${mention}\n\n${filler}${definition}\n`, `${definition}\n\n${filler}${mention}\n`]) {
    expect(parseInParts(markdown, parseWhole, 200)).toEqual(parseWhole(markdown));
  }
});

test("[CV91] a rule at the beginning of a text hides no list after it", () => {
  const { children } = parseInParts("---\n\n- one\n\n> two\n", parseWhole);
  expect(children.map(({ type, position }) => [type, position?.start.line])).toEqual([
    ["thematicBreak", 1],
    ["list", 3],
    ["blockquote", 5],
  ]);
});

test("[CV91] a long text is parsed in parts of bounded length", () => {
  const markdown = makeLongDocument(100_000);
  const lengths: number[] = [];
  parseInParts(markdown, (part) => {
    lengths.push(part.length);
    return parseWhole(part);
  });
  expect(Math.max(...lengths)).toBeLessThan(15_000);
  expect(lengths.reduce((sum, length) => sum + length)).toBeLessThan(markdown.length * 1.2);
});
