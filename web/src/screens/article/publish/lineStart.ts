/** Offset of the first character of a line, which counts from 1; the end of the text if it has fewer lines. */
export function toLineStart(text: string, line: number): number {
  let start = 0;
  for (let number = 1; number < line; number += 1) {
    const end = text.indexOf("\n", start);
    if (end < 0) return text.length;
    start = end + 1;
  }
  return start;
}
