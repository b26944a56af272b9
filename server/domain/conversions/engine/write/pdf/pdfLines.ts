/**
 * PdfLines adds four features to pdfmake: right-to-left text, ligatures of right-to-left text, fonts that share an internal name, and
 * short files.
 *
 * - Lines are drawn in visual order (rule L2 of the Unicode Bidirectional Algorithm). The order of the text in the file
 *   stays logical, so that it can be searched and copied.
 * - A PDF has a text for each glyph. Readers turn a right-to-left line around letter by letter, so the text of a ligature, such as
 *   lam-alef, is written in the order in which it is drawn.
 * - pdfkit takes fonts of one name for one font. The slices of a family all have the same name, so each font is looked up
 *   in an empty registry and entered under its own key.
 * - pdfmake draws each word by itself. Neighbouring words of one style are drawn as one text, so a file is a third as long and is
 *   written and read faster.
 */
import { hasRightToLeft } from "../../direction.ts";
import { bidi } from "./bidi.ts";
import { documentPrototype, type PdfFont, type PdfInline, type PdfLine, rendererPrototype } from "./pdfmake.ts";

let isInstalled = false;

export function installPdfLines(): void {
  if (isInstalled) return;
  isInstalled = true;
  const { renderLine } = rendererPrototype;
  rendererPrototype.renderLine = function render(line, x, y) {
    if (line.inlines.some(({ level = 0 }) => level > 0)) arrange(line);
    else line.inlines = joinWords(line.inlines);
    renderLine.call(this, line, x, y);
  };
  const { provideFont } = documentPrototype;
  documentPrototype.provideFont = function provide(family, bold, italics) {
    const known = this.fontCache[family]?.[this.getFontType(bold, italics)];
    if (known !== undefined) return known;
    const registry = this._fontFamilies;
    this._fontFamilies = {};
    const font = provideFont.call(this, family, bold, italics);
    this._fontFamilies = { ...registry, [`${family} ${bold} ${italics}`]: font };
    writeLigaturesAsDrawn(font);
    return font;
  };
}

/** The font may have been prepared before, because a registry returns the same font again. */
function writeLigaturesAsDrawn(font: PdfFont): void {
  if (Object.hasOwn(font, "encode")) return;
  const { encode } = font;
  font.encode = function encodeAsDrawn(text, features) {
    const known = this.unicode.length;
    const encoded = encode.call(this, text, features);
    for (const [at, codePoints] of this.unicode.slice(known).entries())
      if (hasRightToLeft(String.fromCodePoint(...codePoints))) this.unicode[known + at] = [...codePoints].reverse();
    return encoded;
  };
}

/** Properties that a document of this writer can have for some words of a line. */
const styleFields = ["font", "fontSize", "color", "background", "link", "decoration", "sup"] as const;

function joinWords(inlines: readonly PdfInline[]): PdfInline[] {
  const joined: PdfInline[] = [];
  for (const inline of inlines) {
    const last = joined.at(-1);
    if (last !== undefined && styleFields.every((field) => last[field] === inline[field]))
      joined[joined.length - 1] = { ...last, text: last.text + inline.text, width: last.width + inline.width };
    else joined.push(inline);
  }
  return joined;
}

function arrange(line: PdfLine): void {
  const visual = toVisualOrder(line.inlines);
  const [leftmost] = visual;
  let x = leftmost === line.inlines.at(-1) && isOdd(leftmost) ? -line.trailingCut : leftmost === line.inlines[0] ? -line.leadingCut : 0;
  for (const inline of visual) {
    inline.x = x;
    x += inline.width;
    if (isOdd(inline)) inline.text = toReversed(inline.text);
  }
}

/**
 * Brackets of right-to-left text open to the other side. The font engine turns runs with letters; a run of marks alone has
 * no script, so it is turned here.
 */
function toReversed(text: string): string {
  const mirrored = [...text].map((character) => bidi.getMirroredCharacter(character) ?? character);
  return (hasRightToLeft(text) ? mirrored : mirrored.reverse()).join("");
}

function isOdd(inline: PdfInline | undefined): boolean {
  return (inline?.level ?? 0) % 2 === 1;
}

/** From the highest level down to 1, each longest run of inlines of at least that level is turned around. */
export function toVisualOrder<Inline extends { readonly level?: number }>(inlines: readonly Inline[]): Inline[] {
  const order = [...inlines];
  const highest = Math.max(0, ...order.map(({ level = 0 }) => level));
  for (let level = highest; level > 0; level -= 1) {
    for (let start = 0; start < order.length; start += 1) {
      let end = start;
      while (end < order.length && (order[end]?.level ?? 0) >= level) end += 1;
      if (end > start) order.splice(start, end - start, ...order.slice(start, end).reverse());
      start = end;
    }
  }
  return order;
}
