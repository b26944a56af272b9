/**
 * PageCardLayout lays out the picture that chat programs and social networks show beside a link to a public page: the
 * title in a few lines, and the address of the server below. The result is SVG; card.worker.ts turns it into pixels.
 */
import { escapeHtml } from "./escapeHtml.ts";

export const cardWidth = 1200;
export const cardHeight = 630;
/** Path of the picture below the base URL. */
export const cardPath = (slug: string) => `/p/${slug}/card.png` as const;
export const cardFont = "Source Serif 4";

export interface CardText {
  readonly title: string;
  /** Host and path prefix of the server. */
  readonly site: string;
}

const margin = 88;
const widest = cardWidth - 2 * margin;
/** Sizes in pixels, with the number of lines that fit above the address. */
const sizes = [
  { size: 84, maxLines: 3 },
  { size: 68, maxLines: 4 },
  { size: 56, maxLines: 5 },
] as const;
const lineHeight = 1.18;
const paper = "#fdfdfb";
const ink = "#1c1e21";
const quiet = "#5d6470";
const accent = "#1f55b5";

/** Approximate widths in ems of the characters of a serif font. Each is a little too large, so that lines do not overflow. */
function widthOf(text: string): number {
  let width = 0;
  for (const character of text) {
    if (/[\s.,:;!'’|ijltfrI()[\]-]/.test(character)) width += 0.34;
    else if (/[mwMW@%—…]/.test(character)) width += 0.92;
    else if (/\p{Lu}/u.test(character)) width += 0.7;
    else if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]|[\u3000-\u303f\uff00-\uff60]/u.test(character))
      width += 1;
    else if (!/\p{M}/u.test(character)) width += 0.56;
  }
  return width;
}

const words = new Intl.Segmenter("en", { granularity: "word" });
const characters = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Removes what XML forbids, and emoji, which need fonts with colours. */
function toCardText(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cs}\p{Cn}]/gu, " ")
    .replaceAll(/\p{Emoji_Presentation}|\ufe0f/gu, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** Breaks the text into lines of at most `ems`. A word that is longer than a line is broken at a character. */
function toLines(text: string, ems: number): string[] {
  const lines: string[] = [];
  let line = "";
  const add = (part: string) => {
    if (line !== "" && widthOf(line + part.trimEnd()) > ems) {
      lines.push(line.trimEnd());
      line = "";
    }
    line += line === "" ? part.trimStart() : part;
  };
  for (const { segment } of words.segment(text)) {
    if (widthOf(segment) <= ems) add(segment);
    else for (const { segment: character } of characters.segment(segment)) add(character);
  }
  return [...lines, line.trimEnd()].filter((each) => each !== "");
}

function layOutTitle(title: string): { readonly size: number; readonly lines: readonly string[] } {
  for (const { size, maxLines } of sizes) {
    const lines = toLines(title, widest / size);
    if (lines.length <= maxLines) return { size, lines };
  }
  const { size, maxLines } = sizes[2];
  const lines = toLines(title, widest / size - 1).slice(0, maxLines);
  return { size, lines: lines.map((line, at) => (at === maxLines - 1 ? `${line}…` : line)) };
}

export function toCardSvg(text: CardText): string {
  const title = toCardText(text.title).slice(0, 400);
  const { size, lines } = layOutTitle(title);
  const isRightToLeft = /^[^\p{L}]*[\p{Script=Arabic}\p{Script=Hebrew}]/u.test(title);
  const side = isRightToLeft ? `x="${cardWidth - margin}" text-anchor="end"` : `x="${margin}"`;
  const rows = lines.map((line, at) => {
    const y = Math.round(margin + 92 + size * (0.6 + at * lineHeight));
    return `<text ${side} y="${y}" font-size="${size}" font-weight="600" fill="${ink}">${escapeHtml(line)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${cardWidth}" height="${cardHeight}" font-family="${cardFont}">
<rect width="${cardWidth}" height="${cardHeight}" fill="${paper}"/>
<rect width="${cardWidth}" height="14" fill="${accent}"/>
${rows.join("\n")}
<text ${side} y="${cardHeight - margin + 14}" font-size="30" font-weight="400" fill="${quiet}">${escapeHtml(toCardText(text.site).slice(0, 60))}</text>
</svg>`;
}
