/** Tests the grammar of handles. */
import { expect, test } from "vitest";
import { findHandlesIn } from "./handles.ts";
import { reviewTasks } from "./reviewTasks.ts";

const handles = reviewTasks.findHandles;

test.each<[string, string, readonly string[]]>([
  ["a handle in a sentence", "See @ana and @bo.", ["ana", "bo"]],
  ["case", "@Ana @ANA", ["ana"]],
  ["dots, hyphens and underscores inside", "@ana.b-c_d", ["ana.b-c_d"]],
  ["punctuation at the end", "@ana. @bo- @cy_ (@dan) @eve, @fay! @gus?", ["ana", "bo", "cy", "dan", "eve", "fay", "gus"]],
  ["the longest match", "@ana.Then", ["ana.then"]],
  ["a word character before it", "me@ana x_@ana é@ana e\u0301@ana 9@ana _@ana д@ana ١@ana", []],
  [
    "a letter before it of a script without spaces",
    "请@ana かな@bo カー@cy 이름@dan ไทย@eve 㐀@fay 𠀀@gus",
    ["ana", "bo", "cy", "dan", "eve", "fay", "gus"],
  ],
  ["a letter after it", "@ana看一下 @boさん @cy님 @dané @eveд @fay।", ["ana", "bo", "cy", "dan", "eve", "fay"]],
  ["emphasis with underscores", "_@ana_ __@bo__ ___@cy___ (_@dan, see_) x_@eve_", ["ana", "bo", "cy", "dan"]],
  ["no name", "@ @. @-a @_b", []],
  ["a name that is too long", `@${"a".repeat(38)} @${"b".repeat(39)}`, ["a".repeat(38)]],
  ["inline code", "`@ana` ``x @bo`` @cy", ["cy"]],
  ["fenced code", "```\n@ana\n```\n~~~md\n@bo\n~~~\n    @cy\n\n@dan", ["dan"]],
  ["links", "[@ana](https://x.example/@bo) <https://x.example/@cy> https://x.example/@dan @eve", ["eve"]],
  ["reference links", "[@ana][a]\n\n[a]: https://x.example/@bo\n\n@cy", ["cy"]],
  ["images", "![@ana](a.png) @bo", ["bo"]],
  ["e-mail addresses", "ana@example.com <bo@example.com> mailto:cy@example.com @dan", ["dan"]],
  ["markup beside it", "**@ana** *@bo* x**@cy** > @dan", ["ana", "bo", "cy", "dan"]],
  ["every block", "# @ana\n\n- @bo\n  > @cy\n\n| a |\n|---|\n| @dan |\n\nx[^1]\n\n[^1]: @eve", ["ana", "bo", "cy", "dan", "eve"]],
  ["HTML", "<b title='@ana'>@bo</b>", ["bo"]],
])("[RV9] handles are found by the grammar: %s", async (_what, markdown, expected) => {
  expect(await handles(markdown)).toEqual(expected);
});

test("[RV10] reading the handles of 1 MB takes a time proportional to its length", () => {
  const value = "@ana.b-c_d@".repeat(2 ** 20 / 11);
  const startedAt = performance.now();
  expect(findHandlesIn({ type: "text", value, position: { start: { offset: 0 } } }, value)).toEqual(["ana.b-c_d"]);
  expect(findHandlesIn({ type: "text", value: `${"@".repeat(2 ** 20)}ana` }, "")).toEqual(["ana"]);
  // Some 100 ms. A scan in quadratic time would take hours, so the bound only ends a test that hangs.
  expect(performance.now() - startedAt).toBeLessThan(20_000);
});
