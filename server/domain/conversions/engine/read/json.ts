/** Reads a syntax tree (mdast) from JSON. The tree must have the closed shape of `api/schema/syntaxTree.ts`. */
import type { Root } from "mdast";
import { syntaxTree } from "../../../../../api/schema/syntaxTree.ts";
import type { ConversionCaps } from "../caps.ts";
import type { ParsedDocument } from "../document.ts";
import { ConversionFailure } from "../failure.ts";
import { requireBoundedTree } from "../treeBounds.ts";
import { decodeUtf8 } from "./utf8.ts";

export async function readJson(bytes: Uint8Array, caps: ConversionCaps): Promise<ParsedDocument> {
  let value: unknown;
  try {
    value = JSON.parse(decodeUtf8(bytes));
  } catch (error) {
    if (error instanceof SyntaxError) throw new ConversionFailure(`The document is not JSON: ${error.message}.`);
    throw error;
  }
  requireBoundedTree(value, caps);
  const parsed = syntaxTree.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const pointer = (issue?.path ?? []).map((part) => `/${String(part)}`).join("");
    throw new ConversionFailure(`The syntax tree is wrong at "${pointer}": ${issue?.message ?? "unknown shape"}.`);
  }
  return { tree: parsed.data as Root, losses: [] };
}
