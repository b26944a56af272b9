/**
 * A public operation, written once as data. REST, tRPC, OpenAPI and every later surface derive from it.
 *
 * It refuses to know how a request arrives, who answers it, and where anything is stored.
 */
import type { z } from "zod";
import type { ErrorCode } from "./schema/error.ts";
import type { Scope } from "./scopes.ts";

/** A body or reply that is bytes, not a schema. */
export const bytes = Symbol("bytes");
export type Bytes = typeof bytes;

export type MediaMap = { readonly [mediaType: string]: z.ZodType | Bytes };

/** Declares a reply that the caller chooses by `Accept`; the first entry is the default. */
export interface Negotiated<Media extends MediaMap = MediaMap> {
  readonly media: Media;
}

export type ReplyBody = z.ZodType | Negotiated | null;

/** Who may call at all; `operator` is the session of an operator account. */
export type CredentialNeed = "none" | "any" | "session" | "operator";

/** What the caller must be in the workspace of the resource: `read` ⊂ `write` ⊂ `admin` ⊂ `owner`. */
export type Role = "read" | "write" | "admin" | "owner";

export type ResourceKind = "workspace" | "article" | "webhook" | "run";

/** Where the workspace is found: the named id, in the named part of the request. */
export interface ResourceReference {
  readonly kind: ResourceKind;
  readonly in: "params" | "query" | "body";
  readonly name: string;
  /** Also find records in the trash. */
  readonly deleted?: boolean;
}

/** Which bucket an operation draws from besides `rate.default` and, for writes, `rate.writes`. */
export type RateClass = "management" | "auth" | "runs";

/** A member of the body has this value, or the body has any of these members. */
export type RateCondition = { readonly name: string; readonly is: string } | { readonly anyOf: readonly string[] };

export interface OperationSpec {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** OpenAPI path template. */
  readonly path: `/${string}`;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly bodies?: MediaMap;
  /** A missing body counts as `{}`. */
  readonly bodyOptional?: boolean;
  /** Carries document text: `body.text` bounds it instead of `body.json`. */
  readonly documentText?: boolean;
  readonly replies: { readonly [status: number]: ReplyBody };
  /** Header name → what it says, for the OpenAPI document. */
  readonly replyHeaders?: Readonly<Record<string, string>>;
  readonly credential: CredentialNeed;
  readonly scopes?: readonly Scope[];
  readonly resource?: ResourceReference;
  readonly role?: Role;
  readonly rate?: RateClass;
  /** That rate counts only when the body is so; it is then drawn from once the body is parsed. */
  readonly rateWhen?: RateCondition;
  /** Compare `If-Match` (RFC 9110) with the record's ETag. */
  readonly ifMatch?: boolean;
  /** The answer carries a secret: its idempotent replay is sealed and short-lived. */
  readonly secret?: boolean;
  /** Special refusals, beyond those every operation may answer. */
  readonly errors?: readonly ErrorCode[];
  readonly summary: string;
  /** What the summary has no room for; Markdown. */
  readonly description?: string;
  /** A JSON body that the operation takes. */
  readonly example?: Readonly<Record<string, unknown>>;
}

export function operation<const Spec extends OperationSpec>(spec: Spec): Spec {
  return spec;
}

/**
 * A live stream: server-sent events over REST (GET), a subscription over tRPC. What travels on it is `event`, each
 * with its resume token; every credential that may read the resource may open it, and a stream ticket too.
 */
export interface StreamSpec {
  /** OpenAPI path template. */
  readonly path: `/${string}`;
  readonly params: z.ZodObject;
  /** `from` and `lastEventId` among others; tRPC sends a `lastEventId` with each reconnect. */
  readonly query: z.ZodObject;
  readonly event: z.ZodType;
  readonly scopes: readonly Scope[];
  readonly resource: ResourceReference;
  readonly role: Role;
  readonly summary: string;
  /** What the summary has no room for; Markdown. */
  readonly description?: string;
}

export function stream<const Spec extends StreamSpec>(spec: Spec): Spec {
  return spec;
}

export type StreamContract = { readonly [resource: string]: { readonly [stream: string]: StreamSpec } };

/** What a tRPC subscription takes: `params ∪ query`. */
export type StreamInputOf<Spec extends StreamSpec> = Simplify<SchemaInput<Spec["params"]> & SchemaInput<Spec["query"]>>;

export type Contract = { readonly [resource: string]: { readonly [operation: string]: OperationSpec } };

type SchemaInput<Schema> = Schema extends z.ZodType ? z.input<Schema> : unknown;
type SchemaOutput<Schema> = Schema extends z.ZodType ? z.output<Schema> : unknown;
type Simplify<T> = { [Key in keyof T]: T[Key] } & {};

type JsonBody<Spec extends OperationSpec> = Spec["bodies"] extends { readonly "application/json": infer Schema } ? Schema : undefined;

/** The parts of a request once parsed. `body` is bytes with its media type where the caller sent no JSON. */
export interface ParsedInput<Spec extends OperationSpec> {
  readonly params: SchemaOutput<Spec["params"]>;
  readonly query: SchemaOutput<Spec["query"]>;
  readonly body: Body<Spec>;
}
type OtherMedia<Spec extends OperationSpec> = Exclude<keyof Spec["bodies"] & string, "application/json">;
type Body<Spec extends OperationSpec> =
  | (JsonBody<Spec> extends z.ZodType ? z.output<JsonBody<Spec>> : never)
  | ([OtherMedia<Spec>] extends [never] ? never : RawBody<OtherMedia<Spec>>);

export interface RawBody<MediaType extends string = string> {
  readonly mediaType: MediaType;
  readonly bytes: Uint8Array;
}

/** What tRPC, MCP and the CLI take: `params ∪ query ∪ JSON body`. Names never clash (checked at start). */
export type InputOf<Spec extends OperationSpec> =
  JsonBody<Spec> extends infer BodySchema
    ? unknown extends SchemaInput<Spec["params"]> & SchemaInput<Spec["query"]> & SchemaInput<BodySchema>
      ? // biome-ignore lint/suspicious/noConfusingVoidType: void lets a client call a procedure without an argument
        void
      : Simplify<SchemaInput<Spec["params"]> & SchemaInput<Spec["query"]> & SchemaInput<BodySchema>>
    : never;

type ReplyValue<Reply> = Reply extends null
  ? undefined
  : Reply extends Negotiated<infer Media>
    ? Media extends { readonly "application/json": infer Schema }
      ? SchemaOutput<Schema>
      : never
    : Reply extends z.ZodType
      ? z.output<Reply>
      : never;

/** The JSON value that a caller without HTTP gets. */
export type OutputOf<Spec extends OperationSpec> = ReplyValue<Spec["replies"][keyof Spec["replies"]]>;
