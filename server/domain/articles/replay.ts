/** Rebuilds a document from a stored state and updates, and returns its texts and, on request, its whole state. */
import * as Y from "yjs";
import { encodeIntegrated } from "../../../realtime/document/encodeDocument.ts";
import { textsOfDocument } from "./fileTexts.ts";
import type { FileTexts } from "./port.ts";

export interface ReplayTask {
  readonly state: Uint8Array | undefined;
  /** Yjs updates made after `state`, oldest first. */
  readonly updates: readonly Uint8Array[];
  /** Whether to return the state in addition to the texts. */
  readonly withState: boolean;
}

export interface Replayed {
  readonly texts: FileTexts;
  /** The whole document as a Yjs update. */
  readonly state?: Uint8Array;
}

export function replay({ state, updates, withState }: ReplayTask): Replayed {
  const document = new Y.Doc();
  document.transact(() => {
    if (state !== undefined) Y.applyUpdate(document, state);
    for (const update of updates) Y.applyUpdate(document, update);
  });
  const replayed = { texts: textsOfDocument(document), ...(withState ? { state: encodeIntegrated(document) } : {}) };
  document.destroy();
  return replayed;
}
