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

/** The document as it was at a revision; undefined where only a later state is kept. */
export function upTo(loaded: LoadedDocument, revision: number): LoadedDocument | undefined {
  const { tail } = loaded;
  const stateRevision = (tail[0]?.revision ?? loaded.revision + 1) - 1;
  if (stateRevision > revision || loaded.revision < revision) return undefined;
  return { ...loaded, revision, tail: tail.filter((batch) => batch.revision <= revision) };
}

export function tailBytes({ tail }: LoadedDocument): number {
  let bytes = 0;
  for (const { updates } of tail) for (const { update } of updates) bytes += update.length;
  return bytes;
}

/** At least as many bytes as the loaded document encodes to. */
export function encodedBytes(loaded: LoadedDocument): number {
  return (loaded.state?.length ?? 0) + tailBytes(loaded);
}
