/** Tests hostile documents on the public page. The assertions read the tree that a conforming HTML parser builds. */
import { createHash } from "node:crypto";
import rehypeParse from "rehype-parse";
import { unified } from "unified";
import { afterAll, describe, expect, test } from "vitest";
import { defaultLimits } from "../../api/limits.ts";
import type { PublicPages, PublishedPage } from "../../server/domain/publishing/service.ts";
import { createNodeRateLimits } from "../../server/edge/calls/rateLimits.ts";
import { createPageRenderer } from "../../server/edge/pages/pageRenderer.ts";
import { createPublicPageRoutes } from "../../server/edge/pages/publicPage.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import { hostileDocuments, hostileFormulas, hostileTexts } from "../support/hostileMarkdown.ts";
import { findHtml as find, type HtmlNode as Node, textIn as textOf, walkHtml as walk } from "../support/htmlTree.ts";
import { createPageRequests } from "../support/pageRequests.ts";

/** Pages in memory: slug → title and Markdown. */
const texts = new Map<string, { title: string; markdown: string; workspaceId: string }>();
const pages: PublicPages = {
  async find(slug) {
    const text = texts.get(slug);
    if (text === undefined) return { kind: "unknown" };
    const contentHash = createHash("sha256").update(text.markdown).digest("hex");
    const page: PublishedPage = {
      kind: "published",
      articleId: "art",
      workspaceId: text.workspaceId,
      slug,
      mode: "live",
      title: text.title,
      revision: 1,
      contentHash,
      updatedAtMs: 0,
      indexable: true,
    };
    return page;
  },
  markdown: async ({ contentHash }) => {
    for (const { markdown } of texts.values())
      if (createHash("sha256").update(markdown).digest("hex") === contentHash) return Buffer.from(markdown);
    return undefined;
  },
};
const limits = { ...defaultLimits, "rate.public": "off" as const };
const pageLimits = createNodeRateLimits({ storage: createMemoryStorage(), limits }, "rate.public");
const served = createPublicPageRoutes({ pages, pageLimits, baseUrl: "https://pages.example" });
const request = createPageRequests(served);
afterAll(() => served.close());

let pageNumber = 0;
interface Shown {
  readonly html: string;
  readonly tree: Node;
  readonly policy: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function show(markdown: string, title = "Benign", workspaceId = "ws"): Promise<Shown> {
  pageNumber += 1;
  const slug = `page-${pageNumber}`;
  texts.set(slug, { title, markdown, workspaceId });
  const reply = await request(`/p/${slug}`);
  texts.delete(slug);
  const html = String(reply.body);
  const tree = unified().use(rehypeParse).parse(html) as unknown as Node;
  return { html, tree, policy: reply.headers["content-security-policy"] ?? "", headers: reply.headers };
}

/** Elements and attributes that the text of a page may have. The list is independent of the product's own list. */
const harmless = new Map<string, readonly string[]>(
  Object.entries({
    a: ["href", "rel", "id", "className", "ariaLabel", "ariaDescribedBy", "dataFootnoteRef", "dataFootnoteBackref"],
    img: ["src", "alt", "width", "height", "loading", "decoding", "referrerPolicy", "className"],
    input: ["type", "disabled", "checked", "ariaLabel"],
    code: ["className"],
    ol: ["start", "reversed", "className"],
    ul: ["className"],
    li: ["id", "className"],
    h2: ["id", "className"],
    section: ["dataFootnotes", "className"],
    td: ["align", "colSpan", "rowSpan", "className"],
    th: ["align", "colSpan", "rowSpan", "scope", "className"],
    div: ["className", "id", "role", "ariaLabel", "tabIndex"],
    h1: ["id"],
    h3: ["id"],
    h4: ["id"],
    h5: ["id"],
    h6: ["id"],
    details: ["open"],
    blockquote: ["cite"],
    q: ["cite"],
    del: ["cite", "dateTime"],
    ins: ["cite", "dateTime"],
    time: ["dateTime"],
    col: ["span"],
    colgroup: ["span"],
    pre: ["className", "role", "ariaLabel", "tabIndex"],
    p: ["className"],
    span: ["className"],
    nav: ["className", "ariaLabelledBy"],
    summary: ["id"],
    math: ["display"],
    mo: ["fence", "stretchy", "separator", "form", "lspace", "rspace", "accent", "movablelimits", "minsize", "maxsize"],
    mspace: ["width"],
    mstyle: ["scriptlevel", "displaystyle"],
    mtable: ["displaystyle"],
    mpadded: ["width", "height", "depth", "lspace"],
    mi: ["mathvariant"],
    mtd: ["className"],
    mover: ["accent"],
  }),
);
const plain =
  "abbr b bdi bdo br caption cite dd dfn dl dt em figcaption figure hr i kbd mark rp rt ruby s samp small strong sub sup table tbody tfoot thead tr u var wbr " +
  "header mn mtext mrow mfrac msqrt mroot mphantom msub msup msubsup munder munderover mtr";
for (const tagName of plain.split(" ")) harmless.set(tagName, []);
const everywhere = ["title", "dir", "lang"];

function findHarm(main: Node): string[] {
  const harm: string[] = [];
  for (const node of [...walk(main)].slice(1)) {
    if (node.type === "text") continue;
    if (node.type !== "element" || node.tagName === undefined) {
      harm.push(`a ${node.type}`);
      continue;
    }
    const allowed = harmless.get(node.tagName);
    if (allowed === undefined) harm.push(`<${node.tagName}>`);
    for (const [name, value] of Object.entries(node.properties ?? {})) {
      const text = String(value);
      if (allowed?.includes(name) !== true && !everywhere.includes(name)) harm.push(`${node.tagName} ${name}=${text}`);
      // Parse the address as a browser does: relative to the page, without the characters that browsers remove.
      const { protocol } = ["href", "src", "cite"].includes(name) ? new URL(text, "https://pages.example/p/x") : { protocol: "" };
      if (name === "href" && !["https:", "http:", "mailto:"].includes(protocol)) harm.push(`href ${text}`);
      if (name === "src" && protocol !== "https:") harm.push(`src ${text}`);
      if (name === "id" && !/^(user-content-[^\s.]*|user-content\.fn(ref)?-[\w-]+|footnote-label|text|contents)$/.test(text))
        harm.push(`id ${text}`);
      if (
        name === "className" &&
        !/^(language-\S+|sr-only|footnotes|data-footnote-backref|task-list-item|contains-task-list|plain|empty|anchor|table|prose|picture|unsized|picture,unsized|text|date|math|formula|contents|code-[\w,-]+|tml-(left|right))$/.test(
          text,
        )
      )
        harm.push(`class ${text}`);
    }
    if (node.tagName === "input" && (node.properties?.type !== "checkbox" || node.properties.disabled !== true)) harm.push("a live input");
  }
  return harm;
}

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

describe("tangled documents", () => {
  test("[PL14] a text that takes too long is shown as plain text, and other pages are served meanwhile", async () => {
    const nested = show("<b>".repeat(20_000));
    const quotes = show(">".repeat(36_000));
    const other = await show("Nothing special.");
    expect(other.html).toContain('<p dir="auto">Nothing special.</p>');
    for (const page of [await nested, await quotes]) {
      const [main = { type: "none" }] = find(page.tree, "main");
      expect(findHarm(main)).toEqual([]);
      expect(find(main, "pre")[0]?.properties).toEqual({ className: ["plain"], dir: "auto" });
    }
    expect(textOf(find((await nested).tree, "pre")[0] ?? { type: "none" })).toBe("<b>".repeat(20_000));
    const { html } = await show("long ".repeat(220_000));
    expect(html).toContain('<pre class="plain" dir="auto">long long ');
  });

  test("[PL14] a text that could not be laid out is not tried again at the next view", async () => {
    const renderer = createPageRenderer();
    const tangled = "[a](".repeat(32_000);
    const view = async (workspaceId = "ws", contentHash = "tangled") => {
      const rendered = await renderer.render({ workspaceId, contentHash }, async () => Buffer.from(`${tangled}${workspaceId}`));
      return { plain: rendered?.html.startsWith('<pre class="plain"'), provisional: rendered?.isProvisional };
    };
    const first = await view();
    // Enough texts that are too long, so that the first one is removed from the cache.
    for (let count = 0; count < 17; count += 1) {
      await renderer.render({ workspaceId: "ws", contentHash: `long ${count}` }, async () => Buffer.alloc(1024 * 1024 + 1, "x"));
    }
    expect(renderer.recall("tangled")).toBeUndefined();
    // All threads are busy, so another attempt would have to wait for one of these.
    const order: string[] = [];
    const others = ["one", "two"].map((name) => view(name, name).then(() => order.push("another text")));
    const second = await view().finally(() => order.push("the same text"));
    expect(order).toEqual(["the same text"]);
    await Promise.all(others);
    await renderer.close();
    expect([first.plain, second.plain, first.provisional, second.provisional]).toEqual([true, true, undefined, undefined]);
  });

  /** The test waits for a turn. Starting the threads first keeps their start out of the wait. */
  const startThreads = () => Promise.all(["one", "two"].map((name) => show(`Warm ${name}.`, name, name)));

  test("[PL16] no text that one workspace publishes delays the pages of other workspaces", async () => {
    await startThreads();
    const order: string[] = [];
    const open = async (name: string, markdown: string, workspaceId: string) => {
      const page = await show(markdown, name, workspaceId);
      order.push(name);
      return page;
    };
    const hostile = Array.from({ length: 3 }, (_, at) => open("hostile", `${at}${"[a](".repeat(8000)}`, "hostile"));
    const other = await open("other", "Something **else**.", "friendly");
    expect(other.html).toContain("<strong>else</strong>");
    expect(order).toEqual(["other"]);
    await Promise.all(hostile);
  });

  test("[PL16] a page whose turn does not come is plain for that request, and no cache keeps it", async () => {
    await startThreads();
    const waiting = Array.from({ length: 30 }, (_, at) => show(`${at} **bold** ${"[a](".repeat(1000)}`, "Many", "busy"));
    const pages = await Promise.all(waiting);
    const plain = pages.filter(({ html }) => html.includes('<pre class="plain"'));
    expect(plain.length).toBeGreaterThan(0);
    expect(plain.length).toBeLessThan(30);
    for (const { headers } of plain) {
      expect(headers).not.toHaveProperty("etag");
      expect(headers["cache-control"]).toBe("no-store");
    }
    for (const { headers } of pages.filter((page) => !plain.includes(page))) expect(headers).toHaveProperty("etag");
  });
});
