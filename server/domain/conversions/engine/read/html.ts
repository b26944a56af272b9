/**
 * Reads HTML. Scripts, styles, forms, frames and embedded objects are removed before anything else looks at the tree.
 *
 * Nothing is loaded: a link stays a link, and a picture stays its address.
 */
import type { Root as HtmlRoot } from "hast";
import type { Root } from "mdast";
import rehypeParse from "rehype-parse";
import rehypeRemark from "rehype-remark";
import rehypeSanitize from "rehype-sanitize";
import { unified } from "unified";
import type { ConversionCaps } from "../caps.ts";
import type { ParsedDocument } from "../document.ts";
import { readFormulas, rehypeFormulas } from "../htmlFormulas.ts";
import { htmlSchema } from "../htmlSchema.ts";
import { requireBoundedTree } from "../treeBounds.ts";
import { htmlHandlers } from "./htmlHandlers.ts";
import { findHtmlLosses } from "./htmlLosses.ts";
import { flattenBlocks } from "./htmlPhrasing.ts";
import { decodeUtf8 } from "./utf8.ts";

const parser = unified().use(rehypeParse);
const toMarkdownTree = unified().use(rehypeSanitize, htmlSchema).use(rehypeFormulas).use(rehypeRemark, { handlers: htmlHandlers });

export async function readHtml(bytes: Uint8Array, caps: ConversionCaps): Promise<ParsedDocument> {
  const html: HtmlRoot = parser.parse(decodeUtf8(bytes));
  requireBoundedTree(html, caps);
  readFormulas(html);
  const losses = findHtmlLosses(html);
  const tree = (await toMarkdownTree.run(html)) as unknown as Root;
  flattenBlocks(tree);
  return { tree, losses };
}
