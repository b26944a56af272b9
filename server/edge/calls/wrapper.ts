/**
 * `createCallWrapper` creates the call wrapper, which runs an operation for every surface (REST and tRPC).
 *
 * The order of the steps is size, credential, rate, scope, visibility, role, API version, body, idempotency, handler,
 * answer. Callers may rely on it as the order of refusals.
 * This module knows no URLs and no wire formats: a `CallSource` supplies the input as values, and the result is an
 * `Answer`, checked against the contract.
 */
import { hash } from "node:crypto";
import type { Logger } from "pino";
import type { OperationSpec, ParsedForm, RawBody } from "../../../api/contract/operation.ts";
import type { Limits } from "../../../api/limits.ts";
import { AppError, notFound } from "../../../api/schema/error.ts";
import { type Access, AlreadyAnswered, type Principal } from "../../domain/call/call.ts";
import type { AccessResolver, Authenticator } from "../../domain/call/ports.ts";
import { parseIfMatch, requireNoTag } from "../../domain/call/precondition.ts";
import { problemMediaType, toProblem, toProblemHeaders, toRefusal } from "../../domain/call/problem.ts";
import { createIds, partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import { ClientGone } from "../host/port.ts";
import { toAddressSubject } from "./addressSubject.ts";
import { type Answer, type EncodedReply, encodeReply, toKept, toReplay } from "./answer.ts";
import type { BodyOwner } from "./bodyBudget.ts";
import { checkChange, checkRole, checkScope, checkSize, checkVisible } from "./callChecks.ts";
import type { CallSource } from "./callSource.ts";
import { toCredentialId } from "./credentialId.ts";
import { createIdempotency, type IdempotencyStart } from "./idempotency.ts";
import { ParsedRequest } from "./parsedRequest.ts";
import { toPieceStream } from "./pieceStream.ts";
import type { PreparedOperation, PreparedRequest } from "./preparedOperation.ts";
import { createRateLimits, type Draw, toRateHeaders } from "./rateLimits.ts";
import { apiVersion, checkApiVersion, type RequestContext } from "./requestContext.ts";
import { type Attempt, RunningCall } from "./runningCall.ts";
import { createSessionCookie, readSessionCookie } from "./sessionCookie.ts";

/** Facts about one answered call, for the request log and the metrics. */
export interface AnsweredCall {
  readonly operation: string;
  readonly status: number;
  readonly ms: number;
  readonly requestId: string;
  readonly credentialId?: string;
}

export interface CallWrapperOptions {
  readonly authenticator: Authenticator;
  readonly access: AccessResolver;
  readonly storage: Pick<Storage, "records" | "commit" | "leases" | "rates" | "now">;
  readonly limits: Limits;
  readonly log: Logger;
  readonly baseUrl: string;
  /** Id of this node, which owns the leases. */
  readonly node: string;
  readonly leaseMs: number;
  readonly onAnswered?: (call: AnsweredCall) => void;
}

export interface CallWrapper {
  /** Runs an operation. Every error becomes an answer; the promise rejects only with `ClientGone`. */
  perform(operation: PreparedOperation, source: CallSource): Promise<Answer>;
  /**
   * Returns the refusal for a request that reaches no operation. `thrown` becomes its problem. `draw` is the draw of a route
   * that has limits of its own; without it, the request counts in `rate.default`.
   */
  refuse(thrown: unknown, context: RequestContext, operation: string, draw?: Draw): Promise<Answer>;
}

export function createCallWrapper(options: CallWrapperOptions): CallWrapper {
  const { authenticator, access: accessResolver, storage, limits, log, baseUrl, onAnswered } = options;
  const rateLimits = createRateLimits({ storage, limits });
  const idempotency = createIdempotency({ storage, limits, owner: options.node, leaseMs: options.leaseMs });
  const ids = createIds(storage);
  const sessionCookie = createSessionCookie(options);
  const commit: Attempt["commit"] = (batch) => storage.commit(batch);

  async function toRefused(thrown: unknown, context: RequestContext, draw: Draw | undefined, operation: string): Promise<Answer> {
    const { refusal, bug } = toRefusal(thrown);
    if (bug) log.error({ err: thrown, requestId: context.requestId, operation }, "a request failed because of a bug");
    const shown =
      draw === undefined && refusal.code !== "unavailable"
        ? // The call was refused before its rate check: draw from the bucket of the address and show that one.
          await rateLimits.draw(["rate.default"], toAddressSubject(context.remoteAddress)).catch(() => undefined)
        : draw;
    const problem = toProblem(refusal, { baseUrl, instance: context.instance, requestId: context.requestId });
    const headers = toHeaders(problemMediaType, context, shown);
    Object.assign(headers, toProblemHeaders(refusal, problem));
    return { status: problem.status, headers, body: JSON.stringify(problem), problem };
  }

  /** A function of its own, so that the text of the request is not held while the handler runs. */
  function startOnce(operation: PreparedOperation, request: PreparedRequest, call: RunningCall, key: string): Promise<IdempotencyStart> {
    const { principal, access } = call;
    if (principal === undefined) throw new Error("an Idempotency-Key needs a principal");
    if (!/^[\x20-\x7e]{1,255}$/.test(key)) {
      throw new AppError("bad_request", "The header Idempotency-Key must be 1 to 255 printable ASCII characters.");
    }
    const partition = partitionOfId(principal.accountId);
    return idempotency.start({
      principalId: principal.kind === "key" ? principal.keyId : principal.accountId,
      partition,
      workPartition: access?.partition ?? partition,
      operation: operation.key,
      key,
      request: canonical(request),
      secret: operation.spec.secret === true,
    });
  }

  /** Runs the handler under an Idempotency-Key, or returns the stored answer of that key. */
  async function once(operation: PreparedOperation, request: PreparedRequest, call: RunningCall, key: string): Promise<EncodedReply> {
    const started = await startOnce(operation, request, call, key);
    if (started.kind === "replay") return toReplay(started.answer);
    const { run } = started;
    let kept: EncodedReply | undefined;
    const attempt: Attempt = {
      nowMs: run.nowMs,
      ids: run.ids,
      isRepeatable: true,
      async commit(batch, value) {
        if (value === undefined) return storage.commit(batch);
        const answer = encodeReply(operation, operation.handler.reply(value, request));
        const result = await run.commit(batch, toKept(answer));
        if (result.ok) kept = answer;
        return result;
      },
    };
    try {
      const value = await serve(operation, request, call.as(attempt));
      if (kept !== undefined) return kept;
      const answer = encodeReply(operation, operation.handler.reply(value, request));
      await run.keep(toKept(answer));
      return answer;
    } catch (error) {
      if (error instanceof AlreadyAnswered) return toReplay(error.answer);
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
        checkSize(operation, source);
        if (spec.credential !== "none") principal = await context.authenticate(authenticator);
        if (spec.webSession !== undefined) sessionCookie.checkPage(spec.webSession, context);
        const subject = principal === undefined ? toAddressSubject(context.remoteAddress) : toCredentialId(principal);
        draw = await rateLimits.draw(operation.rates, subject);
        if (draw.refusal !== undefined) throw draw.refusal;
        if (source.bodyNeeded === "early") await receiveBody(operation, source, toOwner(principal, subject));
        const request = new ParsedRequest(operation, source);
        if (spec.webSession !== undefined) request.refreshCookie = readSessionCookie(context);
        if (operation.bodyRate !== undefined && request.bodyIs(operation.bodyRate.when)) {
          const { refusal } = await rateLimits.draw([operation.bodyRate.field], subject);
          if (refusal !== undefined) throw refusal;
        }
        if (principal !== undefined) checkScope(operation, principal);
        request.readParams();
        let access: Access | undefined;
        if (spec.resource !== undefined && principal !== undefined) {
          const id = request.readResourceId(spec.resource);
          access = await accessResolver.resolve(principal, spec.resource.kind, id, { deleted: true });
          if (access === undefined) throw notFound();
          checkVisible(spec, access);
          checkRole(operation, access);
        }
        checkApiVersion(context);
        if (source.bodyNeeded === "last") await receiveBody(operation, source, toOwner(principal, subject));
        request.readRest();
        const ifMatch = isConditional(spec) ? context.header("if-match") : undefined;
        const key = operation.takesIdempotencyKey ? context.header("idempotency-key") : undefined;
        const conditions = ifMatch === undefined || spec.ifMatch !== true ? undefined : parseIfMatch(ifMatch);
        if (ifMatch !== undefined && conditions === undefined) requireNoTag(ifMatch);
        const attempt: Attempt = { nowMs: storage.now(), ids, commit, isRepeatable: false };
        const call = new RunningCall(context, request, principal, access, conditions, limits, attempt);
        const given =
          key === undefined
            ? encodeReply(operation, sessionCookie.addTo(operation.handler.reply(await serve(operation, request, call), request)))
            : await once(operation, request, call, key);
        const headers = toHeaders(given.mediaType, context, draw);
        for (const name in given.headers) headers[name] = given.headers[name] ?? "";
        const body = given.json ?? given.bytes ?? (given.pieces === undefined ? undefined : toPieceStream(given.pieces));
        answer = body === undefined ? { status: given.status, headers } : { status: given.status, headers, body };
      } catch (error) {
        if (error instanceof ClientGone) throw error;
        answer = await toRefused(error, context, draw, operation.key);
        if (spec.webSession !== undefined) answer = sessionCookie.clearIn(spec.webSession, answer);
      }
      if (onAnswered !== undefined) onAnswered(toAnswered(operation.key, answer.status, startedAt, context, principal));
      return answer;
    },
    async refuse(thrown, context, operation, draw) {
      const startedAt = performance.now();
      const answer = await toRefused(thrown, context, draw, operation);
      onAnswered?.(toAnswered(operation, answer.status, startedAt, context, undefined));
      return answer;
    },
  };
}

/**
 * Refuses a change of a resource in the trash, then runs the handler. A stored answer of an Idempotency-Key is replayed
 * before this check.
 */
function serve({ spec, handler }: PreparedOperation, request: PreparedRequest, call: RunningCall): Promise<unknown> {
  checkChange(spec, call.access);
  return handler.serve(request, call);
}

function toOwner(principal: Principal | undefined, subject: string): BodyOwner {
  return principal === undefined ? { kind: "address", id: subject } : { kind: "account", id: principal.accountId };
}

async function receiveBody(operation: PreparedOperation, source: CallSource, owner: BodyOwner): Promise<void> {
  await source.receiveBody(owner);
  checkSize(operation, source);
}

/**
 * True if `If-Match` must be evaluated. PUT, PATCH and DELETE always do so, even if the contract declares no
 * precondition, because an ignored precondition can lose an update.
 */
function isConditional({ method, ifMatch }: OperationSpec): boolean {
  return ifMatch === true || method === "PUT" || method === "PATCH" || method === "DELETE";
}

/** Builds the headers that every answer has. */
function toHeaders(mediaType: string | undefined, context: RequestContext, draw: Draw | undefined): Record<string, string> {
  // Answers may contain secrets. Shared caches skip requests with Authorization, but not requests with x-api-key.
  const cacheControl = "no-store";
  const { requestId } = context;
  if (mediaType !== undefined && draw?.rateLimit !== undefined) {
    // Fast path of nearly every answer: one object literal is faster than adding properties.
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
  return draw === undefined ? headers : Object.assign(headers, toRateHeaders(draw));
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

/** Canonical text of a parsed request. It is the same for REST and tRPC. */
function canonical({ params, query, body }: PreparedRequest): string {
  if (isRawBody(body)) return JSON.stringify([params, query, [body.mediaType, Buffer.from(body.bytes).toString("base64")]]);
  if (!isForm(body)) return JSON.stringify([params, query, body]);
  const { bytes, ...file } = body.file;
  return JSON.stringify([params, query, [file, hash("sha256", bytes), body.fields]]);
}

function isForm(body: unknown): body is ParsedForm<unknown> {
  return typeof body === "object" && body !== null && "file" in body && isUpload(body.file);
}

function isUpload(file: unknown): boolean {
  return typeof file === "object" && file !== null && "bytes" in file && file.bytes instanceof Uint8Array;
}

function isRawBody(body: unknown): body is RawBody {
  return typeof body === "object" && body !== null && "bytes" in body && body.bytes instanceof Uint8Array;
}
