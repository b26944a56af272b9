/**
 * Tokens splits text into the words that the search index stores and that a query looks up.
 *
 * A word is a run of letters, marks and digits in its folded form. Scripts that are written without spaces (Chinese,
 * Japanese, Korean, Thai and others) have no words that a program could find without a dictionary. A run of them becomes
 * its pairs of characters and then its last character: 東京都 becomes 東京, 京都 and 都. A query is split in the same way, so
 * a part of a run is found as a phrase of pairs, and a single character as the beginning of a pair.
 */
import { foldText } from "../call/foldText.ts";

export interface Token {
  /** The folded word, or a pair of characters. */
  readonly text: string;
  /** Place in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** True for a part of a run of a script without spaces. */
  readonly isPair: boolean;
}

/** Longer words are cut: they are data, such as base64, and no one types them. */
const maxCharacters = 64;
const words = /[\p{L}\p{M}\p{N}]+/gu;
const spaceless =
  "\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Hangul}\\p{scx=Bopomofo}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}";
const isSpaceless = new RegExp(`[${spaceless}]`, "u");
const runs = new RegExp(`[${spaceless}]+|[^${spaceless}]+`, "gu");
const isAscii = /^[\x20-\x7e\n\r\t]*$/;

/** One run of characters of the same kind. */
interface Run {
  readonly text: string;
  readonly start: number;
  readonly isSpaceless: boolean;
}

/** Returns the form in which all texts are split: characters with accents are one character each. */
export function toComposed(text: string): string {
  return isAscii.test(text) ? text : text.normalize("NFC");
}

/** `text` must be composed. */
function* toRuns(text: string): Generator<Run> {
  for (const { 0: word, index } of text.matchAll(words)) {
    if (!isSpaceless.test(word)) yield { text: word, start: index, isSpaceless: false };
    else
      for (const { 0: run, index: at } of word.matchAll(runs)) {
        yield { text: run, start: index + at, isSpaceless: isSpaceless.test(run) };
      }
  }
}

function toWord({ text, start }: Run): Token {
  return { text: foldText(text).slice(0, maxCharacters), start, end: start + text.length, isPair: false };
}

/** The pairs of a run and then its last character. */
function* toPairs({ text, start }: Run): Generator<Token> {
  let before: { readonly character: string; readonly at: number } | undefined;
  let at = start;
  for (const character of text) {
    const folded = foldText(character);
    if (before !== undefined) yield { text: before.character + folded, start: before.at, end: at + character.length, isPair: true };
    before = { character: folded, at };
    at += character.length;
  }
  if (before !== undefined) yield { text: before.character, start: before.at, end: at, isPair: true };
}

/** Returns the tokens of a composed text in their order. */
export function* toTokens(text: string): Generator<Token> {
  for (const run of toRuns(text)) {
    if (run.isSpaceless) yield* toPairs(run);
    else yield toWord(run);
  }
}

/** Returns the tokens of each run of a composed text. */
export function toTokenRuns(text: string): readonly (readonly Token[])[] {
  return [...toRuns(text)].map((run) => (run.isSpaceless ? [...toPairs(run)] : [toWord(run)]));
}

/** Returns the text as the index stores it: its tokens, separated by spaces. */
export function toIndexedText(text: string): string {
  const tokens: string[] = [];
  for (const token of toTokens(toComposed(text))) tokens.push(token.text);
  return tokens.join(" ");
}
