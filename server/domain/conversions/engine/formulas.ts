/** Formulas finds the formulas of a document: nodes of their own, and code blocks of the language `math`. */
import type { Nodes, Root } from "mdast";
import { type Loss, lineOf } from "./document.ts";

export const formulaLanguage = "math";

/** Returns the source if the block is a formula. */
export function sourceOfFormula(node: Nodes): string | undefined {
  return node.type === "math" || (node.type === "code" && node.lang === formulaLanguage) ? node.value : undefined;
}

/** Losses of an output that shows each formula as its source. */
export function findFormulas(tree: Root): readonly Loss[] {
  const losses: Loss[] = [];
  const visit = (node: Nodes): void => {
    if (node.type === "inlineMath" || sourceOfFormula(node) !== undefined) losses.push({ construct: "formula", line: lineOf(node) });
    if ("children" in node) for (const child of node.children) visit(child);
  };
  visit(tree);
  return losses;
}
