/**
 * PdfRuns splits inline content into runs that have one font and one direction each.
 *
 * Directions follow the Unicode Bidirectional Algorithm (bidi-js). The level of each run travels with it to the line, where
 * `pdfLines.ts` puts the runs into visual order. Letters of right-to-left runs are joined and ordered by the font engine.
 */
import { hasRightToLeft, isRightToLeft } from "../../direction.ts";
import type { Loss } from "../../document.ts";
import { dropUnsafeLinks } from "../../links.ts";
import type { Piece } from "../../phrasing.ts";
import { bidi } from "./bidi.ts";
import type { FontChoice } from "./fontChoice.ts";
import type { PdfRun, PdfText } from "./pdfmake.ts";

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
/** Text for which the main font has every character, in one direction. */
const simple = /^[\n\x20-\x7e\u00a0-\u024f\u2010-\u201f\u2026]*$/;
const replacement = "\ufffd";

const linkColor = "#0b57a4";
const codeBackground = "#f0f0f0";

export interface PdfRunWriter {
  /** Pictures are left out (see `pdfBlocks.ts`), and so are unsafe links. */
  write(pieces: readonly Piece[]): { readonly text: PdfText; readonly isRightToLeft: boolean };
  writeCode(code: string, line: number | undefined): PdfText;
}

export interface PdfRunOptions {
  readonly fonts: FontChoice;
  readonly losses: Loss[];
  /** The number of a footnote, or undefined if it has no definition. */
  footnoteNumber(id: string): number | undefined;
}

export function createPdfRunWriter({ fonts, losses, footnoteNumber }: PdfRunOptions): PdfRunWriter {
  /** Splits text where the font or the level changes. `levels`: of each UTF-16 unit; absent: everything is left-to-right. */
  function split(text: string, base: PdfRun, isMonospaced: boolean, line: number | undefined, levels?: Uint8Array): PdfRun[] {
    const font = isMonospaced ? "mono" : "sans";
    if (text === "") return [];
    if (levels === undefined && simple.test(text)) return [{ ...base, font, text }];
    const runs: { -readonly [Key in keyof PdfRun]: PdfRun[Key] }[] = [];
    for (const { segment, index } of segmenter.segment(text)) {
      const level = levels?.[index] ?? 0;
      const family = /^\s/u.test(segment) ? (runs.at(-1)?.font ?? font) : fonts.choose(segment, isMonospaced)?.name;
      if (family === undefined) losses.push({ construct: "unusual character", line });
      const shown = family === undefined ? replacement : segment;
      const last = runs.at(-1);
      if (last !== undefined && last.font === (family ?? font) && (last.level ?? 0) === level) last.text += shown;
      else runs.push({ ...base, font: family ?? font, text: shown, ...(levels === undefined ? {} : { level }) });
    }
    return runs;
  }

  return {
    write(written) {
      const { pieces, losses: dropped } = dropUnsafeLinks(written);
      losses.push(...dropped);
      const texts = pieces.map((piece) => toPlain(piece, footnoteNumber));
      const whole = texts.join("");
      const levels = hasRightToLeft(whole) ? bidi.getEmbeddingLevels(whole, isRightToLeft(whole) ? "rtl" : "ltr").levels : undefined;
      let start = 0;
      const runs = pieces.flatMap((piece, at) => {
        const text = texts[at] ?? "";
        const own = levels?.subarray(start, start + text.length);
        start += text.length;
        return split(text, toStyle(piece), isCode(piece), piece.line, own);
      });
      return { text: toGroups(runs), isRightToLeft: isRightToLeft(whole) };
    },
    writeCode: (code, line) => toGroups(split(code, { text: "" }, true, line)),
  };
}

const runsPerGroup = 200;

/** pdfmake copies the list of runs for each of its elements, so the elements of a long list are groups of runs. */
function toGroups(runs: PdfRun[]): PdfText {
  if (runs.length <= runsPerGroup) return runs;
  return Array.from({ length: Math.ceil(runs.length / runsPerGroup) }, (_, at) => ({
    text: runs.slice(at * runsPerGroup, (at + 1) * runsPerGroup),
  }));
}

function toPlain(piece: Piece, footnoteNumber: (id: string) => number | undefined): string {
  switch (piece.kind) {
    case "text":
      return piece.value.replace(/\s+/gu, " ");
    case "code":
    case "formula":
      return piece.value;
    case "break":
      return "\n";
    case "html":
      return /^<br\s*\/?>$/i.test(piece.value) ? "\n" : "";
    case "footnote": {
      const number = footnoteNumber(piece.id);
      return number === undefined ? "" : `[${number}]`;
    }
    case "image":
      return "";
  }
}

/** Formulas are shown as their source. */
function isCode({ kind }: Piece): boolean {
  return kind === "code" || kind === "formula";
}

function toStyle(piece: Piece): PdfRun {
  const { marks, link, kind } = piece;
  return {
    text: "",
    ...(marks.has("strong emphasis") ? { bold: true } : {}),
    ...(marks.has("emphasis") ? { italics: true } : {}),
    ...(marks.has("strikethrough") ? { decoration: "lineThrough" } : {}),
    ...(isCode(piece) ? { background: codeBackground } : {}),
    ...(kind === "footnote" ? { sup: true } : {}),
    ...(link === undefined ? {} : { color: linkColor, ...(link.url.startsWith("#") ? {} : { link: link.url }) }),
  };
}
