/** Types of pdfmake, as far as this writer uses them, and its instance. The package has no types of its own. */
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** Text with one style. */
export interface PdfRun {
  readonly text: string;
  readonly font?: string;
  readonly bold?: boolean;
  readonly italics?: boolean;
  readonly decoration?: "lineThrough";
  readonly background?: string;
  readonly color?: string;
  readonly link?: string;
  readonly sup?: boolean;
  /** Embedding level of the Unicode Bidirectional Algorithm. pdfmake keeps it; `pdfLines.ts` reads it. */
  readonly level?: number;
}

/** Runs, or groups of them. */
export type PdfText = readonly (PdfRun | { readonly text: readonly PdfRun[] })[];

interface PdfStyle {
  readonly margin?: readonly [number, number, number, number];
  readonly fontSize?: number;
  readonly bold?: boolean;
  readonly color?: string;
  readonly alignment?: "left" | "right" | "center";
}

export interface PdfTableLayout {
  hLineWidth(row: number, node: { readonly table: { readonly body: readonly unknown[] } }): number;
  vLineWidth(column: number, node: { readonly table: { readonly widths: readonly unknown[] } }): number;
  hLineColor(): string;
  vLineColor(): string;
  paddingLeft(): number;
  paddingRight(): number;
  paddingTop(): number;
  paddingBottom(): number;
  fillColor?(row: number): string | null;
}

export type PdfNode = PdfStyle &
  (
    | {
        readonly text: PdfText | string;
        readonly preserveLeadingSpaces?: boolean;
        readonly outline?: boolean;
        readonly outlineText?: string;
        readonly lineHeight?: number;
      }
    | { readonly stack: PdfNode[] }
    | { readonly columns: (PdfNode & { readonly width: number | "*" | "auto" })[]; readonly columnGap: number }
    | { readonly image: string; readonly fit: readonly [number, number] }
    | { readonly canvas: readonly { type: "line"; x1: number; y1: number; x2: number; y2: number; lineWidth: number; lineColor: string }[] }
    | {
        readonly table: { readonly widths: readonly (string | number)[]; readonly headerRows?: number; readonly body: PdfNode[][] };
        readonly layout: PdfTableLayout;
      }
  );

export interface PdfDefinition {
  readonly content: PdfNode[];
  readonly defaultStyle: { readonly font: string; readonly fontSize: number; readonly lineHeight: number };
  readonly info: { readonly title: string; readonly creator: string; readonly producer: string };
  readonly pageSize: "A4";
  readonly pageMargins: readonly [number, number, number, number];
}

interface Pdfmake {
  readonly virtualfs: { existsSync(name: string): boolean; writeFileSync(name: string, content: Buffer): void };
  setUrlAccessPolicy(allow: (url: string) => boolean): void;
  setLocalAccessPolicy(allow: (path: string) => boolean): void;
  /** Family → style → name of a file in the virtual file system. */
  setFonts(fonts: Readonly<Record<string, Readonly<Record<string, string>>>>): void;
  createPdf(definition: PdfDefinition): { getBuffer(): Promise<Buffer> };
}

export const pdfmake = require("pdfmake") as Pdfmake;
pdfmake.setUrlAccessPolicy(() => false);
pdfmake.setLocalAccessPolicy(() => false);

/** One piece of text at its place in a line. */
export interface PdfInline {
  text: string;
  x: number;
  readonly width: number;
  readonly level?: number;
  readonly font: PdfFont;
  readonly fontSize: number;
  readonly color: string;
  readonly background: string | null;
  readonly link: string | null;
  readonly decoration: string | null;
  readonly sup: boolean;
}

export interface PdfLine {
  inlines: PdfInline[];
  readonly leadingCut: number;
  readonly trailingCut: number;
}

export interface PdfRenderer {
  renderLine(line: PdfLine, x: number, y: number): void;
}

/** A paragraph. The layout removes its words from the list as it puts them into lines. */
export interface PdfLeaf {
  readonly _inlines?: PdfInline[];
}

export interface PdfLayout {
  buildNextLine(leaf: PdfLeaf): PdfLine | null;
}

/** A font of pdfkit. */
export interface PdfFont {
  /** Code points of each glyph in use. */
  readonly unicode: number[][];
  encode(text: string, features: unknown): unknown;
}

/** The part of pdfmake's document that keeps the fonts. */
export interface PdfFontRegistry {
  _fontFamilies: Record<string, unknown>;
  /** Family → style → font, as far as they are loaded. */
  readonly fontCache: Readonly<Record<string, Readonly<Record<string, PdfFont>>>>;
  /** The name of a style, as `setFonts` has it. */
  getFontType(bold: boolean, italics: boolean): string;
  provideFont(family: string, bold: boolean, italics: boolean): PdfFont;
}

/** The styles around a place of the document, from the outermost to the innermost. */
export interface PdfStyleStack {
  readonly styleOverrides: readonly Readonly<Record<string, unknown>>[];
  readonly defaultStyle: Readonly<Record<string, unknown>>;
}

interface PdfStyleStackClass {
  readonly prototype: unknown;
  getStyleProperty: (
    item: Readonly<Record<string, unknown>>,
    stack: PdfStyleStack | null | undefined,
    property: string,
    defaultValue: unknown,
  ) => unknown;
}

const loadClass = (name: string): { readonly prototype: unknown } =>
  (require(`pdfmake/js/${name}`) as { default: { prototype: unknown } }).default;

export const styleStackClass = loadClass("StyleContextStack") as PdfStyleStackClass;

export const rendererPrototype = loadClass("Renderer").prototype as PdfRenderer;
export const layoutPrototype = loadClass("LayoutBuilder").prototype as PdfLayout;
export const documentPrototype = loadClass("PDFDocument").prototype as PdfFontRegistry;
