/** Writes the inline content of a paragraph as runs of a DOCX file. */
import { ExternalHyperlink, FootnoteReferenceRun, ImageRun, InternalHyperlink, type IRunOptions, type ParagraphChild, TextRun } from "docx";
import { hasRightToLeft } from "../../direction.ts";
import { readImage } from "../../images.ts";
import { dropUnsafeLinks } from "../../links.ts";
import { type Piece, toAlternative } from "../../phrasing.ts";
import { inlineCodeStyle, inlineFormulaStyle } from "../../styles.ts";
import { toStyleId } from "./docxStyles.ts";

/** Widest picture, in pixels at 96 to the inch, on A4 and Letter paper. */
const maxWidth = 600;
const maxHeight = 850;

/** Characters that XML cannot have, not even escaped. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are what is removed
const invalid = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/** Halves of surrogate pairs become replacement characters. */
export function toXmlText(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8").replace(invalid, "");
}

/**
 * `footnoteNumber`: the number of the footnote, or undefined if it has no definition. Unsafe links are left out; they are missing
 * when the output is read back.
 */
export function toRuns(pieces: readonly Piece[], footnoteNumber: (id: string) => number | undefined): ParagraphChild[] {
  return dropUnsafeLinks(pieces).pieces.flatMap((original) => {
    const image = original.kind === "image" ? toImage(original.url, original.alt) : undefined;
    const piece = original.kind === "image" ? toAlternative(original) : original;
    const children = image === undefined ? toRun(piece, footnoteNumber) : [image];
    const { link } = image === undefined ? piece : original;
    if (link === undefined || children.length === 0) return children;
    if (link.url.startsWith("#")) return [new InternalHyperlink({ anchor: link.url.slice(1), children })];
    return [new ExternalHyperlink({ link: toAddress(link.url), children })];
  });
}

function toRun(piece: Piece, footnoteNumber: (id: string) => number | undefined): ParagraphChild[] {
  const style: IRunOptions = {
    ...(piece.marks.has("emphasis") ? { italics: true } : {}),
    ...(piece.marks.has("strong emphasis") ? { bold: true } : {}),
    ...(piece.marks.has("strikethrough") ? { strike: true } : {}),
    ...(piece.link === undefined ? {} : { style: "Hyperlink" }),
  };
  switch (piece.kind) {
    case "text":
      return splitByDirection(piece.value.replace(/\n/g, " ")).map(
        (text) => new TextRun({ ...style, text: toXmlText(text), ...(hasRightToLeft(text) ? { rightToLeft: true } : {}) }),
      );
    case "code":
      return [new TextRun({ ...style, style: toStyleId(inlineCodeStyle), text: toXmlText(piece.value) })];
    case "formula":
      return [new TextRun({ ...style, style: toStyleId(inlineFormulaStyle), text: toXmlText(piece.value) })];
    case "html":
      return /^<br\s*\/?>$/i.test(piece.value) ? [new TextRun({ break: 1 })] : [];
    case "break":
      return [new TextRun({ break: 1 })];
    case "footnote": {
      const number = footnoteNumber(piece.id);
      return number === undefined ? [] : [new FootnoteReferenceRun(number)];
    }
    case "image":
      return [];
  }
}

function toImage(url: string, alt: string): ImageRun | undefined {
  const image = readImage(url);
  if (image === undefined) return undefined;
  const scale = Math.min(1, maxWidth / image.width, maxHeight / image.height);
  return new ImageRun({
    type: image.format,
    data: image.bytes,
    transformation: { width: Math.max(1, Math.round(image.width * scale)), height: Math.max(1, Math.round(image.height * scale)) },
    altText: { name: "Picture", description: toXmlText(alt) },
  });
}

/** Splits a text so that right-to-left letters and the spaces and marks between them are apart from other letters. */
function splitByDirection(text: string): readonly string[] {
  if (!hasRightToLeft(text)) return text === "" ? [] : [text];
  return (
    text.match(
      /[^\p{L}\p{N}]*(?:[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc](?:[^\p{L}\p{N}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc])*|[^\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+)/gu,
    ) ?? [text]
  );
}

/** Word refuses a file whose links have characters that an address cannot have. */
function toAddress(url: string): string {
  return toXmlText(url).replace(/[\s<>"{}|\\^`]/gu, (character) => encodeURIComponent(character));
}
