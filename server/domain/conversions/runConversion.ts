/**
 * RunConversion turns a document of one format into another: a reader makes a syntax tree (mdast), a writer makes bytes, and the
 * output is read back to measure what was lost. Every pair of formats goes this way, so a new format is one reader or writer.
 */
import type { Root } from "mdast";
import type { ConversionFidelity, ConversionInputFormat, ConversionOutputFormat } from "../../../api/schema/conversion.ts";
import type { ConversionCaps } from "./engine/caps.ts";
import type { ParsedDocument, WrittenDocument } from "./engine/document.ts";
import { ConversionFailure } from "./engine/failure.ts";
import { measureFidelity } from "./engine/fidelity.ts";
import { replaceRawHtml, sanitiseRawHtml } from "./engine/read/rawHtml.ts";
import { findTitle } from "./engine/read/title.ts";
import { requireBoundedTree } from "./engine/treeBounds.ts";

export interface ConversionOrder {
  readonly from: ConversionInputFormat;
  readonly to: ConversionOutputFormat;
  readonly title?: string | undefined;
}

export interface ConvertedDocument {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  readonly fidelity: ConversionFidelity;
}

type Reader = (bytes: Uint8Array, caps: ConversionCaps) => Promise<ParsedDocument>;
type Writer = (tree: Root, title: string) => Promise<WrittenDocument>;

/** Readers and writers are loaded when a document first needs them, so that a Markdown conversion does not load fonts. */
const readers: Readonly<Record<ConversionInputFormat, () => Promise<Reader>>> = {
  markdown: async () => (await import("./engine/read/markdown.ts")).readMarkdown,
  html: async () => (await import("./engine/read/html.ts")).readHtml,
  docx: async () => (await import("./engine/read/docx.ts")).readDocx,
  pdf: async () => (await import("./engine/read/pdf.ts")).readPdf,
  txt: async () => (await import("./engine/read/txt.ts")).readTxt,
  json: async () => (await import("./engine/read/json.ts")).readJson,
};

const writers: Readonly<Record<ConversionOutputFormat, () => Promise<Writer>>> = {
  markdown: async () => (await import("./engine/write/markdown.ts")).writeMarkdown,
  html: async () => (await import("./engine/write/html.ts")).writeHtml,
  docx: async () => (await import("./engine/write/docx/docxWriter.ts")).writeDocx,
  pdf: async () => (await import("./engine/write/pdf/pdfWriter.ts")).writePdf,
  txt: async () => (await import("./engine/write/txt.ts")).writeTxt,
  json: async () => (await import("./engine/write/json.ts")).writeJson,
};

const contentTypes: Readonly<Record<ConversionOutputFormat, string>> = {
  markdown: "text/markdown; charset=utf-8",
  html: "text/html; charset=utf-8",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  pdf: "application/pdf",
  txt: "text/plain; charset=utf-8",
  json: "application/json",
};

/** Throws `ConversionFailure` if the document is wrong or too large. */
export async function convert(order: ConversionOrder, bytes: Uint8Array, caps: ConversionCaps): Promise<ConvertedDocument> {
  try {
    return await run(order, bytes, caps);
  } catch (error) {
    // Recursive parsers overflow the stack on deeply nested documents.
    if (error instanceof RangeError) throw new ConversionFailure("The document is nested too deeply or has too large a part.");
    throw error;
  }
}

async function run({ from, to, title }: ConversionOrder, bytes: Uint8Array, caps: ConversionCaps): Promise<ConvertedDocument> {
  const parsed = await readAs(from, bytes, caps);
  const source = await readRawHtml(parsed.tree, to, caps);
  const write = await writers[to]();
  // The writer of HTML sanitises raw HTML itself.
  const written = await write(to === "html" ? parsed.tree : source.tree, title ?? (await findTitle(parsed.tree, caps)));
  if (written.bytes.byteLength > caps.outputBytes) throw new ConversionFailure(`The output is larger than ${caps.outputBytes} bytes.`);
  const after = await readAs(to, written.bytes, caps);
  const losses = [...parsed.losses, ...source.losses, ...written.losses];
  return {
    bytes: written.bytes,
    contentType: contentTypes[to],
    fidelity: measureFidelity({ before: source.tree, after: after.tree, to, losses }),
  };
}

/** Returns the document that the output should have, and the losses of its raw HTML. */
async function readRawHtml(tree: Root, to: ConversionOutputFormat, caps: ConversionCaps): Promise<ParsedDocument> {
  if (to === "markdown" || to === "json") return { tree, losses: [] };
  return to === "html" ? sanitiseRawHtml(tree, caps) : replaceRawHtml(tree, caps);
}

async function readAs(format: ConversionInputFormat, bytes: Uint8Array, caps: ConversionCaps): Promise<ParsedDocument> {
  const read = await readers[format]();
  const parsed = await read(bytes, caps);
  requireBoundedTree(parsed.tree, caps);
  return parsed;
}
