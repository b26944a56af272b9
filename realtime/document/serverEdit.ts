/**
 * serverEdit runs a change by the server in one transaction, under a given client id, and returns the outcome.
 *
 * Before the call the document must show durable content only. After a change it is ahead of the log until the update is
 * appended.
 */
import * as Y from "yjs";
import { capture } from "./applyBatch.ts";

export type EditOutcome<T> =
  | { readonly kind: "repeated" }
  | { readonly kind: "unchanged"; readonly value: T }
  | { readonly kind: "changed"; readonly value: T; readonly update: Uint8Array }
  /** `isDirty`: a part of the change was applied to the document and must be reverted. */
  | { readonly kind: "failed"; readonly error: unknown; readonly isDirty: boolean };

const loneSurrogate = /\p{Surrogate}/u;

/**
 * Runs `change`. `once`: skip it when the document already has content of `clientId` (the idempotency key). Without
 * `clientId` the document's own client id is used.
 */
export function runServerEdit<T>(document: Y.Doc, clientId: number | undefined, once: boolean, change: () => T): EditOutcome<T> {
  if (once && clientId !== undefined && document.store.clients.has(clientId)) return { kind: "repeated" };
  const ownId = document.clientID;
  const editId = clientId ?? ownId;
  const before = Y.getState(document.store, editId);
  const results: T[] = [];
  const errors: unknown[] = [];
  document.clientID = editId;
  const update = capture(document, () => {
    try {
      results.push(change());
    } catch (error) {
      errors.push(error);
    }
  });
  document.clientID = ownId;
  if (errors.length > 0) return { kind: "failed", error: errors[0], isDirty: update !== undefined };
  const value = results[0] as T;
  if (update === undefined) return { kind: "unchanged", value };
  // Half a surrogate pair would stay unchanged in this document but become U+FFFD in every other copy.
  for (const struct of document.store.clients.get(editId)?.toReversed() ?? []) {
    if (struct.id.clock + struct.length <= before) break;
    if (struct instanceof Y.Item && struct.content instanceof Y.ContentString && loneSurrogate.test(struct.content.str)) {
      return { kind: "failed", error: new Error("an edit wrote half a surrogate pair"), isDirty: true };
    }
  }
  return { kind: "changed", value, update };
}
