/**
 * Lets the arrow keys enter tables and pictures. CodeMirror moves over replaced blocks, so that their source could not be
 * reached with the keyboard alone.
 */
import { type Command, keymap } from "@codemirror/view";
import { blockField } from "./blocks.ts";

function enterBlock(isForward: boolean): Command {
  return (view) => {
    const { state } = view;
    const { main } = state.selection;
    if (!main.empty || state.readOnly) return false;
    const target = view.moveVertically(main, isForward).head;
    const [from, to] = isForward ? [main.head, target] : [target, main.head];
    const passed: number[] = [];
    state.field(blockField).decorations.between(from, to, (start, end) => {
      const isPassed = end > start && start >= from && end <= to;
      if (isPassed) passed.push(isForward ? start : state.doc.lineAt(end).from);
    });
    const anchor = isForward ? passed[0] : passed.at(-1);
    if (anchor === undefined) return false;
    view.dispatch({ selection: { anchor }, scrollIntoView: true, userEvent: "select" });
    return true;
  };
}

export const enterBlocks = keymap.of([
  { key: "ArrowDown", run: enterBlock(true) },
  { key: "ArrowUp", run: enterBlock(false) },
]);
