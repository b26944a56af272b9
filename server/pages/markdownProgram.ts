/**
 * The program that makes a page's HTML out of Markdown, for a worker thread, and what it lets through.
 *
 * Raw HTML in the Markdown is parsed, not trusted: the tree is rebuilt by one allow list of elements and
 * attributes. No element that runs, loads, submits or frames anything is on it, no style and no free id; links lead
 * to http, https and mail, pictures come over https only.
 */
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** Files of the packages, in the order in which the program takes them. */
export const markdownPackages: readonly string[] = [
  require.resolve("unified"),
  require.resolve("remark-parse"),
  require.resolve("remark-gfm"),
  require.resolve("remark-frontmatter"),
  require.resolve("remark-rehype"),
  require.resolve("rehype-raw"),
  require.resolve("rehype-sanitize"),
  require.resolve("rehype-stringify"),
];

/** Elements and their attributes beside those that every element may have. */
const allowed: Readonly<Record<string, readonly (string | readonly (string | boolean)[])[]>> = {
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

const schema = {
  tagNames: Object.keys(allowed),
  attributes: { ...allowed, "*": ["dir", "lang", "title"] },
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

/** `work(markdown)` → JSON of `{ html, heading }`; `heading` is the text of a first-level heading that begins the page. */
export const markdownProgram = `
const [{ unified }, parse, gfm, frontmatter, rehype, raw, sanitize, stringify] = packages;
const schema = ${JSON.stringify(schema)};
// The only ids and classes: of footnotes, of task lists and the language of a code block.
const footnoteId = /^user-content-fn(ref)?-[\\w-]+$/;
schema.attributes.a.push(["id", footnoteId], ["className", "data-footnote-backref"]);
schema.attributes.code.push(["className", /^language-[\\w+#.-]+$/]);
schema.attributes.h2.push(["id", "footnote-label"], ["className", "sr-only"]);
schema.attributes.li.push(["id", footnoteId], ["className", "task-list-item"]);
schema.attributes.ol.push(["className", "contains-task-list"]);
schema.attributes.ul.push(["className", "contains-task-list"]);
schema.attributes.section.push(["className", "footnotes"]);

const textOf = (node) => (node.type === "text" ? node.value : (node.children ?? []).map(textOf).join(""));

function finish(node) {
  // What is left of a class list whose classes were not allowed.
  if (node.properties?.className?.length === 0) delete node.properties.className;
  if (node.tagName === "a" && typeof node.properties.href === "string" && !node.properties.href.startsWith("#")) {
    node.properties.rel = ["noopener", "ugc"];
  }
  if (node.tagName === "img") Object.assign(node.properties, { loading: "lazy", decoding: "async", referrerPolicy: "no-referrer" });
  for (const child of node.children ?? []) finish(child);
}

const processor = unified()
  .use(parse.default)
  .use(gfm.default)
  .use(frontmatter.default)
  .use(rehype.default, { allowDangerousHtml: true })
  .use(raw.default)
  .use(sanitize.default, schema)
  .use(stringify.default);

async function work(markdown) {
  const tree = await processor.run(processor.parse(markdown));
  finish(tree);
  const first = tree.children.find((node) => node.type !== "text" || node.value.trim() !== "");
  const heading = first?.tagName === "h1" ? textOf(first).trim() : undefined;
  return JSON.stringify({ html: processor.stringify(tree), heading });
}
`;
