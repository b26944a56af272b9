/**
 * Builds the OpenAPI 3.0.0 document of the contract.
 *
 * All content comes from the operations themselves. What all operations share (credentials, headers, problems) is
 * written once, as components.
 */
import type { z } from "zod";
import {
  bytes,
  type Contract,
  type Form,
  mediaOf,
  type OperationSpec,
  type ReplyBody,
  type StreamContract,
  type StreamSpec,
} from "../contract/operation.ts";
import { type ErrorCode, errorRow, errorTable, Problem } from "../schema/error.ts";
import { toExample } from "./openApiExamples.ts";
import { refusalHeaders, replyHeaders, requestHeaders, resumeHeader, ticketParameter, toSharedHeaders } from "./openApiHeaders.ts";
import { createSchemaRegistry, type SchemaObject, type SchemaRegistry } from "./openApiSchemas.ts";

export interface OpenApiOptions {
  readonly baseUrl: string;
  /** Description of each resource of the contract, in one sentence. */
  readonly resourceDescriptions: Readonly<Record<string, string>>;
}

type Json = Record<string, unknown>;

const description = [
  "Articles that several people and programs edit at the same time, with their commits, public pages and webhooks. Content topics on their way from",
  "an idea to a draft, with approvals and an audit trail. Runs of agents that write outlines and drafts into the live article, step by step.",
  "\n\nSend an API key as `x-api-key`, or an access token as `Authorization: Bearer`. Bodies are JSON, and a body with an unknown field is refused.",
  "Every refusal is a problem (RFC 9457) whose `code` says what is wrong. Times are Unix seconds with fractions, or ISO 8601 text where",
  "the description of the field says so. Every operation except those of `/auth/web-session` can also be called over tRPC at `/trpc`, under its `operationId`.",
].join(" ");

/** Error statuses that every operation may return, in addition to its own. */
const commonStatuses = [400, 401, 403, 404, 413, 422, 429, 500, 503] as const;

const reference = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

export function toOpenApi(contract: Contract, streams: StreamContract, { baseUrl, resourceDescriptions }: OpenApiOptions): Json {
  const registry = createSchemaRegistry();
  const problem = registry.add(Problem, "output");
  const paths: Record<string, Json> = {};
  for (const [resource, operations] of Object.entries(contract)) {
    for (const [name, spec] of Object.entries(operations)) {
      const path = paths[spec.path] ?? {};
      path[spec.method.toLowerCase()] = toOperation(`${resource}.${name}`, resource, spec, registry, problem);
      paths[spec.path] = path;
    }
  }
  for (const [resource, specs] of Object.entries(streams)) {
    for (const [name, spec] of Object.entries(specs)) {
      paths[spec.path] = { get: toStreamOperation(`${resource}.${name}`, resource, spec, registry) };
    }
  }
  return {
    openapi: "3.0.0",
    info: {
      title: "Content Workspace Service API",
      version: "2026-11-01",
      description,
      contact: { name: "The operator of this server", url: baseUrl },
      license: { name: "Proprietary", url: baseUrl },
    },
    servers: [{ url: baseUrl }],
    tags: Object.keys(contract).map((name) => ({ name, description: resourceDescriptions[name] })),
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: "apiKey", in: "header", name: "x-api-key", description: "An API key, created with `POST /api-keys`." },
        accessToken: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "The access token of `POST /auth/token`." },
        webSession: { type: "apiKey", in: "cookie", name: "svc_session", description: "The cookie of `POST /auth/web-session`." },
      },
      parameters: requestHeaders,
      headers: replyHeaders,
      responses: toProblemResponses(problem),
      examples: toSharedExamples(paths, registry),
      schemas: sorted(registry.components),
    },
  };
}

function toOperation(key: string, tag: string, spec: OperationSpec, registry: SchemaRegistry, problem: SchemaObject): Json {
  const parameters = [
    ...toParameters(spec.params, "path", registry),
    ...toParameters(spec.query, "query", registry),
    ...toHeaderParameters(spec).map((name) => reference("parameters", name)),
  ];
  const body = toRequestBody(spec, registry);
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
      ...Object.fromEntries(
        Object.entries(spec.replies).map(([status, reply]) => [status, toResponse(spec, Number(status), reply, registry)]),
      ),
      ...(takesIfNoneMatch(spec) ? { 304: toResponse(spec, 304, null, registry) } : {}),
      ...toRefusals(spec, problem),
    },
  };
}

/**
 * OpenAPI cannot describe streams. The answer is declared as text, and `x-svc-event` is the schema of the event data.
 */
function toStreamOperation(key: string, tag: string, spec: StreamSpec, registry: SchemaRegistry): Json {
  const event = registry.add(spec.event, "output");
  return {
    operationId: key,
    tags: [tag],
    summary: spec.summary,
    ...(spec.description === undefined ? {} : { description: spec.description }),
    security: [{ apiKey: [] }, { accessToken: [] }, {}],
    "x-svc-scopes": spec.scopes,
    parameters: [
      ...toParameters(spec.params, "path", registry),
      ...toParameters(spec.query, "query", registry),
      ticketParameter,
      resumeHeader,
      reference("parameters", "requestId"),
    ],
    responses: {
      200: {
        description:
          "Server-sent events. `data` of each is an event as one line of JSON; `stream.reset` and `stream.end` are events of the stream itself.",
        content: { "text/event-stream": { schema: { type: "string" }, example: toEventText(spec, toExample(event, registry.components)) } },
        "x-svc-event": event,
      },
      204: { description: "The run has ended, or the article is in the trash, and the reader has all events." },
      ...Object.fromEntries([400, 401, 403, 404, 422, 429, 500, 503].map((status) => [status, reference("responses", `Problem${status}`)])),
    },
  };
}

/** Returns an event as it is sent. Which field is the resume token depends on the stream. */
function toEventText({ resource }: StreamSpec, example: unknown): string {
  const { id, cursor, event } = example as { id: string; cursor: string; event: string };
  return `id: ${resource.kind === "workspace" ? cursor : id}\nevent: ${event}\ndata: ${JSON.stringify(example)}\n\n`;
}

function toSecurity({ credential, webSession }: OperationSpec): Json[] {
  if (webSession === "renew") return [{ webSession: [] }];
  if (webSession === "end") return [{ webSession: [] }, {}];
  if (credential === "none") return [];
  return credential === "any" ? [{ apiKey: [] }, { accessToken: [] }] : [{ accessToken: [] }];
}

function toParameters(schema: z.ZodObject | undefined, place: "path" | "query", registry: SchemaRegistry): Json[] {
  return Object.entries(schema?.shape ?? {}).map(([name, field]) => {
    const { description, example, ...schema } = registry.add(field as z.ZodType, "input");
    const required = !(field as z.ZodType).safeParse(undefined).success;
    const [only] = Array.isArray(schema.allOf) ? schema.allOf : [];
    return { name, in: place, required, description, ...(example === undefined ? {} : { example }), schema: only ?? schema };
  });
}

function toHeaderParameters(spec: OperationSpec): string[] {
  const names = ["requestId", "apiVersion", "traceparent"];
  if (takesIdempotencyKey(spec)) names.push("idempotencyKey");
  if (spec.prefersWait === true) names.push("prefer");
  if (spec.ifMatch === true) names.push("ifMatch");
  if (takesIfNoneMatch(spec)) names.push("ifNoneMatch");
  if (spec.webSession === "renew") names.push("web");
  return names;
}

function takesIfNoneMatch({ method, replyHeaders }: OperationSpec): boolean {
  return method === "GET" && replyHeaders?.etag !== undefined;
}

function takesIdempotencyKey({ method, credential }: OperationSpec): boolean {
  return (method === "POST" || method === "PATCH") && credential !== "none";
}

function toRequestBody(spec: OperationSpec, registry: SchemaRegistry): Json | undefined {
  if (spec.bodies === undefined) return undefined;
  const content = Object.entries(spec.bodies).map(([mediaType, schema]) => {
    const example = mediaType === "application/json" && spec.example !== undefined ? { example: spec.example } : {};
    const written = schema !== bytes && "fields" in schema ? toForm(schema, registry) : toMedia(schema, "input", registry);
    return [mediaType, { schema: written, ...example }];
  });
  return { required: spec.bodyOptional !== true, content: Object.fromEntries(content) };
}

/** OpenAPI sends a part whose schema is an object as JSON, as the server reads it. */
function toForm({ fields, file }: Form, registry: SchemaRegistry): SchemaObject {
  const { properties, required = [], ...rest } = registry.add(fields, "input") as { properties: object; required?: string[] };
  const part = { type: "string", format: "binary", description: file };
  return { ...rest, properties: { file: part, ...properties }, required: ["file", ...required] };
}

function toMedia(schema: z.ZodType | typeof bytes, io: "input" | "output", registry: SchemaRegistry): SchemaObject {
  return schema === bytes ? { type: "string", format: "binary" } : registry.add(schema, io);
}

function toResponse(spec: OperationSpec, status: number, reply: ReplyBody, registry: SchemaRegistry): Json {
  const own = Object.entries(spec.replyHeaders ?? {}).map(([name, description]) => [name, { description, schema: { type: "string" } }]);
  const more = [...(takesIdempotencyKey(spec) ? ["idempotency-replayed"] : []), ...(status === 201 ? ["location"] : [])];
  const headers = { ...toSharedHeaders(more), ...Object.fromEntries(own) };
  const description = errorlessStatus[status] ?? "Done";
  if (reply === null) return { description, headers };
  const content = Object.entries(mediaOf(reply)).map(([mediaType, schema]) => {
    const written = schema === bytes && mediaType === "application/json" ? anyJson : toMedia(schema, "output", registry);
    return [mediaType, { schema: written, ...toReplyExample(mediaType, written) }];
  });
  return { description, headers, content: Object.fromEntries(content) };
}

/** JSON that is returned as it was stored; the contract does not define its schema. */
const anyJson = {};

const errorlessStatus: Readonly<Record<number, string>> = {
  200: "Done.",
  201: "Created.",
  202: "Accepted; the work continues.",
  204: "Done; the answer has no body.",
  304: "The caller's copy is current.",
};

/**
 * Refers to a shared example, because several operations return the same schema. Bytes have no example unless they are
 * text.
 */
function toReplyExample(mediaType: string, { $ref }: SchemaObject): Json {
  if (typeof $ref !== "string") {
    const example = textExamples[mediaType];
    return example === undefined ? {} : { example };
  }
  const name = $ref.slice(schemaPrefix.length);
  return { examples: { [name]: reference("examples", name) } };
}

const textExamples: Readonly<Record<string, string>> = {
  "text/markdown": "# How a draft survives\n\nIt is written to disk first.\n",
  "text/html": "<h1>How a draft survives</h1>\n<p>It is written to disk first.</p>\n",
  "text/plain": "How a draft survives\n\nIt is written to disk first.\n",
};

const schemaPrefix = "#/components/schemas/";

/** The examples that replies refer to, by schema name. */
function toSharedExamples(paths: Json, { components }: SchemaRegistry): Json {
  const named = [...new Set([...JSON.stringify(paths).matchAll(/#\/components\/examples\/(\w+)/g)].map(([, name = ""]) => name))];
  return Object.fromEntries(named.sort().map((name) => [name, { value: toExample(components[name] ?? {}, components) }]));
}

/** Codes of a change that is refused while its article is in the trash. */
function refusedInTrash({ method, resource }: OperationSpec): readonly ErrorCode[] {
  const needsLive = (resource?.kind === "article" || resource?.kind === "review") && resource.deleted === undefined;
  return needsLive && method !== "GET" ? ["invalid_transition"] : [];
}

function toRefusals(spec: OperationSpec, problem: SchemaObject): Json {
  const own = new Map<number, ErrorCode[]>();
  const add = (code: ErrorCode) => {
    const { status } = errorRow(code);
    own.set(status, [...(own.get(status) ?? []), code]);
  };
  for (const code of new Set([...(spec.errors ?? []), ...refusedInTrash(spec)])) add(code);
  if (spec.bodies !== undefined) add("unsupported_media_type");
  if (takesIdempotencyKey(spec)) add("idempotency_in_progress");
  if (spec.ifMatch === true) add("precondition_failed");
  if (spec.method !== "GET") add("disk_full");
  const refusals: Record<string, unknown> = {};
  for (const status of commonStatuses) refusals[status] = reference("responses", `Problem${status}`);
  for (const [status, codes] of own) {
    const common = (commonStatuses as readonly number[]).includes(status);
    const description = `${codes.join(", ")}${common ? ", or any error that every operation may return" : ""}`;
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

function sorted(record: Readonly<Record<string, SchemaObject>>): Json {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
