/**
 * PageMath shows the formulas of a public page: each is a group of its own, left to right, and a display formula can be scrolled.
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
