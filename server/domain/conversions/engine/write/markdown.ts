/** Writes GitHub's Markdown with footnotes, front matter and formulas. */
import type { Root } from "mdast";
import remarkFrontmatter from "remark-frontmatter";
import remarkGfm from "remark-gfm";
import remarkStringify from "remark-stringify";
import { unified } from "unified";
import type { WrittenDocument } from "../document.ts";
import { remarkFormulas } from "./markdownFormulas.ts";

const processor = unified()
  .use(remarkStringify, { bullet: "-", emphasis: "_", fences: true, rule: "-", resourceLink: false })
  .use(remarkGfm)
  .use(remarkFrontmatter)
  .use(remarkFormulas);

export async function writeMarkdown(tree: Root): Promise<WrittenDocument> {
  return { bytes: Buffer.from(processor.stringify(tree), "utf8"), losses: [] };
}
