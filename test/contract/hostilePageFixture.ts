/** Serves public pages from memory for the tests of hostile texts, and finds what is harmful in a page. */
import { createHash } from "node:crypto";
import { afterAll } from "vitest";
import { defaultLimits } from "../../api/limits.ts";
import type { PublicPages, PublishedPage } from "../../server/domain/publishing/service.ts";
import { createNodeRateLimits } from "../../server/edge/calls/rateLimits.ts";
import { createPublicPageRoutes } from "../../server/edge/pages/publicPage.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import { type HtmlNode as Node, parseHtml, walkHtml as walk } from "../support/htmlTree.ts";
import { createPageRequests } from "../support/pageRequests.ts";

export interface Shown {
  readonly html: string;
  readonly tree: Node;
  readonly policy: string;
  readonly headers: Readonly<Record<string, string>>;
}

export type ShowPage = (markdown: string, title?: string, workspaceId?: string) => Promise<Shown>;

/** Returns a function that shows a text as a public page. Call it at the top of a test file. */
export function usePages(): ShowPage {
  /** Slug → title and Markdown. */
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
  return async (markdown: string, title = "Benign", workspaceId = "ws") => {
    pageNumber += 1;
    const slug = `page-${pageNumber}`;
    texts.set(slug, { title, markdown, workspaceId });
    const reply = await request(`/p/${slug}`);
    texts.delete(slug);
    const html = String(reply.body);
    const tree = parseHtml(html);
    return { html, tree, policy: reply.headers["content-security-policy"] ?? "", headers: reply.headers };
  };
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

/** Returns what the text of a page may not have. */
export function findHarm(main: Node): string[] {
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
