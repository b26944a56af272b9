/**
 * The one way to every operation, for all surfaces: size, credential, rate, scope, visibility, role, body,
 * idempotency, handler, answer. The order is the order of refusals that a caller may rely on.
 *
 * It knows nothing of URLs and wire formats: a source hands it the parts of the input as values, and it hands
 * back an answer as text with its headers, checked against the contract.
 */
import type { Logger } from "pino";
import type { Limits } from "../../api/limits.ts";
import type { OperationSpec, RawBody } from "../../api/operation.ts";
import { AppError, notFound } from "../../api/schema/error.ts";
import { createIds, partitionOfId } from "../ids.ts";
import type { Storage } from "../storage/port.ts";
import { toAddressSubject } from "./addressSubject.ts";
import { ParsedRequest, requireRole, requireScope, requireSize } from "./admission.ts";
import { type Answer, encodeAnswer, type HandlerAnswer, toKept, toReplay } from "./answer.ts";
import type { Access, Principal } from "./call.ts";
import { AnsweredMeanwhile, createIdempotency } from "./idempotency.ts";
import type { AccessResolver, Authenticator } from "./ports.ts";
import { parseIfMatch, requireNoTag } from "./precondition.ts";
import type { PreparedOperation, PreparedRequest } from "./preparedOperation.ts";
import { problemMediaType, toProblem, toProblemHeaders, toRefusal } from "./problem.ts";
import { createRateLimits, type Draw } from "./rateLimits.ts";
import { apiVersion, checkApiVersion, type RequestContext } from "./requestContext.ts";
import { type Attempt, RunningCall } from "./runningCall.ts";

/** Where the input of one call comes from. Each part is asked for when its turn comes, and may refuse. */
export interface CallSource {
  readonly context: RequestContext;
  /** The body was larger than the operation takes. */
  readonly tooLarge: boolean;
  params(): Readonly<Record<string, unknown>>;
  query(): Readonly<Record<string, unknown>>;
  /** A JSON value, already guarded, or bytes with their media type. */
  body(): { readonly json: unknown } | { readonly raw: { readonly mediaType: string; readonly bytes: Uint8Array } };
  /** Media type chosen among those the operation offers. */
  accept(): string;
}

/** One line of the request log and one observation of the metrics. */
export interface AnsweredCall {
  readonly operation: string;
  readonly status: number;
  readonly ms: number;
  readonly requestId: string;
  readonly credentialId?: string;
}

export interface CallsOptions {
  readonly authenticator: Authenticator;
  readonly access: AccessResolver;
  readonly storage: Pick<Storage, "records" | "commit" | "leases" | "rates" | "now">;
  readonly limits: Limits;
  readonly log: Logger;
  readonly baseUrl: string;
  /** Id of this node, owner of its leases. */
  readonly node: string;
  readonly leaseMs: number;
  readonly onAnswered?: (call: AnsweredCall) => void;
}

export interface Calls {
  /** Never rejects: whatever happens becomes an answer. */
  perform(operation: PreparedOperation, source: CallSource): Promise<Answer>;
  /** The answer to a request that reaches no operation. */
  refuse(thrown: unknown, context: RequestContext, operation: string): Promise<Answer>;
}

export function createCalls(options: CallsOptions): Calls {
  const { authenticator, access: accessResolver, storage, limits, log, baseUrl, onAnswered } = options;
  const rateLimits = createRateLimits({ storage, limits });
  const idempotency = createIdempotency({ storage, limits, owner: options.node, leaseMs: options.leaseMs });
  const ids = createIds(storage);
  const commit: Attempt["commit"] = (batch) => storage.commit(batch);

  async function toRefused(thrown: unknown, context: RequestContext, draw: Draw | undefined, operation: string): Promise<Answer> {
    const { refusal, bug } = toRefusal(thrown);
    if (bug) log.error({ err: thrown, requestId: context.requestId, operation }, "a request failed on a bug");
    const shown =
      draw === undefined && refusal.code !== "unavailable"
        ? // Refused before its turn: shown, and counted, is the bucket of its address.
          await rateLimits.draw(["rate.default"], toAddressSubject(context.remoteAddress)).catch(() => undefined)
        : draw;
    const problem = toProblem(refusal, { baseUrl, instance: context.instance, requestId: context.requestId });
    const headers = toHeaders(problemMediaType, context, shown);
    Object.assign(headers, toProblemHeaders(refusal, problem));
    return { status: problem.status, headers, json: JSON.stringify(problem), problem };
  }

  /** Runs the work under its Idempotency-Key, or gives the answer that it already has. */
  async function once(operation: PreparedOperation, request: PreparedRequest, call: RunningCall, key: string): Promise<HandlerAnswer> {
    const { principal, access } = call;
    if (principal === undefined) throw new Error("an Idempotency-Key needs a principal");
    if (!/^[\x20-\x7e]{1,255}$/.test(key)) {
      throw new AppError("bad_request", "The header Idempotency-Key must be 1 to 255 printable ASCII characters.");
    }
    const partition = partitionOfId(principal.accountId);
    const started = await idempotency.start({
      principalId: principal.kind === "key" ? principal.keyId : principal.accountId,
      partition,
      workPartition: access?.partition ?? partition,
      operation: operation.key,
      key,
      request: canonical(request),
      secret: operation.spec.secret === true,
    });
    if (started.kind === "replay") return toReplay(started.answer);
    const { run } = started;
    let kept: HandlerAnswer | undefined;
    const attempt: Attempt = {
      nowMs: run.nowMs,
      ids: run.ids,
      isRepeatable: true,
      async commit(batch, value) {
        if (value === undefined) return storage.commit(batch);
        const answer = encodeAnswer(operation, operation.handler.reply(value));
        const result = await run.commit(batch, toKept(answer));
        if (result.ok) kept = answer;
        return result;
      },
    };
    try {
      const value = await operation.handler.serve(request, call.as(attempt));
      if (kept !== undefined) return kept;
      const answer = encodeAnswer(operation, operation.handler.reply(value));
      await run.keep(toKept(answer));
      return answer;
    } catch (error) {
      if (error instanceof AnsweredMeanwhile) return toReplay(error.answer);
      throw error;
    } finally {
      await run.release();
    }
  }

  return {
    async perform(operation, source) {
      const startedAt = performance.now();
      const { context } = source;
      const { spec } = operation;
      let principal: Principal | undefined;
      let draw: Draw | undefined;
      let answer: Answer;
      try {
        requireSize(operation, source);
        if (spec.credential !== "none") principal = await context.authenticate(authenticator);
        const subject = principal === undefined ? toAddressSubject(context.remoteAddress) : toCredentialId(principal);
        draw = await rateLimits.draw(operation.rates, subject);
        if (draw.refusal !== undefined) throw draw.refusal;
        const request = new ParsedRequest(operation, source);
        if (operation.bodyRate !== undefined && request.bodyIs(operation.bodyRate.when)) {
          const { refusal } = await rateLimits.draw([operation.bodyRate.field], subject);
          if (refusal !== undefined) throw refusal;
        }
        if (principal !== undefined) requireScope(operation, principal);
        request.readParams();
        let access: Access | undefined;
        if (spec.resource !== undefined && principal !== undefined) {
          const { kind, deleted = false } = spec.resource;
          access = await accessResolver.resolve(principal, kind, request.readResourceId(spec.resource), { deleted });
          if (access === undefined) throw notFound();
          requireRole(operation, access);
        }
        checkApiVersion(context);
        request.readRest();
        const ifMatch = isConditional(spec) ? context.header("if-match") : undefined;
        const key = operation.takesIdempotencyKey ? context.header("idempotency-key") : undefined;
        const conditions = ifMatch === undefined || spec.ifMatch !== true ? undefined : parseIfMatch(ifMatch);
        if (ifMatch !== undefined && conditions === undefined) requireNoTag(ifMatch);
        const attempt: Attempt = { nowMs: storage.now(), ids, commit, isRepeatable: false };
        const call = new RunningCall(context, principal, access, conditions, limits, attempt);
        const given =
          key === undefined
            ? encodeAnswer(operation, operation.handler.reply(await operation.handler.serve(request, call)))
            : await once(operation, request, call, key);
        const headers = toHeaders(given.raw?.mediaType ?? (given.json === undefined ? undefined : "application/json"), context, draw);
        for (const name in given.headers) headers[name] = given.headers[name] ?? "";
        answer = { status: given.status, headers, json: given.json, raw: given.raw, problem: undefined };
      } catch (error) {
        answer = await toRefused(error, context, draw, operation.key);
      }
      if (onAnswered !== undefined) onAnswered(toAnswered(operation.key, answer.status, startedAt, context, principal));
      return answer;
    },
    async refuse(thrown, context, operation) {
      const startedAt = performance.now();
      const answer = await toRefused(thrown, context, undefined, operation);
      onAnswered?.(toAnswered(operation, answer.status, startedAt, context, undefined));
      return answer;
    },
  };
}

/** A change whose `If-Match` must be judged even where the contract has none: a condition passed over loses an update. */
function isConditional({ method, ifMatch }: OperationSpec): boolean {
  return ifMatch === true || method === "PUT" || method === "PATCH" || method === "DELETE";
}

/** The session or key that a request came with: what limits and logs go by. */
export function toCredentialId(principal: Principal): string {
  return principal.kind === "key" ? principal.keyId : principal.sessionId;
}

/** Headers that every answer has. */
function toHeaders(mediaType: string | undefined, context: RequestContext, draw: Draw | undefined): Record<string, string> {
  // Answers may hold secrets, and a key in x-api-key does not keep shared caches away as Authorization does.
  const cacheControl = "no-store";
  const { requestId } = context;
  if (mediaType !== undefined && draw?.rateLimit !== undefined) {
    // Nearly every answer; one literal is made faster than the same object in pieces.
    return {
      "content-type": mediaType,
      "cache-control": cacheControl,
      "x-request-id": requestId,
      "x-svc-api-version": apiVersion,
      "ratelimit-policy": draw.policy,
      ratelimit: draw.rateLimit,
    };
  }
  const headers: Record<string, string> = { "cache-control": cacheControl, "x-request-id": requestId, "x-svc-api-version": apiVersion };
  if (mediaType !== undefined) headers["content-type"] = mediaType;
  if (draw?.rateLimit !== undefined) {
    headers["ratelimit-policy"] = draw.policy;
    headers.ratelimit = draw.rateLimit;
  }
  return headers;
}

function toAnswered(
  operation: string,
  status: number,
  startedAt: number,
  context: RequestContext,
  principal: Principal | undefined,
): AnsweredCall {
  const call = { operation, status, ms: performance.now() - startedAt, requestId: context.requestId };
  return principal === undefined ? call : { ...call, credentialId: toCredentialId(principal) };
}

/** The same text for the same parsed request, on whichever surface it came. */
function canonical({ params, query, body }: PreparedRequest): string {
  return JSON.stringify([params, query, isRawBody(body) ? [body.mediaType, Buffer.from(body.bytes).toString("base64")] : body]);
}

function isRawBody(body: unknown): body is RawBody {
  return typeof body === "object" && body !== null && "bytes" in body && body.bytes instanceof Uint8Array;
}
