/** Tests the language of public pages: how it is found, and the words that the server adds in it. */
import { describe, expect, test } from "vitest";
import { findHeadingWords } from "../../server/domain/call/headingWords.ts";
import type { PublishedPage } from "../../server/domain/publishing/service.ts";
import { findPageWords } from "../../server/edge/pages/pageWords.ts";
import { toErrorPageHtml } from "../../server/edge/pages/publicPageHtml.ts";
import { findHtml, parseHtml, textIn } from "../support/htmlTree.ts";
import { arabicPage } from "../support/samplePages.ts";
import { linksOf, metaOf, show } from "./pageFixture.ts";

describe("language", () => {
  test("[PL61] Chinese, Japanese and Korean are recognised by their scripts; other languages are not guessed", async () => {
    for (const [markdown, lang] of [
      ["公元二世纪初，蔡伦改进了造纸的方法。", "zh"],
      ["紙は軽くて、手紙を遠くまで運びました。", "ja"],
      ["종이는 가볍고 오래간다.", "ko"],
      ["Un texte en français.", "en"],
      ["---\nlang: fr\n---\n\nUn texte.", "fr"],
      ["---\nlang: [fr]\n---\n\nUn texte.", "en"],
    ] as const) {
      const [html] = findHtml(await show(markdown), "html");
      expect([html?.properties?.lang, html?.properties?.dir], markdown).toEqual([lang, undefined]);
    }
    const [arabic] = findHtml(await show(arabicPage.content), "html");
    expect([arabic?.properties?.lang, arabic?.properties?.dir]).toEqual(["ar", "rtl"]);
  });

  test("[PL61] the date is written in the language of the page, also for a tag that no runtime knows", async () => {
    const dateIn = async (lang: string) => textIn(findHtml(await show(`---\nlang: ${lang}\n---\n\nText.`), "time")[0]);
    expect(await dateIn("de")).toBe("22. November 2026");
    expect(await dateIn("zh-Hans")).toBe("2026年11月22日");
    for (const lang of ["xx", "zz-zz-zz-zz", "qaa-1234-1234"]) expect(await dateIn(lang), lang).toBe("22 November 2026");
  });
});

test("[PL71] the words that the server adds to a page are in the language of the page, otherwise marked as English", async () => {
  const wordsOf = async (front: string, mode: PublishedPage["mode"]) => {
    const tree = await show(front, { mode });
    const [footer] = findHtml(tree, "footer");
    const notice = findHtml(tree, "p").find(({ properties }) => properties?.id === "notice");
    const empty = findHtml(tree, "p").find(({ properties }) => String(properties?.className) === "empty");
    return [footer?.properties?.lang, textIn(footer), textIn(empty), notice?.properties?.dataUpdated];
  };
  const twins = "Markdown · JSON";
  expect(await wordsOf("---\nlang: de-AT\n---\n", "live")).toEqual([
    "de-AT",
    `Live · zuletzt geändert am 22. November 2026 · ${twins}`,
    "Hier steht noch nichts.",
    "Die Seite wurde aktualisiert.",
  ]);
  expect((await wordsOf("---\nlang: zh-TW\n---\n", "snapshot")).slice(0, 3)).toEqual([
    "zh-TW",
    `2026年11月22日 的版本 · ${twins}`,
    "這裡還沒有內容。",
  ]);
  for (const front of ["", "---\nlang: qaa\n---\n"]) {
    expect((await wordsOf(front, "live")).slice(0, 2)).toEqual(["en", `Live · last changed on 22 November 2026 · ${twins}`]);
  }
  for (const language of ["ar", "de", "el", "en", "fi", "he", "hi", "ja", "no", "pt-BR", "uk", "zh", "zh-HK"]) {
    expect(findHeadingWords(language), language).toBeDefined();
    const { lang, changed, frozen, ...words } = findPageWords(language);
    expect(lang).toBe(language);
    for (const dated of [changed, frozen]) expect(dated.split("{date}"), language).toHaveLength(2);
    for (const word of Object.values(words)) expect(word).toMatch(/^[^<>&"{}]+$/);
  }
});

test("[PL71] the names that programs read aloud are in the language of the page", async () => {
  const text = "## Eins\n\n```\nx\n```\n\n| a |\n|---|\n| b |\n\n$$\nx\n$$\n\n- [x] a\n- [ ] b\n\nNote[^1] and again[^1].\n\n[^1]: N\n";
  const namesOf = async (front: string) => {
    const main = findHtml(await show(front + text), "main")[0] ?? { type: "none" };
    const label = findHtml(main, "h2").find(({ properties }) => properties?.id === "footnote-label");
    const names = ["pre", "div", "input", "a"].flatMap((name) => findHtml(main, name).map(({ properties }) => properties?.ariaLabel));
    return [textIn(label), ...names.filter((name) => name !== undefined)];
  };
  const backs = (back: string) => [`${back} 1`, `${back} 1-2`];
  const german = ["Code", "Tabelle", "Formel", "Erledigt", "Zu erledigen", "Link zu „Eins“", ...backs("Zurück zum Verweis")];
  const english = ["Code", "Table", "Formula", "Done", "To do", "Link to “Eins”", ...backs("Back to reference")];
  expect(await namesOf("---\nlang: de\n---\n")).toEqual(["Fußnoten", ...german]);
  for (const front of ["", "---\nlang: qaa\n---\n"]) expect(await namesOf(front)).toEqual(["Footnotes", ...english]);
});

test("[CV96] the list of contents has its heading in the language of the page, or a sign and the title", async () => {
  const headingOf = async (front: string) => {
    const nav = findHtml(await show(`${front}# Benign\n\n## A\n\n## B\n\n## C\n`), "nav")[0] ?? { type: "none" };
    const [summary] = findHtml(nav, "summary");
    const [details] = findHtml(nav, "details");
    return [textIn(summary), details?.properties?.dataHeading, summary?.properties?.ariaLabel];
  };
  expect(await headingOf("---\nlang: de\n---\n\n")).toEqual(["Inhalt", "Inhalt", undefined]);
  expect(await headingOf("---\nlang: zh-TW\n---\n\n")).toEqual(["目錄", "目錄", undefined]);
  expect(await headingOf("---\nlang: en-GB\n---\n\n")).toEqual(["Contents", "Contents", undefined]);
  expect(await headingOf("")).toEqual(["☰", "☰", "Benign"]);
  expect(await headingOf("---\nlang: qaa\n---\n\n")).toEqual(["☰", "☰", "Benign"]);
});

test("[PL60] the pages for missing and removed articles use the style of the article page, and no script", () => {
  for (const [kind, title] of [
    ["unknown", "Nothing here"],
    ["unpublished", "No longer public"],
  ] as const) {
    const tree = parseHtml(toErrorPageHtml(kind));
    expect(findHtml(tree, "h1").map(textIn)).toEqual([title]);
    expect(linksOf(tree)).toEqual([["stylesheet", expect.stringMatching(/^\.\.\/assets\/page-[0-9a-f]+\.css$/)]]);
    expect(findHtml(tree, "script")).toEqual([]);
    expect(metaOf(tree).get("robots")).toBe("noindex");
  }
});
