/**
 * Reads the text of a PDF. A PDF says where characters are, not what they belong to, so lines and paragraphs are guessed
 * from positions; headings, tables and pictures come back as text or not at all, which the report says for each page.
 */
import type { Paragraph } from "mdast";
import { getDocumentProxy } from "unpdf";
import type { ParsedDocument } from "../document.ts";
import { ConversionFailure } from "../failure.ts";

interface TextItem {
  readonly str: string;
  /** The last two numbers are the position; y grows upwards. */
  readonly transform: readonly number[];
  readonly width: number;
  readonly height: number;
  readonly hasEOL: boolean;
}

interface Line {
  text: string;
  readonly y: number;
  height: number;
  /** Left and right side of the last item. */
  left: number;
  right: number;
}

export async function readPdf(bytes: Uint8Array): Promise<ParsedDocument> {
  const pdf = await openPdf(bytes);
  const paragraphs: Paragraph[] = [];
  for (let number = 1; number <= pdf.numPages; number += 1) {
    for (const value of await readPage(pdf, number)) paragraphs.push({ type: "paragraph", children: [{ type: "text", value }] });
  }
  const losses = Array.from({ length: pdf.numPages }, () => ({ construct: "page layout" }) as const);
  return { tree: { type: "root", children: paragraphs }, losses };
}

/** Returns the paragraphs of a page. */
async function readPage(pdf: Awaited<ReturnType<typeof openPdf>>, number: number): Promise<readonly string[]> {
  try {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    page.cleanup();
    return toParagraphs(toLines(items.filter((item) => "str" in item)));
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw new ConversionFailure(`Page ${number} of the PDF is damaged: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function openPdf(bytes: Uint8Array) {
  try {
    // pdf.js takes the buffer for itself, so it gets a copy. It refuses a `Buffer`.
    return await getDocumentProxy(new Uint8Array(bytes), {
      isEvalSupported: false,
      disableFontFace: true,
      useSystemFonts: false,
      enableXfa: false,
    });
  } catch (error) {
    if (error instanceof RangeError) throw error;
    if (error instanceof Error && error.name === "PasswordException")
      throw new ConversionFailure("The PDF is encrypted; remove the password and convert it again.");
    throw new ConversionFailure(`The document is not a PDF: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A gap of this share of the height of the text is a space. */
const minSpace = 0.12;

function toLines(items: readonly TextItem[]): readonly Line[] {
  const lines: Line[] = [];
  let line: Line | undefined;
  for (const { str, transform, width, height, hasEOL } of items) {
    const [left, y] = [transform[4] ?? 0, transform[5] ?? 0];
    const isSameLine = line !== undefined && Math.abs(line.y - y) < Math.max(line.height, height) / 2;
    if (line === undefined || (str.trim() !== "" && !isSameLine)) {
      line = { text: "", y, height, left, right: left };
      lines.push(line);
    }
    if (str.trim() !== "") {
      // Right-to-left text continues at the left side; the words come without the spaces between them.
      const gap = left < line.left ? line.left - (left + width) : left - line.right;
      line.text += gap > height * minSpace ? ` ${str}` : str;
      line.left = left;
      line.right = left + width;
    } else line.text += str;
    line.height = Math.max(line.height, height);
    if (hasEOL) line = undefined;
  }
  return lines.map((line) => ({ ...line, text: line.text.replace(/\s+/gu, " ").trim() })).filter(({ text }) => text !== "");
}

/** A gap of more than this many line heights, or another size of the text, begins a paragraph. */
const maxGap = 1.7;

function toParagraphs(lines: readonly Line[]): readonly string[] {
  const paragraphs: string[] = [];
  let last: Line | undefined;
  for (const line of lines) {
    const gap = last === undefined ? Number.POSITIVE_INFINITY : Math.abs(last.y - line.y);
    const isSameSize = last !== undefined && Math.abs(last.height - line.height) < 1;
    const open = paragraphs.at(-1);
    if (open === undefined || !isSameSize || gap > line.height * maxGap) paragraphs.push(line.text);
    else paragraphs[paragraphs.length - 1] = open + toGlue(open, line.text) + line.text;
    last = line;
  }
  return paragraphs;
}

const withoutSpaces = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u3000-\u303f\uff00-\uffef]/u;

/** Lines of Chinese and Japanese text continue without a space. */
function toGlue(before: string, after: string): string {
  return withoutSpaces.test(before.at(-1) ?? "") && withoutSpaces.test(after.at(0) ?? "") ? "" : " ";
}
