/** Reads the beginning of a line: marks of quotes, indentation, and the mark of a heading or a list item. */

/** Quotes and indentation; `#` of a heading, or the mark of an item and its task box. */
const shape = /^((?:[ \t]*>)*[ \t]*)(?:(#{1,6})(?:[ \t]+|$)|([-*+]|\d{1,9}[.)])(?:[ \t]+|$)(\[[ xX]\](?:[ \t]+|$))?)?/;

export interface LinePrefix {
  /** Quotes and indentation. */
  readonly outer: string;
  /** 1 to 6, or 0 outside of headings. */
  readonly level: number;
  readonly list: "bullet" | "ordered" | "task" | undefined;
  /** Length of the whole prefix. */
  readonly length: number;
}

export function readPrefix(text: string): LinePrefix {
  const [whole = "", outer = "", heading, mark, task] = shape.exec(text) ?? [];
  const list = mark === undefined ? undefined : task !== undefined ? "task" : /\d/.test(mark) ? "ordered" : "bullet";
  return { outer, level: heading?.length ?? 0, list, length: whole.length };
}

/** Returns the position of the text of a line. */
export function contentStart({ from, text }: { readonly from: number; readonly text: string }): number {
  return from + readPrefix(text).length;
}
