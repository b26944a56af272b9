/** Turns text and edits from requests into Yjs changes. */
import * as Y from "yjs";
import { articleFiles } from "../../../api/schema/article.ts";
import type { IdSource } from "../../platform/storage/ids.ts";
import type { TextOperation } from "./merge.ts";
import type { FileTexts } from "./port.ts";

/** A Yjs client id for one edit. The ids of an idempotent call give the same client id at each retry. */
export function toClientId(ids: IdSource): number {
  return Buffer.from(ids.bytes(4)).readUInt32BE();
}

/** A Yjs update that creates a document with the given texts. */
export function toTextUpdate(texts: FileTexts, clientId: number): Uint8Array {
  const document = new Y.Doc();
  document.clientID = clientId;
  for (const file of articleFiles) document.getText(file).insert(0, texts[file]);
  const update = Y.encodeStateAsUpdate(document);
  document.destroy();
  return update;
}

/**
 * Most places of the document to which one edit may write. The time for one place grows with the number of Yjs structs: at
 * 200,000 structs, 2,000 places take 200 ms.
 */
export function maxPlacesIn({ store }: Y.Doc): number {
  const pieces = [...store.clients.values()].reduce((sum, structs) => sum + structs.length, 0);
  return Math.max(100, Math.floor(20_000_000 / Math.max(pieces, 1)));
}

/** Applies operations inside a transaction. They must ascend, and their offsets refer to the text before any operation. */
export function applyToText(text: Y.Text, operations: readonly TextOperation[]): void {
  if (operations.length === 0) return;
  const delta: ({ retain: number } | { insert: string } | { delete: number })[] = [];
  let from = 0;
  for (const { at, insert, remove } of operations) {
    if (at > from) delta.push({ retain: at - from });
    if (insert !== "") delta.push({ insert });
    if (remove > 0) delta.push({ delete: remove });
    from = at + remove;
  }
  text.applyDelta(delta);
}

/**
 * Inserts and deletes one character, to record the client id in the document. An edit that only deletes text would leave no
 * trace of its client id, and a retry of the edit could not be recognised.
 */
export function recordClientId(text: Y.Text): void {
  text.insert(0, " ");
  text.delete(0, 1);
}
