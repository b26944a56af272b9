/** FindRemovedHtml lists the elements, attributes and comments that the sanitiser removes from HTML, before they are removed. */
import type { Element, Root } from "hast";
import rehypeSanitize from "rehype-sanitize";
import { unified } from "unified";
import type { Construct } from "../constructs.ts";
import { type Loss, lineOf } from "../document.ts";
import { htmlSchema } from "../htmlSchema.ts";
import { toRemovedElement } from "./htmlLosses.ts";

/** Elements are sanitised one by one, so the elements around them are not asked for. */
const sanitizer = unified().use(rehypeSanitize, { ...htmlSchema, ancestors: {} });

export function findRemovedHtml(tree: Root): readonly Loss[] {
  const losses: Loss[] = [];
  const visit = (node: Root["children"][number]): void => {
    if (node.type === "comment") losses.push({ construct: "comment", line: lineOf(node) });
    if (node.type !== "element") return;
    const kept = sanitize(node);
    if (kept === undefined) losses.push({ construct: toRemovedElement(node), line: lineOf(node) });
    else for (const construct of findRemovedProperties(node, kept)) losses.push({ construct, line: lineOf(node) });
    if (kept === undefined && toRemovedElement(node) !== "HTML attribute or element") return;
    for (const child of node.children) visit(child);
  };
  for (const child of tree.children) visit(child);
  return losses;
}

function sanitize(node: Element): Element | undefined {
  const [kept] = sanitizer.runSync({ type: "root", children: [{ ...node, children: [] }] }).children;
  return kept?.type === "element" ? kept : undefined;
}

function findRemovedProperties({ tagName, properties }: Element, kept: Element): Construct[] {
  return Object.entries(properties).flatMap(([name, value]) => {
    if (JSON.stringify(value) === JSON.stringify(kept.properties[name])) return [];
    if (/^on[a-z]/i.test(name)) return ["script or style"];
    if (tagName === "a" && name === "href") return ["link"];
    return [tagName === "img" && name === "src" ? "image" : "HTML attribute or element"];
  });
}
