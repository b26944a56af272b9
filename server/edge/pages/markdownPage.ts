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
import remarkRehype from "remark-rehype";
import { unified } from "unified";
import { formulaWriters } from "../../domain/call/formulaMathMl.ts";
import { parseMarkdownWithFormulas } from "../../domain/call/parseFormulas.ts";
import { describePage, type PageFacts } from "./pageFacts.ts";
import { lowerHeadings, takeTitle } from "./pageHeadings.ts";
import { rehypeHighlight } from "./pageHighlight.ts";
import { rehypeMath } from "./pageMath.ts";
import { nameElements } from "./pageNames.ts";
import { pageSchema } from "./pageSchema.ts";
import { footnotePrefix, headingAnchor, headingPrefix, rehypePageTree } from "./pageTree.ts";

/** A text with the title of its page. */
export interface TitledText {
  readonly title: string;
  readonly markdown: string;
}

export interface LaidOutText extends PageFacts {
  /** HTML of the text without its title. It has no first-level heading. */
  readonly html: string;
  /** HTML of the first-level heading that begins the text and equals the title. `headings` does not contain it. */
  readonly heading?: string;
}

/** Returns the number of a reference to a footnote, which `pageNames.ts` puts into the name of the link back to it. */
const toReferenceNumber = (footnote: number, repetition: number): string => `${footnote + 1}${repetition > 1 ? `-${repetition}` : ""}`;

const processor = unified()
  .use(remarkRehype, {
    allowDangerousHtml: true,
    clobberPrefix: footnotePrefix,
    footnoteBackLabel: toReferenceNumber,
    handlers: formulaWriters,
  })
  .use(rehypeRaw)
  .use(rehypeSanitize, pageSchema)
  .use(rehypeSlug, { prefix: headingPrefix })
  .use(rehypeAutolinkHeadings, headingAnchor)
  .use(rehypeHighlight)
  .use(rehypePageTree)
  .use(rehypeMath)
  .use(rehypeStringify);

export async function toPageText({ title, markdown }: TitledText): Promise<LaidOutText> {
  const source = await parseMarkdownWithFormulas(markdown);
  const [frontMatter] = source.children;
  const tree = await processor.run(source);
  const facts = describePage(tree, frontMatter?.type === "yaml" ? frontMatter.value : "");
  nameElements(tree, facts.lang);
  const heading = takeTitle(tree, title);
  lowerHeadings(tree);
  const html = processor.stringify(tree);
  if (heading === undefined) return { ...facts, html };
  return { ...facts, headings: facts.headings.slice(1), html, heading: processor.stringify({ type: "root", children: [heading] }) };
}
