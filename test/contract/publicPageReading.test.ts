/** Tests what a public page offers to its readers and to programs that preview it: formulas, code, contents, head, picture. */
import { createHash } from "node:crypto";
import rehypeParse from "rehype-parse";
import { unified } from "unified";
import { afterAll, describe, expect, test } from "vitest";
import { findHeadingWords } from "../../server/domain/call/headingWords.ts";
import type { PublishedPage } from "../../server/domain/publishing/service.ts";
import { createCardRenderer } from "../../server/edge/pages/cardRenderer.ts";
import { toPageText } from "../../server/edge/pages/markdownPage.ts";
import { toCardSvg } from "../../server/edge/pages/pageCardLayout.ts";
import { createPageRenderer } from "../../server/edge/pages/pageRenderer.ts";
import { findPageWords } from "../../server/edge/pages/pageWords.ts";
import { layoutNumber, toErrorPageHtml, toPageHtml, toPageTag } from "../../server/edge/pages/publicPageHtml.ts";
import { publicPageStyle } from "../../server/edge/pages/publicPageStyle.ts";
import { findHtml, type HtmlNode, textIn } from "../support/htmlTree.ts";
import { arabicPage, chinesePage, publishedPage, richPage } from "../support/samplePages.ts";

const baseUrl = "https://pages.example";
async function show(markdown: string, changes: Partial<PublishedPage> = {}): Promise<HtmlNode> {
  const page = { ...publishedPage, ...changes };
  const html = toPageHtml(page, await toPageText({ title: page.title, markdown }), baseUrl);
  return unified().use(rehypeParse).parse(html) as unknown as HtmlNode;
}
const textPart = (tree: HtmlNode) => findHtml(tree, "div").find(({ properties }) => properties?.id === "text") ?? { type: "none" };
const metaOf = (tree: HtmlNode) =>
  new Map(findHtml(tree, "meta").map(({ properties = {} }) => [String(properties.property ?? properties.name), properties.content]));
const linksOf = (tree: HtmlNode) => findHtml(tree, "link").map(({ properties }) => [String(properties?.rel), String(properties?.href)]);

describe("formulas", () => {
  test("[PL50] inline, display and fenced formulas become MathML, left to right, without scripts", async () => {
    const text = textPart(await show("Let $x^2$ and $$y$$ be.\n\n$$\n\\frac{a}{b}\n$$\n\n```math\n\\sqrt{2}\n```"));
    const formulas = findHtml(text, "math");
    expect(formulas.map(({ properties }) => properties?.display)).toEqual([undefined, undefined, "block", "block"]);
    expect(formulas.map((formula) => findHtml(formula, "msup").length + findHtml(formula, "mfrac").length)).toEqual([1, 0, 1, 0]);
    const boxes = findHtml(text, "div").filter(({ properties }) => String(properties?.className) === "formula");
    expect(boxes.map(({ properties }) => [properties?.dir, properties?.tabIndex])).toEqual([
      ["ltr", 0],
      ["ltr", 0],
    ]);
  });

  test("[PL50] prices and shell variables stay text", async () => {
    for (const text of [
      "From $5 to $10.",
      "US$5 and CA$7",
      "$HOME and $USER",
      "a $ b $ c",
      "costs $20,000 and $30,000",
      "\\$x$",
      "Only $5",
    ]) {
      const shown = textPart(await show(text));
      expect(findHtml(shown, "math"), text).toEqual([]);
      expect(textIn(shown).trim()).toBe(text.replace("\\", ""));
    }
    for (const text of ["($x$)", "中文$x$中文", "$x$, $y$.", "*$x$*"]) {
      expect(findHtml(textPart(await show(text)), "math").length, text).toBeGreaterThan(0);
    }
  });

  test("[PL50] a wrong or too long formula stays visible as its source", async () => {
    const text = textPart(await show(`$\\frac{$ and $\\nothing$ and $${"x".repeat(5000)}$`));
    expect(findHtml(text, "math")).toEqual([]);
    expect(findHtml(text, "code").map((code) => textIn(code).slice(0, 8))).toEqual(["\\frac{", "\\nothing", "xxxxxxxx"]);
  });
});

describe("code", () => {
  test("[PL51] code of a named language is coloured by classes that the style knows", async () => {
    const text = textPart(await show("```ts\nconst x = 1; // note\n```\n\n```unheard-of\nconst x\n```\n\n```\nconst x\n```"));
    const [coloured, ...others] = findHtml(text, "pre");
    const classes = findHtml(coloured as HtmlNode, "span").map(({ properties }) => String(properties?.className));
    expect(classes).toEqual(expect.arrayContaining(["code-keyword", "code-number", "code-comment"]));
    for (const name of classes) expect(publicPageStyle).toContain(`.${name}`);
    expect(textIn(coloured)).toBe("const x = 1; // note\n");
    for (const other of others) expect(findHtml(other, "span")).toEqual([]);
    // A wide block scrolls by keyboard.
    expect(findHtml(text, "pre").map(({ properties }) => properties?.tabIndex)).toEqual([0, 0, 0]);
  });

  test("[PL51] very long code keeps one colour, so that it costs nothing", async () => {
    const text = textPart(await show(`\`\`\`js\n${"let x = 1;\n".repeat(3300)}\`\`\``));
    expect(findHtml(text, "span")).toEqual([]);
  });
});

describe("contents", () => {
  const entriesOf = (tree: HtmlNode) => findHtml(findHtml(tree, "nav")[0] ?? { type: "none" }, "a").map((entry) => entry.properties?.href);

  test("[PL52] a text with three headings has a list of contents, nested as the headings are", async () => {
    const tree = await show("# Benign\n\n## One\n\n#### Deep\n\n### Two\n\n## Three <b>x</b>\n\n# Four");
    expect(entriesOf(tree)).toEqual(["#user-content-one", "#user-content-two", "#user-content-three-x", "#user-content-four"]);
    const [list] = findHtml(tree, "nav").flatMap((nav) => findHtml(nav, "ol"));
    expect((list?.children ?? []).map((item) => textIn(item))).toEqual(["OneTwo", "Three x", "Four"]);
    expect(entriesOf(await show("# Benign\n\n## One\n\n## Two"))).toEqual([]);
    expect(entriesOf(await show("# Other\n\n## One\n\n## Two"))).toHaveLength(3);
  });

  test("[PL52] any order of heading levels gives a list that every browser reads in the same way", async () => {
    for (const levels of [
      [3, 2, 1],
      [1, 3, 2, 3, 1],
      [2, 3, 3, 1, 3],
      [3, 1, 3, 2, 2],
    ]) {
      const tree = await show(levels.map((level, at) => `${"#".repeat(level)} H${at}`).join("\n\n"));
      const items = findHtml(findHtml(tree, "nav")[0] ?? { type: "none" }, "li");
      expect(items, String(levels)).toHaveLength(levels.length);
      // Each entry is in its own item: the first child is its link, and a list may follow.
      for (const { children = [] } of items) expect(["a", "a,ol"]).toContain(children.map(({ tagName }) => tagName).join());
    }
  });
});

describe("headings", () => {
  const outlineOf = (tree: HtmlNode) =>
    [1, 2, 3, 4, 5, 6].flatMap((level) => findHtml(tree, `h${level}`).map((heading) => [level, textIn(heading)] as const));

  test("[PL70] a page has one first-level heading, its title, which the text may repeat once", async () => {
    for (const [markdown, outline] of [
      [
        "# Benign\n\n## One\n\nText",
        [
          [1, "Benign"],
          [2, "One"],
        ],
      ],
      [
        "#  *Benign*\n\n## One",
        [
          [1, "Benign"],
          [2, "One"],
        ],
      ],
      [
        "<h1>\nBenign\n</h1>\n\n## One",
        [
          [1, "\nBenign\n"],
          [2, "One"],
        ],
      ],
      [
        "Text\n\n## One",
        [
          [1, "Benign"],
          [2, "One"],
        ],
      ],
      [
        "# Other\n\n## One",
        [
          [1, "Benign"],
          [2, "Other"],
          [3, "One"],
        ],
      ],
      [
        "# Benign\n\n# Benign\n\n## One",
        [
          [1, "Benign"],
          [2, "Benign"],
          [3, "One"],
        ],
      ],
      [
        "Text\n\n# Benign",
        [
          [1, "Benign"],
          [2, "Benign"],
        ],
      ],
      [
        "# Benign\n\n> # Quoted\n\n## One\n\n##### Five\n\n###### Six",
        [
          [1, "Benign"],
          [2, "Quoted"],
          [3, "One"],
          [6, "Five"],
          [6, "Six"],
        ],
      ],
    ] as const) {
      expect(outlineOf(await show(markdown)), markdown).toEqual(outline);
    }
  });

  test("[PL70] the heading of the footnotes stays, and links to lowered headings work", async () => {
    const tree = await show("# Other\n\nText[^1] and [a link](#one).\n\n## One\n\n[^1]: Note.");
    expect(outlineOf(tree)).toEqual([
      [1, "Benign"],
      [2, "Other"],
      [2, "Footnotes"],
      [3, "One"],
    ]);
    expect(findHtml(textPart(tree), "a").map(({ properties }) => properties?.href)).toContain("#user-content-one");
    expect(findHtml(tree, "h3").map(({ properties }) => properties?.id)).toEqual(["user-content-one"]);
  });

  test("[PL70] a text is laid out again for a page with another title", async () => {
    const renderer = createPageRenderer();
    const render = (title: string) =>
      renderer.render({ workspaceId: "ws", contentHash: "hash", title }, async () => Buffer.from("# One\n\nText"));
    expect([(await render("One"))?.heading, (await render("Two"))?.heading]).toEqual([expect.stringContaining("One"), undefined]);
    expect(renderer.recall({ contentHash: "hash", title: "One" })?.html).not.toContain("<h2");
    expect(renderer.recall({ contentHash: "hash", title: "Two" })?.html).toContain("<h2");
    await renderer.close();
  });
});

describe("head", () => {
  test("[PL53] the head names title, description, address, twins, picture and the article as JSON-LD", async () => {
    const tree = await show(richPage.content, { slug: richPage.slug, title: richPage.title });
    const description = "Why a lighthouse is as tall as it is, with the formula, a small program and a table of real towers.";
    const url = `${baseUrl}/p/${richPage.slug}`;
    expect(Object.fromEntries(metaOf(tree))).toMatchObject({
      description,
      "og:type": "article",
      "og:title": richPage.title,
      "og:description": description,
      "og:url": url,
      "og:image": "https://pictures.example/tower.svg",
      "og:image:alt": expect.stringContaining("lighthouse"),
      "article:modified_time": "2026-11-22T00:00:00.000Z",
      "twitter:card": "summary_large_image",
    });
    expect(linksOf(tree)).toEqual(
      expect.arrayContaining([
        ["canonical", url],
        ["alternate", `${richPage.slug}.md`],
        ["alternate", `${richPage.slug}.json`],
      ]),
    );
    const data = findHtml(tree, "script").find(({ properties }) => properties?.type === "application/ld+json");
    expect(JSON.parse(textIn(data))).toEqual({
      "@context": "https://schema.org",
      "@type": "Article",
      headline: richPage.title,
      description,
      inLanguage: "en",
      image: ["https://pictures.example/tower.svg"],
      dateModified: "2026-11-22T00:00:00.000Z",
      mainEntityOfPage: url,
    });
  });

  test("[PL53] without front matter, the first paragraph describes the page, cut at a word and without footnote marks", async () => {
    const long = `${"word ".repeat(80)}end`;
    const description = String(
      metaOf(await show(`# Benign\n\n> Quote\n\nFirst[^1] **bold**.\n\nSecond.\n\n[^1]: Note.`)).get("description"),
    );
    expect(description).toBe("First bold.");
    expect(String(metaOf(await show(long)).get("description"))).toMatch(/^(word ){30,39}word…$/);
    expect(metaOf(await show("# Only a heading")).has("description")).toBe(false);
    const meta = metaOf(await show("Text"));
    expect([meta.get("og:image"), meta.get("og:image:width")]).toEqual([`${baseUrl}/p/page/card.png`, "1200"]);
  });

  test("[PL55] the entity tag changes with everything that the page shows", async () => {
    const changes: Partial<PublishedPage>[] = [
      { title: "Other" },
      { mode: "snapshot" },
      { contentHash: "1" },
      { revision: 2 },
      { indexable: false },
      { updatedAtMs: 1 },
      { slug: "other" },
    ];
    const tags = [publishedPage, ...changes.map((change) => ({ ...publishedPage, ...change }))].map((each) => toPageTag(each, baseUrl));
    expect(new Set([...tags, toPageTag(publishedPage, "https://other.example")]).size).toBe(changes.length + 2);
  });

  test("[PL55] the number of the layout was increased with the last change of the HTML", async () => {
    const hash = createHash("sha256");
    for (const { slug, title, content } of [richPage, arabicPage, chinesePage]) {
      const html = toPageHtml({ ...publishedPage, slug, title }, await toPageText({ title, markdown: content }), baseUrl);
      // The names of the style and the script are in the entity tag by themselves.
      hash.update(html.replaceAll(/\/assets\/\S+|sha256-\S+/g, ""));
    }
    hash.update(toErrorPageHtml("unknown").replaceAll(/\/assets\/\S+/g, ""));
    // If this fails, increase `layoutNumber` and take over both values.
    expect([layoutNumber, hash.digest("hex").slice(0, 16)]).toEqual([7, "328a426d91088431"]);
  });
});

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

describe("picture", () => {
  const cards = createCardRenderer();
  afterAll(() => cards.close());

  test("[PL54] the picture of a page is a PNG of 1200 × 630 with the title, drawn once", async () => {
    const text = { title: richPage.title, site: "pages.example" };
    const [card, again] = await Promise.all([cards.draw("ws", text), cards.draw("ws", text)]);
    expect(again).toBe(card);
    expect(await cards.draw("ws", text)).toBe(card);
    const bytes = Buffer.from(card);
    expect(bytes.subarray(1, 4).toString()).toBe("PNG");
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([1200, 630]);
    expect(bytes.byteLength).toBeLessThan(100_000);
    const other = { ...text, title: "Another title" };
    expect(cards.tagOf(other)).not.toBe(cards.tagOf(text));
    expect(Buffer.from(await cards.draw("ws", other)).equals(bytes)).toBe(false);
  });

  test("[PL54] every title fits on the picture, and hostile ones are text", () => {
    for (const title of [
      "A",
      richPage.title,
      "word ".repeat(90),
      "W".repeat(300),
      chinesePage.title.repeat(40),
      '</text><script>"&\ud800',
    ]) {
      const svg = toCardSvg({ title, site: "pages.example" });
      const rows = [...svg.matchAll(/<text [^>]*y="(\d+)" font-size="(\d+)"[^>]*>([^<]*)<\/text>/g)];
      expect(rows.length, title).toBeGreaterThan(1);
      for (const [, y] of rows) expect(Number(y)).toBeLessThan(630 - 40);
      expect(svg).not.toMatch(/<script|\p{Cs}/u);
    }
  });
});

test("[PL60] the pages for missing and removed articles use the style of the article page, and no script", () => {
  for (const [kind, title] of [
    ["unknown", "Nothing here"],
    ["unpublished", "No longer public"],
  ] as const) {
    const tree = unified().use(rehypeParse).parse(toErrorPageHtml(kind)) as unknown as HtmlNode;
    expect(findHtml(tree, "h1").map(textIn)).toEqual([title]);
    expect(linksOf(tree)).toEqual([["stylesheet", expect.stringMatching(/^\.\.\/assets\/page-[0-9a-f]+\.css$/)]]);
    expect(findHtml(tree, "script")).toEqual([]);
    expect(metaOf(tree).get("robots")).toBe("noindex");
  }
});
