/** Tests public pages in many languages and on small screens: text direction, tables, long words, links to headings. */
import { describe, expect, test } from "vitest";
import { publicPageStyle } from "../../server/edge/pages/publicPageStyle.ts";
import { findHtml, type HtmlNode, hrefsIn, textIn, walkHtml } from "../support/htmlTree.ts";
import { show as showPage } from "./pageFixture.ts";

async function showMain(...blocks: string[]): Promise<HtmlNode> {
  return findHtml(await showPage(blocks.join("\n\n")), "main")[0] ?? { type: "none" };
}
/** Returns the text of the article. */
async function show(...blocks: string[]): Promise<HtmlNode> {
  return { type: "root", children: findHtml(await showMain(...blocks), "div")[0]?.children ?? [] };
}
const dirsOf = (main: HtmlNode, tagName: string) => findHtml(main, tagName).map(({ properties }) => properties?.dir);
const idsOf = (main: HtmlNode) => [...walkHtml(main)].flatMap(({ properties }) => (properties?.id === undefined ? [] : [properties.id]));

/**
 * Returns the text that decides the direction of an element: `auto` ignores inner elements with a direction of their
 * own.
 */
function decidingText(block: HtmlNode): string {
  return (block.children ?? [])
    .map((child) => (child.value !== undefined ? child.value : child.properties?.dir !== undefined ? "" : decidingText(child)))
    .join("");
}

describe("direction", () => {
  test("[PL20] each block of text takes its direction from its own words", async () => {
    const main = await show(
      "# עברית",
      "فقرة عربية.",
      "English.",
      "- first\n- ثانية",
      "> اقتباس\n>\n> quote",
      "| الاسم | value |\n|---|---|\n| قيمة | 12 |",
      "1. loose\n\n2. مرن\n\n   more",
      "Term<dl><dt>a</dt><dd>ب</dd></dl><details><summary>س</summary>\n\nin\n\n</details>",
    );
    for (const tagName of ["h2", "p", "li", "blockquote", "th", "td", "dt", "dd", "summary"]) {
      const blocks = findHtml(main, tagName).filter((block) => /\p{L}/u.test(textIn(block)));
      expect(blocks.length, tagName).toBeGreaterThan(0);
    }
    expect(main.properties?.dir).toBeUndefined();
    // The outermost block of each text is `auto`, and the browser finds that text in it.
    const autos = [...walkHtml(main)].filter(({ properties }) => properties?.dir === "auto");
    for (const block of autos) expect(decidingText(block), block.tagName).toMatch(/\p{L}/u);
    const isInAuto = new Set(autos.flatMap((block) => [...walkHtml(block)]));
    for (const node of walkHtml(main)) if (node.value !== undefined && /\p{L}/u.test(node.value)) expect(isInAuto).toContain(node);
  });

  test("[PL20] a list item, quote or table has the direction of its first text", async () => {
    const main = await show("> اقتباس\n>\n> quote", "- مرن\n\n- loose\n\n  مزيد", "| | الاسم |\n|---|---|\n| 1 | قيمة |");
    expect(dirsOf(main, "blockquote")).toEqual(["auto"]);
    expect(dirsOf(findHtml(main, "blockquote")[0] as HtmlNode, "p")).toEqual([undefined, "auto"]);
    expect(dirsOf(main, "li")).toEqual(["auto", "auto"]);
    expect(dirsOf(findHtml(main, "li")[1] as HtmlNode, "p")).toEqual([undefined, "auto"]);
    // The box of a table has the direction of the table, so that a narrow table is on the side where its text starts.
    expect([dirsOf(main, "div"), dirsOf(main, "table")]).toEqual([["auto"], [undefined]]);
    // The first words decide. An empty cell and a number follow the table.
    expect(dirsOf(main, "th")).toEqual([undefined, undefined]);
    expect(dirsOf(main, "td")).toEqual([undefined, "auto"]);
  });

  test("[PL20] code is left to right in every text and does not decide its paragraph's direction", async () => {
    const main = await show("`npm ci` تثبيت", "```js\nconst שם = 1;\n```", '<p dir="rtl">given</p>', '<code dir="rtl">x</code>');
    expect(new Set(dirsOf(main, "code"))).toEqual(new Set(["ltr"]));
    expect(dirsOf(main, "pre")).toEqual(["ltr"]);
    const [paragraph, given] = findHtml(main, "p");
    expect(decidingText(paragraph as HtmlNode).trim()).toBe("تثبيت");
    expect(given?.properties?.dir).toBe("rtl");
  });

  test("[PL20] the style names no left or right side", () => {
    const declarations = publicPageStyle.match(/[\w-]+(?=:[^;{}]*[;}])/g) ?? [];
    expect(declarations.length).toBeGreaterThan(100);
    expect(declarations.filter((name) => /(^|-)(left|right)$/.test(name))).toEqual([]);
    expect(publicPageStyle).not.toMatch(/text-align: *(left|right)|float: *(left|right)/);
    // Shorthands with four values use physical sides, which are wrong for right-to-left text.
    expect(publicPageStyle.replaceAll(/\([^()]*\)/g, "()")).not.toMatch(/(?:margin|padding): *[^\s;]+ ([^\s;]+) [^\s;]+ (?!\1;)[^\s;]+;/);
  });
});

describe("headings", () => {
  test("[PL21] each heading has a stable, unique id and a named link to itself", async () => {
    const main = await show(
      "# One Two",
      "## Same",
      "## Same",
      "## Same 1",
      "### عنوان",
      "## !!!",
      "### With `code` and [link](https://ok.example)",
    );
    const headings = [...walkHtml(main)].filter(
      ({ tagName, properties }) => /^h[1-6]$/.test(tagName ?? "") && properties?.id !== undefined,
    );
    const ids = headings.map(({ properties }) => properties?.id);
    expect(ids.slice(0, 5)).toEqual([
      "user-content-one-two",
      "user-content-same",
      "user-content-same-1",
      "user-content-same-1-1",
      "user-content-عنوان",
    ]);
    expect(ids).toHaveLength(7);
    expect(new Set(ids).size).toBe(7);
    for (const heading of headings) {
      const anchor = findHtml(heading, "a").at(-1);
      expect(anchor?.properties).toEqual({
        className: ["anchor"],
        href: `#${heading.properties?.id}`,
        ariaLabel: expect.stringContaining(textIn(heading)),
      });
      expect(textIn(anchor)).toBe("");
    }
  });

  test("[PL21] links from the text to its own headings and notes work", async () => {
    const main = await show(
      "[a](#one-two) [b](#عنوان) [c](#user-content-one-two) [d](#nowhere) x[^fn-1]",
      "# One two",
      "# عنوان",
      "# fn-1",
      "[^fn-1]: Note.",
    );
    const ids = idsOf(main);
    expect(new Set(ids).size).toBe(ids.length);
    const hrefs = hrefsIn(main).map(decodeURI);
    expect(hrefs.slice(0, 4)).toEqual(["#user-content-one-two", "#user-content-عنوان", "#user-content-one-two", "#nowhere"]);
    for (const href of hrefs.filter((each) => each !== "#nowhere")) expect(ids, href).toContain(href.slice(1));
    // The label of the notes is for screen readers only, so a link in it would be invisible.
    const label = findHtml(main, "h2").find(({ properties }) => properties?.id === "footnote-label");
    expect(label && findHtml(label, "a")).toEqual([]);
  });

  test("[PL21] ids in the author's markup are replaced, so that every id is unique and prefixed", async () => {
    const main = await show(
      '<h2 id="location">Location</h2><h2 id="footnote-label">x</h2><h2 id="footnote-label">y</h2><a class="anchor" href="#x">z</a>',
      '<li id="user-content.fn-1">fake</li>',
      "Note[^1]",
      "[^1]: Real.",
    );
    const ids = idsOf(main);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^(user-content[-.]|footnote-label$)/);
    expect(
      findHtml(main, "a").filter(({ properties }) => String(properties?.className) === "anchor" && properties?.ariaLabel === undefined),
    ).toEqual([]);
  });
});

describe("wide and long", () => {
  test("[PL22] a table scrolls in a box that the keyboard reaches, and its text columns keep a width", async () => {
    const main = await show(
      "| # | 中文 |\n|---|---|\n| 1 | 這是一段沒有空格的長文字需要換行 |",
      "<table><caption>C</caption><tr><td>x</td></tr></table>",
    );
    for (const table of findHtml(main, "table")) {
      const box = [...walkHtml(main)].find((node) => node.children?.includes(table));
      expect(box?.tagName).toBe("div");
      expect(box?.properties).toEqual({ className: ["table"], role: "group", ariaLabel: "表格", tabIndex: 0, dir: "auto" });
    }
    expect(findHtml(main, "td").map(({ properties }) => properties?.className)).toEqual([undefined, ["prose"], undefined]);
    expect(publicPageStyle).toMatch(/\.table \{[^}]*overflow-x: auto/);
    expect(publicPageStyle).toMatch(/th, td \{[^}]*white-space: nowrap/);
    expect(publicPageStyle).toMatch(/\.prose \{ min-width: \d+em; white-space: normal/);
    expect(publicPageStyle).not.toMatch(/table \{[^}]*display: block/);
    // `anywhere` would let the columns of a table shrink to one letter.
    expect(publicPageStyle).toMatch(/body \{[^}]*overflow-wrap: break-word/);
    expect(publicPageStyle).not.toContain("overflow-wrap: anywhere");
  });

  test("[PL23] long words are hyphenated in the language of the front matter, and code never is", async () => {
    for (const [frontMatter, lang] of [
      ["---\nlang: de\n---", "de"],
      ["---\ntitle: x\nlang: pt-BR\n---", "pt-BR"],
      ['---\nlang: "><script>"\n---', ""],
      ["---\nlang: [de]\n---", ""],
      ["---\n: : [\n---", ""],
      ["", ""],
    ] as const) {
      const main = await showMain(frontMatter, "Donaudampfschifffahrtsgesellschaft");
      expect(main.properties?.lang, frontMatter).toBe(lang);
    }
    expect(publicPageStyle).toMatch(/main \{[^}]*[^-]hyphens: auto/);
    expect(publicPageStyle).toMatch(/pre, code[^{]*\{[^}]*[^-]hyphens: (none|manual)/);
  });
});
