/** Compares two short texts by whole words, as people read a correction. */
import { diff } from "@codemirror/merge";
import type { DiffPart } from "./diffRows.ts";

/** Bound of the exact comparison, in characters; beyond it the parts are larger. */
const scanLimit = 1000;

/** Words and the characters between them. */
function split(text: string): readonly string[] {
  return text.match(/[\p{L}\p{M}\p{N}_'’]+|[^\p{L}\p{M}\p{N}_'’]/gu) ?? [];
}

/** The parts of both texts in order. Equal words are one part. */
export function toWordParts(before: string, after: string): readonly DiffPart[] {
  const codes = new Map<string, string>();
  // Each different word becomes one character, so that the comparison of characters is one of words.
  const encode = (words: readonly string[]) =>
    words
      .map((word) => {
        const code = codes.get(word) ?? String.fromCharCode(codes.size);
        codes.set(word, code);
        return code;
      })
      .join("");
  const [older, newer] = [split(before), split(after)];
  const parts: DiffPart[] = [];
  const add = (op: DiffPart["op"], words: readonly string[]) => {
    if (words.length > 0) parts.push({ op, text: words.join("") });
  };
  let end = 0;
  for (const { fromA, toA, fromB, toB } of diff(encode(older), encode(newer), { scanLimit })) {
    add("equal", older.slice(end, fromA));
    add("delete", older.slice(fromA, toA));
    add("insert", newer.slice(fromB, toB));
    end = toA;
  }
  add("equal", older.slice(end));
  return parts;
}
