/** Converts the texts of an article's files between documents, strings, hashes and deflated blobs. */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from "node:zlib";
import type * as Y from "yjs";
import { type ArticleFile, articleFiles } from "../../../api/schema/article.ts";
import type { FileTexts } from "./port.ts";

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

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

/** Smaller blobs are processed inline, because moving them to another thread costs more than the work. */
const threadFromBytes = 16 * 1024;

export async function toBlob(text: string): Promise<Uint8Array> {
  const bytes = Buffer.from(text, "utf8");
  return bytes.byteLength < threadFromBytes ? deflateRawSync(bytes) : deflate(bytes);
}

export async function fromBlob(bytes: Uint8Array): Promise<string> {
  return (bytes.byteLength < threadFromBytes ? inflateRawSync(bytes) : await inflate(bytes)).toString("utf8");
}
