/**
 * Styles names the styles by which a DOCX file says what a paragraph or a run is. Reader and writer share the names.
 *
 * The reader also accepts the names that Word, LibreOffice and pandoc use for the same purpose.
 */
export const codeStyle = "Source Code";
export const quoteStyle = "Quote";
export const ruleStyle = "Horizontal Rule";
export const inlineCodeStyle = "Verbatim Char";
/** A formula in a line, as its source. A display formula is code of the language `math`. */
export const inlineFormulaStyle = "Verbatim Math";

/** Twips of one level of indentation of lists and quotes. */
export const indentTwips = 720;

/** Text of a list item that begins with another block than a paragraph. Word shows no item without text. */
export const emptyItem = "\u200b";

/** The language of a code block is a part of the name of its style: "Source Code python". */
export function toCodeStyle(language: string | null | undefined): string {
  return language === null || language === undefined || language === "" ? codeStyle : `${codeStyle} ${language}`;
}

export type ParagraphStyle =
  | { readonly kind: "heading"; readonly depth: 1 | 2 | 3 | 4 | 5 | 6 }
  | { readonly kind: "code"; readonly language: string | undefined }
  | { readonly kind: "quote"; readonly depth: number }
  | { readonly kind: "rule" }
  | { readonly kind: "plain" };

const codePattern = /^(?:source code|preformatted text|html preformatted|code)(?: (\S+))?$/i;
const quotePattern = /^(?:quote|intense quote|block text|quotations)(?: (\d))?$/i;

export function readParagraphStyle(name: string | null): ParagraphStyle {
  if (name === null) return { kind: "plain" };
  if (/^title$/i.test(name)) return { kind: "heading", depth: 1 };
  const heading = /^heading ([1-6])$/i.exec(name)?.[1];
  if (heading !== undefined) return { kind: "heading", depth: Number(heading) as 1 };
  const code = codePattern.exec(name);
  if (code !== null) return { kind: "code", language: code[1] };
  const quote = quotePattern.exec(name);
  if (quote !== null) return { kind: "quote", depth: Number(quote[1] ?? 1) };
  return { kind: name.toLowerCase() === ruleStyle.toLowerCase() || /^horizontal line$/i.test(name) ? "rule" : "plain" };
}

export function isInlineFormula({ styleName }: { readonly styleName: string | null }): boolean {
  return styleName?.toLowerCase() === inlineFormulaStyle.toLowerCase();
}

const monospace = /^(?:courier|consolas|menlo|monaco|lucida console)|\bmono\b/i;

export function isInlineCode({ styleName, font }: { readonly styleName: string | null; readonly font: string | null }): boolean {
  if (styleName !== null) return /\b(?:verbatim|code|source text)\b/i.test(styleName);
  return font !== null && monospace.test(font);
}
