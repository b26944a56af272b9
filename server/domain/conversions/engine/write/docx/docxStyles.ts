/** Defines the styles of DOCX files that Word does not have: code, quotes of several levels, and horizontal rules. */
import type { ICharacterStyleOptions, IParagraphStyleOptions, IStylesOptions } from "docx";
import { codeStyle, inlineCodeStyle, inlineFormulaStyle, quoteStyle, ruleStyle, toCodeStyle } from "../../styles.ts";

const monospace = "Courier New";
export const maxQuoteDepth = 9;

export const defaultStyle: NonNullable<IStylesOptions["default"]> = {
  document: {
    run: { font: { ascii: "Calibri", hAnsi: "Calibri", eastAsia: "Microsoft YaHei", cs: "Arial" }, size: 22 },
    paragraph: { spacing: { after: 160, line: 276 } },
  },
  heading1: { run: { size: 36, bold: true }, paragraph: { spacing: { before: 320, after: 160 }, keepNext: true } },
  heading2: { run: { size: 30, bold: true }, paragraph: { spacing: { before: 280, after: 140 }, keepNext: true } },
  heading3: { run: { size: 26, bold: true }, paragraph: { spacing: { before: 240, after: 120 }, keepNext: true } },
  heading4: { run: { size: 24, bold: true }, paragraph: { spacing: { before: 200, after: 100 }, keepNext: true } },
  heading5: { run: { size: 22, bold: true }, paragraph: { spacing: { before: 200, after: 100 }, keepNext: true } },
  heading6: { run: { size: 22, italics: true }, paragraph: { spacing: { before: 200, after: 100 }, keepNext: true } },
};

export const characterStyles: readonly ICharacterStyleOptions[] = [inlineCodeStyle, inlineFormulaStyle].map((name) => ({
  id: toStyleId(name),
  name,
  run: { font: monospace, size: 20 },
}));

/** Word refers to styles by ids without spaces. */
export function toStyleId(name: string): string {
  return name.replace(/[^A-Za-z0-9]+/g, (other) => (other === " " ? "" : `_${Buffer.from(other).toString("hex")}_`));
}

/** The styles of a document with code in these languages. */
export function toParagraphStyles(languages: ReadonlySet<string>): IParagraphStyleOptions[] {
  const code = { id: toStyleId(codeStyle), name: codeStyle, basedOn: "Normal", quickFormat: true };
  return [
    {
      ...code,
      run: { font: monospace, size: 19, noProof: true },
      paragraph: { spacing: { line: 240, after: 160 }, leftTabStop: 720 },
    },
    ...[...languages].map((language) => ({ id: toStyleId(toCodeStyle(language)), name: toCodeStyle(language), basedOn: code.id })),
    ...Array.from({ length: maxQuoteDepth }, (_, at) => ({
      id: toStyleId(toQuoteStyle(at + 1)),
      name: toQuoteStyle(at + 1),
      basedOn: "Normal",
      run: { color: "555555" },
    })),
    {
      id: toStyleId(ruleStyle),
      name: ruleStyle,
      basedOn: "Normal",
      paragraph: { border: { bottom: { style: "single" as const, size: 6, space: 1, color: "999999" } } },
    },
  ];
}

export function toQuoteStyle(depth: number): string {
  return depth === 1 ? quoteStyle : `${quoteStyle} ${depth}`;
}
