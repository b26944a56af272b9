/**
 * The one way to every operation, for all surfaces: size, credential, rate, scope, visibility, role, body,
 * idempotency, handler, answer. The order is the order of refusals that a caller may rely on; where the resource
 * stands in the query or the body, that part is parsed before it is looked up.
 *
 * It knows nothing of URLs and wire formats: a source hands it the parts of the input as values, and it hands
 * back an answer as text with its headers, checked against the contract.
 */
import type { Logger } from "pino";
import type { Limits } from "../../api/limits.ts";
import { AppError, notFound, type Problem } from "../../api/schema/error.ts";
import { missingScopes } from "../../api/scopes.ts";
import { createIds, partitionOfId } from "../ids.ts";
import type { Storage } from "../storage/port.ts";
import { type EncodedAnswer, encodeAnswer, fromKept, toKept } from "./answer.ts";
import type { Access, Call, Principal } from "./call.ts";
import { parsePart } from "./findings.ts";
import { AnsweredMeanwhile, createIdempotency, type IdempotentRun } from "./idempotency.ts";
import type { AccessResolver, Authenticator } from "./ports.ts";
import { parseIfMatch } from "./precondition.ts";
import { type PreparedOperation, type PreparedRequest, rankOf } from "./preparedOperation.ts";
import { toProblem, toProblemHeaders, toRefusal } from "./problem.ts";
import { createRateLimits, type Draw } from "./rateLimits.ts";
import { apiVersion, checkApiVersion, type RequestContext } from "./requestContext.ts";

/** Where the input of one call comes from. Each part is asked for when its turn comes, and may refuse. */
export interface CallSource {
  readonly context: RequestContext;
  /** The body was larger than the operation takes. */
  readonly tooLarge: boolean;
  params(): Record<string, unknown>;
  query(): Record<string, unknown>;
  /** A JSON value, already guarded, or bytes with their media type. */
  body(): { readonly json: unknown } | { readonly raw: { readonly mediaType: string; readonly bytes: Uint8Array } };
  /** Media type chosen among those the operation offers. */
  accept(): string;
}

export type Answer =
  | ({ readonly ok: true } & EncodedAnswer)
  | { readonly ok: false; readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly problem: Problem };

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

interface Progress {
  principal?: Principal;
  draw?: Draw;
}

export function createCalls(options: CallsOptions): Calls {
  const { authenticator, access: accessResolver, storage, limits, log, baseUrl } = options;
  const ids = createIds(storage);
  const rateLimits = createRateLimits({ storage, limits });
  const idempotency = createIdempotency({ storage, limits, owner: options.node, leaseMs: options.leaseMs });

  function commonHeaders(context: RequestContext, draw: Draw | undefined): Record<string, string> {
    return {
      // Answers may hold secrets, and a key in x-api-key does not keep shared caches away as Authorization does.
      "cache-control": "no-store",
      "x-request-id": context.requestId,
      "x-svc-api-version": apiVersion,
      ...draw?.headers,
    };
  }

  async function toRefused(thrown: unknown, context: RequestContext, progress: Progress, operation: string): Promise<Answer> {
    const { refusal, bug } = toRefusal(thrown);
    if (bug) log.error({ err: thrown, requestId: context.requestId, operation }, "a request failed on a bug");
    if (progress.draw === undefined && refusal.code !== "unavailable") {
      // Refused before its turn: shown, and counted, is the bucket of its address.
      const draw = await rateLimits.draw(["rate.default"], addressSubject(context)).catch(() => undefined);
      if (draw !== undefined) progress.draw = draw;
    }
    const problem = toProblem(refusal, { baseUrl, instance: context.instance, requestId: context.requestId });
    const headers = { ...commonHeaders(context, progress.draw), ...toProblemHeaders(refusal, problem) };
    return { ok: false, status: problem.status, headers, problem };
  }

  /** Everything up to the handler, in the order of refusals. */
  async function admit(operation: PreparedOperation, source: CallSource, progress: Progress) {
    const { spec } = operation;
    const { context } = source;
    if (source.tooLarge) {
      throw new AppError("payload_too_large", `The body of ${operation.key} may have at most ${operation.maxBodyBytes} bytes.`);
    }
    const principal = spec.credential === "none" ? undefined : await context.authenticate(authenticator);
    if (principal !== undefined) progress.principal = principal;

    const subject = principal === undefined ? addressSubject(context) : toCredentialId(principal);
    progress.draw = await rateLimits.draw(operation.rates, subject);
    if (progress.draw.refusal !== undefined) throw progress.draw.refusal;

    if (principal !== undefined) checkScope(operation, principal);

    const params = operation.params === undefined ? noFields : toParams(operation.params, source);
    let query: Record<string, unknown> | undefined;
    let body: unknown;
    let access: Access | undefined;
    if (spec.resource !== undefined && principal !== undefined) {
      if (spec.resource.in === "query") query = parseQuery(operation, source);
      if (spec.resource.in === "body") body = parseBody(operation, source);
      const part = spec.resource.in === "params" ? params : spec.resource.in === "query" ? query : (body as Record<string, unknown>);
      const id = part?.[spec.resource.name];
      if (typeof id !== "string") throw new Error(`operation ${operation.key}: its resource id is no text`);
      access = await accessResolver.resolve(principal, spec.resource.kind, id, { deleted: spec.resource.deleted === true });
      if (access === undefined) throw notFound();
      if (rankOf(access.role) < operation.roleRank) throw roleRefusal(operation);
    }

    checkApiVersion(context);
    query ??= parseQuery(operation, source);
    body ??= operation.body === undefined && operation.rawBodies.length === 0 ? undefined : parseBody(operation, source);
    const accept = operation.negotiable === undefined ? "application/json" : source.accept();
    return { principal, access, params, query, body, accept };
  }

  async function serve(operation: PreparedOperation, source: CallSource, progress: Progress): Promise<EncodedAnswer> {
    const { context } = source;
    const { principal, access, ...request } = await admit(operation, source, progress);
    const ifMatch = operation.spec.ifMatch === true ? context.header("if-match") : undefined;
    const key = operation.takesIdempotencyKey ? context.header("idempotency-key") : undefined;
    const call = {
      requestId: context.requestId,
      ...(context.traceparent === undefined ? {} : { traceparent: context.traceparent }),
      ...(principal === undefined ? {} : { principal }),
      ...(access === undefined ? {} : { access }),
      nowMs: storage.now(),
      ids,
      limits,
      remoteAddress: context.remoteAddress,
      ...(ifMatch === undefined ? {} : { ifMatch: parseIfMatch(ifMatch) }),
      commit: (batch) => storage.commit(batch),
    } satisfies Call;
    if (key === undefined || principal === undefined) {
      return encodeAnswer(operation, operation.handler.reply(await operation.handler.serve(request, call)));
    }
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
    return serveOnce(operation, request, call, started.run);
  }

  async function serveOnce(operation: PreparedOperation, request: PreparedRequest, call: Call, run: IdempotentRun): Promise<EncodedAnswer> {
    let kept: EncodedAnswer | undefined;
    try {
      const value = await operation.handler.serve(request, {
        ...call,
        nowMs: run.nowMs,
        ids: run.ids,
        isRepeatable: true,
        async commit(batch, answerValue) {
          if (answerValue === undefined) return storage.commit(batch);
          const answer = encodeAnswer(operation, operation.handler.reply(answerValue));
          const result = await run.commit(batch, toKept(answer));
          if (result.ok) kept = answer;
          return result;
        },
      });
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
      const progress: Progress = {};
      let answer: Answer;
      try {
        const encoded = await serve(operation, source, progress);
        answer = { ok: true, ...encoded, headers: { ...commonHeaders(context, progress.draw), ...encoded.headers } };
      } catch (error) {
        answer = await toRefused(error, context, progress, operation.key);
      }
      options.onAnswered?.(toAnswered(operation.key, answer.status, startedAt, context, progress.principal));
      return answer;
    },
    async refuse(thrown, context, operation) {
      const startedAt = performance.now();
      const answer = await toRefused(thrown, context, {}, operation);
      options.onAnswered?.(toAnswered(operation, answer.status, startedAt, context, undefined));
      return answer;
    },
  };
}

const noFields: Record<string, unknown> = Object.freeze({});

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

/** The session or key that a request came with: what limits and logs go by. */
export function toCredentialId(principal: Principal): string {
  return principal.kind === "key" ? principal.keyId : principal.sessionId;
}

export function addressSubject(context: Pick<RequestContext, "remoteAddress">): string {
  return `address:${context.remoteAddress}`;
}

function checkScope(operation: PreparedOperation, principal: Principal): void {
  const { credential, scopes } = operation.spec;
  if (principal.kind === "key") {
    if (credential !== "any") {
      throw new AppError("interactive_session_required", "This needs a signed-in person's access token; an API key is not enough.");
    }
    const missing = missingScopes(principal.scopes, scopes ?? []);
    if (missing.length > 0) {
      const detail = `This API key lacks the scope${missing.length === 1 ? "" : "s"} ${missing.join(", ")}.`;
      throw new AppError("insufficient_scope", detail, { requiredScopes: [...(scopes ?? [])], missingScopes: [...missing] });
    }
  }
  if (credential === "operator" && !principal.operator) {
    throw new AppError("insufficient_permission", "This needs the account of an operator.");
  }
}

function roleRefusal(operation: PreparedOperation): AppError {
  const role = operation.spec.role ?? "read";
  if (role === "write") return new AppError("insufficient_permission", "This needs permission to write in the workspace.");
  return new AppError("insufficient_role", `This needs the role ${role === "owner" ? "owner" : "admin or owner"} in the workspace.`);
}

/** An id that cannot exist is an id that does not exist. */
function toParams(schema: NonNullable<PreparedOperation["params"]>, source: CallSource): Record<string, unknown> {
  const parsed = schema.safeParse(source.params());
  if (!parsed.success) throw notFound();
  return parsed.data;
}

function parseQuery(operation: PreparedOperation, source: CallSource): Record<string, unknown> {
  return parsePart(operation.query, source.query(), "query");
}

function parseBody(operation: PreparedOperation, source: CallSource): unknown {
  const body = source.body();
  if ("raw" in body) return body.raw;
  if (operation.body === undefined) throw new Error(`operation ${operation.key} takes no JSON body`);
  return parsePart(operation.body, body.json, "body", operation);
}

/** The same text for the same parsed request, on whichever surface it came. */
function canonical(request: { readonly params: unknown; readonly query: unknown; readonly body: unknown }): string {
  return JSON.stringify([request.params, request.query, request.body], (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value,
  );
}

function toReplay(answer: string): EncodedAnswer {
  const encoded = fromKept(answer);
  return { ...encoded, headers: { ...encoded.headers, "idempotency-replayed": "true" } };
}
