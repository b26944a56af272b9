/** Tests hostile documents on the public page. The assertions read the tree that a conforming HTML parser builds. */
import { describe, expect, test } from "vitest";
import { hostileDocuments, hostileFormulas, hostileTexts } from "../support/hostileMarkdown.ts";
import { findHtml as find, type HtmlNode as Node, textIn as textOf, walkHtml as walk } from "../support/htmlTree.ts";
import { findHarm, usePages } from "./hostilePageFixture.ts";

const show = usePages();

/**
 * Returns the page without the text of the article, and without the values that name the page or describe the text. It is
 * the same for every article with this title.
 */
function toFrame(tree: Node): unknown {
  const strip = (node: Node): unknown => ({
    tagName: node.tagName,
    properties: ["link", "a", "script"].includes(node.tagName ?? "") ? Object.keys(node.properties ?? {}) : node.properties,
    value: node.value,
    children: node.tagName === "main" ? "text" : (node.children ?? []).filter((child) => !isAboutText(child)).map(strip),
  });
  return strip(tree);
}
const isAboutText = ({ tagName, properties, value }: Node) =>
  (tagName === "meta" && /description|og:(url|image)/.test(String(properties?.property ?? properties?.name))) ||
  (tagName === "script" && properties?.type === "application/ld+json") ||
  value?.trim() === "";

/** Returns the facts of the page for search engines. Fails if the page has any other script than that and its own file. */
function readJsonLd(tree: Node): Record<string, unknown> {
  const scripts = find(tree, "script");
  const [data, ...others] = scripts.filter(({ properties }) => properties?.type === "application/ld+json");
  expect(others).toEqual([]);
  for (const script of scripts) {
    if (script === data) continue;
    expect(script.properties).toMatchObject({
      src: expect.stringMatching(/^\.\.\/assets\/live-[0-9a-f]+\.js$/),
      integrity: expect.any(String),
    });
    expect(textOf(script)).toBe("");
  }
  return JSON.parse(textOf(data));
}

const before = 'Harmless **bold** [link](https://ok.example/) `code` <kbd title="key">K</kbd>\n\n- [x] done\n\n';

describe("hostile documents", () => {
  test(`[PL8] ${hostileDocuments.length} hostile documents run, load, frame, submit and restyle nothing`, async () => {
    expect(hostileDocuments.length).toBeGreaterThanOrEqual(150);
    const benign = await show(before);
    const frame = toFrame(benign.tree);
    for (const document of hostileDocuments) {
      const page = await show(before + document);
      const [main, ...others] = find(page.tree, "main");
      expect(others, document).toEqual([]);
      if (main === undefined) throw new Error(`no main for ${document}`);
      expect(findHarm(main), document).toEqual([]);
      expect(toFrame(page.tree), document).toEqual(frame);
      const { image } = readJsonLd(page.tree) as { image: string[] };
      for (const url of image) expect(new URL(url).protocol, document).toBe("https:");
      const shown = (main.children ?? []).flatMap((node) => [...walk(node)]);
      for (const tagName of ["strong", "a", "code", "kbd", "input"]) {
        expect(
          shown.some((node) => node.tagName === tagName),
          `${tagName} beside ${document}`,
        ).toBe(true);
      }
      expect(page.policy).toBe(benign.policy);
    }
  });

  test("[PL8] hostile text at the very beginning of a document has no effect either", async () => {
    for (const document of hostileDocuments) {
      const [main] = find((await show(`${document}\n\nafter`)).tree, "main");
      expect(main === undefined ? ["no main"] : findHarm(main), document).toEqual([]);
    }
  });

  test("[PL8] titles are shown as text in every place", async () => {
    for (const title of hostileTexts) {
      const { tree, html } = await show("text", title);
      expect(textOf(find(tree, "title")[0] ?? { type: "none" })).toBe(title);
      expect(textOf(find(tree, "h1")[0] ?? { type: "none" })).toBe(title);
      const graph = find(tree, "meta").find((meta) => meta.properties?.property === "og:title");
      expect(graph?.properties?.content).toBe(title);
      expect(readJsonLd(tree).headline).toBe(title);
      expect(html).not.toContain("<!--");
    }
  });

  test("[PL53] a description or a picture from the text is shown as text in every place", async () => {
    for (const text of hostileTexts) {
      const front = `---\ndescription: ${JSON.stringify(text)}\n---\n\n`;
      const { tree, html } = await show(`${front}Text.\n\n![${text}](<https://ok.example/${text}>)`);
      const content = (name: string) =>
        find(tree, "meta").find(({ properties }) => properties?.name === name || properties?.property === name)?.properties?.content;
      expect([content("description"), content("og:description"), readJsonLd(tree).description]).toEqual([text, text, text]);
      expect(new URL(String(content("og:image"))).host).toMatch(/^(ok|pages)\.example$/);
      expect(html).not.toContain("<!--");
    }
  });

  test("[PL50] hostile formulas become harmless MathML, or stay visible as their source", async () => {
    for (const source of hostileFormulas) {
      const { tree } = await show(`Before $${source}$ after.\n\n$$\n${source}\n$$`);
      const [main = { type: "none" }] = find(tree, "main");
      expect(findHarm(main), source).toEqual([]);
      expect(textOf(main)).toMatch(/Before [\s\S]* after\./);
    }
  });

  test("[PL51] hostile code is coloured without markup of its own", async () => {
    for (const language of ["html", "js", "css", "xml", "php", "markdown"]) {
      const blocks = hostileDocuments.slice(0, 60).map((document) => `\`\`\`${language}\n${document.replaceAll("`", "'")}\n\`\`\``);
      const { tree } = await show(blocks.join("\n\n"), language, "code");
      const [main = { type: "none" }] = find(tree, "main");
      expect(findHarm(main), language).toEqual([]);
      expect(find(main, "pre")).toHaveLength(60);
    }
  });

  test("[PL8] ordinary Markdown and harmless HTML are kept", async () => {
    const { tree } = await show(
      [
        "# Heading",
        "*em* **strong** ~~del~~ `code` <sub>sub</sub> <mark>mark</mark> <abbr title='long'>s</abbr>",
        "> quote",
        "1. one\n2. two",
        "- [ ] open\n- [x] done",
        "| left | right |\n|:--|--:|\n| a | b |",
        "```ts\nconst x = 1 < 2;\n```",
        "![alt](https://ok.example/p.png 'title')",
        "A note[^1] and <https://ok.example> and [mail](mailto:a@ok.example) and [near](other#part).",
        "<details><summary>More</summary>\n\nhidden\n\n</details>",
        "[^1]: The note.",
      ].join("\n\n"),
    );
    const [main = { type: "none" }] = find(tree, "main");
    expect(findHarm(main)).toEqual([]);
    const count = (tagName: string) => find(main, tagName).length;
    for (const tagName of [
      "em",
      "strong",
      "del",
      "sub",
      "mark",
      "abbr",
      "blockquote",
      "ol",
      "table",
      "pre",
      "img",
      "details",
      "summary",
      "section",
    ]) {
      expect(count(tagName), tagName).toBeGreaterThan(0);
    }
    expect(count("input")).toBe(2);
    expect(find(main, "img")[0]?.properties).toMatchObject({
      src: "https://ok.example/p.png",
      alt: "alt",
      title: "title",
      loading: "lazy",
    });
    expect(find(main, "code").map((node) => node.properties?.className)).toContainEqual(["language-ts"]);
    const links = find(main, "a").map((node) => String(node.properties?.href));
    expect(links).toEqual(expect.arrayContaining(["https://ok.example", "mailto:a@ok.example", "other#part"]));
    // Footnotes link to their text and back.
    const ids = new Set([...walk(main)].map((node) => node.properties?.id));
    const inner = links.filter((href) => href.startsWith("#"));
    expect(inner).toHaveLength(3);
    for (const href of inner) expect(ids.has(href.slice(1)), href).toBe(true);
    expect(find(main, "th").map((node) => node.properties?.align)).toEqual(["left", "right"]);
  });
});
