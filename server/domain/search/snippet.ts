/**
 * Snippet cuts the part of a text that shows the words of a query best, and marks them.
 *
 * The text is Markdown of users. The snippet is HTML: the marks are the only markup in it, because every piece of the text
 * is escaped by itself.
 */
import { toPlainText } from "./plainText.ts";
import type { SearchTerm } from "./query.ts";
import { type Token, toTokens } from "./tokens.ts";

/** Characters of a snippet, about two lines. */
const snippetCharacters = 200;
/** Characters before the first marked word. */
const leadCharacters = 40;
/** Occurrences that are compared. In a text with more of them, one of the first is good enough. */
const maxOccurrences = 1000;

interface Occurrence {
  readonly start: number;
  readonly end: number;
  /** Place of the term in the query. */
  readonly term: number;
}

/** Returns the end of the term that begins at a token, or undefined if another text is there. */
function endOfTerm({ tokens, isPrefix }: SearchTerm, texts: readonly Token[], at: number): number | undefined {
  for (const [offset, wanted] of tokens.entries()) {
    const token = texts[at + offset];
    if (token === undefined) return undefined;
    const isLast = offset === tokens.length - 1;
    if (isLast && isPrefix ? !token.text.startsWith(wanted) : token.text !== wanted) return undefined;
    if (!isLast) continue;
    // A single character of a script without spaces is the beginning of a pair.
    return token.isPair && token.text !== wanted ? token.start + wanted.length : token.end;
  }
  return undefined;
}

function findOccurrences(tokens: readonly Token[], terms: readonly SearchTerm[]): readonly Occurrence[] {
  const found: Occurrence[] = [];
  for (const [at, token] of tokens.entries()) {
    for (const [term, wanted] of terms.entries()) {
      const end = endOfTerm(wanted, tokens, at);
      if (end !== undefined) found.push({ start: token.start, end, term });
    }
    if (found.length >= maxOccurrences) break;
  }
  return found;
}

/** Returns the occurrence from which the snippet shows the most terms, as near to each other as possible. */
function findBest(occurrences: readonly Occurrence[]): Occurrence | undefined {
  let best: Occurrence | undefined;
  let [most, least] = [0, 0];
  for (const [at, first] of occurrences.entries()) {
    const shown = new Set<number>();
    let characters = 0;
    for (let next = at; next < occurrences.length; next += 1) {
      const { end, term } = occurrences[next] as Occurrence;
      if (end > first.start + snippetCharacters - leadCharacters) break;
      if (!shown.has(term)) characters = end - first.start;
      shown.add(term);
    }
    if (shown.size > most || (shown.size === most && characters < least)) [best, most, least] = [first, shown.size, characters];
  }
  return best;
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function escapeHtml(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[&<>"']/g, (character) => entities[character] ?? "");
}

/** Moves a cut to the beginning of a token near it, so that it divides no word. Never divides a character. */
function toCut(tokens: readonly Token[], place: number, text: string): number {
  if (place <= 0) return 0;
  if (place >= text.length) return text.length;
  const next = tokens.find(({ start }) => start >= place)?.start ?? text.length;
  if (next - place <= leadCharacters) return next;
  return isLowSurrogate(text.charCodeAt(place)) ? place + 1 : place;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

export interface Snippet {
  readonly html: string;
  /** Number of terms of the query that are marked. */
  readonly terms: number;
}

/**
 * Returns the snippet of a composed Markdown text, without its syntax. If no term occurs in the text, the snippet is its
 * beginning. If the terms occur only in the syntax, such as in the address of a link, the snippet shows the source.
 */
export function toSnippet(markdown: string, terms: readonly SearchTerm[]): Snippet {
  const shown = cutSnippet(toPlainText(markdown), terms);
  if (shown.terms > 0) return shown;
  const ofSource = cutSnippet(markdown, terms);
  return ofSource.terms > 0 ? ofSource : shown;
}

function cutSnippet(text: string, terms: readonly SearchTerm[]): Snippet {
  const tokens = [...toTokens(text)];
  const occurrences = findOccurrences(tokens, terms);
  const best = findBest(occurrences);
  const from = toCut(tokens, (best?.start ?? 0) - leadCharacters, text);
  const to = toCut(tokens, from + snippetCharacters, text);
  let html = from > 0 ? "…" : "";
  let at = from;
  const marked = new Set<number>();
  for (const { start, end, term } of occurrences) {
    if (start < from || end > to) continue;
    marked.add(term);
    // Pairs of characters overlap, and so do terms that are parts of each other.
    if (end <= at) continue;
    const begin = Math.max(start, at);
    html += `${escapeHtml(text.slice(at, begin))}<mark>${escapeHtml(text.slice(begin, end))}</mark>`;
    at = end;
  }
  html += escapeHtml(text.slice(at, to));
  // Neighbouring marks, as those of pairs, are one.
  return { html: `${html.replaceAll("</mark><mark>", "").trim()}${to < text.length ? "…" : ""}`, terms: marked.size };
}
