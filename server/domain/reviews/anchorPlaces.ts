/**
 * Finds the places of quotes whose characters are no longer known, by the text around them.
 *
 * A quote with its whole context that occurs once is at its place (`anchored`). Otherwise the place is chosen whose
 * surroundings agree best (`moved`). If two places agree equally well, or the best one hardly agrees, there is no place: a
 * review that points nowhere is better than one that points to other words. This module is pure.
 */
import { anchorContextLength } from "../../../api/schema/review.ts";
import type { TextAnchor } from "../../../machines/reviewContext.ts";
import { findPlaces, type Places } from "./anchorSearch.ts";

export type Quoted = Pick<TextAnchor, "quote" | "prefix" | "suffix">;

export interface QuotePlace {
  readonly start: number;
  readonly state: "anchored" | "moved";
}

/** Share of the context that must agree at the chosen place: one of its two sides. */
const enoughContext = 0.5;
/** A quote of this length that occurs once is found without any context. */
const enoughQuote = 16;
/** A quote that occurs more often is ambiguous, unless its whole context finds it. */
const maxPlaces = 256;

/** Returns the place of each quote in the text; undefined for a quote without a place. */
export function placeQuotes(text: string, quotes: readonly Quoted[]): readonly (QuotePlace | undefined)[] {
  const alone = findPlaces(
    text,
    quotes.map(({ quote }) => quote),
    maxPlaces,
  );
  // A quote with too many places may still have one place with its whole context.
  const frequent = quotes.filter((_, at) => alone[at]?.isCut === true);
  const wholes = new Map(zip(frequent, findPlaces(text, frequent.map(toWhole), 2)));
  return quotes.map((quoted, at) => {
    const whole = wholes.get(quoted);
    if (whole !== undefined) return whole.isCut ? undefined : chooseWhole(text, quoted, whole.starts);
    const { starts } = alone[at] as Places;
    return chooseWhole(text, quoted, wholeStarts(text, quoted, starts)) ?? chooseByContext(text, quoted, starts);
  });
}

function zip<A, B>(keys: readonly A[], values: readonly B[]): readonly [A, B][] {
  return keys.map((key, at) => [key, values[at] as B]);
}

function toWhole({ prefix, quote, suffix }: Quoted): string {
  return prefix + quote + suffix;
}

/** Returns where the quote with its whole context starts, for those places of the quote that have it. */
function wholeStarts(text: string, quoted: Quoted, starts: readonly number[]): readonly number[] {
  const whole = toWhole(quoted);
  return starts.map((start) => start - quoted.prefix.length).filter((start) => start >= 0 && text.startsWith(whole, start));
}

/** Returns the only place with the whole context. */
function chooseWhole(text: string, quoted: Quoted, starts: readonly number[]): QuotePlace | undefined {
  const [start] = starts;
  if (start === undefined || starts.length > 1 || !isSameEdge(text, quoted, start)) return undefined;
  return { start: start + quoted.prefix.length, state: "anchored" };
}

/** A context that is shorter than usual ended at the edge of the text, so its place must be at that edge too. */
function isSameEdge(text: string, { prefix, quote, suffix }: Quoted, start: number): boolean {
  const end = start + prefix.length + quote.length + suffix.length;
  return (isWhole(prefix) || start === 0) && (isWhole(suffix) || end === text.length);
}

/** A context of full length has one character less if it would end in half a surrogate pair. */
function isWhole(context: string): boolean {
  return context.length >= anchorContextLength - 1;
}

function chooseByContext(text: string, quoted: Quoted, starts: readonly number[]): QuotePlace | undefined {
  const { quote, prefix, suffix } = quoted;
  let best: { readonly start: number; readonly score: number } | undefined;
  let isTied = false;
  for (const start of starts) {
    const score = agreementBefore(text, start, prefix) + agreementAfter(text, start + quote.length, suffix);
    if (best !== undefined && score < best.score) continue;
    isTied = best?.score === score;
    best = { start, score };
  }
  if (best === undefined || isTied) return undefined;
  const needed = enoughContext * (prefix.length + suffix.length);
  const isFound = (needed > 0 && best.score >= needed) || (starts.length === 1 && quote.length >= enoughQuote);
  return isFound ? { start: best.start, state: "moved" } : undefined;
}

/** Number of characters directly before `end` that agree with the end of `prefix`. */
function agreementBefore(text: string, end: number, prefix: string): number {
  let count = 0;
  while (count < prefix.length && count < end && text.charCodeAt(end - 1 - count) === prefix.charCodeAt(prefix.length - 1 - count)) {
    count += 1;
  }
  return count;
}

function agreementAfter(text: string, start: number, suffix: string): number {
  let count = 0;
  while (count < suffix.length && text.charCodeAt(start + count) === suffix.charCodeAt(count)) count += 1;
  return count;
}

/** Returns the context of a place: up to `anchorContextLength` characters on each side, never half of a surrogate pair. */
export function contextOf(text: string, start: number, end: number): Pick<TextAnchor, "prefix" | "suffix"> {
  const from = Math.max(0, start - anchorContextLength);
  const to = Math.min(text.length, end + anchorContextLength);
  return {
    prefix: text.slice(from, start).replace(/^[\udc00-\udfff]/, ""),
    suffix: text.slice(end, to).replace(/[\ud800-\udbff]$/, ""),
  };
}
