/** This module makes the text by which a list is sorted by title: without case, diacritics and compatibility forms. */

/** The key of an index row is bounded. Titles that differ only after this many characters are sorted by their ids. */
const maxCharacters = 100;

/** Returns at most 100 characters, which are compared by code point. */
export function toTitleOrder(title: string): string {
  const folded = title
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase();
  return [...folded.slice(0, maxCharacters * 2)].slice(0, maxCharacters).join("");
}
