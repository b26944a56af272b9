/**
 * `encodeReply` checks a handler's reply against the contract and turns it into text or bytes.
 *
 * A reply that violates its schema is a bug of the server: an error is thrown and the reply is not sent. This module
 * also stores and restores answers for idempotent repeats.
 */
import type { Problem } from "../../../api/schema/error.ts";
import { type CallReply, PieceReply, type Pieces, RawReply } from "../../domain/call/call.ts";
import type { HttpReply } from "../host/port.ts";
import type { PreparedOperation } from "./preparedOperation.ts";

/** Result of a call. REST sends it as it is, and tRPC puts it into an envelope. */
export interface Answer extends HttpReply {
  /** Set when the call was refused. */
  readonly problem?: Problem;
}

/** Reply of a handler that fits the contract, as text or bytes. The headers that every answer has are added later. */
export interface EncodedReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Media type of the body, which is `json`, `bytes` or `pieces`. Undefined without a body. */
  readonly mediaType?: string | undefined;
  /** JSON text of the body. */
  readonly json?: string | undefined;
  /** Body that is not JSON text. */
  readonly bytes?: Uint8Array | undefined;
  /** Body that is read while it is sent. */
  readonly pieces?: Pieces | undefined;
}

const noHeaders = Object.freeze({});

export function encodeReply(operation: PreparedOperation, reply: CallReply): EncodedReply {
  const { status, headers = noHeaders, body } = reply;
  const declared = operation.replies.get(status);
  if (declared === undefined) throw new Error(`${operation.key} answered with status ${status}, which its contract does not declare`);
  const { json } = declared;
  if (body instanceof RawReply || body instanceof PieceReply) {
    const { mediaType } = body;
    if (!declared.rawMediaTypes.includes(mediaType)) {
      throw new Error(`${operation.key} answered with ${mediaType}, which its contract does not declare`);
    }
    const content = body instanceof RawReply ? { bytes: body.bytes } : { pieces: body.pieces };
    return { status, headers, mediaType, json: undefined, ...content };
  }
  if (json === undefined) {
    if (body !== undefined) throw new Error(`${operation.key} answered ${status} with JSON, which its contract does not declare`);
    return { status, headers, mediaType: undefined, json: undefined, bytes: undefined };
  }
  // `validate` builds no copy of the value, as `safeParse` would.
  if (!json.schema.validate(body)) {
    throw new Error(
      `the answer of ${operation.key} does not match its schema: ${JSON.stringify(json.schema.safeParse(body).error?.issues)}`,
    );
  }
  return { status, headers, mediaType: json.mediaType, json: json.write(body), bytes: undefined };
}

/** Serializes an answer, so that a repeat with the same idempotency key gets the same answer. */
export function toKept(answer: EncodedReply): string {
  const { bytes, pieces, ...rest } = answer;
  if (pieces !== undefined) throw new Error("an answer in pieces cannot be kept for repeats");
  return JSON.stringify(bytes === undefined ? rest : { ...rest, bytes: Buffer.from(bytes).toString("base64") });
}

/** Restores an answer that `toKept` serialized and adds the header `idempotency-replayed`. */
export function toReplay(text: string): EncodedReply {
  const { bytes, headers, ...rest } = JSON.parse(text) as Omit<EncodedReply, "bytes"> & { readonly bytes?: string };
  const replayed = { ...rest, headers: { ...headers, "idempotency-replayed": "true" } };
  return bytes === undefined ? replayed : { ...replayed, bytes: Buffer.from(bytes, "base64") };
}
