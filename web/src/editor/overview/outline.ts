/** Lists the headings of a text. */
import { syntaxTree } from "@codemirror/language";
import type { EditorState } from "@codemirror/state";
import { frontMatterEnd, headingLevel, shownText } from "../core/language.ts";

export interface Heading {
  /** From 1 to 6. */
  readonly level: number;
  /** Without Markdown. May be empty. */
  readonly text: string;
  readonly position: number;
}

/** Reads the headings that are blocks of their own. Those in quotes and lists do not divide the text. */
export function readOutline(state: EditorState): Heading[] {
  const headings: Heading[] = [];
  const skipTo = frontMatterEnd(state.doc);
  for (let node = syntaxTree(state).topNode.firstChild; node !== null; node = node.nextSibling) {
    const level = headingLevel(node.name);
    if (level === undefined || node.from < skipTo) continue;
    headings.push({ level, text: shownText(node, (from, to) => state.sliceDoc(from, to)), position: node.from });
  }
  return headings;
}
