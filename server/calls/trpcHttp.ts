/**
 * The wire of tRPC v11 over a host, straight to the wrapper: queries and mutations, batches, batch streams (JSON
 * Lines). A stock `@trpc/client` cannot tell it from tRPC's own adapter. No transformer: plain JSON.
 *
 * A single call answers with the headers of REST, a batch only with those of the request itself; a request with
 * `If-Match` or `Idempotency-Key` holds one call.
 */
import { TRPC_ERROR_CODES_BY_KEY } from "@trpc/server/rpc";
import type { InputParts } from "../../api/derive/input.ts";
import { readQuery } from "../../api/derive/rest.ts";
import type { TrpcErrorShape } from "../../api/derive/trpc.ts";
import type { Limits } from "../../api/limits.ts";
import { AppError, errorRow, errorTable, type TrpcErrorKey } from "../../api/schema/error.ts";
import type { HttpReply, HttpRequest } from "../host/port.ts";
import type { PathParams } from "../host/router.ts";
import type { Answer } from "./answer.ts";
import { guardJson } from "./bodyGuard.ts";
import { parseJson, readJson } from "./jsonBody.ts";
import { readContentType, requireNoEncoding } from "./mediaTypes.ts";
import type { PreparedOperation } from "./preparedOperation.ts";
import { apiVersion, type RequestContext } from "./requestContext.ts";
import type { ServedRoute } from "./restHttp.ts";
import type { CallSource, Calls } from "./wrapper.ts";

export interface TrpcOptions {
  readonly operations: ReadonlyMap<string, PreparedOperation>;
  readonly calls: Calls;
  readonly limits: Limits;
}

/** The inputs of one request, by the index of the call; asking may refuse. */
type Inputs = (index: number) => unknown;

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

async function serve(options: TrpcOptions, request: HttpRequest, procedures: string, context: RequestContext): Promise<HttpReply> {
  const fields = readQuery(request.query);
  const isBatch = fields?.get("batch")?.[0] === "1";
  const paths = isBatch ? procedures.split(",") : [procedures];
  if (paths.length > options.limits["batch.calls"]) return refuseWhole(options, context, paths.length);
  const operations = paths.map((path) => options.operations.get(path));
  const maxBytes = Math.max(...operations.map((operation) => operation?.maxBodyBytes ?? options.limits["body.json"]));
  const body = request.method === "POST" ? await request.body(maxBytes) : undefined;
  // The index of each call is a name too.
  const maxMembers = (options.limits["body.keys"] + 1) * paths.length;
  const inputs = toInputs(request, fields?.get("input")?.[0], body, isBatch, maxMembers);
  const conditional = context.header("if-match") ?? context.header("idempotency-key");
  const refusal =
    fields === undefined
      ? new AppError("bad_request", "The query must be percent-encoded UTF-8.")
      : conditional !== undefined && paths.length > 1
        ? new AppError("bad_request", "A request with If-Match or Idempotency-Key holds exactly one call, not a batch.")
        : undefined;

  const answers = paths.map((path, index) => {
    const operation = operations[index];
    const impossible = refusal ?? refuseProcedure(operation, path, request.method);
    if (impossible !== undefined || operation === undefined) return options.calls.refuse(impossible, context, unknownProcedure);
    const source = new TrpcSource(operation, context, inputs, index, options.limits, body === "too_large");
    return options.calls.perform(operation, source);
  });

  if (isBatch && wantsLines(request)) return toLines(paths, answers, context);
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

/** One error for the request, which stock clients hand to each of its calls: an answer for each would be a flood. */
async function refuseWhole({ calls, limits }: TrpcOptions, context: RequestContext, count: number): Promise<HttpReply> {
  const detail = `The batch holds ${count} calls; at most ${limits["batch.calls"]} are possible in one request.`;
  const answer = await calls.refuse(new AppError("bad_request", detail), context, unknownProcedure);
  return { status: statusOf(answer), headers: { ...answer.headers, ...wireHeaders }, body: toEnvelope("", answer) };
}

function batchHeaders(context: RequestContext): Record<string, string> {
  return { ...wireHeaders, "x-request-id": context.requestId, "x-svc-api-version": apiVersion };
}

function refuseProcedure(operation: PreparedOperation | undefined, path: string, method: string): AppError | undefined {
  if (operation === undefined) return new AppError("not_found", `There is no procedure '${path.slice(0, 100)}'.`);
  if (operation.spec.method === "GET" || method === "POST") return undefined;
  return new AppError("method_not_allowed", `'${path}' is a mutation: call it with POST.`, {}, { allow: "POST" });
}

function toInputs(
  request: HttpRequest,
  text: string | undefined,
  body: Uint8Array | "too_large" | undefined,
  isBatch: boolean,
  maxMembers: number,
): Inputs {
  /** Read once, also when that fails: each call of a batch asks. */
  let whole: { readonly value: unknown } | { readonly refusal: unknown } | undefined;
  const read = (): unknown => {
    if (body === undefined) return text === undefined || text === "" ? undefined : parseJson(text, "query parameter input");
    if (body === "too_large" || body.length === 0) return undefined;
    requireNoEncoding(request.header("content-encoding"));
    if (readContentType(request.header("content-type")) !== "application/json") {
      throw new AppError(
        "unsupported_media_type",
        "The content-type of the body must be application/json.",
        {},
        { accept: "application/json" },
      );
    }
    return readJson(body, maxMembers);
  };
  const readOnce = (): { readonly value: unknown } | { readonly refusal: unknown } => {
    try {
      return { value: read() };
    } catch (refusal) {
      return { refusal };
    }
  };
  return (index) => {
    whole ??= readOnce();
    if ("refusal" in whole) throw whole.refusal;
    if (!isBatch || whole.value === undefined) return whole.value;
    if (typeof whole.value !== "object" || whole.value === null) {
      throw new AppError("bad_request", "The input of a batch must be an object from the index of each call to its input.");
    }
    return (whole.value as Record<string, unknown>)[index];
  };
}

class TrpcSource implements CallSource {
  readonly context: RequestContext;
  readonly tooLarge: boolean;
  private readonly operation: PreparedOperation;
  private readonly inputs: Inputs;
  private readonly index: number;
  private readonly limits: Limits;
  private taken: InputParts | undefined;

  constructor(operation: PreparedOperation, context: RequestContext, inputs: Inputs, index: number, limits: Limits, tooLarge: boolean) {
    this.operation = operation;
    this.context = context;
    this.inputs = inputs;
    this.index = index;
    this.limits = limits;
    this.tooLarge = tooLarge;
  }

  private get parts(): InputParts {
    this.taken ??= this.take();
    return this.taken;
  }

  private take(): InputParts {
    const { operation, limits } = this;
    const input = this.inputs(this.index) ?? {};
    if (typeof input !== "object" || Array.isArray(input)) {
      const message = "must be an object";
      throw new AppError("validation_failed", `The input ${message}.`, { errors: [{ pointer: "", code: "invalid_type", message }] });
    }
    guardJson(input, { limits, documentText: operation.spec.documentText === true, freeForm: operation.freeForm });
    return operation.split(input as Record<string, unknown>);
  }

  params(): Record<string, unknown> {
    return this.parts.params;
  }

  query(): Record<string, unknown> {
    return this.parts.query;
  }

  body(): { readonly json: unknown } {
    return { json: this.parts.body };
  }

  accept(): string {
    return this.operation.negotiable?.[0] ?? "application/json";
  }
}

/** tRPC knows one HTTP status for each of its keys; the exact status is in the problem. */
const statusOfKey = new Map<TrpcErrorKey, number>();
for (const { trpc, status } of errorTable.values()) if (!statusOfKey.has(trpc)) statusOfKey.set(trpc, status);

function statusOf({ problem }: Answer): number {
  return problem === undefined ? 200 : (statusOfKey.get(errorRow(problem.code).trpc) ?? 500);
}

function toEnvelope(path: string, answer: Answer): string {
  const { problem, json } = answer;
  if (problem === undefined) return json === undefined ? '{"result":{}}' : `{"result":{"data":${json}}}`;
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

/** JSON Lines of a batch stream: a head that promises each call, then each answer when it is there. */
async function toLines(paths: readonly string[], answers: readonly Promise<Answer>[], context: RequestContext): Promise<HttpReply> {
  const headers = batchHeaders(context);
  const [only] = answers;
  if (answers.length === 1 && only !== undefined) {
    return { status: 200, headers, body: `{"0":[[${toEnvelope(paths[0] ?? "", await only)}]]}\n` };
  }
  return { status: 200, headers, body: lines(paths, answers) };
}

async function* lines(paths: readonly string[], answers: readonly Promise<Answer>[]): AsyncGenerator<string> {
  let ready = "";
  let left = answers.length;
  let wake: () => void = () => undefined;
  for (const [index, answer] of answers.entries()) {
    // `perform` never rejects.
    void answer.then((given) => {
      ready += `[${index},0,[[${toEnvelope(paths[index] ?? "", given)}]]]\n`;
      left -= 1;
      wake();
    });
  }
  yield `{${paths.map((_, index) => `"${index}":[[0],[null,0,${index}]]`).join(",")}}\n`;
  while (left > 0 || ready !== "") {
    if (ready === "") {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    const piece = ready;
    ready = "";
    if (piece !== "") yield piece;
  }
}
