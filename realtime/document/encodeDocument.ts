/**
 * encodeDocument encodes a document as a Yjs update: for a reader, or as a snapshot to store.
 *
 * Pending updates wait for content that is missing. A snapshot must contain them, and a reader must not receive them.
 * Yjs itself includes them in every encoding.
 */
import * as Y from "yjs";

/** Encodes what a reader with this state vector lacks, without pending updates. No state vector: the whole document. */
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
 * Encodes the whole document with its pending updates. Returns undefined while a pending update of a client id begins
 * before the known clock of that client id and ends after it. Cutting that update at the known clock would change the text.
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
    // Clocks that were integrated meanwhile are removed. Otherwise a merge could choose the pending version of a clock, and
    // everything that builds on that clock would be pending too.
    parts.push(Y.convertUpdateFormatV2ToV1(Y.diffUpdateV2(pendingStructs.update, Y.encodeStateVector(document))));
  }
  if (pendingDs !== null) parts.push(Y.convertUpdateFormatV2ToV1(pendingDs));
  return parts.length === 1 ? parts[0] : Y.mergeUpdates(parts);
}
