/** buildDocument builds the Y.Doc of an article from its stored state and the updates after it. */
import * as Y from "yjs";
import { articleFiles } from "../../api/schema/article.ts";

export function buildDocument(state: Uint8Array | undefined, updates: readonly Uint8Array[]): Y.Doc {
  const document = new Y.Doc({ gc: true });
  // The roots are defined as texts before any update is applied, so that no update can give them another type.
  for (const file of articleFiles) document.getText(file);
  document.transact(() => {
    if (state !== undefined) Y.applyUpdate(document, state);
    for (const update of updates) Y.applyUpdate(document, update);
  });
  return document;
}
