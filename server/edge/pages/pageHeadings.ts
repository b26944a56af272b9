/**
 * PageHeadings gives a public page one first-level heading: its title.
 *
 * Many texts begin with their title as a heading, which then is the heading of the page. Programs that read a page aloud
 * offer its headings as an outline, so the levels below the title must keep their order.
 */
import type { Element, Root } from "hast";
import { eachElement, footnoteLabelId, textOf } from "./pageTree.ts";

const lowestLevel = 6;

const toLine = (text: string): string => text.normalize("NFC").replaceAll(/\s+/g, " ").trim();

/** Removes the first-level heading with which the text begins if it equals the title, and returns it. */
export function takeTitle(tree: Root, title: string): Element | undefined {
  const at = tree.children.findIndex((node) => node.type !== "text" || node.value.trim() !== "");
  const element = tree.children[at];
  if (element?.type !== "element" || element.tagName !== "h1" || toLine(textOf(element)) !== toLine(title)) return undefined;
  tree.children.splice(at, 1);
  return element;
}

/** If the text has a heading of the first level, puts each of its headings one level lower. */
export function lowerHeadings(tree: Root): void {
  const headings: { readonly element: Element; readonly level: number }[] = [];
  eachElement(tree, (element) => {
    const level = /^h([1-6])$/.exec(element.tagName)?.[1];
    const isFootnoteLabel = level === "2" && element.properties.id === footnoteLabelId;
    if (level !== undefined && !isFootnoteLabel) headings.push({ element, level: Number(level) });
  });
  if (!headings.some(({ level }) => level === 1)) return;
  for (const { element, level } of headings) element.tagName = `h${Math.min(level + 1, lowestLevel)}`;
}
