/** The `Call` that a handler is given, in the two ways a call can run. */
import type { Limits } from "../../api/limits.ts";
import type { IdSource } from "../ids.ts";
import type { Batch, CommitResult } from "../storage/port.ts";
import type { Access, Call, Principal } from "./call.ts";
import type { RequestContext } from "./requestContext.ts";

export type Commit = (batch: Batch, value?: unknown) => Promise<CommitResult>;

/** What differs from one attempt to another. */
export interface Attempt {
  readonly nowMs: number;
  readonly ids: IdSource;
  readonly commit: Commit;
  /** Under an Idempotency-Key. */
  readonly isRepeatable: boolean;
}

/** A class for speed: one is made for every request, and most of it is never asked for. */
export class RunningCall implements Call {
  readonly principal: Principal | undefined;
  readonly access: Access | undefined;
  readonly ifMatch: readonly string[] | undefined;
  readonly limits: Limits;
  readonly nowMs: number;
  readonly ids: IdSource;
  readonly commit: Commit;
  readonly isRepeatable: boolean;
  private readonly context: RequestContext;

  constructor(
    context: RequestContext,
    principal: Principal | undefined,
    access: Access | undefined,
    ifMatch: readonly string[] | undefined,
    limits: Limits,
    attempt: Attempt,
  ) {
    this.context = context;
    this.principal = principal;
    this.access = access;
    this.ifMatch = ifMatch;
    this.limits = limits;
    this.nowMs = attempt.nowMs;
    this.ids = attempt.ids;
    this.commit = attempt.commit;
    this.isRepeatable = attempt.isRepeatable;
  }

  /** The same call in another attempt. */
  as(attempt: Attempt): RunningCall {
    return new RunningCall(this.context, this.principal, this.access, this.ifMatch, this.limits, attempt);
  }

  get requestId(): string {
    return this.context.requestId;
  }

  get traceparent(): string | undefined {
    return this.context.traceparent;
  }

  get remoteAddress(): string {
    return this.context.remoteAddress;
  }
}
