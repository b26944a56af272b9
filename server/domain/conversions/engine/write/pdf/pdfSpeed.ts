/**
 * PdfStyles makes pdfmake read the style of a word faster. pdfmake asks for about twenty properties of each word, and copies and
 * searches its stack of styles for each of them. Documents of this writer have no named styles, so the stack holds nodes only.
 */
import { type PdfStyleStack, styleStackClass } from "./pdfmake.ts";

export function installPdfStyles(): void {
  styleStackClass.getStyleProperty = readStyleProperty;
}

/** The value of the item itself, of the innermost node around it that has one, or of the document. */
function readStyleProperty(
  item: Readonly<Record<string, unknown>>,
  stack: PdfStyleStack | null | undefined,
  property: string,
  defaultValue: unknown,
): unknown {
  const own = item[property];
  if (own !== undefined && own !== null) return own;
  if (stack === null || stack === undefined) return defaultValue;
  const { styleOverrides } = stack;
  for (let at = styleOverrides.length - 1; at >= 0; at -= 1) {
    const value = styleOverrides[at]?.[property];
    if (value !== undefined && value !== null) return value;
  }
  return stack.defaultStyle[property] ?? defaultValue;
}
