/**
 * `toRestRoute` creates the REST route of an operation.
 *
 * Path parameters, query and body are read from their own places and never mixed, so a strict body schema refuses path
 * and query fields. This module knows HTTP, but not what the operations mean.
 */
import { type ParamReader, readQuery, type TextReader, toParamReader, toTextReader } from "../../../api/derive/rest.ts";
import type { Limits } from "../../../api/limits.ts";
import { AppError } from "../../../api/schema/error.ts";
import { hasTag } from "../host/entityTag.ts";
import type { HttpReply, HttpRequest } from "../host/port.ts";
import type { PathParams } from "../host/router.ts";
import type { BodyBudget, BodyOwner } from "./bodyBudget.ts";
import { guardJson } from "./bodyGuard.ts";
import type { CallSource } from "./callSource.ts";
import { formMediaType, readForm } from "./formBody.ts";
import { IncomingBody } from "./incomingBody.ts";
import { readJson } from "./jsonBody.ts";
import { rankMediaTypes, readContentType, requireNoEncoding } from "./mediaTypes.ts";
import type { PreparedForm, PreparedOperation } from "./preparedOperation.ts";
import type { RequestContext } from "./requestContext.ts";
import type { CallWrapper } from "./wrapper.ts";

/** Route of this server, for an operation or for anything else. */
export interface ServedRoute {
  readonly method: string;
  readonly path: string;
  readonly publicCors: boolean;
  serve(request: HttpRequest, params: PathParams, context: RequestContext): Promise<HttpReply>;
}

export function toRestRoute(operation: PreparedOperation, calls: CallWrapper, limits: Limits, bodies: BodyBudget): ServedRoute {
  const { spec } = operation;
  const takesBody = operation.takesJson || operation.rawBodies.length > 0;
  const conditional = spec.method === "GET";
  const readers = { operation, limits, readParams: toParamReader(spec.params), readQueryFields: toTextReader(spec.query) };
  async function serveWithBody(request: HttpRequest, params: PathParams, context: RequestContext): Promise<HttpReply> {
    // The host requires that the body is opened in the same turn as its handler.
    const maxBytes = takesForm(operation, request) ? operation.form.maxBodyBytes : operation.maxBodyBytes;
    const body = new IncomingBody(request, bodies, maxBytes);
    try {
      return await calls.perform(operation, new RestSource(readers, context, request, params, body));
    } finally {
      body.release();
    }
  }

  return {
    method: spec.method,
    path: spec.path,
    publicCors: false,
    serve(request, params, context) {
      if (takesBody) return serveWithBody(request, params, context);
      const answered = calls.perform(operation, new RestSource(readers, context, request, params, undefined));
      const ifNoneMatch = conditional ? request.header("if-none-match") : undefined;
      return ifNoneMatch === undefined ? answered : answered.then((answer) => unlessUnchanged(answer, ifNoneMatch));
    },
  };
}

const noBytes = new Uint8Array(0);
const noFields = Object.freeze({});

/** Parts of a source that are the same for all requests of a route. */
interface RouteReaders {
  readonly operation: PreparedOperation;
  readonly limits: Limits;
  readonly readParams: ParamReader;
  readonly readQueryFields: TextReader;
}

class RestSource implements CallSource {
  readonly context: RequestContext;
  private readonly readers: RouteReaders;
  private readonly request: HttpRequest;
  private readonly pathParams: PathParams;
  private readonly incoming: IncomingBody | undefined;

  constructor(
    readers: RouteReaders,
    context: RequestContext,
    request: HttpRequest,
    pathParams: PathParams,
    incoming: IncomingBody | undefined,
  ) {
    this.readers = readers;
    this.context = context;
    this.request = request;
    this.pathParams = pathParams;
    this.incoming = incoming;
  }

  get tooLarge(): boolean {
    return this.incoming?.tooLarge === true;
  }

  get maxBodyBytes(): number {
    return this.incoming?.maxBytes ?? this.readers.operation.maxBodyBytes;
  }

  get bodyNeeded(): CallSource["bodyNeeded"] {
    if (this.incoming === undefined) return "never";
    return this.readers.operation.needsBodyEarly ? "early" : "last";
  }

  receiveBody(owner: BodyOwner): Promise<void> | undefined {
    return this.incoming?.receive(owner);
  }

  releaseBody(): void {
    this.incoming?.release();
  }

  params(): Readonly<Record<string, unknown>> {
    return this.readers.readParams(this.pathParams);
  }

  query(): Readonly<Record<string, unknown>> {
    if (this.request.query === "") return noFields;
    const fields = readQuery(this.request.query);
    if (fields === undefined) throw new AppError("bad_request", "The query must be percent-encoded UTF-8.");
    return this.readers.readQueryFields(fields);
  }

  body(): ReturnType<CallSource["body"]> {
    const { operation, limits } = this.readers;
    const bytes = this.incoming?.bytes ?? noBytes;
    if (bytes.length === 0 && operation.bodyOptional) return { json: {} };
    requireNoEncoding(this.request.header("content-encoding"));
    const mediaType = readContentType(this.request.header("content-type"));
    if (mediaType === "application/json" && operation.takesJson) {
      const json = readJson(bytes, limits["body.keys"]);
      guardJson(json, { limits, documentText: operation.spec.documentText === true, freeForm: operation.freeForm });
      return { json };
    }
    if (takesForm(operation, this.request)) {
      return { form: readForm(bytes, this.request.header("content-type") ?? "", { ...operation.form, limits }) };
    }
    if (mediaType !== undefined && operation.rawBodies.includes(mediaType)) return { raw: { mediaType, bytes } };
    const json = operation.takesJson ? ["application/json"] : [];
    const form = operation.form === undefined ? [] : [formMediaType];
    const accepted = [...json, ...form, ...operation.rawBodies].join(", ");
    const got = mediaType === undefined ? "is missing" : "is not supported here";
    throw new AppError("unsupported_media_type", `The content-type of the body ${got}; it must be ${accepted}.`, {}, { accept: accepted });
  }

  accept(): readonly string[] {
    return rankMediaTypes(this.request.header("accept"), this.readers.operation.negotiable?.mediaTypes ?? []);
  }
}

/** True if the operation takes a form, and the request declares one. A malformed `content-type` declares none. */
function takesForm(operation: PreparedOperation, request: HttpRequest): operation is PreparedOperation & { readonly form: PreparedForm } {
  if (operation.form === undefined) return false;
  return request.header("content-type")?.split(";")[0]?.trim().toLowerCase() === formMediaType;
}

/** Turns a 200 into a 304 if `If-None-Match` contains the ETag of the answer (weak comparison, RFC 9110). */
function unlessUnchanged(reply: HttpReply, ifNoneMatch: string): HttpReply {
  const { etag } = reply.headers;
  if (etag === undefined || reply.status !== 200 || !hasTag(ifNoneMatch, etag)) return reply;
  const { "content-type": _, ...headers } = reply.headers;
  return { status: 304, headers };
}
