import { expect, test } from "vitest";
import { splitSnippet } from "./snippet.ts";

test("the snippet of a hit becomes plain text in which the found words are marked", () => {
  expect(splitSnippet("Kept &amp; <mark>flushed</mark> to &lt;disk&gt;")).toEqual([
    { at: 0, text: "Kept & ", isMatch: false },
    { at: 1, text: "flushed", isMatch: true },
    { at: 2, text: " to <disk>", isMatch: false },
  ]);
});

test("markup in a snippet stays text", () => {
  expect(splitSnippet("&lt;mark&gt;not marked&lt;/mark&gt; &#39;&quot;")).toEqual([
    { at: 0, text: "<mark>not marked</mark> '\"", isMatch: false },
  ]);
});

test("an escaped escape is read once", () => {
  expect(splitSnippet("&amp;lt;")).toEqual([{ at: 0, text: "&lt;", isMatch: false }]);
});
