/**
 * A page's HTML out of Markdown, and what is let through. Runs in a thread (pageThread.ts): hostile Markdown takes long.
 *
 * Raw HTML in the Markdown is parsed, not trusted: the tree is rebuilt by one allow list of elements and
 * attributes. No element that runs, loads, submits or frames anything is on it, no style and no free id; links lead
 * to http, https and mail, pictures come over https only.
 */
import rehypeRaw from "rehype-raw";
import rehypeSanitize, { type Options as Schema } from "rehype-sanitize";
import rehypeStringify from "rehype-stringify";
import remarkFrontmatter from "remark-frontmatter";
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import remarkRehype from "remark-rehype";
import { unified } from "unified";

export interface LaidOutText {
  readonly html: string;
  /** Text of a first-level heading with which the text begins. */
  readonly heading?: string;
}

type Attribute = NonNullable<Schema["attributes"]>[string][number];

/** Elements and their attributes beside those that every element may have. */
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

/** Removed with all they hold; any other element that is not allowed leaves its content. */
const stripped = [
  "applet",
  "audio",
  "base",
  "button",
  "canvas",
  "datalist",
  "dialog",
  "embed",
  "form",
  "frame",
  "frameset",
  "iframe",
  "link",
  "math",
  "meta",
  "noembed",
  "noframes",
  "noscript",
  "object",
  "option",
  "param",
  "picture",
  "plaintext",
  "portal",
  "script",
  "select",
  "source",
  "style",
  "svg",
  "template",
  "textarea",
  "title",
  "track",
  "video",
  "xmp",
];

const footnoteId = /^user-content-fn(ref)?-[\w-]+$/;

const schema: Schema = {
  tagNames: Object.keys(allowed),
  attributes: {
    ...allowed,
    "*": ["dir", "lang", "title"],
    // The only ids and classes: of footnotes, of task lists and the language of a code block.
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
  strip: stripped,
  clobber: [],
  clobberPrefix: "",
  allowComments: false,
  allowDoctypes: false,
};

const processor = unified()
  .use(remarkParse)
  .use(remarkGfm)
  .use(remarkFrontmatter)
  .use(remarkRehype, { allowDangerousHtml: true })
  .use(rehypeRaw)
  .use(rehypeSanitize, schema)
  .use(rehypeStringify);

type Tree = Awaited<ReturnType<typeof processor.run>>;
type Node = Tree | Tree["children"][number];

function textOf(node: Node): string {
  if (node.type === "text") return node.value;
  return "children" in node ? node.children.map(textOf).join("") : "";
}

function finish(node: Node): void {
  if (node.type === "element") {
    const { tagName, properties } = node;
    // What is left of a class list whose classes were not allowed.
    if (Array.isArray(properties.className) && properties.className.length === 0) delete properties.className;
    if (tagName === "a" && typeof properties.href === "string" && !properties.href.startsWith("#")) properties.rel = ["noopener", "ugc"];
    if (tagName === "img") Object.assign(properties, { loading: "lazy", decoding: "async", referrerPolicy: "no-referrer" });
  }
  if ("children" in node) for (const child of node.children) finish(child);
}

export async function toPageText(markdown: string): Promise<LaidOutText> {
  const tree = await processor.run(processor.parse(markdown));
  finish(tree);
  const first = tree.children.find((node) => node.type !== "text" || node.value.trim() !== "");
  const isHeading = first?.type === "element" && first.tagName === "h1";
  return { html: processor.stringify(tree), ...(isHeading ? { heading: textOf(first).trim() } : {}) };
}
