/**
 * Connects the editor with a Y.Text: changes go both ways, and undo reverts only changes made in this editor.
 *
 * The bindings are those of y-codemirror.next. Its remote cursors are not used; `peers.ts` draws them.
 */
import { EditorState, type Extension } from "@codemirror/state";
import { yCollab, ySyncAnnotation } from "y-codemirror.next";
import * as Y from "yjs";

/** Changes within this time, in milliseconds, are undone together. */
const undoGroupMs = 500;

export interface Sync {
  readonly extension: Extension;
  destroy(): void;
}

export function createSync(text: Y.Text): Sync {
  // Without an empty set, changes that other parts of the page make without an origin would be tracked too.
  const undoManager = new Y.UndoManager(text, { trackedOrigins: new Set(), captureTimeout: undoGroupMs });
  return {
    extension: [
      // Positions in the Y.Text count every character. The default separator would read "\r\n" as one line break.
      EditorState.lineSeparator.of("\n"),
      // Commands of the editor's packages do not all ask whether the text may be changed.
      EditorState.transactionFilter.of((transaction) => {
        const isRefused =
          transaction.docChanged && transaction.startState.readOnly && transaction.annotation(ySyncAnnotation) === undefined;
        return isRefused ? [] : transaction;
      }),
      yCollab(text, null, { undoManager }),
    ],
    destroy: () => undoManager.destroy(),
  };
}
