/**
 * FlattenBlocks turns blocks inside of inline content into inline content, because Markdown has no place for them there. HTML
 * has such blocks in cells of tables (`<td><p>`) and in marks (`<b><p>`). Their words would be in no output otherwise.
 */
import type { Nodes, Parent, PhrasingContent, Root } from "mdast";

const containers: ReadonlySet<string> = new Set(["paragraph", "heading", "tableCell", "emphasis", "strong", "delete", "link"]);
const inline: ReadonlySet<string> = new Set([
  ..."text emphasis strong delete inlineCode inlineMath break html image imageReference link linkReference footnoteReference".split(" "),
]);

export function flattenBlocks(tree: Root): void {
  const visit = (node: Nodes): void => {
    if (!("children" in node)) return;
    if (containers.has(node.type)) (node as Parent).children = toPhrasing(node.children);
    for (const child of node.children) visit(child);
  };
  visit(tree);
}

function toPhrasing(nodes: readonly Nodes[]): PhrasingContent[] {
  return nodes.flatMap((node, at): PhrasingContent[] => {
    if (inline.has(node.type)) return [node as PhrasingContent];
    const content: PhrasingContent[] = toInline(node) ?? toPhrasing(childrenOf(node));
    return at === 0 ? content : [{ type: "text", value: " " }, ...content];
  });
}

/** Code and formulas of a block of their own. */
function toInline({ ...node }: Nodes): PhrasingContent[] | undefined {
  if (node.type === "code") return [{ ...node, type: "inlineCode" }];
  return node.type === "math" ? [{ ...node, type: "inlineMath" }] : undefined;
}

function childrenOf(node: Nodes): readonly Nodes[] {
  return "children" in node ? node.children : [];
}
