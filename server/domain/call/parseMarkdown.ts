/** ParseMarkdown parses Markdown into its syntax tree (mdast). The parser is loaded at the first call. */
import type { Root } from "mdast";
import { parseInParts } from "./markdownParts.ts";
import { installLinearText } from "./micromarkText.ts";

type Parse = (markdown: string) => Root;

async function createParser(): Promise<Parse> {
  const [{ unified }, { default: parse }, { default: gfm }, { default: frontmatter }] = await Promise.all([
    import("unified"),
    import("remark-parse"),
    import("remark-gfm"),
    import("remark-frontmatter"),
    installLinearText(),
  ]);
  const processor = unified().use(parse).use(gfm).use(frontmatter);
  return (markdown) => parseInParts(markdown, (part) => processor.parse(part));
}

let parser: Promise<Parse> | undefined;

/** The tree of GitHub's Markdown with front matter. Each node has its position in the text. */
export async function parseMarkdown(markdown: string): Promise<Root> {
  parser ??= createParser();
  const parse = await parser;
  return parse(markdown);
}
