/**
 * This module defines the context of one call of one operation, as every service receives it: the caller, the
 * workspace, the time, the ids, and a `commit` that also stores the answer for an idempotent repeat.
 */

import type { Contract, OperationSpec, OutputOf, ParsedInput, Role } from "../../../api/contract/operation.ts";
import type { Limits } from "../../../api/limits.ts";
import type { Scope } from "../../../api/scopes.ts";
import type { IdSource } from "../../platform/storage/ids.ts";
import type { Batch, CommitResult, Partition } from "../../platform/storage/port.ts";

/** The account behind a credential. An API key acts for the account that created it. */
export type Principal =
  | {
      readonly kind: "session";
      readonly accountId: string;
      readonly username: string;
      readonly displayName?: string | undefined;
      readonly operator: boolean;
      readonly sessionId: string;
    }
  | {
      readonly kind: "key";
      readonly accountId: string;
      readonly username: string;
      readonly displayName?: string | undefined;
      readonly operator: false;
      readonly keyId: string;
      /** When absent, the key has full access. */
      readonly scopes?: readonly Scope[];
      /** When absent, the key reaches every workspace of the account. */
      readonly workspaceIds?: readonly string[];
      readonly expiresAtMs?: number;
    };

/** The role of the principal in the workspace of the request. */
export interface Access {
  readonly workspaceId: string;
  readonly partition: Partition;
  readonly role: Role;
  /** Present if the resource is in the trash: the id of its article, which can be restored. */
  readonly trashedArticleId?: string;
}

export interface Call {
  readonly requestId: string;
  /** W3C trace context of the request. It is passed on to all work that the request starts. */
  readonly traceparent?: string | undefined;
  /** Absent only for operations with credential `none`. */
  readonly principal?: Principal | undefined;
  /** Present for operations that name a resource. */
  readonly access?: Access | undefined;
  /** Store time at the start of the call. With an Idempotency-Key, the store time of the first attempt. */
  readonly nowMs: number;
  /**
   * Source of new ids. With an Idempotency-Key, every attempt gets the same ids, so that a repeat creates the same
   * records.
   */
  readonly ids: IdSource;
  /** True for a request with an Idempotency-Key: the call may repeat an attempt that was interrupted. */
  readonly isRepeatable: boolean;
  readonly limits: Limits;
  readonly remoteAddress: string;
  /** Milliseconds for which the caller wants to wait for the end of the work that the call starts (`Prefer: wait`). */
  readonly waitMs?: number | undefined;
  /** Aborts if the client disconnects before the answer. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Returns the memory of the request's body before the call ends. Call it before a long wait, when the body is stored or
   * parsed. The request has no body afterwards.
   */
  releaseBody?(): void;
  /** Entity tags of the `If-Match` header. Services pass the record revision that they read to `requireMatch`. */
  readonly ifMatch?: readonly string[] | undefined;
  /**
   * Commits like the storage port. With an Idempotency-Key, `value` (the result of the handler) is converted to the
   * answer and stored in the same commit. Without `value`, the answer is stored after the handler returns.
   * Throws `AlreadyAnswered`.
   */
  commit(batch: Batch, value?: unknown): Promise<CommitResult>;
}

/**
 * Thrown by `Call.commit` when another attempt with the same Idempotency-Key has answered first. Nothing was stored, and the
 * answer of the other attempt must be sent.
 */
export class AlreadyAnswered extends Error {
  override readonly name = "AlreadyAnswered";
  /** The kept answer, encoded by the caller of the handler. */
  readonly answer: string;
  constructor(answer: string) {
    super("another attempt was first");
    this.answer = answer;
  }
}

export interface CallReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Refresh token for the session cookie; an empty one clears the cookie. Only for operations with `webSession`. */
  readonly refreshCookie?: string;
  /** A JSON value; for a negotiated reply also bytes with their media type, as `RawReply` or `PieceReply`. */
  readonly body?: unknown;
}

/** A reply body that consists of bytes. */
export class RawReply {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  constructor(mediaType: string, bytes: Uint8Array) {
    this.mediaType = mediaType;
    this.bytes = bytes;
  }
}

/** Bytes that are read while they are sent, because they are too many to be in memory at once. */
export interface Pieces {
  readonly size: number;
  /** Returns the bytes that begin at the offset. Undefined if they no longer exist; the answer is then cut off. */
  read(from: number): Promise<Uint8Array | undefined>;
}

/** A reply body that is sent in pieces. An operation with such replies takes no Idempotency-Key, because they cannot be kept. */
export class PieceReply {
  readonly mediaType: string;
  readonly pieces: Pieces;
  constructor(mediaType: string, pieces: Pieces) {
    this.mediaType = mediaType;
    this.pieces = pieces;
  }
}

export interface HandlerRequest<Spec extends OperationSpec> extends ParsedInput<Spec> {
  /**
   * Media types of a negotiated reply that the `Accept` header allows, best first. The list is never empty. Callers
   * without HTTP get only the JSON type. `pickMediaType` chooses when the resource offers only some of the types.
   */
  readonly accept: readonly string[];
  /** Refresh token of the session cookie. Present only for operations with `webSession`, if the cookie is valid in form. */
  readonly refreshCookie?: string | undefined;
}

/**
 * A value of the API with the revision of its record. The reply gets the entity tag of the revision if the contract
 * declares one.
 */
export class Versioned<Value> {
  readonly value: Value;
  readonly revision: number;
  constructor(value: Value, revision: number) {
    this.value = value;
    this.revision = revision;
  }
}

type Readable<Value> = Value extends readonly (infer Item)[]
  ? readonly Readable<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Readable<Value[Key]> }
    : Value;

/** The field of a page that holds its items: the only one that is an array. */
type ItemsField<Body> = { [Key in keyof Body]-?: Body[Key] extends readonly unknown[] ? Key : never }[keyof Body];

/** A page of `Pager` in place of a reply with `nextToken`. Its `items` become the reply's only array. */
type AsPage<Body> = Body extends { readonly nextToken?: string | undefined }
  ? { readonly items: Body[ItemsField<Body>] } & Omit<Body, ItemsField<Body>>
  : never;

type ServedBody<Spec extends OperationSpec, Body> =
  | Versioned<Body>
  | (Spec extends { readonly replyHeaders: { readonly etag: string } } ? never : Body | AsPage<Body>);

type IsUnion<Type, Whole = Type> = Type extends Whole ? ([Whole] extends [Type] ? false : true) : never;

/**
 * The result from which the reply of an operation is derived: nothing, the body, a page, or the body with its revision.
 * An operation with several statuses or with replies in bytes has none; its handler has a `reply`.
 */
export type Served<Spec extends OperationSpec> = IsUnion<keyof Spec["replies"]> extends true ? never : ServedOnly<Spec, OutputOf<Spec>>;

// biome-ignore lint/suspicious/noConfusingVoidType: a service without a result resolves with void
type ServedOnly<Spec extends OperationSpec, Output> = [Output] extends [undefined] ? void : ServedBody<Spec, Readable<Output>>;

/** Calls a service. The contract says how its result becomes the reply. */
export type Serve<Spec extends OperationSpec> = (request: HandlerRequest<Spec>, call: Call) => Promise<Served<Spec>>;

/**
 * Handles an operation whose reply cannot be derived from the contract. `serve` calls a service. `reply` converts the
 * result of the service to the reply and has no side effects.
 */
export interface ReplyingHandler<Spec extends OperationSpec, Value = unknown> {
  serve(request: HandlerRequest<Spec>, call: Call): Promise<Value>;
  reply(value: Value): CallReply;
}

// biome-ignore lint/suspicious/noExplicitAny: the value between serve and reply is the handler's own
export type Handler<Spec extends OperationSpec, Value = any> = Serve<Spec> | ReplyingHandler<Spec, Value>;

/** A record of handlers with the same shape as the contract, so that a missing handler is a compile error. */
export type Handlers<C extends Contract> = {
  readonly [Resource in keyof C]: { readonly [Name in keyof C[Resource]]: Handler<C[Resource][Name]> };
};

/** Creates a handler with a reply. The type parameters ensure that `reply` accepts the value that `serve` resolves with. */
export function handler<Spec extends OperationSpec, Value>(parts: ReplyingHandler<Spec, Value>): ReplyingHandler<Spec, Value> {
  return parts;
}
