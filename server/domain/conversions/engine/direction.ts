/** Direction finds text that runs from right to left (Hebrew, Arabic, Syriac, Thaana, N'Ko). */

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const letter = /\p{L}/u;

export function hasRightToLeft(text: string): boolean {
  return rightToLeft.test(text);
}

/** The first letter decides, as in the Unicode Bidirectional Algorithm (rules P2 and P3). */
export function isRightToLeft(text: string): boolean {
  const first = letter.exec(text)?.[0];
  return first !== undefined && rightToLeft.test(first);
}
