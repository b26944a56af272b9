/**
 * FormulaMathMl writes formulas (LaTeX) as MathML, which browsers render without a script or a font of ours.
 *
 * A formula that is too long or wrong has no MathML; it stays visible as its source.
 */
import type { Element, ElementContent, Root } from "hast";
import type { Nodes } from "mdast";
import rehypeParse from "rehype-parse";
import rehypeSanitize, { type Options as Schema } from "rehype-sanitize";
import type { Options as WriteOptions } from "remark-rehype";
import temml from "temml";
import { unified } from "unified";

const maxFormulaCharacters = 4000;
/**
 * Characters of all formulas of one document. A formula of 3 characters takes 0.1 ms, one of 1,900 characters 5 ms (measured
 * with warm code).
 */
const maxDocumentCharacters = 64 * 1024;
/** Greatest number of macro expansions in one formula, and greatest length that a formula may name, in em and pt. */
const bounds = { maxExpand: 200, maxSize: [20, 200] as [number, number] };

/** A formula in a tree of HTML: code of the language `math`. */
export interface CodeFormula {
  readonly source: string;
  readonly isDisplay: boolean;
}

/** A length in MathML: short, so that no formula covers text outside of its line. */
const shortLength = /^-?(?:[01]?\d(?:\.\d+)?|\.\d+)(?:em|ex|pt)?$/;
const flag = /^(?:true|false)$/;
const mathElements =
  "math mi mn mo ms mtext mspace mrow mfrac msqrt mroot mstyle mpadded mphantom msub msup msubsup munder mover munderover mmultiscripts mprescripts none mtable mtr mtd";

const mathSchema: Schema = {
  tagNames: mathElements.split(" "),
  attributes: {
    math: [["display", "block"]],
    mi: [["mathvariant", "normal"]],
    mo: [
      ...["fence", "stretchy", "separator", "symmetric", "largeop", "movablelimits", "accent"].map((name): [string, RegExp] => [
        name,
        flag,
      ]),
      ...["lspace", "rspace", "minsize", "maxsize"].map((name): [string, RegExp] => [name, shortLength]),
      ["form", "prefix", "infix", "postfix"],
    ],
    mspace: [["width", shortLength]],
    mpadded: ["width", "height", "depth", "lspace"].map((name): [string, RegExp] => [name, shortLength]),
    mfrac: [["linethickness", shortLength]],
    mover: [["accent", flag]],
    munder: [["accentunder", flag]],
    munderover: [
      ["accent", flag],
      ["accentunder", flag],
    ],
    mtd: [
      ["columnspan", /^\d{1,2}$/],
      ["rowspan", /^\d{1,2}$/],
      ["className", "tml-left", "tml-right"],
    ],
    mstyle: [["scriptlevel", /^[0-3]$/]],
    "*": [["displaystyle", flag]],
  },
  protocols: {},
  strip: ["annotation", "annotation-xml"],
  allowComments: false,
};

/** The renderer may also write styles, links and colours. The allow list removes everything that is not MathML. */
const mathReader = unified().use(rehypeParse, { fragment: true }).use(rehypeSanitize, mathSchema);

/** Returns undefined if the formula is wrong. */
function toMathMl(source: string, displayMode: boolean): ElementContent[] | undefined {
  let html: string;
  try {
    html = temml.renderToString(source, { displayMode, throwOnError: true, annotate: false, trust: false, ...bounds });
  } catch {
    return undefined;
  }
  const { children } = mathReader.runSync(mathReader.parse(html)) as Root;
  const elements = children.filter((child) => child.type === "element");
  return elements.length > 0 ? elements : undefined;
}

/** Handlers for `remark-rehype`, which make code of formulas. */
export const formulaWriters: NonNullable<WriteOptions["handlers"]> = {
  inlineMath: (state, node: Nodes) => {
    const code = toCode({ source: "value" in node ? node.value : "", isDisplay: false });
    state.patch(node, code);
    return code;
  },
  math: (state, node: Nodes) => {
    const code = toCode({ source: "value" in node ? node.value : "", isDisplay: true });
    state.patch(node, code);
    return code;
  },
};

export function toCode({ source, isDisplay }: CodeFormula): Element {
  const properties = { className: ["language-math"] };
  const code: Element = { type: "element", tagName: "code", properties, children: [{ type: "text", value: source }] };
  return isDisplay ? { type: "element", tagName: "pre", properties: {}, children: [code] } : code;
}

/** Returns the formula that an element of a tree is: `<pre><code class="language-math">`, or the code alone. */
export function findFormula(element: Element): CodeFormula | undefined {
  const isDisplay = element.tagName === "pre";
  const code = isDisplay ? element.children[0] : element;
  if (code?.type !== "element" || code.tagName !== "code") return undefined;
  const isMath = Array.isArray(code.properties.className) && code.properties.className.includes("language-math");
  return isMath ? { source: textOf(code), isDisplay } : undefined;
}

function textOf(node: ElementContent): string {
  if (node.type === "text") return node.value;
  return "children" in node ? node.children.map(textOf).join("") : "";
}

/**
 * Replaces the formulas below a node. `write` gets the MathML of a formula, or undefined if it has none, and returns what replaces
 * the code; undefined leaves it. All formulas of one tree together have at most 64 Ki characters.
 */
export function replaceFormulas(
  tree: Root,
  write: (formula: CodeFormula, mathMl: ElementContent[] | undefined, code: Element) => Element | undefined,
): void {
  let left = maxDocumentCharacters;
  const convert = (element: Element): Element | undefined => {
    const formula = findFormula(element);
    if (formula === undefined) return undefined;
    const { source, isDisplay } = formula;
    if (source.length > Math.min(maxFormulaCharacters, left)) return write(formula, undefined, element);
    left -= source.length;
    return write(formula, toMathMl(source, isDisplay), element);
  };
  const visit = (parent: Root | Element): void => {
    parent.children.forEach((child, at) => {
      if (child.type !== "element") return;
      const formula = convert(child);
      if (formula !== undefined) parent.children[at] = formula;
      else if (findFormula(child) === undefined) visit(child);
    });
  };
  visit(tree);
}
