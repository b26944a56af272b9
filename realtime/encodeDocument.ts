/**
 * A document as bytes: for a reader, and for keeping. They differ in what waits for something that is not there yet,
 * which Yjs puts into both.
 */
import * as Y from "yjs";

/** What a reader with this state vector lacks of the document (absent: all), without what waits in it. */
export function encodeIntegrated(document: Y.Doc, stateVector?: Uint8Array): Uint8Array {
  const { store } = document;
  const { pendingStructs, pendingDs } = store;
  store.pendingStructs = null;
  store.pendingDs = null;
  try {
    return Y.encodeStateAsUpdate(document, stateVector);
  } finally {
    store.pendingStructs = pendingStructs;
    store.pendingDs = pendingDs;
  }
}

/**
 * All of it, with what waits. Undefined while something that waits says again, and beyond, what its client said before:
 * cut to fit it would be taken for another text.
 */
export function encodeWhole(document: Y.Doc): Uint8Array | undefined {
  const { pendingStructs, pendingDs } = document.store;
  const parts = [encodeIntegrated(document)];
  if (pendingStructs !== null) {
    const { from, to } = Y.parseUpdateMetaV2(pendingStructs.update);
    for (const [clientId, end] of to) {
      const known = Y.getState(document.store, clientId);
      if ((from.get(clientId) ?? 0) < known && known < end) return undefined;
    }
    // Without what has come meanwhile: of two versions of a clock a merge may take the one that waits, and with it
    // everything that builds on it would wait.
    parts.push(Y.convertUpdateFormatV2ToV1(Y.diffUpdateV2(pendingStructs.update, Y.encodeStateVector(document))));
  }
  if (pendingDs !== null) parts.push(Y.convertUpdateFormatV2ToV1(pendingDs));
  return parts.length === 1 ? parts[0] : Y.mergeUpdates(parts);
}
