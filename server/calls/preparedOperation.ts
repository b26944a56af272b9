/**
 * An operation of the contract made ready to be called: what every call would otherwise work out again.
 * Here contradictions of the contract show, at start.
 */
import { z } from "zod";
import { fieldNames, type InputParts, toInputSplitter } from "../../api/derive/input.ts";
import type { Limits } from "../../api/limits.ts";
import {
  bytes,
  type Contract,
  type MediaMap,
  type Negotiated,
  type OperationSpec,
  type RateCondition,
  type ReplyBody,
  type Role,
} from "../../api/operation.ts";
import type { Call, CallReply, Handlers } from "./call.ts";
import type { Part } from "./findings.ts";
import { compileJsonWriter, type JsonWriter } from "./jsonWriter.ts";
import type { RateField } from "./rateLimits.ts";

/** The parsed parts of a request, as every handler gets them. */
export interface PreparedRequest {
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly body: unknown;
  readonly accept: string;
}

/** A handler whose own types are behind it: the contract has tied them to the operation. */
export interface PreparedHandler {
  serve(request: PreparedRequest, call: Call): Promise<unknown>;
  reply(value: unknown): CallReply;
}

/** What an operation may answer with one status: nothing, JSON, or bytes of one of some media types. */
export interface PreparedReply {
  readonly json?: { readonly schema: z.ZodType; readonly write: JsonWriter };
  readonly rawMediaTypes: readonly string[];
}

export interface PreparedOperation {
  /** Key path in the contract, such as `articles.get`. */
  readonly key: string;
  readonly spec: OperationSpec;
  readonly handler: PreparedHandler;
  readonly rates: readonly RateField[];
  /** Drawn from besides where `when` stands in the body. */
  readonly bodyRate?: { readonly field: RateField; readonly when: RateCondition };
  readonly params: z.ZodObject | undefined;
  readonly query: z.ZodObject;
  /** Schema of the JSON body; undefined where the operation takes none. */
  readonly body: z.ZodType | undefined;
  /** Media types of bodies that are bytes. */
  readonly rawBodies: readonly string[];
  readonly bodyOptional: boolean;
  readonly maxBodyBytes: number;
  /** Top-level members of the body that are free-form objects. */
  readonly freeForm: readonly string[];
  /** Names that stand in the path or the query: in a body they are misplaced. */
  readonly elsewhere: ReadonlyMap<string, Part>;
  readonly takesIdempotencyKey: boolean;
  readonly roleRank: number;
  readonly replies: ReadonlyMap<number, PreparedReply>;
  /** Media types the caller may choose from, when the answer is negotiated. */
  readonly negotiable: readonly string[] | undefined;
  split(input: Readonly<Record<string, unknown>>): InputParts;
}

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
      const handler = (handlers[resource] as unknown as Record<string, PreparedHandler> | undefined)?.[name];
      if (handler === undefined) throw new Error(`operation ${resource}.${name} has no handler`);
      prepared.set(`${resource}.${name}`, prepare(`${resource}.${name}`, spec, handler, limits));
    }
  }
  return prepared;
}

function prepare(key: string, spec: OperationSpec, handler: PreparedHandler, limits: Limits): PreparedOperation {
  const writes = spec.method !== "GET";
  const mayHaveBody = writes && spec.method !== "DELETE";
  const jsonBody = spec.bodies?.["application/json"];
  const body = jsonBody instanceof z.ZodType ? jsonBody : mayHaveBody && spec.bodies === undefined ? z.strictObject({}) : undefined;
  const negotiated = Object.values(spec.replies).find(isNegotiated);
  const common: readonly RateField[] = writes ? ["rate.default", "rate.writes"] : ["rate.default"];
  const own: RateField | undefined = spec.rate === undefined ? undefined : `rate.${spec.rate}`;
  checkContract(key, spec);
  return {
    key,
    spec,
    handler,
    rates: own === undefined || spec.rateWhen !== undefined ? common : [...common, own],
    ...(own === undefined || spec.rateWhen === undefined ? {} : { bodyRate: { field: own, when: spec.rateWhen } }),
    params: spec.params === undefined ? undefined : z.compile(spec.params),
    query: z.compile(spec.query ?? z.strictObject({})),
    body: body === undefined ? undefined : z.compile(body),
    rawBodies: Object.entries(spec.bodies ?? {}).flatMap(([mediaType, schema]) => (schema === bytes ? [mediaType] : [])),
    bodyOptional: spec.bodyOptional === true || spec.bodies === undefined,
    maxBodyBytes: spec.documentText === true ? limits["body.text"] : limits["body.json"],
    freeForm: jsonBody instanceof z.ZodObject ? freeFormFields(jsonBody) : [],
    elsewhere: new Map([
      ...fieldNames(spec.params).map((field): [string, Part] => [field, "path"]),
      ...fieldNames(spec.query).map((field): [string, Part] => [field, "query"]),
    ]),
    takesIdempotencyKey: (spec.method === "POST" || spec.method === "PATCH") && spec.credential !== "none",
    roleRank: roleRanks[spec.role ?? "read"],
    replies: new Map(Object.entries(spec.replies).map(([status, reply]) => [Number(status), prepareReply(reply)])),
    negotiable: negotiated === undefined ? undefined : Object.keys(negotiated.media),
    split: toInputSplitter(key, spec),
  };
}

function isNegotiated(reply: ReplyBody): reply is Negotiated<MediaMap> {
  return reply !== null && "media" in reply;
}

/** Answers are checked on every call; compiled, that costs little beside turning them into text. */
function prepareReply(reply: ReplyBody): PreparedReply {
  if (reply === null) return { rawMediaTypes: [] };
  const media: MediaMap = isNegotiated(reply) ? reply.media : { "application/json": reply };
  const schema = media["application/json"];
  return {
    ...(schema instanceof z.ZodType ? { json: { schema: z.compile(schema), write: compileJsonWriter(schema) } } : {}),
    rawMediaTypes: Object.keys(media).filter((mediaType) => media[mediaType] === bytes),
  };
}

function checkContract(key: string, spec: OperationSpec): void {
  const inPath = [...spec.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
  const declared = fieldNames(spec.params);
  if (inPath.join() !== declared.join()) throw new Error(`operation ${key}: path ${spec.path} and params (${declared.join()}) differ`);
  if (spec.rateWhen !== undefined && spec.rate === undefined) throw new Error(`operation ${key}: a condition for no rate`);
  if (spec.resource !== undefined && spec.credential === "none") throw new Error(`operation ${key}: a resource needs a credential`);
}

/** Fields whose schema is a record of any JSON values. */
function freeFormFields(body: z.ZodObject): string[] {
  return Object.entries(body.shape).flatMap(([name, schema]) => (isRecord(schema as z.ZodType) ? [name] : []));
}

function isRecord(schema: z.ZodType): boolean {
  const definition = schema._zod.def as unknown as { readonly type: string; readonly innerType?: z.ZodType };
  return definition.type === "record" || (definition.innerType !== undefined && isRecord(definition.innerType));
}
