/**
 * `prepareOperations` computes, for each operation of the contract, everything that does not change between calls.
 *
 * Limits are looked up once, at the start. Contradictions in the contract throw here, so they stop the start instead of
 * failing single calls. Schemas are compiled when an operation needs them first: compiling all of them took 40 % of the
 * processor time of a start. `compileInPauses` does it ahead of most first calls.
 */
import { z } from "zod";
import {
  bytes,
  type Contract,
  type Form,
  jsonOf,
  mediaOf,
  type OperationSpec,
  type RateCondition,
  type ReplyBody,
  type Role,
} from "../../../api/contract/operation.ts";
import { fieldNames, type InputParts, toInputSplitter } from "../../../api/derive/input.ts";
import type { Limits } from "../../../api/limits.ts";
import type { Call, CallReply, Handlers } from "../../domain/call/call.ts";
import type { Part } from "../../domain/call/findings.ts";
import { toCompiled, toJsonWriter } from "./compiledSchemas.ts";
import { deriveReply } from "./derivedReply.ts";
import type { JsonWriter } from "./jsonWriter.ts";
import type { RateField } from "./rateLimits.ts";

/** Parsed parts of a request that a handler receives. */
export interface PreparedRequest {
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly body: unknown;
  readonly accept: readonly string[];
  readonly refreshCookie?: string | undefined;
}

/** Handler without its specific types. The type `Handlers` has already checked them against the contract. */
export interface PreparedHandler {
  serve(request: PreparedRequest, call: Call): Promise<unknown>;
  reply(value: unknown, request: PreparedRequest): CallReply;
}

/** Allowed reply bodies of one status: none, JSON, or bytes with one of `rawMediaTypes`. */
export interface PreparedReply {
  readonly json?: { readonly mediaType: string; readonly schema: z.ZodType; readonly write: JsonWriter };
  readonly rawMediaTypes: readonly string[];
}

export interface PreparedForm {
  readonly fields: z.ZodObject;
  /** Names of the fields that are sent as JSON. */
  readonly jsonFields: readonly string[];
  readonly maxFileBytes: number;
  /** Limit of the whole body: the file, and room for the other parts. */
  readonly maxBodyBytes: number;
}

export interface PreparedOperation {
  /** Key path in the contract, such as `articles.get`. */
  readonly key: string;
  readonly spec: OperationSpec;
  readonly handler: PreparedHandler;
  readonly rates: readonly RateField[];
  /** Additional rate bucket. It is drawn from only if the body meets `when`. */
  readonly bodyRate?: { readonly field: RateField; readonly when: RateCondition };
  readonly params: z.ZodObject | undefined;
  readonly query: z.ZodObject;
  readonly takesJson: boolean;
  /** Schema of the JSON body; undefined if the operation takes no JSON body. */
  readonly body: z.ZodType | undefined;
  /** Media types of request bodies that are bytes instead of JSON. */
  readonly rawBodies: readonly string[];
  /** The form that the operation takes instead of JSON. */
  readonly form: PreparedForm | undefined;
  readonly bodyOptional: boolean;
  /** Limit of a body that is not a form. */
  readonly maxBodyBytes: number;
  /** True if the resource id or the rate condition is in the body, so the body must be read before those checks. */
  readonly needsBodyEarly: boolean;
  /** Top-level members of the body that are free-form objects. */
  readonly freeForm: readonly string[];
  /** Names of the path and query fields, with their place. An error message uses it when such a name is in the body. */
  readonly elsewhere: ReadonlyMap<string, Part>;
  readonly takesIdempotencyKey: boolean;
  readonly roleRank: number;
  readonly replies: ReadonlyMap<number, PreparedReply>;
  /** Media types that the caller may choose from. `json` is the one with a schema. Undefined without negotiation. */
  readonly negotiable: { readonly mediaTypes: readonly string[]; readonly json: string } | undefined;
  split(input: Readonly<Record<string, unknown>>): InputParts;
}

const noFields = z.strictObject({});

const roleRanks: Readonly<Record<Role, number>> = { read: 0, write: 1, admin: 2, owner: 3 };

export function rankOf(role: Role): number {
  return roleRanks[role];
}

export function prepareOperations<C extends Contract>(
  contract: C,
  handlers: Handlers<C>,
  limits: Limits,
): ReadonlyMap<string, PreparedOperation> {
  const prepared = new Map<string, PreparedOperation>();
  for (const [resource, operations] of Object.entries(contract)) {
    for (const [name, spec] of Object.entries(operations)) {
      const key = `${resource}.${name}`;
      const handler = (handlers[resource] as unknown as Record<string, PreparedHandler | PreparedHandler["serve"]> | undefined)?.[name];
      if (handler === undefined) throw new Error(`operation ${key} has no handler`);
      const own = typeof handler === "function" ? { serve: handler, reply: deriveReply(key, spec) } : handler;
      prepared.set(key, prepare(key, spec, own, limits));
    }
  }
  return prepared;
}

function prepare(key: string, spec: OperationSpec, handler: PreparedHandler, limits: Limits): PreparedOperation {
  const writes = spec.method !== "GET";
  const mayHaveBody = writes && spec.method !== "DELETE";
  const jsonBody = spec.bodies?.["application/json"];
  const body = jsonBody instanceof z.ZodType ? jsonBody : mayHaveBody && spec.bodies === undefined ? noFields : undefined;
  const common: readonly RateField[] = writes ? ["rate.default", "rate.writes"] : ["rate.default"];
  const own: RateField | undefined = spec.rate === undefined ? undefined : `rate.${spec.rate}`;
  checkContract(key, spec);
  return {
    key,
    spec,
    handler,
    rates: own === undefined || spec.rateWhen !== undefined ? common : [...common, own],
    ...(own === undefined || spec.rateWhen === undefined ? {} : { bodyRate: { field: own, when: spec.rateWhen } }),
    get params() {
      return spec.params === undefined ? undefined : toCompiled(spec.params);
    },
    get query() {
      return toCompiled(spec.query ?? noFields);
    },
    takesJson: body !== undefined,
    get body() {
      return body === undefined ? undefined : toCompiled(body);
    },
    rawBodies: Object.entries(spec.bodies ?? {}).flatMap(([mediaType, schema]) => (schema === bytes ? [mediaType] : [])),
    form: prepareForm(spec.bodies?.["multipart/form-data"], limits),
    bodyOptional: spec.bodyOptional === true || spec.bodies === undefined,
    maxBodyBytes: toMaxBodyBytes(spec, limits),
    needsBodyEarly: spec.resource?.in === "body" || spec.rateWhen !== undefined,
    freeForm: jsonBody instanceof z.ZodObject ? freeFormFields(jsonBody) : [],
    elsewhere: new Map([
      ...fieldNames(spec.params).map((field): [string, Part] => [field, "path"]),
      ...fieldNames(spec.query).map((field): [string, Part] => [field, "query"]),
    ]),
    takesIdempotencyKey: (spec.method === "POST" || spec.method === "PATCH") && spec.credential !== "none",
    roleRank: roleRanks[spec.role ?? "read"],
    replies: new Map(Object.entries(spec.replies).map(([status, reply]) => [Number(status), prepareReply(reply)])),
    negotiable: toNegotiable(key, spec),
    split: toInputSplitter(key, spec),
  };
}

function prepareForm(form: Form | undefined, limits: Limits): PreparedForm | undefined {
  if (form === undefined) return undefined;
  const { fields, maxFile } = form;
  const maxFileBytes = limits[maxFile];
  return {
    get fields() {
      return toCompiled(fields);
    },
    jsonFields: Object.keys(fields.shape).filter((name) => !isText(fields.shape[name] as z.ZodType)),
    maxFileBytes,
    maxBodyBytes: maxFileBytes + limits["body.json"],
  };
}

function isText(schema: z.ZodType): boolean {
  const definition = schema._zod.def as unknown as { readonly type: string; readonly innerType?: z.ZodType };
  return definition.innerType === undefined ? ["string", "enum"].includes(definition.type) : isText(definition.innerType);
}

function toNegotiable(key: string, { replies }: OperationSpec): PreparedOperation["negotiable"] {
  const negotiated = Object.values(replies).find((reply) => reply !== null && "media" in reply);
  if (negotiated === undefined || negotiated === null) return undefined;
  const mediaTypes = Object.keys(mediaOf(negotiated));
  const schemas = mediaTypes.filter((mediaType) => mediaOf(negotiated)[mediaType] !== bytes);
  const [json] = schemas;
  if (json === undefined || schemas.length > 1)
    throw new Error(`operation ${key}: a negotiated reply needs one JSON entry, not ${schemas.length}`);
  return { mediaTypes, json };
}

function toMaxBodyBytes({ credential, documentText = false }: OperationSpec, limits: Limits): number {
  if (credential === "none") return limits["body.public"];
  return documentText ? limits["body.text"] : limits["body.json"];
}

/** The reply schema is compiled, because every answer is checked. The compiled check costs little beside writing the JSON. */
function prepareReply(reply: ReplyBody): PreparedReply {
  if (reply === null) return { rawMediaTypes: [] };
  const media = mediaOf(reply);
  const json = jsonOf(reply);
  const rawMediaTypes = Object.keys(media).filter((mediaType) => media[mediaType] === bytes);
  if (json === undefined) return { rawMediaTypes };
  const { mediaType, schema } = json;
  const compiled = {
    mediaType,
    get schema() {
      return toCompiled(schema);
    },
    get write() {
      return toJsonWriter(schema);
    },
  };
  return { json: compiled, rawMediaTypes };
}

function compile({ params, query, body, form, replies }: PreparedOperation): void {
  void [params, query, body, form?.fields];
  for (const { json } of replies.values()) void [json?.schema, json?.write];
}

/** Milliseconds until the first operation is compiled: a server that has just started has more urgent work. */
const beginAfterMs = 10_000;
/** Milliseconds between two operations, in which calls and keystrokes are served. */
const pauseMs = 50;

/** Compiles one operation after the other, with pauses, some time after the start. Returns a function that stops the work. */
export function compileInPauses(operations: Iterable<PreparedOperation>): () => void {
  const waiting = [...operations];
  const compileNext = () => {
    const operation = waiting.shift();
    if (operation === undefined) return clearTimeout(timer);
    compile(operation);
  };
  let timer = setTimeout(() => {
    timer = setInterval(compileNext, pauseMs).unref();
  }, beginAfterMs).unref();
  return () => clearTimeout(timer);
}

function checkContract(key: string, spec: OperationSpec): void {
  const inPath = [...spec.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
  const declared = fieldNames(spec.params);
  if (inPath.join() !== declared.join()) throw new Error(`operation ${key}: path ${spec.path} and params (${declared.join()}) differ`);
  if (spec.rateWhen !== undefined && spec.rate === undefined) throw new Error(`operation ${key}: rateWhen needs a rate`);
  if (spec.webSession !== undefined && spec.credential !== "none")
    throw new Error(`operation ${key}: a web session takes no other credential`);
  if (spec.resource !== undefined && spec.credential === "none") throw new Error(`operation ${key}: a resource needs a credential`);
}

/** Names of the fields whose schema is a record. */
function freeFormFields(body: z.ZodObject): string[] {
  return Object.entries(body.shape).flatMap(([name, schema]) => (isRecord(schema as z.ZodType) ? [name] : []));
}

function isRecord(schema: z.ZodType): boolean {
  const definition = schema._zod.def as unknown as { readonly type: string; readonly innerType?: z.ZodType };
  return definition.type === "record" || (definition.innerType !== undefined && isRecord(definition.innerType));
}
