/** Types of the document tree that mammoth reads from a DOCX file, as far as this reader uses them. */

export interface DocxParagraph {
  readonly type: "paragraph";
  readonly children: readonly DocxInline[];
  readonly styleName: string | null;
  readonly numbering: { readonly isOrdered: boolean; readonly level: string } | null;
  readonly alignment: string | null;
  readonly indent: { readonly start: string | null };
}

export interface DocxRun {
  readonly type: "run";
  readonly children: readonly DocxInline[];
  readonly styleName: string | null;
  readonly font: string | null;
  readonly isBold: boolean;
  readonly isItalic: boolean;
  readonly isStrikethrough: boolean;
  readonly isUnderline: boolean;
  readonly isAllCaps: boolean;
  readonly isSmallCaps: boolean;
  readonly highlight: string | null;
  readonly verticalAlignment: string;
}

export interface DocxImage {
  readonly type: "image";
  readonly altText: string | null | undefined;
  readonly contentType: string | null | undefined;
  readAsBase64String(): Promise<string>;
}

export type DocxInline =
  | DocxRun
  | DocxImage
  | { readonly type: "text"; readonly value: string }
  | { readonly type: "tab" }
  | { readonly type: "checkbox"; readonly checked: boolean }
  | { readonly type: "break"; readonly breakType: "line" | "page" | "column" }
  | {
      readonly type: "hyperlink";
      readonly children: readonly DocxInline[];
      readonly href?: string | null | undefined;
      readonly anchor?: string | null | undefined;
    }
  | { readonly type: "noteReference"; readonly noteType: string; readonly noteId: string }
  | { readonly type: "commentReference" }
  | { readonly type: "bookmarkStart" };

export interface DocxTable {
  readonly type: "table";
  readonly children: readonly DocxRow[];
}

export interface DocxRow {
  readonly type: "tableRow";
  readonly children: readonly DocxCell[];
}

export interface DocxCell {
  readonly type: "tableCell";
  readonly children: readonly DocxBlock[];
  readonly colSpan: number;
  readonly rowSpan: number;
}

export type DocxBlock = DocxParagraph | DocxTable | DocxInline;

export interface DocxNote {
  readonly body: readonly DocxBlock[];
}

export interface DocxDocument {
  readonly children: readonly DocxBlock[];
  readonly notes: { resolve(reference: { readonly noteType: string; readonly noteId: string }): DocxNote | null };
}
