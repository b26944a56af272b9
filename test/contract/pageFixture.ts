/** Shows pages of a text, as HTML trees. */
import type { PublishedPage } from "../../server/domain/publishing/service.ts";
import { toPageText } from "../../server/edge/pages/markdownPage.ts";
import { toPageHtml } from "../../server/edge/pages/publicPageHtml.ts";
import { findHtml, type HtmlNode, parseHtml } from "../support/htmlTree.ts";
import { publishedPage } from "../support/samplePages.ts";

export const baseUrl = "https://pages.example";

export async function show(markdown: string, changes: Partial<PublishedPage> = {}): Promise<HtmlNode> {
  const page = { ...publishedPage, ...changes };
  return parseHtml(toPageHtml(page, await toPageText({ title: page.title, markdown }), baseUrl));
}
export const metaOf = (tree: HtmlNode) =>
  new Map(findHtml(tree, "meta").map(({ properties = {} }) => [String(properties.property ?? properties.name), properties.content]));
export const linksOf = (tree: HtmlNode) =>
  findHtml(tree, "link").map(({ properties }) => [String(properties?.rel), String(properties?.href)]);
