/**
 * verdict declares what a document decides about one inspected update, and what it must know for the decision.
 *
 * `Sender` is the connection that sent the update. The document compares senders and asks its room who they are. It does
 * not use a connection.
 */
import type { InspectedUpdate } from "./inspectUpdate.ts";

export interface Refusal {
  readonly code: "content_not_accepted" | "content_too_large" | "payload_too_large";
  readonly detail: string;
}

/** Content of other authors' client ids that was cut out of an update, because only its owner may send it. */
export interface CutContent<Sender> {
  /** Senders on this node that own cut content. Each of them must be asked for it with a sync step 1. */
  readonly owners: readonly Sender[];
  /** Content of an owner on another node was cut out. The sender must be asked again when that node's batches are read. */
  readonly awaitsOtherNodes: boolean;
}

export type Verdict<Sender> =
  /** Store `update`. `mayBePending`: content that it builds on is still missing. */
  | ({ readonly kind: "admitted"; readonly update: InspectedUpdate; readonly mayBePending: boolean } & CutContent<Sender>)
  /** Nothing is left to store: the content is durable, already queued, or must come from its owners. */
  | ({ readonly kind: "known" } & CutContent<Sender>)
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** Judge the update again when the queued updates have been applied. */
  | { readonly kind: "wait" }
  /**
   * The update is deferred: content that it builds on is missing, and too many pending bytes are kept already. The sender
   * resends the update in the sync step 2 that it owes.
   */
  | { readonly kind: "deferred" };

export interface UpdateRequest<Sender> {
  readonly update: InspectedUpdate;
  /** Absent for an update that comes through the HTTP API. */
  readonly sender?: Sender | undefined;
  /** The update is a sync step 2: everything that the client has, not a change that it just made. */
  readonly isSyncStep2: boolean;
  /** An earlier update of this sender was refused. */
  readonly afterRefusal: boolean;
  /** The sender has not answered sync step 1 yet. Its answer will contain the missing content and this update again. */
  readonly owesSyncStep2: boolean;
  /** How often this update got the verdict "wait". After a few times the verdict is final. */
  readonly waits: number;
}

/** Answers questions about the owners of client ids. The room implements it with its presence. */
export interface ClientIdOwners<Sender> {
  /** Returns the connected sender with write access that owns a client id. */
  ownerOf(clientId: number): Sender | undefined;
  /** True when both are the same author, so that `sender` may write under the client ids of `owner`. */
  mayWriteFor(sender: Sender, owner: Sender): boolean;
  /** True when a socket of a different author on another node uses this client id. */
  isOnOtherNode(clientId: number, sender: Sender | undefined): boolean;
}

export const refused = (code: Refusal["code"], detail: string) => ({ kind: "refused", refusal: { code, detail } }) as const;
