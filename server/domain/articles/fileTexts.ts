/** Converts the texts of an article's files between documents, strings and hashes. */
import { createHash } from "node:crypto";
import type * as Y from "yjs";
import { type ArticleFile, articleFiles } from "../../../api/schema/article.ts";
import type { FileTexts } from "./port.ts";

export function toFileTexts(textOf: (file: ArticleFile) => string): FileTexts {
  return Object.fromEntries(articleFiles.map((file) => [file, textOf(file)])) as FileTexts;
}

export const emptyTexts: FileTexts = toFileTexts(() => "");

export function textsOfDocument(document: Y.Doc): FileTexts {
  return toFileTexts((file) => document.getText(file).toString());
}

/** SHA-256 (hex) of the UTF-8 bytes. */
export function toContentHash(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
