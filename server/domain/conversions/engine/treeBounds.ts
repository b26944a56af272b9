/**
 * TreeBounds refuses trees that are too large or too deep for the recursive code that follows.
 *
 * It does not recurse itself, and it accepts values of any shape, so it can run before a tree is validated.
 */
import type { ConversionCaps } from "./caps.ts";
import { ConversionFailure } from "./failure.ts";

export function requireBoundedTree(tree: unknown, { nodes, depth }: Pick<ConversionCaps, "nodes" | "depth">): void {
  const waiting: { readonly node: unknown; readonly level: number }[] = [{ node: tree, level: 1 }];
  let count = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    count += 1;
    if (count > nodes) throw new ConversionFailure(`The document has more than ${nodes} elements; split it.`);
    if (next.level > depth) throw new ConversionFailure(`The document is nested more than ${depth} levels deep.`);
    const { node, level } = next;
    if (typeof node !== "object" || node === null || !("children" in node) || !Array.isArray(node.children)) continue;
    for (const child of node.children as readonly unknown[]) waiting.push({ node: child, level: level + 1 });
  }
}
