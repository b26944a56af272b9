/** ApiError is the one error of this package for calls and streams: it holds the problem document of the server. */
import { TRPCClientError } from "@trpc/client";
import type { Problem } from "./contract.ts";

/** A code of the server, or the reason why there is no answer. */
export type ApiErrorCode = Problem["code"] | "unreachable" | "aborted";

export interface FieldError {
  /** JSON Pointer into the input, such as `/scopes/0`. */
  readonly pointer: string;
  readonly code: string;
  /** What would be right. */
  readonly message: string;
}

interface Options {
  readonly code: ApiErrorCode;
  /** HTTP status. Default: that of the problem, or 0. */
  readonly status?: number;
  readonly problem?: Problem;
  readonly cause?: Error;
}

/** The class of tRPC, because its client replaces errors of other classes. Its types are hidden: they need further packages. */
const TrpcError: new (message: string, options: { readonly cause?: Error }) => Error = TRPCClientError;

/** `message` is the `detail` of the problem: what is wrong, where, and what would be right. */
export class ApiError extends TrpcError {
  readonly code: ApiErrorCode;
  /** HTTP status; 0 if there is no answer. */
  readonly status: number;
  /** Absent if there is no answer, or if a proxy answered. */
  readonly problem: Problem | undefined;

  constructor(message: string, { code, problem, status = problem?.status ?? 0, cause }: Options) {
    super(message, cause === undefined ? {} : { cause });
    // The constructor of tRPC sets the prototype of its own class.
    Object.setPrototypeOf(this, ApiError.prototype);
    this.name = "ApiError";
    this.code = code;
    this.problem = problem;
    this.status = status;
  }

  /** All faults of the input, if the input was refused. */
  get errors(): readonly FieldError[] {
    return this.problem?.errors ?? [];
  }

  /** Seconds after which the server wants the call to be repeated. */
  get retryAfter(): number | undefined {
    return this.problem?.retryAfter;
  }

  /** True if the same call may succeed later: no answer, too many requests, or a fault of the server. */
  get isTemporary(): boolean {
    return this.status === 0 ? this.code === "unreachable" : this.status === 429 || this.status >= 500;
  }
}

/** The error of a failed call, from what `fetch` or the tRPC client threw. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  const cause = thrown instanceof Error ? thrown : new Error(String(thrown));
  // The tRPC client wraps errors of its transport and of the source of tokens.
  if (cause.cause instanceof ApiError) return cause.cause;
  const problem = problemOf(cause);
  if (problem !== undefined) return new ApiError(problem.detail, { code: problem.code, problem, cause });
  const isAborted = cause.name === "AbortError" || (cause.cause instanceof Error && cause.cause.name === "AbortError");
  return new ApiError(cause.message, { code: isAborted ? "aborted" : "unreachable", cause });
}

/** The error of an answer that is not a success. */
export async function readApiError(answer: Response): Promise<ApiError> {
  const text = await answer.text().catch(() => "");
  const problem = parseProblem(text);
  if (problem !== undefined) return new ApiError(problem.detail, { code: problem.code, problem });
  return new ApiError(`The server answered ${answer.status} without a problem document.`, { code: "unreachable", status: answer.status });
}

function problemOf(error: Error): Problem | undefined {
  const { data } = error as { readonly data?: { readonly problem?: unknown } | null };
  return isProblem(data?.problem) ? data.problem : undefined;
}

function parseProblem(text: string): Problem | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return isProblem(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

function isProblem(value: unknown): value is Problem {
  const { code, detail, status } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return typeof code === "string" && typeof detail === "string" && typeof status === "number";
}
