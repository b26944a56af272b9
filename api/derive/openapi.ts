/**
 * The OpenAPI 3.0.0 document of the contract. Everything in it comes from the operations themselves; what all of them
 * share (credentials, headers, problems) is written once, as components.
 */
import { z } from "zod";
import { bytes, type Contract, type OperationSpec, type ReplyBody, type StreamContract, type StreamSpec } from "../operation.ts";
import { type ErrorCode, errorRow, errorTable, Problem } from "../schema/error.ts";
import { createSchemaBook, type SchemaBook, type SchemaObject } from "./openApiSchemas.ts";

export interface OpenApiOptions {
  readonly baseUrl: string;
}

type Json = Record<string, unknown>;

const description = [
  "Articles that several people and programs write at once, their commits, public pages and webhooks; content topics on their way from an",
  "idea to a draft, with approvals and an audit; and the runs of agents that write outlines and drafts into the live article, step by step,",
  "each on a timeline that is streamed as it happens (server-sent events, tRPC subscriptions) and resumed without a gap.",
].join(" ");

/** The refusals any operation may answer, besides its own. */
const commonStatuses = [400, 401, 403, 404, 413, 422, 429, 500, 503] as const;

const reference = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

export function toOpenApi(contract: Contract, streams: StreamContract, { baseUrl }: OpenApiOptions): Json {
  const book = createSchemaBook();
  const problem = book.add(Problem, "output");
  const paths: Record<string, Json> = {};
  for (const [resource, operations] of Object.entries(contract)) {
    for (const [name, spec] of Object.entries(operations)) {
      const path = paths[spec.path] ?? {};
      path[spec.method.toLowerCase()] = toOperation(`${resource}.${name}`, resource, spec, book, problem);
      paths[spec.path] = path;
    }
  }
  for (const [resource, specs] of Object.entries(streams)) {
    for (const [name, spec] of Object.entries(specs)) {
      paths[spec.path] = { get: toStreamOperation(`${resource}.${name}`, resource, spec, book) };
    }
  }
  return {
    openapi: "3.0.0",
    info: {
      title: "Content Workspace Service API",
      version: "2026-11-01",
      description,
    },
    servers: [{ url: baseUrl }],
    tags: Object.keys(contract).map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
        accessToken: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
      },
      parameters: requestHeaders,
      headers: replyHeaders,
      responses: toProblemResponses(problem),
      schemas: sorted(book.components),
    },
  };
}

function toOperation(key: string, tag: string, spec: OperationSpec, book: SchemaBook, problem: SchemaObject): Json {
  const parameters = [
    ...toParameters(spec.params, "path", book),
    ...toParameters(spec.query, "query", book),
    ...toHeaderParameters(spec).map((name) => reference("parameters", name)),
  ];
  const body = toRequestBody(spec, book);
  return {
    operationId: key,
    tags: [tag],
    summary: spec.summary,
    ...(spec.description === undefined ? {} : { description: spec.description }),
    security: toSecurity(spec),
    ...(spec.scopes === undefined ? {} : { "x-svc-scopes": spec.scopes }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: {
      ...Object.fromEntries(Object.entries(spec.replies).map(([status, reply]) => [status, toResponse(spec, Number(status), reply, book)])),
      ...toRefusals(spec, problem),
    },
  };
}

/** OpenAPI knows no streams: the answer is text, and what its events carry is told beside it. */
function toStreamOperation(key: string, tag: string, spec: StreamSpec, book: SchemaBook): Json {
  const resumeHeader = {
    name: "last-event-id",
    in: "header",
    required: false,
    description: "`id` of the last event the reader has",
    schema: text,
  };
  const ticket = {
    name: "ticket",
    in: "query",
    required: false,
    description: "A stream ticket, where no header can be sent",
    schema: text,
  };
  return {
    operationId: key,
    tags: [tag],
    summary: spec.summary,
    ...(spec.description === undefined ? {} : { description: spec.description }),
    security: [{ apiKey: [] }, { accessToken: [] }, {}],
    "x-svc-scopes": spec.scopes,
    parameters: [
      ...toParameters(spec.params, "path", book),
      ...toParameters(spec.query, "query", book),
      ticket,
      resumeHeader,
      reference("parameters", "requestId"),
    ],
    responses: {
      200: {
        description: "Server-sent events: `data` of each is one of these, as one line of JSON; `stream.reset` and `stream.end` besides",
        content: { "text/event-stream": { schema: text } },
        "x-svc-event": book.add(spec.event, "output"),
      },
      204: { description: "The reader has all of a run that is over" },
      ...Object.fromEntries([400, 401, 403, 404, 422, 429, 500, 503].map((status) => [status, reference("responses", `Problem${status}`)])),
    },
  };
}

function toSecurity({ credential }: OperationSpec): Json[] {
  if (credential === "none") return [];
  return credential === "any" ? [{ apiKey: [] }, { accessToken: [] }] : [{ accessToken: [] }];
}

function toParameters(schema: z.ZodObject | undefined, place: "path" | "query", book: SchemaBook): Json[] {
  return Object.entries(schema?.shape ?? {}).map(([name, field]) => {
    const { description, ...written } = book.add(field as z.ZodType, "input");
    const required = !(field as z.ZodType).safeParse(undefined).success;
    return { name, in: place, required, ...(description === undefined ? {} : { description }), schema: written };
  });
}

function toHeaderParameters(spec: OperationSpec): string[] {
  const names = ["requestId", "apiVersion", "traceparent"];
  if (takesIdempotencyKey(spec)) names.push("idempotencyKey");
  if (spec.ifMatch === true) names.push("ifMatch");
  if (spec.method === "GET" && spec.replyHeaders?.etag !== undefined) names.push("ifNoneMatch");
  return names;
}

function takesIdempotencyKey({ method, credential }: OperationSpec): boolean {
  return (method === "POST" || method === "PATCH") && credential !== "none";
}

function toRequestBody(spec: OperationSpec, book: SchemaBook): Json | undefined {
  if (spec.bodies === undefined) return undefined;
  const content = Object.entries(spec.bodies).map(([mediaType, schema]) => {
    const example = mediaType === "application/json" && spec.example !== undefined ? { example: spec.example } : {};
    return [mediaType, { schema: toMedia(schema, "input", book), ...example }];
  });
  return { required: spec.bodyOptional !== true, content: Object.fromEntries(content) };
}

function toMedia(schema: z.ZodType | typeof bytes, io: "input" | "output", book: SchemaBook): SchemaObject {
  return schema === bytes ? { type: "string", format: "binary" } : book.add(schema, io);
}

function toResponse(spec: OperationSpec, status: number, reply: ReplyBody, book: SchemaBook): Json {
  const own = Object.entries(spec.replyHeaders ?? {}).map(([name, description]) => [name, { description, schema: { type: "string" } }]);
  const more = [...(takesIdempotencyKey(spec) ? ["idempotency-replayed"] : []), ...(status === 201 ? ["location"] : [])];
  const headers = { ...toSharedHeaders(more), ...Object.fromEntries(own) };
  const description = errorlessStatus[status] ?? "Done";
  if (reply === null) return { description, headers };
  const media = reply instanceof z.ZodType ? { "application/json": reply } : reply.media;
  const content = Object.entries(media).map(([mediaType, schema]) => [mediaType, { schema: toMedia(schema, "output", book) }]);
  return { description, headers, content: Object.fromEntries(content) };
}

const errorlessStatus: Readonly<Record<number, string>> = {
  200: "Done",
  201: "Created",
  202: "Accepted; the work goes on",
  204: "Done; there is nothing to say",
};

function toRefusals(spec: OperationSpec, problem: SchemaObject): Json {
  const own = new Map<number, ErrorCode[]>();
  const add = (code: ErrorCode) => {
    const { status } = errorRow(code);
    own.set(status, [...(own.get(status) ?? []), code]);
  };
  for (const code of spec.errors ?? []) add(code);
  if (spec.bodies !== undefined) add("unsupported_media_type");
  if (takesIdempotencyKey(spec)) add("idempotency_in_progress");
  if (spec.ifMatch === true) add("precondition_failed");
  if (spec.method !== "GET") add("disk_full");
  const refusals: Record<string, unknown> = {};
  for (const status of commonStatuses) refusals[status] = reference("responses", `Problem${status}`);
  for (const [status, codes] of own) {
    const common = (commonStatuses as readonly number[]).includes(status);
    const description = `${codes.join(", ")}${common ? ", or as any operation may answer" : ""}`;
    refusals[status] = {
      description,
      headers: toSharedHeaders(refusalHeaders[status]),
      content: { "application/problem+json": { schema: problem } },
    };
  }
  return refusals;
}

function toProblemResponses(problem: SchemaObject): Json {
  return Object.fromEntries(
    commonStatuses.map((status) => {
      const codes = [...errorTable.values()].filter((row) => row.status === status).map((row) => row.code);
      const headers = toSharedHeaders(refusalHeaders[status]);
      return [`Problem${status}`, { description: codes.join(", "), headers, content: { "application/problem+json": { schema: problem } } }];
    }),
  );
}

/** Headers of every answer, and those that it has besides. */
function toSharedHeaders(more: readonly string[] = []): Json {
  return Object.fromEntries([...everyReply, ...more].map((name) => [name, reference("headers", name)]));
}

const everyReply = ["x-request-id", "x-svc-api-version", "ratelimit-policy", "ratelimit"];

const refusalHeaders: Readonly<Record<number, readonly string[]>> = {
  401: ["www-authenticate"],
  429: ["retry-after"],
  503: ["retry-after"],
};

const text = { type: "string" };

const requestHeaders = {
  requestId: { name: "x-request-id", in: "header", required: false, description: "Echoed in the answer; made when absent", schema: text },
  apiVersion: {
    name: "x-svc-api-version",
    in: "header",
    required: false,
    description: "Version of the API the caller was written for",
    schema: { type: "string", enum: ["2026-11-01"] },
  },
  traceparent: { name: "traceparent", in: "header", required: false, description: "W3C trace context", schema: text },
  idempotencyKey: {
    name: "idempotency-key",
    in: "header",
    required: false,
    description: "A repeat of the same request with the same key has one outcome and gets the same answer",
    schema: { type: "string", minLength: 1, maxLength: 255 },
  },
  ifMatch: {
    name: "if-match",
    in: "header",
    required: false,
    description: "Entity tag of the record as last read; 412 when it has changed since",
    schema: text,
  },
  ifNoneMatch: {
    name: "if-none-match",
    in: "header",
    required: false,
    description: "Entity tag of the caller's copy; 304 when that is still the newest",
    schema: text,
  },
};

const replyHeaders = {
  "x-request-id": { description: "Id of the request, also in the server's log", schema: text },
  "x-svc-api-version": { description: "Version of the API that was used", schema: text },
  "ratelimit-policy": { description: 'The caller\'s quota: `"default";q=<count>;w=<seconds>`', schema: text },
  ratelimit: { description: 'What is left of it: `"default";r=<requests>;t=<seconds until full>`', schema: text },
  location: { description: "Address of what was made, where it has one", schema: text },
  "retry-after": { description: "Seconds until a repeat makes sense", schema: text },
  "www-authenticate": { description: "How to send a credential", schema: text },
  "idempotency-replayed": { description: "`true` when this answer was given before, to the same Idempotency-Key", schema: text },
};

function sorted(record: Readonly<Record<string, SchemaObject>>): Json {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
