/**
 * PageTree adds text directions, link and picture attributes and table boxes to the sanitised tree of a public page.
 *
 * It adds only attributes and elements that the server chooses. It must not restore any content that the allow list in
 * markdownPage.ts has removed.
 */
import type { Element, ElementContent, Root } from "hast";
import { markPictures } from "./pagePictures.ts";

/** Block elements whose text direction follows from their own text. */
const directed = new Set("p h1 h2 h3 h4 h5 h6 li blockquote table caption td th dt dd details summary figcaption div".split(" "));
const leftToRight = new Set(["pre", "code", "kbd", "samp"]);
/** Cells with more characters wrap. Shorter ones do not: Chinese text would otherwise wrap after each character. */
const proseCharacters = 12;
/** `user-content-` separates ids from built-in names of the DOM document. The `.` of a footnote id cannot occur in a slug. */
export const headingPrefix = "user-content-";
export const footnotePrefix = "user-content.";
/** Id of the heading of the footnotes. Only screen readers get it. */
export const footnoteLabelId = "footnote-label";

export function textOf(node: Root | ElementContent | Root["children"][number]): string {
  if (node.type === "text") return node.value;
  return "children" in node ? node.children.map(textOf).join("") : "";
}

/**
 * Options of the link from a heading to itself. The link has no text, so it does not change the text of the heading.
 * `pageNames.ts` adds its accessible name.
 */
export const headingAnchor = {
  behavior: "append",
  content: [],
  properties: () => ({ className: ["anchor"] }),
  // A link in a heading that is not shown would be invisible.
  test: (heading: Element) => heading.properties.id !== footnoteLabelId,
} as const;

/**
 * Sets the `dir` attributes below a node. `leads`: the next text decides the direction of the block that contains it.
 *
 * To resolve `dir="auto"`, a browser skips child elements with their own `dir`. Therefore the first block in a list item,
 * quote or table gets none: it inherits, and its text decides for the outer block. Returns whether such text was found.
 */
function setDirections(parent: Root | Element, leads: boolean): boolean {
  let isLead = leads;
  let hasWords = false;
  for (const child of parent.children) {
    if (!decidesDirection(child, isLead)) continue;
    isLead = false;
    hasWords = true;
  }
  return hasWords;
}

function decidesDirection(node: Root["children"][number], isLead: boolean): boolean {
  if (node.type === "text") return /\p{L}/u.test(node.value);
  if (node.type !== "element") return false;
  const { tagName, properties } = node;
  if (leftToRight.has(tagName)) {
    properties.dir = "ltr";
    setDirections(node, false);
    return false;
  }
  const isBlock = directed.has(tagName);
  const hasWords = setDirections(node, isBlock || isLead);
  if (isBlock && hasWords && !isLead) properties.dir ??= "auto";
  return hasWords && properties.dir === undefined;
}

/** Visits all elements below a node, parents first. */
export function eachElement(parent: Root | Element, visit: (element: Element) => void): void {
  for (const child of parent.children) {
    if (child.type !== "element") continue;
    visit(child);
    eachElement(child, visit);
  }
}

/** Returns all ids. If several elements have the same id, only the first one keeps it. */
function collectIds(tree: Root): ReadonlySet<string> {
  const ids = new Set<string>();
  eachElement(tree, ({ properties }) => {
    if (typeof properties.id !== "string") return;
    if (ids.has(properties.id)) delete properties.id;
    else ids.add(properties.id);
  });
  return ids;
}

/** Resolves a fragment link of the author: `#one-two` means the heading "One two", whose id has the heading prefix. */
function toInnerHref(href: string, ids: ReadonlySet<string>): string {
  let name: string;
  try {
    name = decodeURIComponent(href.slice(1));
  } catch {
    return href;
  }
  const id = headingPrefix + name.toLowerCase();
  return !ids.has(name) && ids.has(id) ? `#${id}` : href;
}

function finishElement(element: Element, ids: ReadonlySet<string>): void {
  const { tagName, properties } = element;
  // The sanitiser leaves an empty class list if it removed all classes.
  if (Array.isArray(properties.className) && properties.className.length === 0) delete properties.className;
  if (tagName === "a" && typeof properties.href === "string") {
    if (properties.href.startsWith("#")) properties.href = toInnerHref(properties.href, ids);
    else properties.rel = ["noopener", "ugc"];
  }
  // Code that is wider than the page scrolls, so it must get keyboard focus.
  if (tagName === "pre") Object.assign(properties, { role: "group", tabIndex: 0 });
  if (tagName === "img") Object.assign(properties, { loading: "lazy", decoding: "async", referrerPolicy: "no-referrer" });
  if ((tagName === "td" || tagName === "th") && textOf(element).trim().length > proseCharacters) properties.className = ["prose"];
}

/** Puts each table into a box that scrolls and can get keyboard focus, so that a wide table does not widen the page. */
function wrapTables(parent: Root | Element): void {
  parent.children.forEach((child, at) => {
    if (child.type !== "element") return;
    wrapTables(child);
    if (child.tagName !== "table") return;
    const properties = { className: ["table"], role: "group", tabIndex: 0 };
    parent.children[at] = { type: "element", tagName: "div", properties, children: [child] };
  });
}

export function rehypePageTree() {
  return (tree: Root): void => {
    const ids = collectIds(tree);
    eachElement(tree, (element) => finishElement(element, ids));
    markPictures(tree);
    wrapTables(tree);
    setDirections(tree, false);
  };
}
