/**
 * Words of a title, for the list's `q`: every word of `q` must be the start of a word of the title.
 *
 * A search answers in the order of the list, so each start of a word is an index key of its own. Only starts of
 * 2 to 6 characters are kept; longer words are looked up by their first 6 and compared once read.
 */
import { defaultLimits } from "../../api/limits.ts";

const shortest = 2;
const longest = 6;

/** Lower-cased words in order of appearance, each once. */
function toWords(text: string): readonly string[] {
  const words =
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return [...new Set(words)];
}

function startOf(word: string, characters: number): string {
  return [...word.slice(0, characters * 2)].slice(0, characters).join("");
}

/** Not of the settings but of the declaration: what an index holds must not depend on how a node was started. */
export function toTitlePrefixes(title: string): readonly string[] {
  const prefixes = new Set<string>();
  for (const word of toWords(title).slice(0, defaultLimits["list.words"])) {
    const characters = [...word.slice(0, longest * 2)].length;
    for (let length = shortest; length <= Math.min(longest, characters); length += 1) prefixes.add(startOf(word, length));
  }
  return [...prefixes];
}

export interface TitleSearch {
  /** The index key to scan: the most selective of the words' starts; undefined when none is indexed. */
  readonly prefix?: string;
  readonly matches: (title: string) => boolean;
}

export function toTitleSearch(query: string): TitleSearch {
  const wanted = toWords(query);
  const indexed = wanted.map((word) => startOf(word, longest)).filter((start) => [...start].length >= shortest);
  const prefix = indexed.sort((a, b) => b.length - a.length)[0];
  return {
    ...(prefix === undefined ? {} : { prefix }),
    matches: (title) => {
      const words = toWords(title).slice(0, defaultLimits["list.words"]);
      return wanted.every((start) => words.some((word) => word.startsWith(start)));
    },
  };
}
