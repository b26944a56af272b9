/**
 * The Markdown of the editor: CommonMark with GitHub's tables, task lists, strikethrough and bare links, as the server renders it.
 *
 * The language is composed from the parser, because `markdown()` of @codemirror/lang-markdown also loads parsers of HTML, CSS
 * and JavaScript. It shares the data of that package's language, so the package's commands for Enter and Backspace apply.
 */
import { commonmarkLanguage } from "@codemirror/lang-markdown";
import { indentNodeProp, Language, languageDataProp, type syntaxTree } from "@codemirror/language";
import type { Text } from "@codemirror/state";
import { GFM, parser } from "@lezer/markdown";

export type Tree = ReturnType<typeof syntaxTree>;
export type SyntaxNode = Tree["topNode"];

export const markdownParser = parser.configure([
  GFM,
  {
    props: [
      // Without a rule for the document, Enter would remove the indentation in code blocks.
      indentNodeProp.add({ Document: () => null }),
      languageDataProp.add({ Document: commonmarkLanguage.data }),
    ],
  },
]);

export const markdownLanguage = new Language(commonmarkLanguage.data, markdownParser, [], "markdown");

/** A longer block at the start of a text is not taken for front matter. */
const maxFrontMatterLines = 200;

/**
 * Returns the end of the front matter, which is YAML between two lines `---` at the very start, or 0 if there is none. The
 * syntax tree has no front matter: it sees rules and headings there, which its readers skip.
 */
export function frontMatterEnd(doc: Text): number {
  if (doc.line(1).text.trimEnd() !== "---") return 0;
  const last = Math.min(doc.lines, maxFrontMatterLines);
  for (let number = 2; number <= last; number++) {
    const line = doc.line(number);
    const text = line.text.trimEnd();
    if (text === "---" || text === "...") return line.to;
  }
  return 0;
}

/** Returns 1 to 6 for the name of a heading's node, otherwise undefined. */
export function headingLevel(name: string): number | undefined {
  const digit = /^(?:ATX|Setext)Heading(\d)$/.exec(name)?.[1];
  return digit === undefined ? undefined : Number(digit);
}

/** Returns the innermost node with one of the names that contains the range, or whose edge the range touches. */
export function enclosing(tree: Tree, from: number, to: number, ...names: readonly string[]): SyntaxNode | undefined {
  for (const side of [1, -1] as const) {
    for (let node: SyntaxNode | null = tree.resolveInner(from, side); node !== null; node = node.parent) {
      if (names.includes(node.name) && node.from <= from && node.to >= to) return node;
    }
  }
  return undefined;
}

/** The marks of inline elements: everything in them that is not part of the shown text. */
export const syntaxMarks: ReadonlySet<string> = new Set([
  "HeaderMark",
  "QuoteMark",
  "EmphasisMark",
  "StrikethroughMark",
  "CodeMark",
  "LinkMark",
  "LinkTitle",
  "LinkLabel",
]);

/** Returns the text of an element as readers see it, without marks and link targets. */
export function shownText(node: SyntaxNode, read: (from: number, to: number) => string): string {
  let text = "";
  let end = node.from;
  const cursor = node.cursor();
  // The cursor leaves the node after its last descendant.
  while (cursor.next(true) && cursor.from < node.to) {
    const isHidden = syntaxMarks.has(cursor.name) || (cursor.name === "URL" && ["Link", "Image"].includes(cursor.node.parent?.name ?? ""));
    if (cursor.name === "Escape") {
      text += read(end, cursor.from);
      end = cursor.from + 1;
    } else if (isHidden && cursor.from >= end) {
      text += read(end, cursor.from);
      end = cursor.to;
    }
  }
  return (text + read(end, node.to)).trim();
}
