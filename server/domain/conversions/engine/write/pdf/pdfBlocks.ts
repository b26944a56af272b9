/** PdfBlocks lays out the blocks of a document as nodes of pdfmake. Lists, quotes and tables of right-to-left text are mirrored. */
import type { Blockquote, List, Nodes, Paragraph, Table } from "mdast";
import { isRightToLeft } from "../../direction.ts";
import type { Loss } from "../../document.ts";
import { readImage } from "../../images.ts";
import { type Definitions, type Piece, toAlternative, toPieces, toText } from "../../phrasing.ts";
import type { PdfNode } from "./pdfmake.ts";
import type { PdfRunWriter } from "./pdfRuns.ts";
import { boxLayout, gridLayout, quoteLayout } from "./pdfTables.ts";

const contentWidth = 483;
const maxImageHeight = 600;
const headingSizes = [20, 16, 13.5, 12, 11, 10.5] as const;
const paragraphMargin = [0, 0, 0, 7] as const;
const tightMargin = [0, 0, 0, 2] as const;

export interface PdfBlockOptions {
  readonly definitions: Definitions;
  readonly runs: PdfRunWriter;
  readonly losses: Loss[];
  /** Pictures that pdfkit refused are left out. */
  readonly withImages: boolean;
}

export type PdfBlockWriter = (nodes: readonly Nodes[]) => PdfNode[];

export function createPdfBlockWriter({ definitions, runs, losses, withImages }: PdfBlockOptions): PdfBlockWriter {
  const writeAll: PdfBlockWriter = (nodes) => nodes.flatMap((node) => write(node));

  function write(node: Nodes): PdfNode[] {
    switch (node.type) {
      case "paragraph":
        return writeParagraph(node, paragraphMargin);
      case "heading": {
        const { text, isRightToLeft: isReversed } = runs.write(toPieces(node.children, definitions));
        const outlineText = toText(node);
        return [
          {
            text,
            bold: true,
            fontSize: headingSizes[node.depth - 1] ?? 10.5,
            margin: [0, node.depth < 3 ? 10 : 7, 0, 5],
            ...(isReversed ? { alignment: "right" } : {}),
            ...(outlineText.trim() === "" ? {} : { outline: true, outlineText }),
          },
        ];
      }
      case "code":
      case "math":
        return [writeCode(node.value, node.position?.start.line)];
      case "blockquote":
        return [writeQuote(node)];
      case "list":
        return [writeList(node)];
      case "table":
        return [writeTable(node)];
      case "thematicBreak":
        return [
          {
            canvas: [{ type: "line", x1: 0, y1: 0, x2: contentWidth, y2: 0, lineWidth: 0.75, lineColor: "#999999" }],
            margin: [0, 6, 0, 12],
          },
        ];
      default:
        return [];
    }
  }

  /** A picture in a paragraph is a block of its own: the text before it, the picture, the text after it. */
  function writeParagraph(node: Paragraph, margin: typeof paragraphMargin | typeof tightMargin): PdfNode[] {
    const nodes: PdfNode[] = [];
    let pieces: Piece[] = [];
    const close = () => {
      const { text, isRightToLeft: isReversed } = runs.write(pieces);
      if (text.length > 0) nodes.push({ text, margin, ...(isReversed ? { alignment: "right" } : {}) });
      pieces = [];
    };
    for (const piece of toPieces(node.children, definitions)) {
      const picture = piece.kind === "image" ? writeImage(piece.url, piece.line) : undefined;
      if (picture !== undefined) {
        close();
        nodes.push(picture);
      } else pieces.push(piece.kind === "image" ? toAlternative(piece) : piece);
    }
    close();
    return nodes;
  }

  function writeImage(url: string, line: number | undefined): PdfNode | undefined {
    const image = withImages ? readImage(url) : undefined;
    if (image === undefined) {
      losses.push({ construct: "image", line });
      return undefined;
    }
    // Pixels are shown at 96 to the inch; PDF has 72 points to the inch.
    const width = Math.min(contentWidth, image.width * 0.75);
    const height = Math.min(maxImageHeight, image.height * 0.75);
    return { image: url, fit: [width, height], margin: paragraphMargin };
  }

  function writeCode(code: string, line: number | undefined): PdfNode {
    const text = runs.writeCode(code.replaceAll("\t", "    "), line === undefined ? undefined : line + 1);
    const content: PdfNode = { text: text.length === 0 ? " " : text, fontSize: 8.5, preserveLeadingSpaces: true, lineHeight: 1.15 };
    return { table: { widths: ["*"], body: [[content]] }, layout: boxLayout, margin: [0, 2, 0, 9] };
  }

  function writeQuote(node: Blockquote): PdfNode {
    const content: PdfNode = { stack: writeAll(node.children), color: "#444444" };
    return { table: { widths: ["*"], body: [[content]] }, layout: quoteLayout(isRightToLeft(toText(node))), margin: [0, 2, 0, 7] };
  }

  function writeList(node: List): PdfNode {
    const isReversed = isRightToLeft(toText(node));
    const first = node.start ?? 1;
    const margin = node.spread === true ? paragraphMargin : tightMargin;
    const markerWidth = node.ordered === true ? 8 + 6 * String(first + node.children.length).length : 12;
    const items = node.children.map((item, at): PdfNode => {
      const box = typeof item.checked === "boolean" ? (item.checked ? "☑" : "☐") : undefined;
      const number = String(first + at);
      const marker = box ?? (node.ordered === true ? (isReversed ? `.${number}` : `${number}.`) : "•");
      const label = { text: marker, width: markerWidth, alignment: isReversed ? "left" : "right" } as const;
      const stack = item.children.flatMap((child) => (child.type === "paragraph" ? writeParagraph(child, margin) : write(child)));
      const content = { stack, width: "*" } as const;
      return { columns: isReversed ? [content, label] : [label, content], columnGap: 6 };
    });
    return { stack: items, margin: [0, 0, 0, 5] };
  }

  function writeTable(node: Table): PdfNode {
    const isReversed = isRightToLeft(toText(node));
    const columns = Math.max(1, ...node.children.map(({ children }) => children.length));
    const body = node.children.map((row, at) => {
      const cells = Array.from({ length: columns }, (_, column): PdfNode => {
        const pieces = toPieces(row.children[column]?.children ?? [], definitions);
        for (const piece of pieces) if (piece.kind === "image") losses.push({ construct: "image", line: piece.line });
        const { text, isRightToLeft: isCellReversed } = runs.write(
          pieces.map((piece) => (piece.kind === "image" ? toAlternative(piece) : piece)),
        );
        const alignment = node.align?.[column] ?? (isCellReversed ? "right" : "left");
        return { text: text.length === 0 ? " " : text, alignment, ...(at === 0 ? { bold: true } : {}) };
      });
      return isReversed ? cells.reverse() : cells;
    });
    const fontSize = columns > 8 ? 6.5 : columns > 5 ? 8 : 9.5;
    const widths = toWidths(node, columns);
    const table: PdfNode = {
      table: { headerRows: 1, widths: isReversed ? widths.reverse() : widths, body },
      layout: gridLayout,
      fontSize,
      margin: [0, 2, 0, 9],
    };
    // pdfmake begins tables at the left side. The empty column takes the width that the table leaves.
    const isNarrow = widths.every((width) => width === "auto");
    return isReversed && isNarrow
      ? {
          columns: [
            { text: "", width: "*" },
            { ...table, width: "auto" },
          ],
          columnGap: 0,
        }
      : table;
  }

  return writeAll;
}

/** Narrow columns get the width of their text; the others share the rest. */
function toWidths(node: Table, columns: number): string[] {
  const longest = Array.from({ length: columns }, (_, column) =>
    Math.max(0, ...node.children.map((row) => (row.children[column] === undefined ? 0 : toText(row.children[column]).length))),
  );
  return longest.map((length) => (length <= 18 && columns < 7 ? "auto" : "*"));
}
