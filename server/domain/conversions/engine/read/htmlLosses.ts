/** HtmlLosses counts what an HTML document has and Markdown has not, before the document is sanitised. */
import type { Element, Root } from "hast";
import { activeElements } from "../../../call/activeElements.ts";
import type { Construct } from "../constructs.ts";
import { type Loss, lineOf } from "../document.ts";
import { htmlSchema } from "../htmlSchema.ts";
import { embeddableTypes } from "../images.ts";
import { schemeOf, scriptSchemes } from "../links.ts";

const active: ReadonlySet<string> = new Set(activeElements);
const scripts: ReadonlySet<string> = new Set(["script", "style", "noscript"]);
/** Elements of the head that say nothing to a reader. */
const silent: ReadonlySet<string> = new Set(["title", "meta", "link", "base"]);

/** Elements that come back as Markdown, or that only group others. */
const kept: ReadonlySet<string> = new Set(
  (
    "html head body a article b blockquote br code dd del div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i img " +
    "input li main ol p pre s section span strike strong table tbody td tfoot th thead tr ul"
  ).split(" "),
);

/** `addresses`: "kept" if the addresses of links and pictures stay in the tree, and the writer decides about them. */
export function findHtmlLosses(tree: Root, addresses: "sanitised" | "kept" = "sanitised"): readonly Loss[] {
  const losses: Loss[] = [];
  const add = (construct: Construct, node: { position?: Element["position"] }) => losses.push({ construct, line: lineOf(node) });

  const visit = (node: Root["children"][number]): void => {
    if (node.type === "comment") add("comment", node);
    if (node.type !== "element") return;
    const { tagName } = node;
    if (silent.has(tagName) || node.properties.dataFootnoteBackref !== undefined) return;
    if (active.has(tagName)) return void add(toRemovedElement(node), node);
    if (!kept.has(tagName) && !isFootnoteReference(node)) add("HTML attribute or element", node);
    visitProperties(node);
    for (const child of node.children) visit(child);
  };

  const visitProperties = (node: Element): void => {
    const { tagName, properties } = node;
    if (properties.style !== undefined) add("HTML attribute or element", node);
    if (Object.keys(properties).some((name) => /^on[a-z]/i.test(name))) add("script or style", node);
    if (isSpan(properties.colSpan) || isSpan(properties.rowSpan)) add("table cell span", node);
    if (tagName === "input" && properties.type !== "checkbox") add("form or embedded object", node);
    if (addresses === "kept") return;
    if (tagName === "a") visitLink(node, String(properties.href ?? ""));
    if (tagName === "img") visitImage(node, String(properties.src ?? ""));
  };

  /** The sanitiser removes an address with another scheme than those of its list, which it compares letter by letter. */
  const visitLink = (node: Element, url: string): void => {
    const written = /^([^:/?#]*):/.exec(url)?.[1];
    if (written === undefined || htmlSchema.protocols?.href?.includes(written) === true) return;
    add(scriptSchemes.has(schemeOf(url) ?? "") ? "script or style" : "link", node);
  };

  const visitImage = (node: Element, source: string): void => {
    const type = /^\s*data:([^;,]*)/i.exec(source)?.[1];
    if (type === undefined || embeddableTypes.has(type.toLowerCase())) return;
    add("image", node);
    // The picture could be a document with scripts (SVG), so its address must not reach an output.
    delete node.properties.src;
  };

  for (const child of tree.children) visit(child);
  return losses;
}

/** The construct of an element that the sanitiser removes. */
export function toRemovedElement({ tagName }: Element): Construct {
  if (scripts.has(tagName)) return "script or style";
  return active.has(tagName) ? "form or embedded object" : "HTML attribute or element";
}

function isFootnoteReference({ tagName, children }: Element): boolean {
  return tagName === "sup" && children.some((child) => child.type === "element" && child.properties.dataFootnoteRef !== undefined);
}

function isSpan(value: unknown): boolean {
  return value !== undefined && Number(value) > 1;
}
