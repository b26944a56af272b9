/** Reads a text that came to a thread as it is stored. */
import { inflateRawSync } from "node:zlib";
import type { StoredText } from "./port.ts";

/** A file of an article has at most `article.file` bytes. More than this is no text that the server stored. */
const maxBytes = 64 * 1024 * 1024;

export function readText(text: StoredText): string {
  return typeof text === "string" ? text : inflateRawSync(text.deflated, { maxOutputLength: maxBytes }).toString("utf8");
}
