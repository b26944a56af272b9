/**
 * RawHtml turns the raw HTML of a syntax tree into structure and text, with the handlers of the HTML reader.
 *
 * Raw HTML comes in fragments: `<b>`, a text and `</b>` are three nodes. So the whole tree is parsed as HTML and read back. A
 * tree without raw HTML is returned unchanged. Positions stay those of the source.
 */
import type { Root as HtmlRoot } from "hast";
import type { FootnoteDefinition, Nodes, Root } from "mdast";
import rehypeRaw from "rehype-raw";
import rehypeRemark from "rehype-remark";
import rehypeSanitize from "rehype-sanitize";
import remarkRehype from "remark-rehype";
import { unified } from "unified";
import { formulaWriters } from "../../../call/formulaMathMl.ts";
import type { ConversionCaps } from "../caps.ts";
import type { Loss, ParsedDocument } from "../document.ts";
import { rehypeFormulas } from "../htmlFormulas.ts";
import { htmlSchema } from "../htmlSchema.ts";
import { findFootnotes } from "../phrasing.ts";
import { requireBoundedTree } from "../treeBounds.ts";
import { htmlHandlers } from "./htmlHandlers.ts";
import { findHtmlLosses } from "./htmlLosses.ts";
import { flattenBlocks } from "./htmlPhrasing.ts";
import { findRemovedHtml } from "./removedHtml.ts";
import { dropUnclosedTags } from "./unclosedTags.ts";

type Bounds = Pick<ConversionCaps, "nodes" | "depth">;

type RawHtmlReader = (tree: Root, bounds: Bounds) => Promise<ParsedDocument>;

const parser = unified().use(remarkRehype, { allowDangerousHtml: true, handlers: formulaWriters }).use(rehypeRaw);
/** Addresses stay, because Markdown around the raw HTML has them too. Writers remove those that are not safe in their format. */
const plainReader = unified()
  .use(rehypeSanitize, { ...htmlSchema, protocols: {} })
  .use(rehypeFormulas)
  .use(rehypeRemark, { handlers: htmlHandlers });
const sanitisingReader = unified().use(rehypeSanitize, htmlSchema).use(rehypeFormulas).use(rehypeRemark, { handlers: htmlHandlers });

/** For outputs without raw HTML. The losses are the elements that Markdown does not have. */
export const replaceRawHtml: RawHtmlReader = (tree, bounds) => read(tree, bounds, plainReader, (html) => findHtmlLosses(html, "kept"));

/** For HTML: the content that the sanitiser leaves. The losses are the elements and attributes that it removes. */
export const sanitiseRawHtml: RawHtmlReader = (tree, bounds) => read(tree, bounds, sanitisingReader, findRemovedHtml);

async function read(
  tree: Root,
  bounds: Bounds,
  reader: typeof sanitisingReader,
  findLosses: (html: HtmlRoot) => readonly Loss[],
): Promise<ParsedDocument> {
  if (!hasRawHtml(tree)) return { tree, losses: [] };
  const closed = dropUnclosedTags(tree);
  const html: HtmlRoot = await parser.run(closed.tree);
  requireBoundedTree(html, bounds);
  const losses = [...closed.losses, ...findLosses(html)];
  const content = (await reader.run(html)) as unknown as Root;
  flattenBlocks(content);
  addPositions(content, content.position);
  const frontMatter = tree.children.filter(({ type }) => type === "yaml");
  return { tree: { ...content, children: [...frontMatter, ...content.children, ...findUnusedFootnotes(tree, content)] }, losses };
}

function hasRawHtml(node: Nodes): boolean {
  return node.type === "html" || ("children" in node && node.children.some(hasRawHtml));
}

/** A paragraph without an element of its own, as in a list item, begins where its first child begins. */
function addPositions(node: Nodes, outer: Nodes["position"]): void {
  const children: readonly Nodes[] = "children" in node ? node.children : [];
  const position = node.position ?? children[0]?.position ?? outer;
  if (position !== undefined) node.position = position;
  for (const child of children) addPositions(child, position);
}

/** HTML has only the footnotes that the text refers to. */
function findUnusedFootnotes(tree: Root, read: Root): FootnoteDefinition[] {
  const used = new Set([...findFootnotes(read).keys()].map((identifier) => identifier.toLowerCase()));
  return [...findFootnotes(tree).values()].filter(({ identifier }) => !used.has(identifier.toLowerCase()));
}
