/**
 * PagePictures marks the pictures of a page, so that the style can reserve their room before they are loaded (PL59).
 *
 * Only the author knows the size of a picture: the server requests nothing to lay out a page. A picture without a width and a
 * height gets the class `unsized`, and one on a line of its own the class `picture`. No author can write these classes.
 */
import type { Element, Root } from "hast";

type Node = Root["children"][number];

/** Elements whose lines a picture can fill. A table cell is as wide as its content, so a picture in it stays small. */
const holders = new Set("p div figure li blockquote dd details section".split(" "));
const blocks = new Set([...holders, ..."figcaption h1 h2 h3 h4 h5 h6 hr ol pre summary table ul".split(" ")]);

function endsLine(before: Node | undefined): boolean {
  if (before?.type === "text") return /\n\s*$/.test(before.value);
  return isBoundary(before);
}

function beginsLine(after: Node | undefined): boolean {
  if (after?.type === "text") return /^\s*\n/.test(after.value);
  return isBoundary(after);
}

function isBoundary(node: Node | undefined): boolean {
  return node === undefined || (node.type === "element" && (node.tagName === "br" || blocks.has(node.tagName)));
}

/** The picture that the node is, or that is all of its link. */
function pictureIn(node: Element): Element | undefined {
  const [only, ...others] = node.tagName === "a" ? node.children : [node];
  return others.length === 0 && only?.type === "element" && only.tagName === "img" ? only : undefined;
}

function addClass({ properties }: Element, name: string): void {
  properties.className = [...(Array.isArray(properties.className) ? properties.className : []), name];
}

export function markPictures(parent: Root | Element): void {
  const holdsLines = parent.type === "root" || holders.has(parent.tagName);
  parent.children.forEach((child, at) => {
    if (child.type !== "element") return;
    const picture = pictureIn(child);
    if (picture !== undefined && holdsLines && endsLine(parent.children[at - 1]) && beginsLine(parent.children[at + 1])) {
      addClass(picture, "picture");
    }
    const { width, height } = child.properties;
    if (child.tagName === "img" && (width === undefined || height === undefined)) addClass(child, "unsized");
    markPictures(child);
  });
}
