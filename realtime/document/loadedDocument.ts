/** loadedDocument answers questions about a document as it was loaded: its stored state, and the batches logged after it. */
import type { LoadedDocument } from "../ports.ts";

/** Returns the document at `revision`. Undefined when the snapshot is newer, or when the log does not reach `revision`. */
export function upTo(loaded: LoadedDocument, revision: number): LoadedDocument | undefined {
  const { tail } = loaded;
  const stateRevision = (tail[0]?.revision ?? loaded.revision + 1) - 1;
  if (stateRevision > revision || loaded.revision < revision) return undefined;
  return { ...loaded, revision, tail: tail.filter((batch) => batch.revision <= revision) };
}

/** Number and size, in bytes, of the updates after the stored state. */
export function unsavedOf(loaded: LoadedDocument): { readonly updates: number; readonly bytes: number } {
  const updates = updatesOf(loaded);
  return { updates: updates.length, bytes: updates.reduce((sum, { length }) => sum + length, 0) };
}

/** Upper bound of the size, in bytes, of the loaded document when it is encoded. */
export function encodedBytes(loaded: LoadedDocument): number {
  return (loaded.state?.length ?? 0) + unsavedOf(loaded).bytes;
}

/** The updates after the stored state, oldest first. */
export function updatesOf({ tail }: Pick<LoadedDocument, "tail">): readonly Uint8Array[] {
  return tail.flatMap(({ updates }) => updates.map(({ update }) => update));
}
