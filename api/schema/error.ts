/**
 * Defines the closed table of error codes, with one row of data for each code. Every API surface reads it.
 *
 * An `AppError` is a refusal that the caller can act on. Outcomes of external work are values, and bugs are ordinary
 * exceptions that are shown as `internal`.
 */
import { z } from "zod";
import { int, number, text } from "./common.ts";

/** HTTP status → tRPC key, CLI exit code and the codes that share them. */
const groups = [
  { status: 400, trpc: "BAD_REQUEST", exit: 2, codes: ["bad_request", "malformed_json", "invalid_next_token", "unknown_api_version"] },
  { status: 401, trpc: "UNAUTHORIZED", exit: 3, codes: ["unauthenticated", "token_expired", "key_expired", "key_revoked"] },
  {
    status: 403,
    trpc: "FORBIDDEN",
    exit: 4,
    codes: [
      "insufficient_scope",
      "insufficient_role",
      "insufficient_permission",
      "interactive_session_required",
      "scope_escalation",
      "workflow_read_only",
    ],
  },
  { status: 404, trpc: "NOT_FOUND", exit: 5, codes: ["not_found", "not_published"] },
  { status: 405, trpc: "METHOD_NOT_SUPPORTED", exit: 2, codes: ["method_not_allowed"] },
  { status: 406, trpc: "BAD_REQUEST", exit: 2, codes: ["not_acceptable"] },
  {
    status: 409,
    trpc: "CONFLICT",
    exit: 6,
    codes: [
      "revision_conflict",
      "invalid_transition",
      "run_in_progress",
      "approval_already_resolved",
      "already_exists",
      "name_taken",
      "limit_reached",
      "key_active",
      "last_owner",
      "folder_not_empty",
      "cycle",
      "public_link_wrong_mode",
      "anchor_orphaned",
      "not_ready",
      "needs_connection",
      "needs_resource",
      "idempotency_in_progress",
    ],
  },
  {
    status: 410,
    trpc: "NOT_FOUND",
    exit: 5,
    codes: ["unpublished", "output_expired", "approval_expired", "link_expired", "revision_gone"],
  },
  { status: 412, trpc: "PRECONDITION_FAILED", exit: 6, codes: ["precondition_failed"] },
  { status: 413, trpc: "PAYLOAD_TOO_LARGE", exit: 7, codes: ["payload_too_large", "content_too_large"] },
  { status: 415, trpc: "UNSUPPORTED_MEDIA_TYPE", exit: 7, codes: ["unsupported_media_type"] },
  {
    status: 422,
    trpc: "UNPROCESSABLE_CONTENT",
    exit: 7,
    codes: [
      "validation_failed",
      "unknown_field",
      "url_not_https",
      "url_not_public",
      "url_unresolvable",
      "anchor_not_found",
      "anchor_ambiguous",
      "gate_failed",
      "content_not_accepted",
      "edit_too_complex",
      "idempotency_key_reused",
    ],
  },
  { status: 428, trpc: "PRECONDITION_REQUIRED", exit: 6, codes: ["precondition_required"] },
  { status: 429, trpc: "TOO_MANY_REQUESTS", exit: 8, codes: ["rate_limited", "provider_quota"] },
  { status: 500, trpc: "INTERNAL_SERVER_ERROR", exit: 9, codes: ["internal"] },
  { status: 502, trpc: "BAD_GATEWAY", exit: 9, codes: ["provider_unavailable"] },
  { status: 503, trpc: "SERVICE_UNAVAILABLE", exit: 9, codes: ["unavailable"] },
  { status: 507, trpc: "SERVICE_UNAVAILABLE", exit: 9, codes: ["disk_full"] },
] as const;

export type ErrorCode = (typeof groups)[number]["codes"][number];
export type TrpcErrorKey = (typeof groups)[number]["trpc"];

/** WebSocket close codes of the errors that can occur on a socket. */
const closeCodes: Partial<Record<ErrorCode, number>> = {
  unauthenticated: 4401,
  token_expired: 4401,
  key_expired: 4401,
  key_revoked: 4410,
  insufficient_scope: 4403,
  insufficient_role: 4403,
  insufficient_permission: 4403,
  not_found: 4404,
  content_too_large: 4413,
  content_not_accepted: 4400,
  rate_limited: 4429,
  unavailable: 1013,
  disk_full: 1013,
};

export interface ErrorRow {
  readonly code: ErrorCode;
  readonly status: number;
  readonly trpc: TrpcErrorKey;
  readonly exit: number;
  readonly close?: number;
  /** The code as words, used for the `title` of a problem. */
  readonly title: string;
}

/** Converts a code to words: "malformed_json" becomes "Malformed JSON". */
export function toTitle(code: string): string {
  const words = code.replaceAll("_", " ").replaceAll(/\b(?:api|https|json|url)\b/g, (word) => word.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const errorTable: ReadonlyMap<ErrorCode, ErrorRow> = new Map(
  groups.flatMap(({ status, trpc, exit, codes }) =>
    codes.map((code): [ErrorCode, ErrorRow] => {
      const close = closeCodes[code];
      return [code, { code, status, trpc, exit, title: toTitle(code), ...(close === undefined ? {} : { close }) }];
    }),
  ),
);

export function errorRow(code: ErrorCode): ErrorRow {
  const row = errorTable.get(code);
  if (row === undefined) throw new Error(`no row for error code ${code}`);
  return row;
}

/** One fault in a request. `pointer` is a JSON Pointer (RFC 6901) such as `/scopes/0`. */
export const ProblemFinding = z
  .strictObject({
    pointer: text("Location of the fault: a JSON Pointer (RFC 6901) into the body, or the name of a parameter after `/`.", "/scopes/0"),
    code: text("What is wrong, as a code.", "invalid_value"),
    message: text("What a valid value is, as text.", "must be one of 'articles:read', 'articles:write'"),
  })
  .meta({ id: "ProblemFinding", description: "One fault of a request." });
export type ProblemFinding = z.infer<typeof ProblemFinding>;

/** Problem details after RFC 9457. This is the body of every refusal (`application/problem+json`). */
export const Problem = z
  .strictObject({
    type: text("Address of a page that explains the code.", "http://127.0.0.1:8787/problems/revision_conflict"),
    title: text("Text form of the code.", "Revision conflict"),
    status: int("HTTP status.", 409),
    detail: text("What is wrong, where, and how to correct it. For people; do not parse it.", "The article has changed since revision 41."),
    instance: text("Path of the request.", "/articles/art_01KAHX0000050123456789ABCD/content"),
    code: z.enum([...errorTable.keys()] as [ErrorCode, ...ErrorCode[]]).describe("What is wrong, as a code. Programs use this field."),
    requestId: text("Id of the request, as in `x-request-id` and the server's log.", "req-7f3a"),
    errors: z.array(ProblemFinding).describe("All faults of the request, at most 50.").optional(),
    requiredScopes: z
      .array(z.string())
      .meta({ description: "Scopes that the operation needs.", example: ["articles:write"] })
      .optional(),
    missingScopes: z
      .array(z.string())
      .meta({ description: "Required scopes that the key lacks.", example: ["articles:write"] })
      .optional(),
    currentRevision: int("Current revision of the resource.", 42).optional(),
    currentState: text("Current state of the resource.", "archived").optional(),
    allowed: z
      .array(z.string())
      .meta({ description: "Operations that are possible in that state, by their `operationId`.", example: ["topics.restore"] })
      .optional(),
    retryAfter: number("Seconds to wait before a repeat.", 2).optional(),
    activeRunId: text("Active run that prevents the operation.", "run_01KAHX0000050123456789ABCD").optional(),
  })
  .meta({ id: "Problem", description: "Problem details (RFC 9457): the body of every refusal." });
export type Problem = z.infer<typeof Problem>;

/** Further fields that a refusal may have besides its code and detail. */
export type ProblemFacts = Partial<
  Pick<
    Problem,
    "errors" | "requiredScopes" | "missingScopes" | "currentRevision" | "currentState" | "allowed" | "retryAfter" | "activeRunId"
  >
>;

/**
 * A refusal with a code of the table. `detail` is one sentence for people: what failed, where, and what would be
 * correct.
 */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly code: ErrorCode;
  readonly facts: ProblemFacts;
  /** Additional headers of the answer, such as `allow`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, detail: string, facts: ProblemFacts = {}, headers: Readonly<Record<string, string>> = {}) {
    super(detail);
    this.code = code;
    this.facts = facts;
    this.headers = headers;
  }
}

/**
 * Returns the error for every resource that cannot be shown. Missing and invisible resources give the same error, so
 * that callers cannot tell them apart.
 */
export function notFound(): AppError {
  return new AppError("not_found", "The resource does not exist, or it is not visible to this credential.");
}
