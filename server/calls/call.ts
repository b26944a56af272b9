/**
 * One call of one operation, as every service sees it: who asks, for which workspace, at what time, with
 * which ids, and the commit that also keeps the answer for an idempotent repeat.
 */
import type { Limits } from "../../api/limits.ts";
import type { Contract, OperationSpec, ParsedInput, Role } from "../../api/operation.ts";
import type { Scope } from "../../api/scopes.ts";
import type { IdSource } from "../ids.ts";
import type { Batch, CommitResult, Partition } from "../storage/port.ts";

/** Who is behind a credential. A key acts for the account that made it. */
export type Principal =
  | {
      readonly kind: "session";
      readonly accountId: string;
      readonly username: string;
      readonly operator: boolean;
      readonly sessionId: string;
    }
  | {
      readonly kind: "key";
      readonly accountId: string;
      readonly username: string;
      readonly operator: false;
      readonly keyId: string;
      /** Absent: full access. */
      readonly scopes?: readonly Scope[];
      /** Absent: every workspace of the account. */
      readonly workspaceIds?: readonly string[];
      readonly expiresAtMs?: number;
    };

/** What the principal may do in the workspace that the request is about. */
export interface Access {
  readonly workspaceId: string;
  readonly partition: Partition;
  readonly role: Role;
}

export interface Call {
  readonly requestId: string;
  /** W3C trace context of the request, passed on to what it causes. */
  readonly traceparent?: string | undefined;
  /** Absent only for operations with credential `none`. */
  readonly principal?: Principal | undefined;
  /** Present where the operation names a resource. */
  readonly access?: Access | undefined;
  /** Store time at the start of the call. With an Idempotency-Key: of its first attempt. */
  readonly nowMs: number;
  /** With an Idempotency-Key the same on every attempt, so that a repeat makes the same ids. */
  readonly ids: IdSource;
  /** With an Idempotency-Key: this may be a repeat of an attempt that was cut off. */
  readonly isRepeatable: boolean;
  readonly limits: Limits;
  readonly remoteAddress: string;
  /** Revision of the record that the caller demands (`If-Match`); services pass what they read to `requireMatch`. */
  readonly ifMatch?: readonly string[] | undefined;
  /**
   * Commits like the storage port. With an Idempotency-Key, `value` (what the handler will resolve with) is
   * turned into the answer and stored in the same commit; without `value` the answer is stored after the handler.
   */
  commit(batch: Batch, value?: unknown): Promise<CommitResult>;
}

export interface CallReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON value, or bytes with their media type for a negotiated reply. */
  readonly body?: unknown;
}

/** Bytes as a reply body. */
export class RawReply {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  constructor(mediaType: string, bytes: Uint8Array) {
    this.mediaType = mediaType;
    this.bytes = bytes;
  }
}

export interface HandlerRequest<Spec extends OperationSpec> extends ParsedInput<Spec> {
  /** Media type chosen from a negotiated reply by `Accept`; the first one for callers without HTTP. */
  readonly accept: string;
}

/** Answers one operation: `serve` calls a service, `reply` turns what it gave into the answer, purely. */
export interface Handler<Spec extends OperationSpec, Value = unknown> {
  serve(request: HandlerRequest<Spec>, call: Call): Promise<Value>;
  reply(value: Value): CallReply;
}

/** The same shape as the contract: a missing handler is a compile error. */
export type Handlers<C extends Contract> = {
  readonly [Resource in keyof C]: {
    // biome-ignore lint/suspicious/noExplicitAny: the value between serve and reply is the handler's own
    readonly [Name in keyof C[Resource]]: Handler<C[Resource][Name], any>;
  };
};

/** Ties the two halves of a handler together so that `reply` sees what `serve` resolves with. */
export function handler<Spec extends OperationSpec, Value>(parts: Handler<Spec, Value>): Handler<Spec, Value> {
  return parts;
}
