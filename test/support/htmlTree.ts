/** Reads the tree that a conforming HTML parser builds from a page. */
import rehypeParse from "rehype-parse";
import { unified } from "unified";

export interface HtmlNode {
  readonly type: string;
  readonly tagName?: string;
  readonly value?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly children?: readonly HtmlNode[];
}

export const parseHtml = (html: string) => unified().use(rehypeParse).parse(html) as unknown as HtmlNode;

/** Yields the node itself, then its descendants in document order. */
export function* walkHtml(node: HtmlNode): Generator<HtmlNode> {
  yield node;
  for (const child of node.children ?? []) yield* walkHtml(child);
}

export function findHtml(node: HtmlNode, tagName: string): HtmlNode[] {
  return [...walkHtml(node)].filter((found) => found.tagName === tagName);
}

export function textIn(node: HtmlNode | undefined): string {
  return node?.value ?? (node?.children ?? []).map(textIn).join("");
}

export function hrefsIn(node: HtmlNode): string[] {
  return findHtml(node, "a").map(({ properties }) => String(properties?.href));
}
