/**
 * A patch that takes minutes on a text within its limits. Every search reads the whole text, and the text repeats
 * itself so much that no search can skip a part of it.
 */
import type { TextEdit } from "../../api/schema/article.ts";

export function createTangledPatch(maxFileBytes: number): { readonly text: string; readonly edits: TextEdit[] } {
  const find = `${"a".repeat(200)}b`;
  return { text: "a".repeat(maxFileBytes - 1024), edits: Array.from({ length: 1000 }, () => ({ find, replace: "x" })) };
}
