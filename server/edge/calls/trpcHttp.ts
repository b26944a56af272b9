/**
 * `toTrpcRoutes` serves the operations over the tRPC v11 protocol: queries, mutations, batches and batch streams (JSON
 * Lines), as plain JSON without a transformer.
 *
 * It calls the wrapper directly instead of tRPC's own adapter. A stock `@trpc/client` works with it unchanged. The answer
 * to a single call has the headers of REST. The answer to a batch has only headers that are the same for all its calls.
 * A request with `If-Match` or `Idempotency-Key` must contain exactly one call. Operations of the web session are no
 * procedures, because their cookie is not sent here and a batch has no place for the cookies of its answers.
 */
import { TRPC_ERROR_CODES_BY_KEY } from "@trpc/server/rpc";
import { readQuery, type TextFields } from "../../../api/derive/rest.ts";
import type { TrpcErrorShape } from "../../../api/derive/trpc.ts";
import type { Limits } from "../../../api/limits.ts";
import { AppError, errorRow, errorTable, type TrpcErrorKey } from "../../../api/schema/error.ts";
import type { BodySink, HttpReply, HttpRequest, StreamedBody } from "../host/port.ts";
import type { PathParams } from "../host/router.ts";
import type { Answer } from "./answer.ts";
import type { BodyBudget } from "./bodyBudget.ts";
import { IncomingBody } from "./incomingBody.ts";
import type { PreparedOperation } from "./preparedOperation.ts";
import { apiVersion, type RequestContext } from "./requestContext.ts";
import type { ServedRoute } from "./restHttp.ts";
import { TrpcSource, toInputs } from "./trpcSource.ts";
import type { CallWrapper } from "./wrapper.ts";

export interface TrpcOptions {
  readonly operations: ReadonlyMap<string, PreparedOperation>;
  readonly calls: CallWrapper;
  readonly limits: Limits;
  readonly bodies: BodyBudget;
  /** Without a trailing slash. */
  readonly baseUrl: string;
}

const unknownProcedure = "trpc";
const wireHeaders = { "content-type": "application/json", vary: "trpc-accept, accept" };

export function toTrpcRoutes(options: TrpcOptions): readonly ServedRoute[] {
  return ["GET", "POST"].map((method) => ({
    method,
    path: "/trpc/{procedures}",
    publicCors: false,
    serve: (request: HttpRequest, params: PathParams, context: RequestContext) => serve(options, request, params.procedures ?? "", context),
  }));
}

function serve(options: TrpcOptions, request: HttpRequest, procedures: string, context: RequestContext): Promise<HttpReply> {
  const { limits, bodies } = options;
  const fields = readQuery(request.query);
  const isBatch = fields?.get("batch")?.[0] === "1";
  const paths = isBatch ? procedures.split(",") : [procedures];
  if (paths.length > limits["batch.calls"]) return refuseWhole(options, context, paths.length);
  const operations = paths.map((path) => options.operations.get(path));
  // The host requires that the body is opened in the same turn as its handler.
  const body = request.method === "POST" ? new IncomingBody(request, bodies, toMaxBytes(operations, limits)) : undefined;
  return answerCalls(options, request, context, { fields, isBatch, paths, operations, body });
}

/**
 * Body limit of a request. All calls share one body, so one public operation is enough for the small public limit:
 * otherwise a caller without a credential could send a large body.
 */
function toMaxBytes(operations: readonly (PreparedOperation | undefined)[], limits: Limits): number {
  if (operations.some((operation) => operation?.spec.credential === "none")) return limits["body.public"];
  return Math.max(...operations.map((operation) => operation?.maxBodyBytes ?? limits["body.json"]));
}

interface TrpcRequest {
  readonly fields: TextFields | undefined;
  readonly isBatch: boolean;
  readonly paths: readonly string[];
  readonly operations: readonly (PreparedOperation | undefined)[];
  readonly body: IncomingBody | undefined;
}

async function answerCalls(
  options: TrpcOptions,
  request: HttpRequest,
  context: RequestContext,
  { fields, isBatch, paths, operations, body }: TrpcRequest,
): Promise<HttpReply> {
  // Add one per call, because the index of each call is also a member name of the body.
  const maxMembers = (options.limits["body.keys"] + 1) * paths.length;
  const inputs = toInputs(request, fields?.get("input")?.[0], body, isBatch, maxMembers, paths.length);
  const conditional = context.header("if-match") ?? context.header("idempotency-key");
  const refusal =
    fields === undefined
      ? new AppError("bad_request", "The query must be percent-encoded UTF-8.")
      : conditional !== undefined && paths.length > 1
        ? new AppError("bad_request", "A request with If-Match or Idempotency-Key must contain exactly one call, not a batch.")
        : undefined;

  const answers = paths.map((path, index) => {
    const operation = operations[index];
    const impossible = refusal ?? refuseProcedure(operation, path, request.method, options.baseUrl);
    if (impossible !== undefined || operation === undefined) {
      inputs.release();
      return options.calls.refuse(impossible, context, unknownProcedure);
    }
    const source = new TrpcSource(operation, context, inputs, index, options.limits, body);
    return options.calls.perform(operation, source).finally(() => source.releaseBody());
  });

  if (isBatch && wantsLines(request)) {
    // The host discards unread body bytes when the reply begins, so wait until the body has been received.
    if (body !== undefined) await Promise.race([body.untilEnded(), Promise.allSettled(answers)]);
    return toLines(paths, answers, context);
  }
  const settled = await Promise.all(answers);
  const [first] = settled;
  if (!isBatch && first !== undefined) {
    return { status: statusOf(first), headers: { ...first.headers, ...wireHeaders }, body: toEnvelope(paths[0] ?? "", first) };
  }
  const statuses = new Set(settled.map(statusOf));
  const [status = 200] = statuses;
  return {
    status: statuses.size === 1 ? status : 207,
    headers: batchHeaders(context),
    body: `[${settled.map((answer, index) => toEnvelope(paths[index] ?? "", answer)).join(",")}]`,
  };
}

/** Answers an oversized batch with one error. Stock clients report it for each call; one error per call would be too much output. */
async function refuseWhole({ calls, limits }: TrpcOptions, context: RequestContext, count: number): Promise<HttpReply> {
  const detail = `The batch has ${count} calls; at most ${limits["batch.calls"]} are allowed in one request.`;
  const answer = await calls.refuse(new AppError("bad_request", detail), context, unknownProcedure);
  return { status: statusOf(answer), headers: { ...answer.headers, ...wireHeaders }, body: toEnvelope("", answer) };
}

function batchHeaders(context: RequestContext): Record<string, string> {
  return {
    "content-type": "application/json",
    vary: wireHeaders.vary,
    "x-request-id": context.requestId,
    "x-svc-api-version": apiVersion,
  };
}

function refuseProcedure(operation: PreparedOperation | undefined, path: string, method: string, baseUrl: string): AppError | undefined {
  if (operation === undefined) {
    const detail = `There is no procedure '${path.slice(0, 100)}'. ${baseUrl}/openapi.json names each procedure by its operationId.`;
    return new AppError("not_found", detail);
  }
  const { method: restMethod, path: restPath, webSession } = operation.spec;
  if (webSession !== undefined) {
    return new AppError("not_found", `'${path}' uses a cookie, so it exists over REST only: ${restMethod} ${restPath}.`);
  }
  if (restMethod === "GET" || method === "POST") return undefined;
  return new AppError("method_not_allowed", `'${path}' is a mutation: call it with POST.`, {}, { allow: "POST" });
}

/** HTTP status of each tRPC error key. tRPC has one status per key; the exact status is in the problem. */
const statusOfKey = new Map<TrpcErrorKey, number>();
for (const { trpc, status } of errorTable.values()) if (!statusOfKey.has(trpc)) statusOfKey.set(trpc, status);

function statusOf({ problem }: Answer): number {
  return problem === undefined ? 200 : (statusOfKey.get(errorRow(problem.code).trpc) ?? 500);
}

function toEnvelope(path: string, answer: Answer): string {
  const { problem, body } = answer;
  if (problem === undefined) return typeof body === "string" ? `{"result":{"data":${body}}}` : '{"result":{}}';
  const { trpc } = errorRow(problem.code);
  const error: TrpcErrorShape = {
    message: problem.detail,
    code: TRPC_ERROR_CODES_BY_KEY[trpc],
    data: { code: trpc, httpStatus: statusOf(answer), path, problem },
  };
  return JSON.stringify({ error });
}

function wantsLines(request: HttpRequest): boolean {
  const accept = request.header("trpc-accept") ?? request.header("accept");
  return accept?.split(",").some((type) => type.trim() === "application/jsonl") ?? false;
}

/** Writes a batch stream as JSON Lines: first a line that announces all calls, then each answer as soon as it is ready. */
async function toLines(paths: readonly string[], answers: readonly Promise<Answer>[], context: RequestContext): Promise<HttpReply> {
  const headers = batchHeaders(context);
  const [only] = answers;
  if (answers.length === 1 && only !== undefined) {
    return { status: 200, headers, body: `{"0":[[${toEnvelope(paths[0] ?? "", await only)}]]}\n` };
  }
  return { status: 200, headers, body: lines(paths, answers) };
}

function lines(paths: readonly string[], answers: readonly Promise<Answer>[]): StreamedBody {
  let sink: BodySink | undefined;
  let hasRoom = true;
  let left = answers.length;
  let ready = `{${paths.map((_, index) => `"${index}":[[0],[null,0,${index}]]`).join(",")}}\n`;
  function flush(): void {
    if (sink === undefined || !hasRoom) return;
    const piece = Buffer.from(ready);
    ready = "";
    hasRoom = sink.write(piece);
    if (left === 0) sink.end();
  }
  for (const [index, answer] of answers.entries()) {
    answer.then(
      (given) => {
        ready += `[${index},0,[[${toEnvelope(paths[index] ?? "", given)}]]]\n`;
        left -= 1;
        flush();
      },
      // A call rejects only with `ClientGone`. There is no reader any more, so no line is written.
      () => {
        left -= 1;
        flush();
      },
    );
  }
  return {
    open(opened) {
      sink = opened;
      flush();
    },
    drain() {
      hasRoom = true;
      flush();
    },
    close() {
      sink = undefined;
    },
  };
}
