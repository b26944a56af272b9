/** Tests what the text of a public page offers to its readers: formulas, coloured code, contents, headings. */
import { describe, expect, test } from "vitest";
import { createPageRenderer } from "../../server/edge/pages/pageRenderer.ts";
import { publicPageStyle } from "../../server/edge/pages/publicPageStyle.ts";
import { findHtml, type HtmlNode, textIn } from "../support/htmlTree.ts";
import { show } from "./pageFixture.ts";

const textPart = (tree: HtmlNode) => findHtml(tree, "div").find(({ properties }) => properties?.id === "text") ?? { type: "none" };

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
