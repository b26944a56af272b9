/**
 * PageMath reads formulas in Markdown and writes them as MathML, which browsers render without a script or a font of ours.
 *
 * `$$` on lines of their own, or a code block of the language `math`, make a display formula; `$…$` makes an inline one. A
 * single `$` begins a formula only by the rule of Pandoc, so that prices stay text: a character that is not a space follows
 * the first `$` and precedes the second one, and no Latin letter or digit touches either from outside. A formula that is too
 * long or wrong stays visible as its source.
 */
import type { Element, ElementContent, Root } from "hast";
import { mathFromMarkdown } from "mdast-util-math";
import { math } from "micromark-extension-math";
import type { Code, Construct, Effects, State, TokenizeContext, Tokenizer } from "micromark-util-types";
import rehypeParse from "rehype-parse";
import rehypeSanitize, { type Options as Schema } from "rehype-sanitize";
import temml from "temml";
import { type Processor, unified } from "unified";
import { textOf } from "./pageTree.ts";

const maxFormulaCharacters = 4000;
/** A formula of 3 characters takes 0.1 ms, one of 1,900 characters 5 ms (measured with warm code). */
const maxPageCharacters = 64 * 1024;
/** Greatest number of macro expansions in one formula, and greatest length that a formula may name, in em and pt. */
const bounds = { maxExpand: 200, maxSize: [20, 200] as [number, number] };

const dollar = 36;
const isSpace = (code: Code) => code === null || code < 0 || code === 32;
/** Chinese and other texts without spaces may touch a formula. */
const isWord = (code: Code) => code !== null && code > 0 && /[\p{Script=Latin}\p{N}]/u.test(String.fromCodePoint(code));

/** Succeeds before a `$` that may begin a formula. Consumes up to the next `$`, so all checks of a text are linear in it. */
function mayBegin(effects: Effects, ok: State, nok: State): State {
  let previous: Code = dollar;
  const opening: State = (code) => {
    effects.enter("mathText");
    effects.consume(code);
    return first;
  };
  const first: State = (code) => {
    // Two dollars are unambiguous.
    if (code === dollar) return leave(code, true);
    return isSpace(code) ? leave(code, false) : inside(code);
  };
  const inside: State = (code) => {
    if (code === null) return leave(code, false);
    if (code === dollar && previous !== 92) {
      if (isSpace(previous)) return leave(code, false);
      effects.consume(code);
      return closed;
    }
    previous = code;
    effects.consume(code);
    return inside;
  };
  const closed: State = (code) => leave(code, !isWord(code));
  const leave = (code: Code, isFormula: boolean) => {
    effects.exit("mathText");
    return (isFormula ? ok : nok)(code);
  };
  return opening;
}

function withPriceRule(construct: Construct): Construct {
  return {
    ...construct,
    previous(code) {
      return !isWord(code) && (construct.previous?.call(this, code) ?? true);
    },
    tokenize(this: TokenizeContext, effects, ok, nok) {
      const check: Construct = { tokenize: mayBegin as Tokenizer, partial: true };
      return effects.check(check, construct.tokenize.call(this, effects, ok, nok), nok);
    },
  };
}

export function remarkMath(this: Processor): void {
  const data = this.data();
  const { flow, text } = math();
  const constructs = [text?.[dollar] ?? []].flat().map(withPriceRule);
  data.micromarkExtensions ??= [];
  data.micromarkExtensions.push({ flow: flow ?? {}, text: { [dollar]: constructs } });
  data.fromMarkdownExtensions ??= [];
  data.fromMarkdownExtensions.push(mathFromMarkdown());
}

/** Lengths are short, so that no formula covers text outside of its line. */
const length = /^-?(?:[01]?\d(?:\.\d+)?|\.\d+)(?:em|ex|pt)?$/;
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
      ...["lspace", "rspace", "minsize", "maxsize"].map((name): [string, RegExp] => [name, length]),
      ["form", "prefix", "infix", "postfix"],
    ],
    mspace: [["width", length]],
    mpadded: ["width", "height", "depth", "lspace"].map((name): [string, RegExp] => [name, length]),
    mfrac: [["linethickness", length]],
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

/** The renderer is trusted to write MathML, not to write nothing else: the allow list removes styles, links and colours. */
const mathReader = unified().use(rehypeParse, { fragment: true }).use(rehypeSanitize, mathSchema);

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

/** Returns the source of a formula, or undefined if the element is none. */
function formulaIn(element: Element, tagName: "pre" | "code"): string | undefined {
  if (element.tagName !== tagName) return undefined;
  const code = tagName === "pre" ? element.children[0] : element;
  if (code?.type !== "element" || code.tagName !== "code") return undefined;
  const isMath = Array.isArray(code.properties.className) && code.properties.className.includes("language-math");
  return isMath ? textOf(code) : undefined;
}

/** Replaces the code of formulas. It comes last in the pipeline: nothing after it may change the MathML. */
export function rehypeMath() {
  return (tree: Root): void => {
    let left = maxPageCharacters;
    const convert = (element: Element): Element | undefined => {
      const display = formulaIn(element, "pre");
      const source = display ?? formulaIn(element, "code");
      if (source === undefined || source.length > Math.min(maxFormulaCharacters, left)) return undefined;
      left -= source.length;
      const children = toMathMl(source, display !== undefined);
      if (children === undefined) return undefined;
      if (display === undefined) return { type: "element", tagName: "span", properties: { className: ["math"], dir: "ltr" }, children };
      const properties = { className: ["formula"], role: "group", ariaLabel: "Formula", tabIndex: 0, dir: "ltr" };
      return { type: "element", tagName: "div", properties, children };
    };
    const visit = (parent: Root | Element): void => {
      parent.children.forEach((child, at) => {
        if (child.type !== "element") return;
        const formula = convert(child);
        if (formula === undefined) visit(child);
        else parent.children[at] = formula;
      });
    };
    visit(tree);
  };
}
