/**
 * `RunningCall` is the `Call` that a handler receives.
 *
 * A call runs either directly or as an attempt under an Idempotency-Key. The `Attempt` holds the difference.
 */
import type { Limits } from "../../../api/limits.ts";
import type { Access, Call, Principal } from "../../domain/call/call.ts";
import type { IdSource } from "../../platform/storage/ids.ts";
import type { ParsedRequest } from "./parsedRequest.ts";
import type { RequestContext } from "./requestContext.ts";

/** Parts of a call that differ between a direct run and an attempt under an Idempotency-Key. */
export interface Attempt {
  readonly nowMs: number;
  readonly ids: IdSource;
  readonly commit: Call["commit"];
  /** True under an Idempotency-Key. */
  readonly isRepeatable: boolean;
}

/** A class with getters for speed: every request creates one object, and most values are never read. */
export class RunningCall implements Call {
  readonly principal: Principal | undefined;
  readonly access: Access | undefined;
  readonly ifMatch: readonly string[] | undefined;
  readonly limits: Limits;
  readonly nowMs: number;
  readonly ids: IdSource;
  readonly commit: Call["commit"];
  readonly isRepeatable: boolean;
  private readonly context: RequestContext;
  private readonly request: Pick<ParsedRequest, "releaseBody">;

  constructor(
    context: RequestContext,
    request: Pick<ParsedRequest, "releaseBody">,
    principal: Principal | undefined,
    access: Access | undefined,
    ifMatch: readonly string[] | undefined,
    limits: Limits,
    attempt: Attempt,
  ) {
    this.context = context;
    this.request = request;
    this.principal = principal;
    this.access = access;
    this.ifMatch = ifMatch;
    this.limits = limits;
    this.nowMs = attempt.nowMs;
    this.ids = attempt.ids;
    this.commit = attempt.commit;
    this.isRepeatable = attempt.isRepeatable;
  }

  /** Returns the same call with the values of another attempt. */
  as(attempt: Attempt): RunningCall {
    return new RunningCall(this.context, this.request, this.principal, this.access, this.ifMatch, this.limits, attempt);
  }

  get requestId(): string {
    return this.context.requestId;
  }

  get traceparent(): string | undefined {
    return this.context.traceparent;
  }

  get waitMs(): number | undefined {
    return readWaitMs(this.context.header("prefer"), this.limits["prefer.waitMs"]);
  }

  get remoteAddress(): string {
    return this.context.remoteAddress;
  }

  get signal(): AbortSignal | undefined {
    return this.context.signal;
  }

  releaseBody(): void {
    this.request.releaseBody();
  }
}

/** Returns the time of `Prefer: wait=<seconds>` (RFC 7240), at most `maxMs`. A preference that is not understood is ignored. */
function readWaitMs(prefer: string | undefined, maxMs: number): number | undefined {
  const seconds = /(?:^|[,;])[ \t]*wait[ \t]*=[ \t]*"?(\d{1,9})"?[ \t]*(?:$|[,;])/i.exec(prefer ?? "")?.[1];
  return seconds === undefined ? undefined : Math.min(Number(seconds) * 1000, maxMs);
}
