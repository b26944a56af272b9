/**
 * FoldText maps text to the form in which searches compare words: without case, accents and ligatures.
 *
 * "Café", "CAFE" and "cafe" have one form, and so have "Straße" and "strasse". Only accents of the Latin, Greek, Cyrillic,
 * Hebrew and Arabic scripts are removed. The signs of other scripts distinguish words, such as か and が.
 */

const isPlain = /^[a-z0-9]*$/;
/** Combining accents, Hebrew points, and Arabic vowel signs. */
const accents = /[\u0300-\u036f]|[\u0591-\u05c7]|[\u0610-\u061a]|[\u064b-\u065f]|\u0670/g;
/** Letters that have no decomposition in Unicode but are commonly written with other letters. */
const plainForms: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  ł: "l",
  ı: "i",
  þ: "th",
  ς: "σ",
};
const letters = new RegExp(`[${Object.keys(plainForms).join("")}]`, "g");

export function foldText(text: string): string {
  if (isPlain.test(text)) return text;
  return text
    .normalize("NFKD")
    .toLowerCase()
    .replace(accents, "")
    .replace(letters, (letter) => plainForms[letter] ?? letter)
    .normalize("NFC");
}
