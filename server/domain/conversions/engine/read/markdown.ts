/** Reads GitHub's Markdown with footnotes, front matter and formulas. */
import { parseMarkdownWithFormulas } from "../../../call/parseFormulas.ts";
import type { ParsedDocument } from "../document.ts";
import { decodeUtf8 } from "./utf8.ts";

export async function readMarkdown(bytes: Uint8Array): Promise<ParsedDocument> {
  return { tree: await parseMarkdownWithFormulas(decodeUtf8(bytes)), losses: [] };
}
