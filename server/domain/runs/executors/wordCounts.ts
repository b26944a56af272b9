/** Computes the target length of an article and of its sections. */
import type { ArticleType, WordCountRange } from "../../../../api/schema/topic.ts";

/** Default ranges by article type, used if neither the topic nor its content project has a range. */
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

/** Number of words for each section, in proportion to its weight, rounded to tens (at least 10). */
export function shareWords({ min, max }: WordCountRange, weights: readonly number[]): readonly number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const middle = (min + max) / 2;
  return weights.map((weight) => Math.max(10, Math.round((middle * weight) / total / 10) * 10));
}
