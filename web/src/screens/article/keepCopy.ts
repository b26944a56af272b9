import { IndexeddbPersistence } from "y-indexeddb";
import type * as Y from "yjs";

export interface KeptCopy {
  /** Resolves when the document has the copy, or when the browser gives none. */
  readonly ready: Promise<void>;
  /** Deletes the copy. */
  clear(): Promise<void>;
  stop(): void;
}

/** A browser whose database does not answer for this long has no copy. The article must open without one. */
const patienceMs = 3000;

/**
 * Keeps a copy of the document in IndexedDB. `onLost` is called once when the browser takes no more changes, for example
 * because its data was deleted: y-indexeddb then throws inside of the document's event, and the listeners after it, the
 * one that sends the change among them, would not be called.
 */
export function keepCopy(name: string, doc: Y.Doc, onLost: () => void): KeptCopy {
  const kept = new IndexeddbPersistence(name, doc);
  const store = (update: Uint8Array, origin: unknown): void => {
    try {
      kept._storeUpdate(update, origin);
    } catch {
      stop();
      onLost();
    }
  };
  doc.off("update", kept._storeUpdate);
  doc.on("update", store);
  function stop(): void {
    doc.off("update", store);
    void kept.destroy().catch(() => undefined);
  }
  const failed = kept._db.then(
    () => new Promise<void>(() => {}),
    () => onLost(),
  );
  const late = new Promise<void>((resolve) => setTimeout(resolve, patienceMs));
  return {
    ready: Promise.race([kept.whenSynced.then(() => undefined), failed, late]),
    clear: () => kept.clearData(),
    stop,
  };
}
