import { expect, test } from "vitest";
import { runConversion, toText } from "../../../test/support/conversionRuns.ts";
import { toPageText } from "./markdownPage.ts";

/** Names of the elements in the content of a page and of converted HTML. */
const tagsOf = (html: string) => [...html.matchAll(/<(hr|ul|li|blockquote|p|h1|h2)\b/g)].map(([, tag]) => tag);

test.each([
  ["---\n\n- one\n\n> two\n", ["hr", "ul", "li", "blockquote", "p"]],
  ["---\ntitle: kites\n---\n\n- one\n", ["ul", "li"]],
  ["---\ntitle: kites\n\n- one\n", ["hr", "p", "ul", "li"]],
  ["---\n---\n\nText\n", ["p"]],
  ["\n---\ntitle: kites\n---\n", ["hr", "h2"]],
])("[PL67] the beginning of %j means the same on a public page and in a conversion", async (markdown, tags) => {
  expect(tagsOf((await toPageText({ title: "Kites", markdown })).html)).toEqual(tags);
  expect(tagsOf(toText(await runConversion("markdown", "html", markdown)))).toEqual(tags);
});
