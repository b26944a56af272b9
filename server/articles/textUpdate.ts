/** Edits of the service itself as Yjs changes. */
import * as Y from "yjs";
import type { ArticleFile } from "../../api/schema/article.ts";
import type { IdSource } from "../ids.ts";
import type { TextOperation } from "./merge.ts";

/** A client id for one edit: with an idempotent call's ids the same at each repeat. */
export function toClientId(ids: IdSource): number {
  return Buffer.from(ids.bytes(4)).readUInt32BE();
}

/** A document that holds one text, as an update. */
export function toTextUpdate(file: ArticleFile, text: string, clientId: number): Uint8Array {
  const document = new Y.Doc();
  document.clientID = clientId;
  document.getText(file).insert(0, text);
  const update = Y.encodeStateAsUpdate(document);
  document.destroy();
  return update;
}

/** Applies operations (ascending, at offsets before any of them) inside a transaction. */
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
 * What only removes leaves no trace of its client id. A character put in and taken out again is one, so that a
 * repeat of the edit is recognised.
 */
export function leaveMark(text: Y.Text): void {
  text.insert(0, " ");
  text.delete(0, 1);
}
