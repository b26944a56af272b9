/**
 * Live streams over HTTP: server-sent events under the paths of the contract, and the same as tRPC subscriptions. Both
 * take their parts from the same places and admit in the same order; only the frames differ.
 *
 * A stream ends when its reader goes, loses access, or the server stops; clients then come again with the last event
 * they have. After the end of a run a stock EventSource would come again for ever: its resume is answered with 204.
 */
import { TRPC_ERROR_CODES_BY_KEY } from "@trpc/server/rpc";
import type { z } from "zod";
import { readQuery, type TextFields, toParamReader, toTextReader } from "../../api/derive/rest.ts";
import type { TrpcErrorShape } from "../../api/derive/trpc.ts";
import type { StreamContract, StreamSpec } from "../../api/operation.ts";
import { AppError, errorRow, notFound } from "../../api/schema/error.ts";
import type { Clock } from "../../realtime/ports.ts";
import { parsePart } from "../calls/findings.ts";
import { parseJson } from "../calls/jsonBody.ts";
import { apiVersion, checkApiVersion, type RequestContext } from "../calls/requestContext.ts";
import { type ServedRoute, toHttpReply } from "../calls/restHttp.ts";
import type { Calls } from "../calls/wrapper.ts";
import type { HttpReply, HttpRequest } from "../host/port.ts";
import type { PathParams } from "../host/router.ts";
import { StorageUnavailableError } from "../storage/port.ts";
import { comeAgain, eventStreamHeaders, type ServerSentEvent, wantsEventStream, withLifeSigns, writeEvent } from "./eventStream.ts";
import type { OpenedStream, StreamItem } from "./port.ts";
import type { AdmittedReader, StreamGate } from "./streamGate.ts";

/** Opens a stream of the contract for input that was checked. */
export type OpenStream = (input: Readonly<Record<string, unknown>>) => Promise<OpenedStream>;

export interface StreamRoutesOptions {
  readonly contract: StreamContract;
  /** In the shape of the contract. */
  readonly open: { readonly [resource: string]: { readonly [stream: string]: OpenStream } };
  readonly gate: StreamGate;
  readonly calls: Pick<Calls, "refuse">;
  readonly clock: Clock;
}

const lifeSignMs = 15_000;
/** Clients wait as long before they come again. */
const retryMs = 2000;

interface PreparedStream {
  readonly key: string;
  readonly spec: StreamSpec;
  readonly open: OpenStream;
}

interface Admission {
  readonly reader: AdmittedReader;
  readonly opened: OpenedStream;
}

export function toStreamRoutes(options: StreamRoutesOptions): readonly ServedRoute[] {
  const { contract, open, gate, calls, clock } = options;
  const prepared = Object.entries(contract).flatMap(([resource, streams]) =>
    Object.entries(streams).map(([name, spec]): PreparedStream => {
      const opener = open[resource]?.[name];
      if (opener === undefined) throw new Error(`nothing opens the stream ${resource}.${name}`);
      return { key: `${resource}.${name}`, spec, open: opener };
    }),
  );

  /** Credential, rate, scope, visibility, then the query: the order of every surface. */
  async function admit(
    { spec, open: opener }: PreparedStream,
    context: RequestContext,
    given: {
      readonly params: Readonly<Record<string, unknown>>;
      readonly ticket: string | undefined;
      readonly gone: AbortSignal;
      query(): Readonly<Record<string, unknown>>;
    },
  ): Promise<Admission> {
    const params = spec.params.safeParse(given.params);
    const id = params.success ? (params.data as Record<string, unknown>)[spec.resource.name] : undefined;
    // An id that cannot exist is one that does not: but who asks is asked first.
    const reader = await gate.admit(spec, context, { id: typeof id === "string" ? id : "", ticket: given.ticket, gone: given.gone });
    try {
      checkApiVersion(context);
      const query = parsePart(spec.query as z.ZodType, given.query(), "query");
      return { reader, opened: await opener({ ...(params.data as object), ...(query as object) }) };
    } catch (reason) {
      reader.leave();
      throw reason;
    }
  }

  async function* toText(
    { reader, opened }: Admission,
    head: string,
    sign: string,
    toEvent: (item: StreamItem) => ServerSentEvent,
  ): AsyncGenerator<string> {
    async function* events(): AsyncGenerator<string> {
      yield head;
      for await (const item of opened.items(reader.signal)) yield writeEvent(toEvent(item));
    }
    try {
      yield* withLifeSigns(events(), sign, lifeSignMs, clock);
    } catch (reason) {
      // The store does not answer: the reader comes again, and goes on from what it has.
      if (!(reason instanceof StorageUnavailableError)) throw reason;
    } finally {
      reader.leave();
    }
  }

  const rest = prepared.map((stream): ServedRoute => {
    const readParams = toParamReader(stream.spec.params);
    const readFields = toTextReader(stream.spec.query);
    return {
      method: "GET",
      path: stream.spec.path,
      publicCors: false,
      async serve(request: HttpRequest, pathParams: PathParams, context: RequestContext): Promise<HttpReply> {
        try {
          const fields = readQuery(request.query);
          const { ticket, rest: own } = takeTicket(fields);
          const admission = await admit(stream, context, {
            params: readParams(pathParams),
            ticket,
            gone: request.signal,
            query() {
              if (fields === undefined) throw new AppError("bad_request", "The query must be percent-encoded UTF-8.");
              return withResume(readFields(own), request);
            },
          });
          const headers = toHeaders(context, admission.reader);
          if (admission.opened.isOver) {
            admission.reader.leave();
            // Caches may keep a 204 that says nothing of it.
            return { status: 204, headers: { ...headers, "cache-control": "no-store" } };
          }
          if (request.method === "HEAD") return headOnly(admission, headers);
          const body = toText(admission, comeAgain(retryMs), ": still here\n\n", toServerSent);
          return { status: 200, headers: { ...headers, ...eventStreamHeaders }, body };
        } catch (reason) {
          if (isToComeAgain(reason, request)) return comeAgainReply(context);
          return toHttpReply(await calls.refuse(reason, context, stream.key));
        }
      },
    };
  });

  const trpc = prepared.map(
    (stream): ServedRoute => ({
      method: "GET",
      path: `/trpc/${stream.key}`,
      publicCors: false,
      async serve(request: HttpRequest, _params: PathParams, context: RequestContext): Promise<HttpReply> {
        try {
          const fields = readQuery(request.query);
          const { ticket } = takeTicket(fields);
          const split = splitInput(stream.spec, fields);
          const admission = await admit(stream, context, {
            params: split.params,
            ticket: ticket ?? toConnectionTicket(fields),
            gone: request.signal,
            query: () => withResume(split.query, request),
          });
          const headers = { ...toHeaders(context, admission.reader), ...eventStreamHeaders };
          if (request.method === "HEAD") return headOnly(admission, headers);
          const head = writeEvent({ event: "connected", data: "{}" });
          const body = toText(admission, head, writeEvent({ event: "ping", data: "" }), toTrpcEvent);
          return { status: 200, headers, body };
        } catch (reason) {
          if (isToComeAgain(reason, request)) return comeAgainReply(context);
          // An EventSource tells its page nothing of a status; the stock client reads this event.
          const { problem } = await calls.refuse(reason, context, stream.key);
          if (problem === undefined) throw reason;
          const { trpc: code, status } = errorRow(problem.code);
          const error: TrpcErrorShape = {
            message: problem.detail,
            code: TRPC_ERROR_CODES_BY_KEY[code],
            data: { code, httpStatus: status, path: stream.key, problem },
          };
          const headers = { ...toHeaders(context), ...eventStreamHeaders };
          return { status: 200, headers, body: writeEvent({ event: "serialized-error", data: JSON.stringify(error) }) };
        }
      },
    }),
  );
  return [...rest, ...trpc];
}

/** The last event that the client itself names in its header goes before what its address says. */
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

/** `connectionParams` of a tRPC client: `{ "ticket": … }`. */
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

function toHeaders({ requestId }: RequestContext, reader?: AdmittedReader): Record<string, string> {
  const policy = reader === undefined || reader.ratePolicy === "" ? {} : { "ratelimit-policy": reader.ratePolicy };
  return { "x-request-id": requestId, "x-svc-api-version": apiVersion, ...policy };
}

/** HEAD: nobody reads a body, and so nobody would leave. */
function headOnly({ reader }: Admission, headers: Readonly<Record<string, string>>): HttpReply {
  reader.leave();
  return { status: 200, headers: { ...headers, ...eventStreamHeaders } };
}

/** A server that stops, or a store that does not answer, must not end a reader that would come again. */
function isToComeAgain(reason: unknown, request: HttpRequest): boolean {
  const isPassing = reason instanceof StorageUnavailableError || (reason instanceof AppError && reason.code === "unavailable");
  return isPassing && wantsEventStream(request.header("accept"));
}

function comeAgainReply(context: RequestContext): HttpReply {
  return { status: 200, headers: { ...toHeaders(context), ...eventStreamHeaders }, body: comeAgain(retryMs), close: true };
}

function toServerSent(item: StreamItem): ServerSentEvent {
  switch (item.kind) {
    case "event":
      return { event: item.event.event, id: item.token, data: JSON.stringify(item.event) };
    case "reset":
      return { event: "stream.reset", id: item.token, data: JSON.stringify({ snapshot: item.snapshot }) };
    case "position":
      return { event: "stream.position", id: item.token, data: "" };
    case "end":
      return { event: "stream.end", data: "{}" };
  }
}

function toTrpcEvent(item: StreamItem): ServerSentEvent {
  switch (item.kind) {
    case "event":
      return { id: item.token, data: JSON.stringify(item.event) };
    case "reset":
      return { id: item.token, data: JSON.stringify({ event: "stream.reset", data: { snapshot: item.snapshot } }) };
    case "position":
      return { event: "restore-id", id: item.token, data: "" };
    case "end":
      return { event: "return", data: "" };
  }
}

/** For openers: an id that the contract has checked. */
export function idOf(input: Readonly<Record<string, unknown>>, name: string): string {
  const id = input[name];
  if (typeof id !== "string") throw notFound();
  return id;
}
