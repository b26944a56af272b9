/** Commands for emphasis, inline code and links. Each one adds the Markdown to the selection, or removes it where it is already. */
import { syntaxTree } from "@codemirror/language";
import {
  type ChangeSpec,
  EditorSelection,
  type EditorState,
  type SelectionRange,
  type StateCommand,
  type TransactionSpec,
} from "@codemirror/state";
import { enclosing, type SyntaxNode } from "../core/language.ts";
import type { TextRange } from "../core/reveal.ts";
import { contentStart } from "./linePrefix.ts";

export const inlineStyles = {
  bold: { node: "StrongEmphasis", mark: "**" },
  italic: { node: "Emphasis", mark: "*" },
  strike: { node: "Strikethrough", mark: "~~" },
  code: { node: "InlineCode", mark: "`" },
} as const;

export type InlineStyle = keyof typeof inlineStyles;

interface Edit {
  readonly changes: ChangeSpec;
  readonly range: SelectionRange;
}

/** The marks of an element: its first and its last child. */
function marksOf(node: SyntaxNode): TextRange[] {
  const marks = [node.firstChild, node.lastChild].filter((child) => child?.name.endsWith("Mark") === true);
  return marks.flatMap((mark) => (mark === null ? [] : [{ from: mark.from, to: mark.to }]));
}

/** Divides a range into the texts of its lines, without list marks and outer spaces. */
function segments(state: EditorState, { from, to }: SelectionRange): TextRange[] {
  const found: TextRange[] = [];
  for (let at = from; at <= to; ) {
    const line = state.doc.lineAt(at);
    const start = Math.max(from, contentStart(line));
    const text = state.sliceDoc(start, Math.min(to, line.to));
    const trimmed = text.trim();
    const skipped = text.length - text.trimStart().length;
    if (start <= line.to && trimmed !== "") found.push({ from: start + skipped, to: start + skipped + trimmed.length });
    at = line.to + 1;
  }
  return found;
}

function nodesIn(state: EditorState, { from, to }: TextRange, name: string): SyntaxNode[] {
  const nodes: SyntaxNode[] = [];
  syntaxTree(state).iterate({
    from,
    to,
    enter: ({ node }) => {
      // A neighbour that only touches the range is another element.
      if (node.name === name && node.from < to && node.to > from) nodes.push(node);
    },
  });
  return nodes;
}

/** Inline code with backticks inside needs more of them outside. */
function codeMarks(text: string): { readonly before: string; readonly after: string } {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  if (longest === 0) return { before: "`", after: "`" };
  const run = "`".repeat(longest + 1);
  return { before: `${run} `, after: ` ${run}` };
}

function toggleAtCursor(state: EditorState, range: SelectionRange, style: InlineStyle): Edit {
  const { node: name, mark } = inlineStyles[style];
  const { head } = range;
  const node = enclosing(syntaxTree(state), head, head, name);
  if (node !== undefined) {
    const marks = marksOf(node);
    // At the end of the element the command ends it, so that people can go on in plain text.
    if (head === marks[1]?.from) return { changes: [], range: EditorSelection.cursor(node.to) };
    const changes = state.changes(marks);
    return { changes, range: EditorSelection.cursor(changes.mapPos(head)) };
  }
  const { length } = mark;
  if (state.sliceDoc(head - length, head) === mark && state.sliceDoc(head, head + length) === mark) {
    return { changes: { from: head - length, to: head + length }, range: EditorSelection.cursor(head - length) };
  }
  const word = state.wordAt(head);
  if (word !== null && word.from < head && head < word.to) {
    const changes = state.changes([
      { from: word.from, insert: mark },
      { from: word.to, insert: mark },
    ]);
    return { changes, range: EditorSelection.cursor(head + length) };
  }
  return { changes: { from: head, insert: mark + mark }, range: EditorSelection.cursor(head + length) };
}

function toggleInRange(state: EditorState, range: SelectionRange, style: InlineStyle): Edit {
  const { node: name, mark } = inlineStyles[style];
  const parts = segments(state, range).map((segment) => ({ segment, nodes: nodesIn(state, segment, name) }));
  const isOn =
    parts.length > 0 && parts.every(({ segment, nodes }) => nodes.some(({ from, to }) => from <= segment.from && to >= segment.to));
  const changes = state.changes(
    parts.flatMap(({ segment, nodes }): ChangeSpec[] => {
      const removed = nodes.flatMap(marksOf);
      if (isOn) return removed;
      const from = Math.min(segment.from, ...nodes.map((node) => node.from));
      const to = Math.max(segment.to, ...nodes.map((node) => node.to));
      const { before, after } = style === "code" ? codeMarks(state.sliceDoc(from, to)) : { before: mark, after: mark };
      return [{ from, insert: before }, ...removed, { from: to, insert: after }];
    }),
  );
  const [anchor, head] = [changes.mapPos(range.from, 1), Math.max(changes.mapPos(range.from, 1), changes.mapPos(range.to, -1))];
  return { changes, range: EditorSelection.range(anchor, head) };
}

export function toggleInline(style: InlineStyle): StateCommand {
  return ({ state, dispatch }) => {
    if (state.readOnly) return false;
    const spec = state.changeByRange((range) => (range.empty ? toggleAtCursor : toggleInRange)(state, range, style));
    dispatch(state.update(spec, { scrollIntoView: true, userEvent: "input.format" }));
    return true;
  };
}

/** A selected address becomes the target, other text the text. The part that is missing is selected, or has the cursor. */
function insertLink(state: EditorState, prefix: "" | "!"): TransactionSpec {
  const { from, to } = state.selection.main;
  const selected = state.sliceDoc(from, to);
  const isAddress = /^https?:\/\/\S+$/.test(selected);
  const [text, target] = isAddress ? ["", selected] : [selected, "https://"];
  const textFrom = from + prefix.length + 1;
  const targetFrom = textFrom + text.length + 2;
  const selection = text === "" ? { anchor: textFrom } : { anchor: targetFrom, head: targetFrom + target.length };
  return {
    changes: { from, to, insert: `${prefix}[${text}](${target})` },
    selection,
    scrollIntoView: true,
    userEvent: "input.format",
  };
}

/** Makes the selection a link, or removes the link at the selection and keeps its text. */
export const toggleLink: StateCommand = ({ state, dispatch }) => {
  if (state.readOnly) return false;
  const { from, to } = state.selection.main;
  const link = enclosing(syntaxTree(state), from, to, "Link");
  const [open, close] = link?.getChildren("LinkMark") ?? [];
  if (link !== undefined && open !== undefined && close !== undefined && close.to < link.to) {
    const changes = [
      { from: open.from, to: open.to },
      { from: close.from, to: link.to },
    ];
    dispatch(state.update({ changes, userEvent: "delete.format" }));
  } else dispatch(state.update(insertLink(state, "")));
  return true;
};

export const insertImage: StateCommand = ({ state, dispatch }) => {
  if (state.readOnly) return false;
  dispatch(state.update(insertLink(state, "!")));
  return true;
};
