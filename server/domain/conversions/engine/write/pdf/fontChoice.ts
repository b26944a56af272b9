/**
 * FontChoice chooses a font for each character of a document.
 *
 * DejaVu has Latin, Greek, Cyrillic, Hebrew, Arabic and most symbols; Noto Emoji has emoji in one colour; Noto Sans has
 * Chinese, Japanese and Korean. A Chinese character looks different in the three languages, so kana or Hangul in a document decide.
 */
import { type CjkScript, type FontFamily, type LazyFamily, listSlices, loadEmoji, loadMono, loadSans } from "./fontFiles.ts";

export interface FontChoice {
  /** Undefined: no font has the character. */
  choose(cluster: string, isMonospaced: boolean): FontFamily | undefined;
}

const emoji = /\p{Emoji_Presentation}|\ufe0f/u;
const ignorable = /^(?:\p{Cf}|\p{Variation_Selector})$/u;

let basic: { readonly sans: FontFamily; readonly mono: FontFamily; readonly emoji: FontFamily } | undefined;
const slices = new Map<CjkScript, readonly LazyFamily[]>();

function slicesOf(script: CjkScript): readonly LazyFamily[] {
  const known = slices.get(script) ?? listSlices(script);
  slices.set(script, known);
  return known;
}

/** Loads what the text needs. Fonts stay loaded for the next document of this process. */
export async function loadFonts(text: string): Promise<FontChoice> {
  basic ??= { sans: loadSans(), mono: loadMono(), emoji: loadEmoji() };
  const { sans, mono, emoji: emojiFamily } = basic;
  const scripts = orderScripts(text);
  const fallback = new Map<number, FontFamily>();
  for (const character of new Set(text)) {
    const codePoint = character.codePointAt(0) ?? 0;
    if (sans.has(codePoint) && !isIdeographic(character)) continue;
    for (const script of scripts) {
      const family = await slicesOf(script)
        .find((slice) => slice.covers(codePoint))
        ?.load();
      if (family?.has(codePoint) !== true) continue;
      fallback.set(codePoint, family);
      break;
    }
  }
  const chooseCharacter = (character: string, isMonospaced: boolean): FontFamily | undefined => {
    const codePoint = character.codePointAt(0) ?? 0;
    const cjk = fallback.get(codePoint);
    if (cjk !== undefined && isIdeographic(character)) return cjk;
    if (isMonospaced && mono.has(codePoint)) return mono;
    if (sans.has(codePoint)) return sans;
    return cjk ?? (emojiFamily.has(codePoint) ? emojiFamily : undefined);
  };
  return {
    choose(cluster, isMonospaced) {
      const characters = [...cluster].filter((character) => !ignorable.test(character));
      const first = characters[0];
      if (first === undefined) return isMonospaced ? mono : sans;
      if (emoji.test(cluster) && emojiFamily.has(first.codePointAt(0) ?? 0)) return emojiFamily;
      const family = chooseCharacter(first, isMonospaced);
      // A letter and its combining marks must come from one font.
      const hasAll = family !== undefined && characters.every((character) => family.has(character.codePointAt(0) ?? 0));
      if (hasAll) return family;
      return [sans, mono, emojiFamily].find((other) => characters.every((character) => other.has(character.codePointAt(0) ?? 0)));
    },
  };
}

/** Characters of Chinese, Japanese and Korean text, including its punctuation. */
function isIdeographic(character: string): boolean {
  return /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Bopomofo}\u3000-\u303f\uff00-\uffef]/u.test(character);
}

function orderScripts(text: string): readonly CjkScript[] {
  if (/[\p{sc=Hiragana}\p{sc=Katakana}]/u.test(text)) return ["jp", "sc", "kr"];
  return /\p{sc=Hangul}/u.test(text) ? ["kr", "sc", "jp"] : ["sc", "jp", "kr"];
}
