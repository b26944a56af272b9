/** EscapeHtml makes any text safe as the content of an HTML or XML element, and as the value of a quoted attribute. */
const entities = [
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
] as const;

export function escapeHtml(text: string): string {
  return entities.reduce((escaped, [character, entity]) => escaped.replaceAll(character, entity), text);
}
