/**
 * WordCounter counts the words of a text that changes a little each time, in time proportional to the change.
 *
 * No word contains a line break. The count therefore changes only by the words of the lines that differ.
 */
import type { ArticleTexts } from "./articleTexts.ts";
import { findChanged } from "./textDiff.ts";

/** Characters of changed lines that are counted. With more of them, the whole text is counted again. */
const maxChanged = 16 * 1024;

export class WordCounter {
  readonly #count: (text: string) => Promise<number>;
  #text = "";
  #words = 0;

  /** `owner` is charged for the counting of long texts. */
  constructor(texts: Pick<ArticleTexts, "countWords">, owner: string) {
    this.#count = (text) => texts.countWords(owner, text);
  }

  /** Counts the words of the newest text. Calls must not overlap. Rejects as `ArticleTexts.countWords` does. */
  async count(text: string): Promise<number> {
    if (text === this.#text) return this.#words;
    const { start, baseEnd, nextEnd } = findChanged(this.#text, text);
    const isSmall = baseEnd - start + (nextEnd - start) <= maxChanged;
    const words = isSmall
      ? this.#words - (await this.#count(this.#text.slice(start, baseEnd))) + (await this.#count(text.slice(start, nextEnd)))
      : await this.#count(text);
    this.#text = text;
    this.#words = words;
    return words;
  }
}
