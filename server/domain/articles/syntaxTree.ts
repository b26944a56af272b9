/** Returns the syntax tree (mdast) of Markdown as JSON text without positions. */
import { parseMarkdown } from "../call/parseMarkdown.ts";

export async function toSyntaxTree(markdown: string): Promise<string> {
  return JSON.stringify(await parseMarkdown(markdown), (name, value) => (name === "position" ? undefined : value));
}
