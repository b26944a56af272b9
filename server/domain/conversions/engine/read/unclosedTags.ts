/**
 * DropUnclosedTags removes the opening tags of active elements, such as `<script>`, that no later tag closes. Otherwise the
 * Markdown that follows would be the content of the element, and its words would be removed too.
 */
import type { Html, Nodes, Parent, Root } from "mdast";
import { type Loss, lineOf, type ParsedDocument } from "../document.ts";
import { isActiveElement, toRemovedElement } from "./htmlLosses.ts";

const openingTag = /^\s*<([a-z]+)\b[^>]*>\s*$/i;
const tags = /<(\/?)([a-z]+)/gi;

export function dropUnclosedTags(tree: Root): ParsedDocument {
  const unclosed = new Set<Nodes>();
  const losses: Loss[] = [];
  /** Name of an element → closing tags after this place that close no opening tag yet. */
  const closing = new Map<string, number>();
  const add = (name: string, count: number) => closing.set(name, Math.max(0, (closing.get(name) ?? 0) + count));
  for (const node of findHtml(tree).reverse()) {
    const name = openingTag.exec(node.value)?.[1]?.toLowerCase();
    if (name !== undefined && isActiveElement(name) && (closing.get(name) ?? 0) === 0) {
      unclosed.add(node);
      losses.push({ construct: toRemovedElement(name), line: lineOf(node) });
    }
    for (const [, slash, tag = ""] of [...node.value.matchAll(tags)].reverse()) add(tag.toLowerCase(), slash === "/" ? 1 : -1);
  }
  return unclosed.size === 0 ? { tree, losses } : { tree: without(tree, unclosed), losses };
}

function findHtml(node: Nodes): Html[] {
  if (node.type === "html") return [node];
  return "children" in node ? node.children.flatMap(findHtml) : [];
}

function without<Node extends Nodes>(node: Node, removed: ReadonlySet<Nodes>): Node {
  if (!("children" in node)) return node;
  const children = (node as Parent).children.filter((child) => !removed.has(child)).map((child) => without(child, removed));
  return { ...node, children };
}
