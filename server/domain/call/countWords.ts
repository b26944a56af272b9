/** CountWords counts the words of a text. The `wordCount` of an article and the reports of its runs use the same count. */

const words = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]|[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:['’-][\p{L}\p{N}][\p{L}\p{M}\p{N}]*)*/gu;

/** Finds words: runs of letters and digits, with apostrophes and hyphens inside. Each Han, Hiragana or Katakana character is a word. */
export function findWords(text: string): Iterable<RegExpMatchArray> {
  return text.matchAll(words);
}

export function countWords(text: string): number {
  let count = 0;
  for (const _word of findWords(text)) count += 1;
  return count;
}
