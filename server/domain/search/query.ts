/**
 * Query turns the text of a search box into an expression of the index.
 *
 * Every word must occur, words in quotation marks must follow each other, and the last word may be the beginning of a
 * word, because people see results while they type. All other characters only separate words. Only letters, marks and
 * digits reach the expression, so no query can be a syntax error of the index or change its meaning.
 */
import { AppError } from "../../../api/schema/error.ts";
import { type Token, toComposed, toTokenRuns } from "./tokens.ts";

/** Tokens that must follow each other in a document. */
export interface SearchTerm {
  readonly tokens: readonly string[];
  /** The last token may be the beginning of a longer word. */
  readonly isPrefix: boolean;
}

/** A shorter beginning would match a large part of all words. */
const shortestPrefix = 2;
const quotes = /["“”„«»]/u;
const endsInWord = /[\p{L}\p{M}\p{N}]$/u;

function refuse(message: string): AppError {
  return new AppError("validation_failed", `The parameter q ${message}.`, { errors: [{ pointer: "/q", code: "custom", message }] });
}

function isSingleCharacter(token: Token): boolean {
  return [...token.text].length === 1;
}

/** The tokens of consecutive runs. Inside a phrase a run also has its last character, as in the index. */
function toTerm(phrase: readonly (readonly Token[])[], isTyped: boolean): SearchTerm {
  const last = phrase.at(-1) ?? [];
  // The last character of a run follows its pairs in the index only at the end of a run; a query may be the beginning of one.
  const ending = last.length > 1 ? last.slice(0, -1) : last;
  const [token] = ending.slice(-1);
  const isPrefix = token !== undefined && (token.isPair ? isSingleCharacter(token) : isTyped && [...token.text].length >= shortestPrefix);
  return { tokens: [...phrase.slice(0, -1).flat(), ...ending].map(({ text }) => text), isPrefix };
}

/**
 * Returns the terms of a query, without repetitions. Throws `validation_failed` if it has no word, or more than
 * `maxTokens` words and pairs of characters.
 */
export function parseQuery(q: string, maxTokens: number): readonly SearchTerm[] {
  const text = toComposed(q);
  const parts = text.split(quotes);
  const isTyping = endsInWord.test(text);
  const terms = new Map<string, SearchTerm>();
  for (const [at, part] of parts.entries()) {
    const runs = toTokenRuns(part);
    const isQuoted = at % 2 === 1;
    const phrases = isQuoted ? [runs] : runs.map((run) => [run]);
    for (const [place, phrase] of phrases.entries()) {
      if (phrase.length === 0) continue;
      const isLast = at === parts.length - 1 && place === phrases.length - 1;
      const term = toTerm(phrase, isTyping && isLast);
      terms.set(JSON.stringify(term), term);
    }
  }
  const found = [...terms.values()];
  if (found.length === 0) throw refuse("must have at least one letter or digit");
  if (found.reduce((sum, { tokens }) => sum + tokens.length, 0) > maxTokens) {
    throw refuse(`must have at most ${maxTokens} words, or ${maxTokens} characters of a script without spaces`);
  }
  return found;
}

function quote(token: string): string {
  return `"${token.replaceAll('"', '""')}"`;
}

/** A search finds the documents with one of `places` and, if given, with `folder`. */
export interface SearchScope {
  readonly places: readonly string[];
  readonly folder?: string | undefined;
}

/** Returns the full-text expression of the terms within the scope. */
export function toExpression(terms: readonly SearchTerm[], { places, folder }: SearchScope): string {
  const words = terms.map(({ tokens, isPrefix }) => `${quote(tokens.join(" "))}${isPrefix ? " *" : ""}`);
  const scopes = [`(${places.map(quote).join(" OR ")})`, ...(folder === undefined ? [] : [quote(folder)])];
  return `({title body extra} : (${words.join(" AND ")})) AND (scope : (${scopes.join(" AND ")}))`;
}
