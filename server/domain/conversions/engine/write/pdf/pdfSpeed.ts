/**
 * PdfSpeed replaces two functions of pdfmake whose time grows too fast with the length of a document.
 *
 * - pdfmake asks for about twenty properties of the style of each word, and changes and searches its stack of styles for each of
 *   them. Documents of this writer have no named styles, so the stack holds nodes only and need not change.
 * - pdfmake copies the remaining words of a paragraph for each word that it puts into a line. It now sees only the next words.
 */
import { layoutPrototype, type PdfInline, type PdfLeaf, type PdfStyleStack, styleStackClass } from "./pdfmake.ts";

/** Words of a paragraph that the layout sees at once. No line of a page is as long as half of them. */
const windowWords = 1000;

let isInstalled = false;

export function installPdfSpeed(): void {
  if (isInstalled) return;
  isInstalled = true;
  styleStackClass.getStyleProperty = readStyleProperty;
  const { buildNextLine } = layoutPrototype;
  /** Words that the layout has not seen yet, in reverse order. */
  const unseen = new WeakMap<PdfLeaf, PdfInline[]>();
  layoutPrototype.buildNextLine = function build(leaf) {
    const { _inlines: words } = leaf;
    if (words !== undefined && words.length > windowWords) unseen.set(leaf, words.splice(windowWords).reverse());
    const rest = unseen.get(leaf);
    if (words !== undefined && rest !== undefined && words.length < windowWords / 2)
      words.push(...rest.splice(Math.max(0, rest.length - windowWords / 2)).reverse());
    return buildNextLine.call(this, leaf);
  };
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
