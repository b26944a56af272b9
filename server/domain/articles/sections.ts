/**
 * Finds the sections of a Markdown text by their heading. A section begins with its heading and reaches to the next heading of
 * the same or a higher level. Headings inside quotes and lists neither begin nor end one.
 */
import type { Heading, Nodes } from "mdast";
import { parseMarkdown } from "../call/parseMarkdown.ts";

/** Offsets in UTF-16 code units of whole lines; `end` is exclusive. */
export interface Section {
  readonly start: number;
  readonly end: number;
}

export interface SectionTask {
  readonly markdown: string;
  /** Text of the heading without its markup. White space counts as one space. */
  readonly heading: string;
}

export async function findSections({ markdown, heading }: SectionTask): Promise<readonly Section[]> {
  const headings = (await parseMarkdown(markdown)).children.filter((node): node is Heading => node.type === "heading");
  const wanted = toPlain(heading);
  const found: Section[] = [];
  for (const [at, node] of headings.entries()) {
    if (toPlain(toText(node)) !== wanted) continue;
    const next = headings.slice(at + 1).find(({ depth }) => depth <= node.depth);
    found.push({ start: toLineStart(markdown, node), end: next === undefined ? markdown.length : toLineStart(markdown, next) });
  }
  return found;
}

function toText(node: Nodes): string {
  if ("value" in node) return node.value;
  if ("alt" in node) return node.alt ?? "";
  return "children" in node ? node.children.map(toText).join("") : "";
}

function toPlain(text: string): string {
  return text.replace(/\s+/gu, " ").trim();
}

/** Offset of the line on which the node begins. The parser does not count a byte order mark at the start of the text. */
function toLineStart(markdown: string, { position }: Nodes): number {
  const mark = markdown.startsWith("\ufeff") ? 1 : 0;
  const offset = (position?.start.offset ?? 0) + mark;
  for (let at = offset; at > mark; at -= 1) if (markdown[at - 1] === "\n" || markdown[at - 1] === "\r") return at;
  return mark;
}

/**
 * Replaces a section of `live` by `earlier`. The line ends after the section stay as they are, but at least one empty line
 * separates the new text from the text after it. Otherwise its last line could become part of the next heading.
 */
export function replaceSection(live: string, { start, end }: Section, earlier: string): string {
  const lineEnds = /[\r\n]*$/;
  const body = earlier.replace(lineEnds, "");
  const now = live.slice(start, end);
  const kept = lineEnds.exec(now)?.[0] ?? "";
  if (now.replace(lineEnds, "") === body) return live;
  const isLast = end === live.length;
  const hasEmptyLine = kept.split(/\r\n|\r|\n/).length > 2;
  const lineEnd = kept.includes("\r\n") ? "\r\n" : "\n";
  return live.slice(0, start) + body + kept + (isLast || hasEmptyLine ? "" : lineEnd) + live.slice(end);
}
