/**
 * PageSchema is the allow list of the HTML that the Markdown of a public page may contain.
 *
 * The list has no element that runs, loads, submits or frames anything except pictures, no style and no free id. Links may
 * use http, https and mailto; pictures only https. What the server adds afterwards (formulas, colours of code, anchors,
 * text directions) is not in this list.
 */
import type { Options as Schema } from "rehype-sanitize";
import { activeElements } from "../../domain/call/activeElements.ts";

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

export const pageSchema: Schema = {
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
