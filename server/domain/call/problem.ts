/**
 * This module converts thrown errors to RFC 9457 problem details and the headers of the answer.
 *
 * Every thrown error ends here. An `AppError` keeps its own code. A storage failure becomes 503 or 507. Any other error
 * is a bug: it becomes `internal` and reveals nothing to the caller except the request id.
 */
import { AppError, errorRow, type Problem } from "../../../api/schema/error.ts";
import { StorageFullError, StorageUnavailableError } from "../../platform/storage/port.ts";

export interface ProblemContext {
  readonly baseUrl: string;
  /** Path of the request. */
  readonly instance: string;
  readonly requestId: string;
}

export const problemMediaType = "application/problem+json";

const retrySeconds = 1;

/** Converts a thrown value to an `AppError`. `bug` is true when the value is not an expected error. */
export function toRefusal(thrown: unknown): { readonly refusal: AppError; readonly bug: boolean } {
  if (thrown instanceof AppError) return { refusal: thrown, bug: false };
  if (thrown instanceof StorageFullError) {
    return { refusal: new AppError("disk_full", "The store has no space for writes at the moment. Nothing was changed."), bug: false };
  }
  if (thrown instanceof StorageUnavailableError) {
    const detail = "The store cannot be reached at the moment; repeat the request with the same Idempotency-Key.";
    return { refusal: new AppError("unavailable", detail, { retryAfter: retrySeconds }), bug: false };
  }
  return {
    refusal: new AppError(
      "internal",
      "The request failed because of an error in the server. The server's log has the reason under this request id.",
    ),
    bug: true,
  };
}

export function toProblem(refusal: AppError, context: ProblemContext): Problem {
  const { status, title } = errorRow(refusal.code);
  const facts = refusal.code === "unavailable" ? { retryAfter: retrySeconds, ...refusal.facts } : refusal.facts;
  return {
    type: `${context.baseUrl}/problems/${refusal.code}`,
    title,
    status,
    detail: refusal.message,
    instance: context.instance,
    code: refusal.code,
    requestId: context.requestId,
    ...facts,
  };
}

/** Returns the headers of a refusal. */
export function toProblemHeaders(refusal: AppError, problem: Problem): Record<string, string> {
  const headers: Record<string, string> = { ...refusal.headers };
  if (problem.status === 401) headers["www-authenticate"] = 'Bearer realm="svc", error="invalid_token"';
  if (problem.retryAfter !== undefined) headers["retry-after"] = String(Math.max(1, Math.ceil(problem.retryAfter)));
  return headers;
}
