/** openDocument builds the Y.Doc of an article from its snapshot and the batches logged after the snapshot. */
import * as Y from "yjs";
import { articleFiles } from "../../api/schema/article.ts";
import type { LoadedDocument } from "../ports.ts";

export function openDocument({ state, tail }: LoadedDocument): Y.Doc {
  const document = new Y.Doc({ gc: true });
  // The roots are defined as texts before any update is applied, so that no update can give them another type.
  for (const file of articleFiles) document.getText(file);
  document.transact(() => {
    if (state !== undefined) Y.applyUpdate(document, state);
    for (const { updates } of tail) for (const { update } of updates) Y.applyUpdate(document, update);
  });
  return document;
}

/** Returns the document at `revision`. Undefined when the snapshot is newer, or when the log does not reach `revision`. */
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

/** Upper bound of the size, in bytes, of the loaded document when it is encoded. */
export function encodedBytes(loaded: LoadedDocument): number {
  return (loaded.state?.length ?? 0) + tailBytes(loaded);
}
