/** Parses Markdown into its syntax tree (mdast) as JSON text without positions. The parser is loaded at the first call. */
type Parse = (markdown: string) => object;

async function createParser(): Promise<Parse> {
  const [{ unified }, { default: parse }, { default: gfm }, { default: frontmatter }] = await Promise.all([
    import("unified"),
    import("remark-parse"),
    import("remark-gfm"),
    import("remark-frontmatter"),
  ]);
  const processor = unified().use(parse).use(gfm).use(frontmatter);
  return (markdown) => processor.parse(markdown);
}

let parser: Promise<Parse> | undefined;

export async function toSyntaxTree(markdown: string): Promise<string> {
  parser ??= createParser();
  const parse = await parser;
  return JSON.stringify(parse(markdown), (name, value) => (name === "position" ? undefined : value));
}
