/** Reads GitHub's Markdown with footnotes and front matter. */
import { parseMarkdown } from "../../../call/parseMarkdown.ts";
import type { ParsedDocument } from "../document.ts";
import { decodeUtf8 } from "./utf8.ts";

export async function readMarkdown(bytes: Uint8Array): Promise<ParsedDocument> {
  return { tree: await parseMarkdown(decodeUtf8(bytes)), losses: [] };
}
