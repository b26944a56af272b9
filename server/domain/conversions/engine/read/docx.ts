/**
 * Reads a DOCX file. The archive is unpacked and checked first (archive.ts); mammoth then sees only its checked entries.
 *
 * A part that is read as XML is refused if it has a document type, which could define entities. The name of the part does
 * not matter, because a relationship may choose any name. Pictures outside of the file are never read.
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
import { installDocxXml } from "./docxXml.ts";

installDocxXml();

export async function readDocx(bytes: Uint8Array, caps: ConversionCaps): Promise<ParsedDocument> {
  const entries = await unpackArchive(bytes, caps.archive);
  const document = await readDocument(entries);
  const images = await loadImages(document);
  const blocks = createDocxBlocks(document, images.urls);
  const children = blocks.read(document.children);
  const tree: Root = { type: "root", children: [...children, ...blocks.readFootnotes()] };
  return { tree, losses: [...images.losses, ...blocks.losses] };
}

/** The text is the one that the XML parser gets, so no encoding hides a declaration. The parser ignores the case. */
function requireNoDocumentType(name: string, xml: string): void {
  if (!/<!(?:DOCTYPE|ENTITY)/i.test(xml)) return;
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
      if (encoding === "base64") return Buffer.from(content).toString("base64");
      // mammoth reads text only to parse it as XML.
      const text = new TextDecoder(encoding).decode(content);
      requireNoDocumentType(name, text);
      return text;
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
    if (error instanceof RangeError || error instanceof ConversionFailure) throw error;
    throw new ConversionFailure(`The document is not a DOCX file: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (document === undefined) throw new ConversionFailure("The document is not a DOCX file: it has no body.");
  return document;
}
