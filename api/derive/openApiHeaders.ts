/** Defines the request and reply headers of the OpenAPI document once, so that every operation can refer to them. */
import type { SchemaObject } from "./openApiSchemas.ts";

const text: SchemaObject = { type: "string" };

function requestHeader(name: string, description: string, example: string, schema: SchemaObject = text) {
  return { name, in: "header", required: false, description, schema, example };
}

export const requestHeaders = {
  requestId: requestHeader(
    "x-request-id",
    "Id of the request, repeated in the answer and in the log; the server makes one if it is absent.",
    "req-7f3a",
  ),
  apiVersion: requestHeader(
    "x-svc-api-version",
    "Version of the API that the caller was written for; the newest by default.",
    "2026-11-01",
    {
      type: "string",
      enum: ["2026-11-01"],
    },
  ),
  traceparent: requestHeader(
    "traceparent",
    "W3C trace context. The webhooks that the request causes carry it.",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  ),
  idempotencyKey: requestHeader(
    "idempotency-key",
    "Makes a repeat safe: requests with the same key and body are executed once, and a repeat within 24 hours gets the same answer. 1 to 255 characters.",
    "4b1c2f1e-0d6a-4a52-8a43-6f1f4b7f5a11",
    { type: "string", minLength: 1, maxLength: 255 },
  ),
  prefer: requestHeader(
    "prefer",
    "`wait=<seconds>` (RFC 7240): how long the answer may wait for the end of the work that the request starts, at most 30 seconds.",
    "wait=30",
  ),
  ifMatch: requestHeader("if-match", "Entity tag of the record as last read; 412 if it has changed since.", '"r3"'),
  ifNoneMatch: requestHeader("if-none-match", "Entity tag of the caller's copy; 304 if that is current.", '"r3"'),
  web: {
    ...requestHeader("x-svc-web", "Shows that a script of the web app sent the request.", "1", { type: "string", enum: ["1"] }),
    required: true,
  },
};

export const ticketParameter = {
  name: "ticket",
  in: "query",
  required: false,
  description: "Ticket of `POST /auth/stream-ticket`, for clients that cannot send headers.",
  schema: text,
  example: "eyJhbGciOiJFZERTQSJ9…",
};

export const resumeHeader = requestHeader("last-event-id", "`id` of the last event that was read; the stream continues after it.", "1042");

/** Headers of every reply except those of streams. */
const everyReply = ["x-request-id", "x-svc-api-version", "ratelimit-policy", "ratelimit"];

export const refusalHeaders: Readonly<Record<number, readonly string[]>> = {
  401: ["www-authenticate"],
  429: ["retry-after"],
  503: ["retry-after"],
};

function replyHeader(description: string, example: string) {
  return { description, schema: text, example };
}

export const replyHeaders = {
  "x-request-id": replyHeader("Id of the request, also in the server's log.", "req-7f3a"),
  "x-svc-api-version": replyHeader("Version of the API that was used.", "2026-11-01"),
  "ratelimit-policy": replyHeader(
    'The caller\'s quota: `"default";q=<requests>;w=<seconds>`. Event streams and sockets have the quota `"connects"`.',
    '"default";q=200;w=1',
  ),
  ratelimit: replyHeader('The rest of the quota: `"default";r=<requests>;t=<seconds until full>`.', '"default";r=399;t=1'),
  location: replyHeader("Address of the created resource, if it has one.", "/articles/art_01KAHX0000050123456789ABCD"),
  "retry-after": replyHeader("Seconds after which to repeat the request.", "2"),
  "www-authenticate": replyHeader("How to send a credential.", 'Bearer realm="svc", error="invalid_token"'),
  "idempotency-replayed": replyHeader("`true` if an earlier request with the same `Idempotency-Key` got this answer.", "true"),
};

/** Returns references to the headers of every reply and to the additional headers in `more`. */
export function toSharedHeaders(more: readonly string[] = []): Record<string, unknown> {
  return Object.fromEntries([...everyReply, ...more].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
