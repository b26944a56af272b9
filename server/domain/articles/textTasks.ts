/** The text tasks of articles as plain functions, which run inline or in a worker thread. */
import type { ArticleDiff, DiffFormat } from "../../../api/schema/article.ts";
import { countWords } from "../call/countWords.ts";
import { attribute, claimClocks, readSpans } from "./attribute.ts";
import { toDiff } from "./diff.ts";
import { planEdit } from "./editPlan.ts";
import { replay } from "./replay.ts";
import { findSections } from "./sections.ts";
import { toSyntaxTree } from "./syntaxTree.ts";
import { countLines, diffLines } from "./textDiff.ts";

export const textTasks = {
  edit: planEdit,
  diff: ({ from, to, format }: { from: string; to: string; format: DiffFormat }): Pick<ArticleDiff, "hunks" | "stats"> =>
    toDiff(from, to, format),
  countLines: ({ from, to }: { from: string; to: string }) => countLines(diffLines(from, to)),
  countWords: (text: string): number => countWords(text),
  replay,
  claimClocks,
  attribute,
  readSpans,
  syntaxTree: toSyntaxTree,
  findSections,
} as const;
