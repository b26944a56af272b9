/** Commands for headings, lists, quotes, code blocks, tables and rules. */
import { syntaxTree } from "@codemirror/language";
import type { ChangeSpec, EditorState, Line, StateCommand } from "@codemirror/state";
import { enclosing } from "../core/language.ts";
import { readPrefix } from "./linePrefix.ts";

/** Returns the lines of all selections. */
function selectedLines(state: EditorState): Line[] {
  const lines = new Map<number, Line>();
  for (const { from, to } of state.selection.ranges) {
    for (let at = from; at <= to; ) {
      const line = state.doc.lineAt(at);
      lines.set(line.from, line);
      at = line.to + 1;
    }
  }
  return [...lines.values()];
}

/** Without empty lines, unless there is only one line. */
function filledLines(state: EditorState): Line[] {
  const lines = selectedLines(state);
  return lines.length === 1 ? lines : lines.filter(({ text }) => text.trim() !== "");
}

function apply({ state, dispatch }: Parameters<StateCommand>[0], specs: readonly ChangeSpec[]): boolean {
  const changes = state.changes(specs);
  // A cursor at the start of a line moves behind the mark that is inserted there.
  const ranges = state.selection.ranges.map(({ anchor, head }) => ({ anchor: changes.mapPos(anchor, 1), head: changes.mapPos(head, 1) }));
  const [{ anchor, head } = { anchor: 0, head: 0 }] = ranges;
  dispatch(state.update({ changes, selection: { anchor, head }, scrollIntoView: true, userEvent: "input.format" }));
  return true;
}

/** Replaces the mark of a line by another one. Quotes and indentation stay. */
function replaceMark({ from, text }: Line, mark: string): ChangeSpec {
  const { outer, length } = readPrefix(text);
  return { from: from + outer.length, to: from + length, insert: mark };
}

export function toggleHeading(level: number): StateCommand {
  return (target) => {
    const { state } = target;
    if (state.readOnly) return false;
    const lines = filledLines(state);
    const isOn = lines.every(({ text }) => readPrefix(text).level === level);
    return apply(
      target,
      lines.map((line) => replaceMark(line, isOn ? "" : `${"#".repeat(level)} `)),
    );
  };
}

export function toggleList(kind: "bullet" | "ordered" | "task"): StateCommand {
  return (target) => {
    const { state } = target;
    if (state.readOnly) return false;
    const lines = filledLines(state);
    const isOn = lines.every(({ text }) => readPrefix(text).list === kind);
    // Items of one indentation are numbered together.
    const numbers = new Map<number, number>();
    const markOf = ({ text }: Line) => {
      if (isOn) return "";
      if (kind === "bullet") return "- ";
      if (kind === "task") return "- [ ] ";
      const depth = readPrefix(text).outer.length;
      const number = (numbers.get(depth) ?? 0) + 1;
      numbers.set(depth, number);
      return `${number}. `;
    };
    return apply(
      target,
      lines.map((line) => replaceMark(line, markOf(line))),
    );
  };
}

export const toggleQuote: StateCommand = (target) => {
  const { state } = target;
  if (state.readOnly) return false;
  const lines = selectedLines(state);
  const isOn = lines.every(({ text }) => text.startsWith(">"));
  return apply(
    target,
    lines.map(({ from, text }) => (isOn ? { from, to: from + (text.startsWith("> ") ? 2 : 1) } : { from, insert: "> " })),
  );
};

/** Changes `[ ]` to `[x]` and back in the lines of the selection. Returns false if there is no task. */
export const toggleTask: StateCommand = (target) => {
  const { state } = target;
  const tasks = selectedLines(state).filter(({ text }) => readPrefix(text).list === "task");
  if (state.readOnly || tasks.length === 0) return false;
  return apply(
    target,
    tasks.map(({ from, text }) => {
      const box = from + text.indexOf("[") + 1;
      return { from: box, to: box + 1, insert: text[box - from] === " " ? "x" : " " };
    }),
  );
};

/** Puts the lines of the selection into a code block, or removes the fences of the block around it. */
export const toggleCodeBlock: StateCommand = ({ state, dispatch }) => {
  if (state.readOnly) return false;
  const { from, to } = state.selection.main;
  const block = enclosing(syntaxTree(state), from, to, "FencedCode");
  if (block !== undefined) {
    const [first, last] = [state.doc.lineAt(block.from), state.doc.lineAt(block.to)];
    const hasEnd = block.getChildren("CodeMark").length > 1;
    const changes: ChangeSpec[] = [{ from: first.from, to: Math.min(first.to + 1, state.doc.length) }];
    if (hasEnd && last.from > first.from) changes.push({ from: Math.max(last.from - 1, first.to + 1), to: last.to });
    dispatch(state.update({ changes, userEvent: "delete.format" }));
    return true;
  }
  const [first, last] = [state.doc.lineAt(from), state.doc.lineAt(to)];
  const longest = Math.max(2, ...[...state.sliceDoc(first.from, last.to).matchAll(/^\s*(`{3,})/gm)].map(([, run = ""]) => run.length));
  const fence = "`".repeat(longest + 1);
  const changes = [
    { from: first.from, insert: `${fence}\n` },
    { from: last.to, insert: `\n${fence}` },
  ];
  const shift = fence.length + 1;
  dispatch(
    state.update({ changes, selection: { anchor: from + shift, head: to + shift }, scrollIntoView: true, userEvent: "input.format" }),
  );
  return true;
};

/** Inserts a block with empty lines around it, behind the line of the cursor, and selects a part of the block. */
function insertBlock({ state, dispatch }: Parameters<StateCommand>[0], block: string, selected: string): boolean {
  if (state.readOnly) return false;
  const line = state.doc.lineAt(state.selection.main.to);
  const isBlank = line.text.trim() === "";
  const lineBefore = line.number > 1 ? state.doc.line(line.number - 1).text.trim() : "";
  const lineAfter = line.number < state.doc.lines ? state.doc.line(line.number + 1).text.trim() : "";
  const before = isBlank ? (lineBefore === "" ? "" : "\n") : "\n\n";
  const after = lineAfter === "" ? (line.number < state.doc.lines ? "" : "\n") : "\n";
  const from = isBlank ? line.from : line.to;
  const start = from + before.length;
  const offset = selected === "" ? block.length + 1 : block.indexOf(selected);
  const text = before + block + after;
  const anchor = Math.min(start + offset, from + text.length + (state.doc.length - line.to));
  dispatch(
    state.update({
      changes: { from, to: line.to, insert: text },
      selection: { anchor, head: anchor + selected.length },
      scrollIntoView: true,
      userEvent: "input.format",
    }),
  );
  return true;
}

export const insertTable: StateCommand = (target) =>
  insertBlock(target, "| Column 1 | Column 2 |\n| --- | --- |\n|  |  |\n|  |  |", "Column 1");

export const insertRule: StateCommand = (target) => insertBlock(target, "---", "");
