/**
 * Constructs names the parts of documents in the plain words of fidelity reports, and says which format can hold which.
 *
 * The table `holds` is the only source of two answers: the constructs that an output cannot have, and the pairs of
 * formats that lose nothing (`GET /conversions/formats`). White space between words is layout and is not counted.
 */
import type { ConversionInputFormat, ConversionOutputFormat } from "../../../../api/schema/conversion.ts";

export type ConversionFormat = ConversionInputFormat | ConversionOutputFormat;

/** Constructs of Markdown that every format except plain text and PDF can hold. */
const common = [
  "text",
  "unusual character",
  "heading",
  "emphasis",
  "strong emphasis",
  "strikethrough",
  "inline code",
  "link",
  "image",
  "line break",
  "code block",
  "code language",
  "block quote",
  "bullet list",
  "ordered list",
  "task",
  "table",
  "table alignment",
  "footnote",
  "horizontal rule",
] as const;

/** Constructs that some of the structured formats cannot hold. */
const markdownOnly = ["list start number", "link title", "block inside a list or quote", "raw HTML", "front matter", "formula"] as const;

/** Constructs of sources that no output gets. */
const sourceOnly = [
  "syntax tree shape",
  "script or style",
  "form or embedded object",
  "HTML attribute or element",
  "table cell span",
  "comment",
  "text style",
  "text box or drawing",
  "external image",
  "page layout",
] as const;

export type Construct = (typeof common)[number] | (typeof markdownOnly)[number] | (typeof sourceOnly)[number];

const holds: Readonly<Record<ConversionFormat, readonly Construct[]>> = {
  markdown: [...common, ...markdownOnly],
  json: [...common, ...markdownOnly, "syntax tree shape"],
  html: [
    ...common,
    "list start number",
    "link title",
    "block inside a list or quote",
    "formula",
    "script or style",
    "form or embedded object",
    "HTML attribute or element",
    "table cell span",
    "comment",
    "external image",
  ],
  docx: [...common, "table cell span", "comment", "text style", "text box or drawing", "external image", "page layout"],
  pdf: [
    ...common.filter((construct) => construct !== "unusual character" && construct !== "code language"),
    "list start number",
    "block inside a list or quote",
    "page layout",
  ],
  txt: ["text", "unusual character"],
};

export function canHold(format: ConversionFormat, construct: Construct): boolean {
  return holds[format].includes(construct);
}

/** True if every construct that a document of the first format can have is in the output. */
export function isLossless(from: ConversionInputFormat, to: ConversionOutputFormat): boolean {
  return holds[from].every((construct) => !isSourceOnly(construct) && canHold(to, construct));
}

function isSourceOnly(construct: Construct): boolean {
  return (sourceOnly as readonly Construct[]).includes(construct);
}
