/**
 * What a handler replied, checked against the contract and turned into text. An answer that breaks its own schema
 * is a bug of ours and never leaves the house.
 */
import type { Problem } from "../../api/schema/error.ts";
import { type CallReply, RawReply } from "./call.ts";
import type { PreparedOperation } from "./preparedOperation.ts";

/** The outcome of a call, ready for any wire. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text of the body. */
  readonly json?: string | undefined;
  /** A body that is bytes. */
  readonly raw?: { readonly mediaType: string; readonly bytes: Uint8Array } | undefined;
  /** Set when the call was refused. */
  readonly problem?: Problem | undefined;
}

/** An answer that is none of a refusal, without the headers that every answer has. */
export type HandlerAnswer = Omit<Answer, "problem">;

const noHeaders = Object.freeze({});

export function encodeAnswer(operation: PreparedOperation, reply: CallReply): HandlerAnswer {
  const { status, headers = noHeaders, body } = reply;
  const declared = operation.replies.get(status);
  if (declared === undefined) throw new Error(`${operation.key} answered with status ${status}, which its contract does not name`);
  const { json } = declared;
  if (body instanceof RawReply) {
    if (!declared.rawMediaTypes.includes(body.mediaType)) {
      throw new Error(`${operation.key} answered with ${body.mediaType}, which its contract does not name`);
    }
    return { status, headers, json: undefined, raw: { mediaType: body.mediaType, bytes: body.bytes } };
  }
  if (json === undefined) {
    if (body !== undefined) throw new Error(`${operation.key} answered ${status} with JSON, which its contract does not name`);
    return { status, headers, json: undefined, raw: undefined };
  }
  const checked = json.schema.safeParse(body);
  if (!checked.success) throw new Error(`the answer of ${operation.key} breaks its schema: ${JSON.stringify(checked.error.issues)}`);
  return { status, headers, json: json.write(body), raw: undefined };
}

/** An answer as text, for an idempotent repeat. */
export function toKept(answer: HandlerAnswer): string {
  const { raw, ...rest } = answer;
  return JSON.stringify(raw === undefined ? rest : { ...rest, raw: { ...raw, bytes: Buffer.from(raw.bytes).toString("base64") } });
}

/** A kept answer, marked as one. */
export function toReplay(text: string): HandlerAnswer {
  const { raw, headers, ...rest } = JSON.parse(text) as HandlerAnswer & { raw?: { mediaType: string; bytes: string } };
  const replayed = { ...rest, headers: { ...headers, "idempotency-replayed": "true" } };
  return raw === undefined ? replayed : { ...replayed, raw: { mediaType: raw.mediaType, bytes: Buffer.from(raw.bytes, "base64") } };
}
