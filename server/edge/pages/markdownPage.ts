/**
 * MarkdownPage renders Markdown to the HTML of a public page. It runs in a worker thread (page.worker.ts), because
 * hostile Markdown can take long.
 *
 * Raw HTML in the Markdown is parsed but not trusted: the allow list in pageSchema.ts decides what stays. Formulas, colours
 * of code, ids, anchors and text directions are added afterwards, so that no author can write them.
 */
import rehypeAutolinkHeadings from "rehype-autolink-headings";
import rehypeRaw from "rehype-raw";
import rehypeSanitize from "rehype-sanitize";
import rehypeSlug from "rehype-slug";
import rehypeStringify from "rehype-stringify";
import remarkFrontmatter from "remark-frontmatter";
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import remarkRehype from "remark-rehype";
import { unified } from "unified";
import { remarkMath } from "../../domain/call/formulaSyntax.ts";
import { describePage, type PageFacts, takeHeading } from "./pageFacts.ts";
import { rehypeHighlight } from "./pageHighlight.ts";
import { rehypeMath } from "./pageMath.ts";
import { pageSchema } from "./pageSchema.ts";
import { footnotePrefix, headingAnchor, headingPrefix, rehypePageTree } from "./pageTree.ts";

export interface LaidOutText extends PageFacts {
  /** HTML of the text without its leading heading. */
  readonly html: string;
  /** First-level heading with which the text begins. */
  readonly heading?: { readonly text: string; readonly html: string };
}

const processor = unified()
  .use(remarkParse)
  .use(remarkGfm)
  .use(remarkFrontmatter)
  .use(remarkMath)
  .use(remarkRehype, { allowDangerousHtml: true, clobberPrefix: footnotePrefix })
  .use(rehypeRaw)
  .use(rehypeSanitize, pageSchema)
  .use(rehypeSlug, { prefix: headingPrefix })
  .use(rehypeAutolinkHeadings, headingAnchor)
  .use(rehypeHighlight)
  .use(rehypePageTree)
  .use(rehypeMath)
  .use(rehypeStringify);

export async function toPageText(markdown: string): Promise<LaidOutText> {
  const source = processor.parse(markdown);
  const [frontMatter] = source.children;
  const tree = await processor.run(source);
  const facts = describePage(tree, frontMatter?.type === "yaml" ? frontMatter.value : "");
  const heading = takeHeading(tree);
  return {
    ...facts,
    html: processor.stringify(tree),
    ...(heading === undefined
      ? {}
      : { heading: { text: heading.text, html: processor.stringify({ type: "root", children: [heading.element] }) } }),
  };
}
