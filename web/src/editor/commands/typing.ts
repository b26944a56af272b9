/** What keys do in the text: shortcuts, Enter in lists, and marks that are typed over a selection. */
import { copyLineDown, copyLineUp, deleteLine, moveLineDown, moveLineUp, standardKeymap, toggleTabFocusMode } from "@codemirror/commands";
import { deleteMarkupBackward, insertNewlineContinueMarkupCommand } from "@codemirror/lang-markdown";
import { searchKeymap } from "@codemirror/search";
import { EditorSelection, type Extension, type StateCommand } from "@codemirror/state";
import { EditorView, type KeyBinding, keymap } from "@codemirror/view";
import { toggleTask } from "./blocks.ts";
import { commands } from "./commands.ts";
import { indentItem, outdentItem } from "./lists.ts";

/** An empty item ends its list, also the second one. */
export const continueMarkup = insertNewlineContinueMarkupCommand({ nonTightLists: false });

const keys: readonly KeyBinding[] = [
  { key: "Enter", run: continueMarkup },
  { key: "Backspace", run: deleteMarkupBackward },
  { key: "Tab", run: indentItem, shift: outdentItem },
  { key: "Mod-Enter", run: toggleTask },
  { key: "Mod-b", run: commands.bold, preventDefault: true },
  { key: "Mod-i", run: commands.italic, preventDefault: true },
  { key: "Mod-Shift-x", run: commands.strike, preventDefault: true },
  { key: "Mod-e", run: commands.code, preventDefault: true },
  { key: "Mod-k", run: commands.link, preventDefault: true, stopPropagation: true },
  { key: "Mod-Shift-7", run: commands.orderedList, preventDefault: true },
  { key: "Mod-Shift-8", run: commands.bulletList, preventDefault: true },
  { key: "Mod-Shift-9", run: commands.taskList, preventDefault: true },
  { key: "Alt-1", run: commands.heading1, preventDefault: true },
  { key: "Alt-2", run: commands.heading2, preventDefault: true },
  { key: "Alt-3", run: commands.heading3, preventDefault: true },
  { key: "Mod-z", run: commands.undo, preventDefault: true },
  { key: "Mod-y", mac: "Mod-Shift-z", run: commands.redo, preventDefault: true },
  { key: "Mod-Shift-z", run: commands.redo, preventDefault: true },
  { key: "Alt-ArrowUp", run: moveLineUp, shift: copyLineUp },
  { key: "Alt-ArrowDown", run: moveLineDown, shift: copyLineDown },
  { key: "Mod-Shift-k", run: deleteLine },
  { key: "Ctrl-m", mac: "Shift-Alt-m", run: toggleTabFocusMode },
  // The others need several selections, which the editor does not have.
  ...searchKeymap.filter(({ scope }) => scope !== undefined),
  ...standardKeymap,
];

/** Marks that enclose a selection when they are typed over it. */
const pairs: Readonly<Record<string, string>> = { "*": "*", _: "_", "`": "`", "~": "~", "(": ")", "[": "]", "{": "}", '"': '"' };

/** Puts the typed mark around each selection. Returns false if nothing is selected. */
export function enclose(mark: string): StateCommand {
  return ({ state, dispatch }) => {
    const closing = pairs[mark];
    if (closing === undefined || state.readOnly || state.selection.ranges.some(({ empty }) => empty)) return false;
    const spec = state.changeByRange(({ anchor, head, from, to }) => ({
      changes: [
        { from, insert: mark },
        { from: to, insert: closing },
      ],
      range: EditorSelection.range(anchor + 1, head + 1),
    }));
    dispatch(state.update(spec, { scrollIntoView: true, userEvent: "input.type" }));
    return true;
  };
}

export const typing: Extension = [
  keymap.of(keys),
  EditorView.inputHandler.of((view, from, to, text) => {
    const { main } = view.state.selection;
    return from === main.from && to === main.to && enclose(text)(view);
  }),
];
