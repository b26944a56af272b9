import { expect, test } from "vitest";
import { findFirstHeading } from "./firstHeading.ts";

test.each([
  ["Text\n\n## A *kite* & its `tail`\n\n# Later\n", "A kite & its tail"],
  ["---\n# no\ntitle: a\n---\n\n# Kites\n", "Kites"],
  ["```sh\n# no\n~~~\n```\n\n# Kites\n", "Kites"],
  ["````\n```\n# no\n````\n\n# [Kites](https://example.com)\n", "Kites"],
  ["#\n\n# ![](data:,a)\n\n# Kites", "Kites"],
  ["$$ x $$ is first\n\n``` a `` b ``` is next\n\n# Kites\n", "Kites"],
  ["$$\n# no\n$$\n\n# Kites\n", "Kites"],
  ["No heading, #1 and \\# two\n", undefined],
  ["", undefined],
])("[CV112] the first heading of %j is %j", async (markdown, words) => {
  expect(await findFirstHeading(markdown)).toBe(words);
});

test("[CV112] a heading without words is passed over, in twenty headings at most", async () => {
  const empty = "# ![](a)\n";
  expect(await findFirstHeading(`${empty.repeat(19)}# Kites\n`)).toBe("Kites");
  expect(await findFirstHeading(`${empty.repeat(20)}# Kites\n`)).toBeUndefined();
});
