/**
 * MarkdownPage renders Markdown to the HTML of a public page. It runs in a worker thread (page.worker.ts), because
 * hostile Markdown can take long.
 *
 * Raw HTML in the Markdown is parsed but not trusted: one allow list of elements and attributes decides what stays. The
 * list has no element that runs, loads, submits or frames anything except pictures, no style and no free id. Links may
 * use http, https and mailto; pictures only https. Ids, anchors and text directions are added afterwards (pageTree.ts).
 */
import rehypeAutolinkHeadings from "rehype-autolink-headings";
import rehypeRaw from "rehype-raw";
import rehypeSanitize, { type Options as Schema } from "rehype-sanitize";
import rehypeSlug from "rehype-slug";
import rehypeStringify from "rehype-stringify";
import remarkFrontmatter from "remark-frontmatter";
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import remarkRehype from "remark-rehype";
import { unified } from "unified";
import { activeElements } from "../../domain/call/activeElements.ts";
import { footnotePrefix, headingAnchor, headingPrefix, rehypePageTree, textOf } from "./pageTree.ts";

export interface LaidOutText {
  readonly html: string;
  /** Text of a first-level heading with which the text begins. */
  readonly heading?: string;
  /** Language tag from the front matter (BCP 47). */
  readonly lang?: string;
}

type Attribute = NonNullable<Schema["attributes"]>[string][number];

/** Allowed elements, each with its own attributes in addition to those that every element may have. */
const allowed: Readonly<Record<string, readonly Attribute[]>> = {
  a: ["href", "dataFootnoteRef", "dataFootnoteBackref", "ariaLabel", "ariaDescribedBy"],
  abbr: [],
  b: [],
  bdi: [],
  bdo: [],
  blockquote: ["cite"],
  br: [],
  caption: [],
  cite: [],
  code: [],
  col: ["span"],
  colgroup: ["span"],
  dd: [],
  del: ["cite", "dateTime"],
  details: ["open"],
  dfn: [],
  div: [],
  dl: [],
  dt: [],
  em: [],
  figcaption: [],
  figure: [],
  h1: [],
  h2: [],
  h3: [],
  h4: [],
  h5: [],
  h6: [],
  hr: [],
  i: [],
  img: ["src", "alt", "width", "height"],
  input: [["type", "checkbox"], ["disabled", true], "checked"],
  ins: ["cite", "dateTime"],
  kbd: [],
  li: [],
  mark: [],
  ol: ["start", "reversed"],
  p: [],
  pre: [],
  q: ["cite"],
  rp: [],
  rt: [],
  ruby: [],
  s: [],
  samp: [],
  section: ["dataFootnotes"],
  small: [],
  span: [],
  strong: [],
  sub: [],
  summary: [],
  sup: [],
  table: [],
  tbody: [],
  td: ["colSpan", "rowSpan", "align"],
  tfoot: [],
  th: ["colSpan", "rowSpan", "align", "scope"],
  thead: [],
  time: ["dateTime"],
  tr: [],
  u: [],
  ul: [],
  var: [],
  wbr: [],
};

const footnoteId = /^user-content\.fn(ref)?-[\w-]+$/;

const schema: Schema = {
  tagNames: Object.keys(allowed),
  attributes: {
    ...allowed,
    "*": ["dir", "lang", "title"],
    // Ids and classes are allowed only for footnotes, task lists and the language of a code block.
    a: [...(allowed.a ?? []), ["id", footnoteId], ["className", "data-footnote-backref"]],
    code: [["className", /^language-[\w+#.-]+$/]],
    h2: [
      ["id", "footnote-label"],
      ["className", "sr-only"],
    ],
    li: [
      ["id", footnoteId],
      ["className", "task-list-item"],
    ],
    ol: [...(allowed.ol ?? []), ["className", "contains-task-list"]],
    section: [...(allowed.section ?? []), ["className", "footnotes"]],
    ul: [["className", "contains-task-list"]],
  },
  ancestors: {
    caption: ["table"],
    col: ["table"],
    colgroup: ["table"],
    tbody: ["table"],
    td: ["table"],
    tfoot: ["table"],
    th: ["table"],
    thead: ["table"],
    tr: ["table"],
  },
  required: { input: { type: "checkbox", disabled: true } },
  protocols: { cite: ["http", "https"], href: ["http", "https", "mailto"], src: ["https"] },
  strip: [...activeElements],
  clobber: [],
  clobberPrefix: "",
  allowComments: false,
  allowDoctypes: false,
};

const processor = unified()
  .use(remarkParse)
  .use(remarkGfm)
  .use(remarkFrontmatter)
  .use(remarkRehype, { allowDangerousHtml: true, clobberPrefix: footnotePrefix })
  .use(rehypeRaw)
  .use(rehypeSanitize, schema)
  .use(rehypeSlug, { prefix: headingPrefix })
  .use(rehypeAutolinkHeadings, headingAnchor)
  .use(rehypePageTree)
  .use(rehypeStringify);

/** Matches `lang: de` in the front matter. A browser uses this language for hyphenation and speech output. */
const languageLine = /^lang:[ \t]*["']?([A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3})["']?[ \t]*$/m;

export async function toPageText(markdown: string): Promise<LaidOutText> {
  const source = processor.parse(markdown);
  const [frontMatter] = source.children;
  const lang = frontMatter?.type === "yaml" ? languageLine.exec(frontMatter.value)?.[1] : undefined;
  const tree = await processor.run(source);
  const first = tree.children.find((node) => node.type !== "text" || node.value.trim() !== "");
  const isHeading = first?.type === "element" && first.tagName === "h1";
  return {
    html: processor.stringify(tree),
    ...(isHeading ? { heading: textOf(first).trim() } : {}),
    ...(lang === undefined ? {} : { lang }),
  };
}
