/**
 * Reads a DOCX file. The archive is unpacked and checked first (archive.ts); mammoth then sees only its checked entries.
 *
 * XML parts with a document type are refused, because it could define entities. Pictures outside of the file are never read.
 */

import mammoth from "mammoth";
import type { Root } from "mdast";
import type { ConversionCaps } from "../caps.ts";
import type { ParsedDocument } from "../document.ts";
import { ConversionFailure } from "../failure.ts";
import { type ArchiveEntries, unpackArchive } from "./archive.ts";
import { createDocxBlocks } from "./docxBlocks.ts";
import type { DocxDocument } from "./docxDocument.ts";
import { loadImages } from "./docxImages.ts";

export async function readDocx(bytes: Uint8Array, caps: ConversionCaps): Promise<ParsedDocument> {
  const entries = await unpackArchive(bytes, caps.archive);
  for (const [name, content] of entries) {
    if (/\.(?:xml|rels)$/i.test(name)) requireNoDocumentType(name, content);
  }
  const document = await readDocument(entries);
  const images = await loadImages(document);
  const blocks = createDocxBlocks(document, images.urls);
  const children = blocks.read(document.children);
  const tree: Root = { type: "root", children: [...children, ...blocks.readFootnotes()] };
  return { tree, losses: [...images.losses, ...blocks.losses] };
}

function requireNoDocumentType(name: string, content: Uint8Array): void {
  const xml = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  // mammoth decodes each part as UTF-8, so another encoding cannot hide a document type from this check.
  if (xml.includes("<!DOCTYPE") || xml.includes("<!ENTITY"))
    throw new ConversionFailure(
      `The part ${JSON.stringify(name)} has a document type declaration, which could define entities; it is not allowed.`,
    );
}

async function readDocument(entries: ArchiveEntries): Promise<DocxDocument> {
  let document: DocxDocument | undefined;
  const file = {
    exists: (name: string) => entries.has(name),
    async read(name: string, encoding?: string) {
      const content = entries.get(name);
      if (content === undefined) throw new Error(`there is no part ${name}`);
      if (encoding === undefined) return content;
      return encoding === "base64" ? Buffer.from(content).toString("base64") : new TextDecoder(encoding).decode(content);
    },
  };
  const options = {
    externalFileAccess: false,
    includeEmbeddedStyleMap: false,
    // The HTML is not used, so an empty document is enough for it.
    transformDocument(read: DocxDocument) {
      document = read;
      return { ...read, children: [], comments: [] };
    },
  };
  try {
    // mammoth accepts an opened archive as `file`, which its types do not name.
    await mammoth.convertToHtml({ file } as unknown as Parameters<typeof mammoth.convertToHtml>[0], options);
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw new ConversionFailure(`The document is not a DOCX file: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (document === undefined) throw new ConversionFailure("The document is not a DOCX file: it has no body.");
  return document;
}
