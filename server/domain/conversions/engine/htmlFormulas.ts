/**
 * HtmlFormulas writes formulas into HTML as MathML with their source as an annotation, and reads them back from the annotation.
 *
 * Between both, in a tree of HTML, a formula is code of the language `math`, which the sanitiser knows.
 */
import type { Element, Root } from "hast";
import type { Math as DisplayMath, InlineMath } from "mdast-util-math";
import type { Options as ReadOptions } from "rehype-remark";
import { findFormula, replaceFormulas, toCode } from "../../call/formulaMathMl.ts";
import { type Loss, lineOf } from "./document.ts";

const encoding = "application/x-tex";

/** Handler for `rehype-remark`, after `rehypeFormulas`. */
export const formulaReaders: NonNullable<ReadOptions["handlers"]> = {
  math: (state, element: Element) => {
    const { alt, display } = element.properties;
    const value = String(alt ?? "");
    const formula: DisplayMath | InlineMath =
      display === "block" ? { type: "math", meta: null, value: value.replace(/\n$/, "") } : { type: "inlineMath", value };
    state.patch(element, formula);
    return formula;
  },
};

/**
 * Makes the formulas of a sanitised tree, which are code, elements with a handler of their own. The source is a property, because
 * white space of the text is collapsed.
 */
export function rehypeFormulas() {
  return (tree: Root): void => {
    const visit = (parent: Root | Element): void => {
      parent.children.forEach((child, at) => {
        if (child.type !== "element") return;
        const formula = findFormula(child);
        if (formula === undefined) {
          visit(child);
          return;
        }
        const { source, isDisplay } = formula;
        const properties = { alt: source, ...(isDisplay ? { display: "block" } : {}) };
        parent.children[at] = { ...child, tagName: "math", properties, children: [{ type: "text", value: source }] };
      });
    };
    visit(tree);
  };
}

/** Replaces the code of formulas by MathML. Returns the formulas that stay code, because they are too long or wrong. */
export function writeFormulas(html: Root): readonly Loss[] {
  const losses: Loss[] = [];
  replaceFormulas(html, ({ source }, mathMl, code) => {
    const [math] = mathMl ?? [];
    if (math?.type !== "element" || math.tagName !== "math") {
      losses.push({ construct: "formula", line: lineOf(code) });
      return undefined;
    }
    const row: Element = { type: "element", tagName: "mrow", properties: {}, children: math.children };
    const children = [
      row,
      { ...row, tagName: "annotation", properties: { encoding }, children: [{ type: "text" as const, value: source }] },
    ];
    return { ...math, children: [{ ...row, tagName: "semantics", children }] };
  });
  return losses;
}

/** Replaces MathML that has its source by code. Other MathML stays. */
export function readFormulas(html: Root): void {
  const visit = (parent: Root | Element): void => {
    parent.children.forEach((child, at) => {
      if (child.type !== "element") return;
      const source = child.tagName === "math" ? findAnnotation(child) : undefined;
      if (source === undefined) visit(child);
      else {
        const code = toCode({ source, isDisplay: child.properties.display === "block" });
        parent.children[at] = child.position === undefined ? code : { ...code, position: child.position };
      }
    });
  };
  visit(html);
}

function findAnnotation(math: Element): string | undefined {
  for (const child of math.children) {
    if (child.type !== "element") continue;
    const [text] = child.children;
    if (child.tagName === "annotation" && child.properties.encoding === encoding) return text?.type === "text" ? text.value : "";
    const inner = child.tagName === "semantics" ? findAnnotation(child) : undefined;
    if (inner !== undefined) return inner;
  }
  return undefined;
}
