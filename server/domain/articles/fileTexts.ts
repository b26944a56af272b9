/** Converts the texts of an article's files between documents, strings and hashes. */
import { createHash } from "node:crypto";
import type * as Y from "yjs";
import { type ArticleFile, articleFiles } from "../../../api/schema/article.ts";
import type { FileTexts } from "./port.ts";

/** Calls `make` for each file, in the order of `articleFiles`. */
export function byFile<Value>(make: (file: ArticleFile) => Value): Readonly<Record<ArticleFile, Value>> {
  return Object.fromEntries(articleFiles.map((file) => [file, make(file)])) as Record<ArticleFile, Value>;
}

export const emptyTexts: FileTexts = byFile(() => "");

export function textsOfDocument(document: Y.Doc): FileTexts {
  return byFile((file) => document.getText(file).toString());
}

/** SHA-256 (hex) of the UTF-8 bytes. */
export function toContentHash(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
