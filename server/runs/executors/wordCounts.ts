/** How long an article should be, and how its words are shared out among its sections. */
import type { ArticleType, WordCountRange } from "../../../api/schema/topic.ts";

/** Where neither topic nor content project says: what articles of this type usually take. */
const usualRanges: Readonly<Record<ArticleType, WordCountRange>> = {
  explanation: { min: 900, max: 1500 },
  tutorial: { min: 1200, max: 2200 },
  how_to: { min: 700, max: 1300 },
  reference: { min: 600, max: 1500 },
  comparison: { min: 1100, max: 1900 },
};

export function toWordCountRange(given: WordCountRange | undefined, articleType: ArticleType): WordCountRange {
  return given ?? usualRanges[articleType];
}

/** Words for each section, rounded to tens, by weight. */
export function shareWords({ min, max }: WordCountRange, weights: readonly number[]): readonly number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const middle = (min + max) / 2;
  return weights.map((weight) => Math.max(10, Math.round((middle * weight) / total / 10) * 10));
}

/** Runs of letters and digits, with apostrophes and hyphens inside. */
export function countWords(text: string): number {
  return text.match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu)?.length ?? 0;
}
