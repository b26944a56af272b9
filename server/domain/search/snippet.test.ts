import fc from "fast-check";
import { expect, test } from "vitest";
import { parseQuery } from "./query.ts";
import { toSnippet } from "./snippet.ts";
import { toComposed } from "./tokens.ts";

const snippetOf = (text: string, q: string) => toSnippet(toComposed(text), parseQuery(q, 32)).html;

test("[SR9] the words that were found are marked, in the form in which the text has them", () => {
  expect(snippetOf("Meet at the Café Straßenblick.", "cafe stras")).toBe("Meet at the <mark>Café</mark> <mark>Straßenblick</mark>.");
  expect(snippetOf("A power cut is no power.", '"power cut"')).toBe("A <mark>power cut</mark> is no power.");
  expect(snippetOf("東京タワーに行く", "タワー")).toBe("東京<mark>タワー</mark>に行く");
  expect(snippetOf("東京に行く", "京")).toBe("東<mark>京</mark>に行く");
  expect(snippetOf("No such word.\n\nNext line.", "other")).toBe("No such word. Next line.");
});

test("[SR9] the snippet shows the place with the most words of the query", () => {
  const text = `${"The cut of a coat. ".repeat(40)}Then a power cut came. ${"Nothing else. ".repeat(40)}`;
  const html = snippetOf(text, "power cut ");
  expect(html).toContain("a <mark>power</mark> <mark>cut</mark> came");
  expect(html).toMatch(/^….*…$/);
  expect(html.length).toBeLessThan(400);
});

test("[SR19] a snippet reads as text, and the words that were found are marked", () => {
  const text = "# Towers\n\nA **power cut** left [the *old* lighthouse](https://sea.example/power) dark.";
  expect(snippetOf(text, "cut lighthouse")).toBe("Towers A power <mark>cut</mark> left the old <mark>lighthouse</mark> dark.");
  expect(snippetOf(text, '"power cut left the old"')).toBe("Towers A <mark>power cut left the old</mark> lighthouse dark.");
  // A word that only an address has is shown where it is.
  expect(snippetOf(text, "sea.example")).toMatch(/https:\/\/<mark>sea<\/mark>\.<mark>example<\/mark>/);
});

test("[SR9] no markup of the text survives, for any text and query", () => {
  const piece = fc.constantFrom(
    "<script>",
    "</mark>",
    "<mark>",
    "&lt;",
    "&",
    '"',
    "'",
    "alert",
    "x",
    "東京",
    "é",
    "\u{1F642}",
    " ",
    "\ud83d",
    "\n",
  );
  const texts = fc.array(piece, { maxLength: 200 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(texts, fc.constantFrom("alert", "x", "mark", "京", "lt", '"script alert"'), (text, q) => {
      const html = snippetOf(text, q);
      const plain = html.replaceAll("<mark>", "").replaceAll("</mark>", "");
      expect(plain).not.toMatch(/[<>"']/);
      expect(plain.replace(/&(amp|lt|gt|quot|#39);/g, "")).not.toContain("&");
      expect(html.split("<mark>").length).toBe(html.split("</mark>").length);
    }),
  );
});

test("[SR9] a text of one endless word or without words has a short snippet", () => {
  expect(snippetOf("a".repeat(100_000), "other").length).toBeLessThan(300);
  expect(snippetOf("-".repeat(100_000), "other").length).toBeLessThan(300);
  expect(snippetOf(`${"\u{1F642}".repeat(50_000)} end`, "end")).toContain("<mark>end</mark>");
});
