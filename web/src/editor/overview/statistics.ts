/**
 * Counts words and characters of a text.
 *
 * Words are counted as the server counts the `wordCount` of an article: runs of letters and digits, with apostrophes and hyphens
 * inside, and each Han, Hiragana or Katakana character. CodeMirror keeps a text in immutable pieces of some lines and reuses
 * those that did not change, so each piece is counted once.
 */
import type { Text } from "@codemirror/state";

export interface Statistics {
  readonly words: number;
  /** Code points, without line breaks. */
  readonly characters: number;
  readonly readingMinutes: number;
}

interface Count {
  readonly words: number;
  /** Words of one character, which are read faster. */
  readonly ideographs: number;
  readonly characters: number;
}

const word = /([\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}])|[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:['’-][\p{L}\p{N}][\p{L}\p{M}\p{N}]*)*/gu;

/** Usual speeds of silent reading. */
const wordsPerMinute = 230;
const ideographsPerMinute = 500;

const counts = new WeakMap<Text, Count>();
const none: Count = { words: 0, ideographs: 0, characters: 0 };

function countPiece(piece: Text): Count {
  let [words, ideographs, characters] = [0, 0, 0];
  for (const line of piece.iterLines()) {
    for (const [, ideograph] of line.matchAll(word)) {
      words += 1;
      if (ideograph !== undefined) ideographs += 1;
    }
    // A character outside of the basic plane has two code units.
    characters += line.length - (line.match(/[\u{10000}-\u{10FFFF}]/gu)?.length ?? 0);
  }
  return { words, ideographs, characters };
}

/** Returns undefined if the time is over. A further call goes on with the pieces that are not counted yet. */
function count(text: Text, hasTime: () => boolean): Count | undefined {
  const known = counts.get(text);
  if (known !== undefined) return known;
  let sum = none;
  if (text.children === null) {
    if (!hasTime()) return undefined;
    sum = countPiece(text);
  } else {
    for (const child of text.children) {
      const part = count(child, hasTime);
      if (part === undefined) return undefined;
      sum = {
        words: sum.words + part.words,
        ideographs: sum.ideographs + part.ideographs,
        characters: sum.characters + part.characters,
      };
    }
  }
  counts.set(text, sum);
  return sum;
}

/** Returns undefined if the time was not enough. Finished pieces are remembered. */
export function measureText(text: Text, hasTime: () => boolean = () => true): Statistics | undefined {
  const counted = count(text, hasTime);
  if (counted === undefined) return undefined;
  const { words, ideographs, characters } = counted;
  const readingMinutes = Math.ceil((words - ideographs) / wordsPerMinute + ideographs / ideographsPerMinute);
  return { words, characters, readingMinutes };
}
