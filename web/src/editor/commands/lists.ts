/** Commands for list items: the keys Tab and Shift-Tab, which nest an item below the one before it or take it out again. */
import { syntaxTree } from "@codemirror/language";
import type { ChangeSpec, EditorState, StateCommand } from "@codemirror/state";
import { enclosing, type SyntaxNode } from "../core/language.ts";

function itemAt(state: EditorState): SyntaxNode | undefined {
  const { head } = state.selection.main;
  const line = state.doc.lineAt(head);
  const tree = syntaxTree(state);
  // The cursor may be in the indentation, which belongs to the outer item.
  const text = line.from + (/^[ \t]*/.exec(line.text)?.[0].length ?? 0);
  return enclosing(tree, Math.max(head, text), Math.max(head, text), "ListItem");
}

const columnOf = (state: EditorState, position: number) => position - state.doc.lineAt(position).from;

/** Returns the column in which the text of an item begins, which is where its inner items begin. */
function contentColumn(state: EditorState, item: SyntaxNode): number {
  const mark = item.getChild("ListMark");
  return mark === null ? 0 : columnOf(state, mark.to) + 1;
}

const numberOf = (state: EditorState, item: SyntaxNode) => Number.parseInt(state.sliceDoc(item.from, item.from + 10), 10);

/** Gives an ordered item its number at the new place. */
function renumber(item: SyntaxNode, number: number): ChangeSpec[] {
  const mark = item.getChild("ListMark");
  if (mark === null || item.parent?.name !== "OrderedList") return [];
  return [{ from: mark.from, to: mark.to - 1, insert: String(number) }];
}

/** Moves all lines of an item by a number of columns. */
function moveLines(state: EditorState, item: SyntaxNode, columns: number): ChangeSpec[] {
  const changes: ChangeSpec[] = [];
  const indentation = columnOf(state, item.from);
  for (let at = item.from; at <= item.to; ) {
    const line = state.doc.lineAt(at);
    // In a quote the marks of the quote stay in place.
    const outer = Math.min(/^(?:[ \t]*> ?)*/.exec(line.text)?.[0].length ?? 0, indentation);
    const spaces = /^ */.exec(line.text.slice(outer))?.[0].length ?? 0;
    if (columns > 0 && line.text.trim() !== "") changes.push({ from: line.from + outer, insert: " ".repeat(columns) });
    else if (columns < 0) changes.push({ from: line.from + outer, to: line.from + outer + Math.min(spaces, -columns) });
    at = line.to + 1;
  }
  return changes;
}

/** Nests the item of the cursor below the item before it. Outside of lists it returns false, so that Tab moves the focus. */
export const indentItem: StateCommand = ({ state, dispatch }) => {
  const item = itemAt(state);
  if (state.readOnly || item === undefined) return false;
  let before = item.prevSibling;
  // In a quote its mark is between the items.
  while (before !== null && before.name !== "ListItem") before = before.prevSibling;
  if (before !== null) {
    const columns = contentColumn(state, before) - columnOf(state, item.from);
    const inner = before.getChild("OrderedList") ?? undefined;
    const last = inner?.getChildren("ListItem").at(-1);
    const number = last === undefined ? 1 : numberOf(state, last) + 1;
    dispatch(state.update({ changes: [...moveLines(state, item, columns), ...renumber(item, number)], userEvent: "input.indent" }));
  }
  return true;
};

/** Takes the item of the cursor out of the item around it. */
export const outdentItem: StateCommand = ({ state, dispatch }) => {
  const item = itemAt(state);
  if (state.readOnly || item === undefined) return false;
  const outer = item.parent?.parent;
  if (outer?.name === "ListItem") {
    const columns = columnOf(state, outer.from) - columnOf(state, item.from);
    const number = outer.parent?.name === "OrderedList" ? numberOf(state, outer) + 1 : 1;
    dispatch(state.update({ changes: [...moveLines(state, item, columns), ...renumber(item, number)], userEvent: "delete.dedent" }));
  }
  return true;
};
