/** Writes the syntax tree (mdast) as JSON without positions: the shape of `api/schema/syntaxTree.ts`. */
import type { Root } from "mdast";
import type { WrittenDocument } from "../document.ts";

/** Fields that parsers add and that are no part of the document. */
const internal: ReadonlySet<string> = new Set(["position", "data"]);

export async function writeJson(tree: Root): Promise<WrittenDocument> {
  const text = JSON.stringify(tree, (name, value) => (internal.has(name) ? undefined : value));
  return { bytes: Buffer.from(text, "utf8"), losses: [] };
}
