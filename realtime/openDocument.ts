/** Makes the Y.Doc of an article from its stored state and what came after it. */
import * as Y from "yjs";
import { articleFiles } from "../api/schema/article.ts";
import type { LoadedDocument } from "./ports.ts";

export function openDocument({ state, tail }: LoadedDocument): Y.Doc {
  const document = new Y.Doc({ gc: true });
  // Named as texts before anything is applied, so that nothing else can take the names.
  for (const file of articleFiles) document.getText(file);
  document.transact(() => {
    if (state !== undefined) Y.applyUpdate(document, state);
    for (const { updates } of tail) for (const { update } of updates) Y.applyUpdate(document, update);
  });
  return document;
}
