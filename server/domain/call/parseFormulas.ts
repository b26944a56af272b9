/** ParseFormulas parses Markdown with formulas. `parseMarkdown.ts` does not import it, because the parser of formulas is large. */
import type { Nodes, Root } from "mdast";
import remarkFrontmatter from "remark-frontmatter";
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import { unified } from "unified";
import { remarkMath } from "./formulaSyntax.ts";
import { parseInParts } from "./markdownParts.ts";
import { installLinearText } from "./micromarkText.ts";

const processor = unified().use(remarkParse).use(remarkGfm).use(remarkFrontmatter).use(remarkMath);

/** The tree of `parseMarkdown`, in which the nodes `math` and `inlineMath` are formulas and have their source. */
export async function parseMarkdownWithFormulas(markdown: string): Promise<Root> {
  await installLinearText();
  return parseInParts(markdown, (part) => dropHints(processor.parse(part)));
}

/** Removes the hints of the parser for the HTML of formulas (`data.hName`), because the writers decide about their HTML. */
function dropHints(tree: Root): Root {
  const waiting: Nodes[] = [tree];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next.type === "math" || next.type === "inlineMath") delete next.data;
    if ("children" in next) for (const child of next.children) waiting.push(child);
  }
  return tree;
}
