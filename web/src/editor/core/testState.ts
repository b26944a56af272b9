/** States of the editor for tests. `‹` and `›` enclose the selection; `‹›` is the cursor. */
import { ensureSyntaxTree } from "@codemirror/language";
import { EditorState, type Extension, type StateCommand, type Transaction } from "@codemirror/state";
import { markdownLanguage } from "./language.ts";

export function stateOf(marked: string, ...extensions: readonly Extension[]): EditorState {
  const anchor = marked.indexOf("‹");
  const head = marked.indexOf("›") - 1;
  const state = EditorState.create({
    doc: marked.replace(/[‹›]/g, ""),
    ...(anchor >= 0 && { selection: { anchor, head } }),
    extensions: [markdownLanguage.extension, EditorState.lineSeparator.of("\n"), ...extensions],
  });
  return complete(state);
}

/** A busy machine may not parse the whole text at once. In a page the editor goes on by itself. */
export function complete(state: EditorState): EditorState {
  ensureSyntaxTree(state, state.doc.length, 60_000);
  return state.update({}).state;
}

/** The text of a state with its selection. */
export function show({ doc, selection: { main } }: EditorState): string {
  const text = doc.toString();
  return `${text.slice(0, main.from)}‹${text.slice(main.from, main.to)}›${text.slice(main.to)}`;
}

/** Runs a command and shows the result, or returns undefined if the command does not apply. */
export function run(command: StateCommand, marked: string, ...extensions: readonly Extension[]): string | undefined {
  let result: Transaction | undefined;
  const applies = command({
    state: stateOf(marked, ...extensions),
    dispatch: (transaction) => {
      result = transaction;
    },
  });
  if (!applies) return undefined;
  return result === undefined ? marked : show(result.state);
}
