/**
 * This module splits titles into words for the list parameter `q`: every word of `q` must be a prefix of a title word.
 *
 * The search result has the order of the list, so each prefix of a word is an index key of its own. Only prefixes of 2
 * to 6 characters are indexed. Longer words are looked up by their first 6 characters and compared after the titles are
 * read.
 *
 * Words are compared in their folded form (foldText.ts), so "cafe" finds "Café" and "Café" finds "Cafe", whether their
 * accents are composed or not (SR16). The index also has the words as they are written: a store keeps the index rows that a
 * record type no longer derives, so leaving these words out would leave dead rows behind.
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

/** Returns the first words of a title, as many as `q` can find. */
function toTitleWords(title: string): readonly string[] {
  return toWords(title).slice(0, defaultLimits["list.words"]);
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
  for (const word of new Set(toTitleWords(title).flatMap((each) => [each, foldText(each)]))) {
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
  const wanted = toWords(query).map(foldText);
  const indexed = wanted.map((word) => startOf(word, longest)).filter((start) => [...start].length >= shortest);
  return {
    prefixes: [...new Set(indexed)].sort((a, b) => b.length - a.length),
    matches: (title) => {
      const words = toTitleWords(title).map(foldText);
      return wanted.every((start) => words.some((word) => word.startsWith(start)));
    },
  };
}
