/**
 * This module splits titles into words for the list parameter `q`: every word of `q` must be a prefix of a title word.
 *
 * The search result has the order of the list, so each prefix of a word is an index key of its own. Only prefixes of 2
 * to 6 characters are indexed. Longer words are looked up by their first 6 characters and compared after the titles are
 * read.
 *
 * A title word is found as it is written and in its folded form, so "cafe" finds "Café". A word of `q` with accents finds
 * only words with the same accents.
 */
import { defaultLimits } from "../../../api/limits.ts";
import { foldText } from "./foldText.ts";

const shortest = 2;
const longest = 6;

/** Returns the lower-case words in order of appearance, without duplicates. */
function toWords(text: string): readonly string[] {
  const words =
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return [...new Set(words)];
}

/** Returns the first words of a title, as many as `q` can find, each in its own and in its folded form. */
function toTitleForms(title: string): readonly string[] {
  const words = toWords(title).slice(0, defaultLimits["list.words"]);
  return [...new Set(words.flatMap((word) => [word, foldText(word)]))];
}

function startOf(word: string, characters: number): string {
  return [...word.slice(0, characters * 2)].slice(0, characters).join("");
}

/**
 * Returns the prefixes to index. Uses the default limit, not the configured one, because the index content must not
 * depend on the settings of a node.
 */
export function toTitlePrefixes(title: string): readonly string[] {
  const prefixes = new Set<string>();
  for (const word of toTitleForms(title)) {
    const characters = [...word.slice(0, longest * 2)].length;
    for (let length = shortest; length <= Math.min(longest, characters); length += 1) prefixes.add(startOf(word, length));
  }
  return [...prefixes];
}

export interface TitleSearch {
  /** The longest indexed prefix of each word, longest first. A word without an indexed prefix has none. */
  readonly prefixes: readonly string[];
  readonly matches: (title: string) => boolean;
}

export function toTitleSearch(query: string): TitleSearch {
  const wanted = toWords(query);
  const indexed = wanted.map((word) => startOf(word, longest)).filter((start) => [...start].length >= shortest);
  return {
    prefixes: [...new Set(indexed)].sort((a, b) => b.length - a.length),
    matches: (title) => {
      const forms = toTitleForms(title);
      return wanted.every((start) => forms.some((form) => form.startsWith(start)));
    },
  };
}
