/**
 * FormulaSyntax makes the Markdown parser read formulas: `$$` on lines of their own make a display formula, `$…$` an inline one.
 *
 * A single `$` begins a formula only by the rule of Pandoc, so that prices stay text: a character that is not a space follows
 * the first `$` and precedes the second one, and no Latin letter or digit touches either from outside.
 */
import { mathFromMarkdown } from "mdast-util-math";
import { math } from "micromark-extension-math";
import type { Code, Construct, Effects, State, TokenizeContext, Tokenizer } from "micromark-util-types";
import type { Processor } from "unified";

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
