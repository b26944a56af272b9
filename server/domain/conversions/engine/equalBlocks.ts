/**
 * EqualBlocks finds the blocks at the beginning and at the end of two documents that are equal, so that only the others must be
 * compared word by word. Most outputs differ from their source in few blocks.
 */
import type { Root, RootContent } from "mdast";

export interface Difference {
  readonly before: readonly RootContent[];
  readonly after: readonly RootContent[];
}

/** Returns the blocks between the equal ones. */
export function findDifference(before: Root, after: Root): Difference {
  const [one, other] = [before.children, after.children];
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && areEqual(one[start], other[start])) start += 1;
  let end = 0;
  while (end < shorter - start && areEqual(one.at(-1 - end), other.at(-1 - end))) end += 1;
  return { before: one.slice(start, one.length - end), after: other.slice(start, other.length - end) };
}

/** Fields that no reader of a document sees. */
const unseen: ReadonlySet<string> = new Set(["position", "data", "spread"]);
/** Nodes whose meaning depends on other blocks. */
const references: ReadonlySet<unknown> = new Set(["linkReference", "imageReference", "footnoteReference"]);

/** An absent field is equal to `null`. */
function areEqual(one: unknown, other: unknown): boolean {
  if (typeof one !== "object" || one === null || typeof other !== "object" || other === null) return (one ?? null) === (other ?? null);
  if (Array.isArray(one))
    return Array.isArray(other) && one.length === other.length && one.every((value, at) => areEqual(value, other[at]));
  const [fields, others] = [one as Record<string, unknown>, other as Record<string, unknown>];
  if (references.has(fields.type)) return false;
  if (fields.type === "text") return others.type === "text" && toOneLine(fields.value) === toOneLine(others.value);
  return (
    Object.keys(fields).every((name) => unseen.has(name) || areEqual(fields[name], others[name])) &&
    Object.keys(others).every((name) => unseen.has(name) || name in fields || (others[name] ?? null) === null)
  );
}

/** White space between words is layout. */
function toOneLine(text: unknown): string {
  return String(text).replace(/\s+/gu, " ");
}
