/**
 * PageMath writes the formulas of a public page as MathML, from left to right: inline formulas into spans, display formulas
 * into groups that can be scrolled.
 */
import type { Root } from "hast";
import { replaceFormulas } from "../../domain/call/formulaMathMl.ts";

/** Replaces the code of formulas. It comes last in the pipeline: nothing after it may change the MathML. */
export function rehypeMath() {
  return (tree: Root): void =>
    replaceFormulas(tree, ({ isDisplay }, children) => {
      if (children === undefined) return undefined;
      if (!isDisplay) return { type: "element", tagName: "span", properties: { className: ["math"], dir: "ltr" }, children };
      const properties = { className: ["formula"], role: "group", tabIndex: 0, dir: "ltr" };
      return { type: "element", tagName: "div", properties, children };
    });
}
