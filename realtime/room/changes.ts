/** changes declares what the queue of a room carries: updates of members, edits of the server, and how each of them ends. */
import type * as Y from "yjs";
import type { Author } from "../../api/schema/article.ts";
import type { BatchedUpdate } from "../document/applyBatch.ts";
import type { JoinedChanges, WriteGuard } from "../ports.ts";
import type { RoomMember } from "./member.ts";

/** The room ended before the operation began. Nothing was changed, so the caller may retry in a new room. */
export class RoomEnded extends Error {
  override readonly name = "RoomEnded";
}

/** The fence of the lease that guards an edit is out of date. The edit was not stored, and a later edit under it cannot be. */
export class WriteFenced extends Error {
  override readonly name = "WriteFenced";
}

/** The two ends of the promise that a caller waits for. */
export interface Completion<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

/** An admitted update. `completion` resolves with the revision at which the update is durable. */
export interface Submission extends BatchedUpdate<RoomMember> {
  readonly author: Author;
  readonly completion: Completion<number> | undefined;
}

export interface EditRequest {
  readonly author: Author;
  readonly clientId: number | undefined;
  /** Skip the edit if the document already has content of `clientId`: the client id serves as the idempotency key. */
  readonly once: boolean;
  readonly guard: WriteGuard | undefined;
  /** Store the edit only if no other node wrote after the revision that it saw; otherwise revert it and run it again. */
  readonly isExact: boolean;
  /** Stored in the same commit as the edit. An edit that changes nothing stores nothing. */
  readonly joined?: JoinedChanges | undefined;
  readonly change: (document: Y.Doc, revision: number) => unknown;
  readonly completion: Completion<EditResult>;
}

export interface EditResult {
  readonly revision: number;
  readonly changed: boolean;
  readonly repeated: boolean;
  readonly value?: unknown;
}

/** An edit that is applied to the document but not yet appended to the log. */
export interface BegunEdit extends EditRequest {
  readonly update: Uint8Array;
  readonly value: unknown;
}

/** True for a conditional edit. It is appended alone, because a failed condition would reject the whole batch. */
export function isAlone({ guard, isExact, joined }: EditRequest): boolean {
  return guard !== undefined || isExact || joined !== undefined;
}
