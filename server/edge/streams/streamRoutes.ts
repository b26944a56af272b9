/**
 * StreamRoutes serves the live streams over HTTP: as server-sent events and as tRPC subscriptions.
 *
 * Both forms read ticket and resume token in the same way and admit in the same order. Only the frames differ.
 * A stream ends when its reader disconnects or loses access, or when the server stops. Clients then reconnect with the
 * id of their last event. After the end of a run a standard EventSource would reconnect forever, so 204 answers it.
 */
import { TRPC_ERROR_CODES_BY_KEY } from "@trpc/server/rpc";
import type { z } from "zod";
import type { StreamContract, StreamSpec } from "../../../api/contract/operation.ts";
import { readQuery, type TextFields, toParamReader, toTextReader } from "../../../api/derive/rest.ts";
import type { TrpcErrorShape } from "../../../api/derive/trpc.ts";
import { AppError, errorRow, notFound } from "../../../api/schema/error.ts";
import { parsePart } from "../../domain/call/findings.ts";
import { StorageUnavailableError } from "../../platform/storage/port.ts";
import { parseJson } from "../calls/jsonBody.ts";
import { type Draw, toRateHeaders } from "../calls/rateLimits.ts";
import { apiVersion, checkApiVersion, type RequestContext } from "../calls/requestContext.ts";
import type { ServedRoute } from "../calls/restHttp.ts";
import type { CallWrapper } from "../calls/wrapper.ts";
import type { HttpReply, HttpRequest, StreamedBody } from "../host/port.ts";
import type { PathParams } from "../host/router.ts";
import { eventStreamHeaders, wantsEventStream, writeEvent, writeRetry } from "./eventStream.ts";
import type { OpenedStream } from "./port.ts";
import { retryMs, type StreamFormat, serverSentFormat, trpcFormat } from "./streamFormat.ts";
import type { AdmittedReader, StreamGate } from "./streamGate.ts";

/** Opens a stream of the contract. The input is already validated. */
export type OpenStream = (input: Readonly<Record<string, unknown>>) => Promise<OpenedStream>;

export interface StreamRoutesOptions {
  readonly contract: StreamContract;
  /** Openers in the shape of the contract: resource → stream. */
  readonly open: { readonly [resource: string]: { readonly [stream: string]: OpenStream } };
  readonly gate: StreamGate;
  readonly calls: Pick<CallWrapper, "refuse">;
  /** Returns the body that sends a stream to an admitted reader. */
  readonly view: (reader: AdmittedReader, opened: OpenedStream, format: StreamFormat) => StreamedBody;
}

interface PreparedStream {
  readonly key: string;
  readonly spec: StreamSpec;
  readonly open: OpenStream;
}

interface AdmittedStream {
  readonly reader: AdmittedReader;
  readonly opened: OpenedStream;
}

/** What the admission drew from the rate of the credential. Answers and refusals show it. */
interface Quota {
  draw: Draw | undefined;
}

interface Surface {
  readonly path: string;
  serve(request: HttpRequest, pathParams: PathParams, context: RequestContext, quota: Quota): Promise<HttpReply>;
  refuse(reason: unknown, context: RequestContext, quota: Quota): Promise<HttpReply>;
}

export function toStreamRoutes(options: StreamRoutesOptions): readonly ServedRoute[] {
  const { contract, open, gate, calls, view } = options;
  const prepared = Object.entries(contract).flatMap(([resource, streams]) =>
    Object.entries(streams).map(([name, spec]): PreparedStream => {
      const opener = open[resource]?.[name];
      if (opener === undefined) throw new Error(`stream ${resource}.${name} has no opener`);
      return { key: `${resource}.${name}`, spec, open: opener };
    }),
  );

  /** Checks credential, rate, scope, visibility and then the query. Every surface uses this order. */
  async function admit(
    { spec, open: opener }: PreparedStream,
    context: RequestContext,
    given: {
      readonly params: Readonly<Record<string, unknown>>;
      readonly ticket: string | undefined;
      readonly quota: Quota;
      query(): Readonly<Record<string, unknown>>;
    },
  ): Promise<AdmittedStream> {
    const params = spec.params.safeParse(given.params);
    const id = params.success ? (params.data as Record<string, unknown>)[spec.resource.name] : undefined;
    // An invalid id is handled like an unknown one, but only after the credential check: the gate answers both.
    const { ticket, quota } = given;
    const onDraw = (draw: Draw) => {
      quota.draw = draw;
    };
    const reader = await gate.admit(spec, context, { id: typeof id === "string" ? id : "", ticket, onDraw });
    try {
      checkApiVersion(context);
      const query = parsePart(spec.query as z.ZodType, given.query(), "query");
      return { reader, opened: await opener({ ...(params.data as object), ...(query as object) }) };
    } catch (reason) {
      reader.leave();
      throw reason;
    }
  }

  const rest = prepared.map((stream): ServedRoute => {
    const readParams = toParamReader(stream.spec.params);
    const readFields = toTextReader(stream.spec.query);
    return toRoute({
      path: stream.spec.path,
      async serve(request, pathParams, context, quota) {
        const fields = readQuery(request.query);
        const { ticket, rest: own } = takeTicket(fields);
        const admission = await admit(stream, context, {
          params: readParams(pathParams),
          ticket,
          quota,
          query() {
            if (fields === undefined) throw new AppError("bad_request", "The query must be percent-encoded UTF-8.");
            return withResume(readFields(own), request);
          },
        });
        const headers = toHeaders(context, quota.draw);
        if (admission.opened.isOver) {
          admission.reader.leave();
          // A cache may store a 204 without cache-control.
          return { status: 204, headers: { ...headers, "cache-control": "no-store" } };
        }
        if (request.method === "HEAD") return headOnly(admission, headers);
        const body = view(admission.reader, admission.opened, serverSentFormat);
        return { status: 200, headers: { ...headers, ...eventStreamHeaders }, body };
      },
      refuse: (reason, context, { draw }) => calls.refuse(reason, context, stream.key, draw),
    });
  });

  const trpc = prepared.map(
    (stream): ServedRoute =>
      toRoute({
        path: `/trpc/${stream.key}`,
        async serve(request, _pathParams, context, quota) {
          const fields = readQuery(request.query);
          const { ticket } = takeTicket(fields);
          const split = splitInput(stream.spec, fields);
          const admission = await admit(stream, context, {
            params: split.params,
            ticket: ticket ?? toConnectionTicket(fields),
            quota,
            query: () => withResume(split.query, request),
          });
          const headers = { ...toHeaders(context, quota.draw), ...eventStreamHeaders };
          if (request.method === "HEAD") return headOnly(admission, headers);
          const body = view(admission.reader, admission.opened, trpcFormat);
          return { status: 200, headers, body };
        },
        async refuse(reason, context, { draw }) {
          // An EventSource hides the status from its page. The standard tRPC client reads this event instead.
          const { problem } = await calls.refuse(reason, context, stream.key, draw);
          if (problem === undefined) throw reason;
          const { trpc: code, status } = errorRow(problem.code);
          const error: TrpcErrorShape = {
            message: problem.detail,
            code: TRPC_ERROR_CODES_BY_KEY[code],
            data: { code, httpStatus: status, path: stream.key, problem },
          };
          const headers = { ...toHeaders(context, draw), ...eventStreamHeaders };
          return { status: 200, headers, body: writeEvent({ event: "serialized-error", data: JSON.stringify(error) }) };
        },
      }),
  );
  return [...rest, ...trpc];
}

function toRoute({ path, serve, refuse }: Surface): ServedRoute {
  return {
    method: "GET",
    path,
    publicCors: false,
    async serve(request, pathParams, context) {
      const quota: Quota = { draw: undefined };
      try {
        return await serve(request, pathParams, context, quota);
      } catch (reason) {
        return isTemporary(reason, request) ? retryReply(context) : await refuse(reason, context, quota);
      }
    },
  };
}

/** The `last-event-id` header overrides `lastEventId` in the query, because an EventSource updates only the header. */
function withResume(query: Readonly<Record<string, unknown>>, request: HttpRequest): Record<string, unknown> {
  const lastEventId = request.header("last-event-id");
  return lastEventId === undefined || lastEventId === "" ? { ...query } : { ...query, lastEventId };
}

function takeTicket(fields: TextFields | undefined): { readonly ticket: string | undefined; readonly rest: TextFields } {
  const rest = new Map(fields);
  const [ticket] = rest.get("ticket") ?? [];
  rest.delete("ticket");
  return { ticket, rest };
}

/** Reads the ticket from the `connectionParams` of a tRPC client: `{ "ticket": … }`. */
function toConnectionTicket(fields: TextFields | undefined): string | undefined {
  const [text] = fields?.get("connectionParams") ?? [];
  if (text === undefined) return undefined;
  const { ticket } = (parseJson(text, "query parameter connectionParams") ?? {}) as { ticket?: unknown };
  return typeof ticket === "string" ? ticket : undefined;
}

function splitInput(spec: StreamSpec, fields: TextFields | undefined) {
  const [text = ""] = fields?.get("input") ?? [];
  const input: unknown = text === "" ? {} : parseJson(text, "query parameter input");
  if (typeof input !== "object" || input === null || Array.isArray(input))
    throw new AppError("bad_request", "The input must be an object.");
  const names = Object.keys(spec.params.shape);
  const entries = Object.entries(input);
  return {
    params: Object.fromEntries(entries.filter(([name]) => names.includes(name))),
    query: Object.fromEntries(entries.filter(([name]) => !names.includes(name))),
  };
}

function toHeaders({ requestId }: RequestContext, draw?: Draw): Record<string, string> {
  return { "x-request-id": requestId, "x-svc-api-version": apiVersion, ...(draw === undefined ? {} : toRateHeaders(draw)) };
}

/** Answers HEAD. The reader leaves here, because `leave` is otherwise called at the end of the body. */
function headOnly({ reader }: AdmittedStream, headers: Readonly<Record<string, string>>): HttpReply {
  reader.leave();
  return { status: 200, headers: { ...headers, ...eventStreamHeaders } };
}

/** True for a temporary failure (server stopping, store unavailable) that must not make an EventSource stop reconnecting. */
export function isTemporary(reason: unknown, request: HttpRequest): boolean {
  const isOutage = reason instanceof StorageUnavailableError || (reason instanceof AppError && reason.code === "unavailable");
  return isOutage && wantsEventStream(request.header("accept"));
}

export function retryReply(context: RequestContext): HttpReply {
  return { status: 200, headers: { ...toHeaders(context), ...eventStreamHeaders }, body: writeRetry(retryMs), close: true };
}

/** Returns the id that the contract has validated. Throws `not_found` if it is not a string. */
export function idOf(input: Readonly<Record<string, unknown>>, name: string): string {
  const id = input[name];
  if (typeof id !== "string") throw notFound();
  return id;
}
