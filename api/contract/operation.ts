/**
 * Defines the type of a public operation, which is written once as data. REST, tRPC, OpenAPI and later surfaces derive
 * from it.
 *
 * This module must not know how a request arrives, which code handles it, or where data is stored.
 */
import type { z } from "zod";
import type { NumberField } from "../limits.ts";
import type { ErrorCode } from "../schema/error.ts";
import type { Scope } from "../scopes.ts";

/** Marks a body or reply that is raw bytes instead of a value with a schema. */
export const bytes = Symbol("bytes");
export type Bytes = typeof bytes;

export type MediaMap = { readonly [mediaType: string]: z.ZodType | Bytes };

/**
 * Declares a body of `multipart/form-data`: the part `file`, and further parts that are fields. A field whose schema is not
 * text is sent as JSON.
 */
export interface Form<Fields extends z.ZodObject = z.ZodObject> {
  readonly fields: Fields;
  /** Description of the part `file`. */
  readonly file: string;
  /** The limit of the bytes of `file`. */
  readonly maxFile: NumberField;
}

/** Media type of a request body → its form. */
export type BodyMap = { readonly "multipart/form-data"?: Form } & { readonly [mediaType: string]: z.ZodType | Bytes | Form };

/**
 * Declares a reply whose media type the caller chooses by `Accept`; the first entry is the default. Exactly one entry
 * is a schema: the JSON value for callers without HTTP. A resource may lack some of the declared byte entries.
 */
export interface Negotiated<Media extends MediaMap = MediaMap> {
  readonly media: Media;
}

export type ReplyBody = z.ZodType | Negotiated | null;

/** Returns the media types of a reply, the default first. */
export function mediaOf(reply: Exclude<ReplyBody, null>): MediaMap {
  return "media" in reply ? reply.media : { "application/json": reply };
}

/** Returns the JSON entry of a reply: its schema and its media type. */
export function jsonOf(reply: Exclude<ReplyBody, null>): { readonly mediaType: string; readonly schema: z.ZodType } | undefined {
  for (const [mediaType, schema] of Object.entries(mediaOf(reply))) if (schema !== bytes) return { mediaType, schema };
  return undefined;
}

/** The credential that a call needs. `operator` is the session of an operator account. */
export type CredentialNeed = "none" | "any" | "session" | "operator";

/** The role that the caller needs in the workspace of the resource: `read` ⊂ `write` ⊂ `admin` ⊂ `owner`. */
export type Role = "read" | "write" | "admin" | "owner";

export type ResourceKind = "workspace" | "article" | "review" | "folder" | "template" | "webhook" | "run" | "job";

/** The id from which the workspace is found: its name and the part of the request that contains it. */
export interface ResourceReference {
  readonly kind: ResourceKind;
  readonly in: "params" | "query" | "body";
  readonly name: string;
  /**
   * Who finds a record in the trash: with `true` everyone who can see the workspace, with `write` callers who may restore
   * it. If absent, a read answers 404 and a change is refused with `invalid_transition`, or 404 for those who may only read.
   */
  readonly deleted?: true | "write";
}

/** The rate limit of an operation in addition to `rate.default` and, for writes, `rate.writes`. */
export type RateClass = "management" | "auth" | "runs" | "conversions";

/** True if the named field of the body has this value, or if the body has any of these fields. */
export type RateCondition = { readonly name: string; readonly is: string } | { readonly anyOf: readonly string[] };

/**
 * The effect of an operation on the session cookie of the service's own web app: `open` sets it, `renew` needs it and
 * sets it again, `end` clears it.
 */
export type WebSessionUse = "open" | "renew" | "end";

export interface OperationSpec {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** OpenAPI path template. */
  readonly path: `/${string}`;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly bodies?: BodyMap;
  /** A missing body counts as `{}`. */
  readonly bodyOptional?: boolean;
  /** The body carries document text, so `body.text` limits its size instead of `body.json`. */
  readonly documentText?: boolean;
  readonly replies: { readonly [status: number]: ReplyBody };
  /** Header name → description, for the OpenAPI document. */
  readonly replyHeaders?: Readonly<Record<string, string>>;
  /**
   * Path template of the `Location` header. Each name in braces is a path parameter of the request or a field of the
   * reply.
   */
  readonly location?: `/${string}`;
  readonly credential: CredentialNeed;
  /**
   * The operation may use the session cookie, and pages of other origins may not call it. It exists over REST only, because
   * browsers do not send the cookie to `/trpc`. Its `credential` is `none`.
   */
  readonly webSession?: WebSessionUse;
  readonly scopes?: readonly Scope[];
  readonly resource?: ResourceReference;
  readonly role?: Role;
  readonly rate?: RateClass;
  /** `rate` applies only if the body meets this condition. It is then charged after the body is parsed. */
  readonly rateWhen?: RateCondition;
  /** The operation waits for the end of the work that it starts if the caller sends `Prefer: wait=<seconds>` (RFC 7240). */
  readonly prefersWait?: boolean;
  /** The operation compares `If-Match` (RFC 9110) with the ETag of the record. */
  readonly ifMatch?: boolean;
  /** The answer contains a secret, so its copy for idempotent replay is sealed and short-lived. */
  readonly secret?: boolean;
  /** Error codes in addition to those that every operation may return. */
  readonly errors?: readonly ErrorCode[];
  readonly summary: string;
  /** Description that adds details to the summary, in Markdown. */
  readonly description?: string;
  /** Example of a JSON body that the operation accepts. */
  readonly example?: Readonly<Record<string, unknown>>;
}

export function operation<const Spec extends OperationSpec>(spec: Spec): Spec {
  return spec;
}

/**
 * A live stream: server-sent events over REST (GET), a subscription over tRPC.
 *
 * The stream carries values of `event`, each with its resume token. Every credential that may read the resource may
 * open the stream, and so may a stream ticket.
 */
export interface StreamSpec {
  /** OpenAPI path template. */
  readonly path: `/${string}`;
  readonly params: z.ZodObject;
  /** Includes `from` and `lastEventId`. tRPC sends a `lastEventId` with each reconnect. */
  readonly query: z.ZodObject;
  readonly event: z.ZodType;
  readonly scopes: readonly Scope[];
  readonly resource: ResourceReference;
  readonly role: Role;
  readonly summary: string;
  /** Description that adds details to the summary, in Markdown. */
  readonly description?: string;
}

export function stream<const Spec extends StreamSpec>(spec: Spec): Spec {
  return spec;
}

export type StreamContract = { readonly [resource: string]: { readonly [stream: string]: StreamSpec } };

/** Input of a tRPC subscription: `params ∪ query`. */
export type StreamInputOf<Spec extends StreamSpec> = Simplify<SchemaInput<Spec["params"]> & SchemaInput<Spec["query"]>>;

export type Contract = { readonly [resource: string]: { readonly [operation: string]: OperationSpec } };

type SchemaInput<Schema> = Schema extends z.ZodType ? z.input<Schema> : unknown;
type SchemaOutput<Schema> = Schema extends z.ZodType ? z.output<Schema> : unknown;
type Simplify<T> = { [Key in keyof T]: T[Key] } & {};

type JsonBody<Spec extends OperationSpec> = Spec["bodies"] extends { readonly "application/json": infer Schema } ? Schema : undefined;

/** The parsed parts of a request. `body` is a form, or bytes with a media type, if the caller did not send JSON. */
export interface ParsedInput<Spec extends OperationSpec> {
  readonly params: SchemaOutput<Spec["params"]>;
  readonly query: SchemaOutput<Spec["query"]>;
  readonly body: Body<Spec>;
}
type OtherMedia<Spec extends OperationSpec> = Exclude<keyof Spec["bodies"] & string, "application/json" | "multipart/form-data">;
type FormBody<Spec extends OperationSpec> = Spec["bodies"] extends { readonly "multipart/form-data": Form<infer Fields> }
  ? ParsedForm<z.output<Fields>>
  : never;
type Body<Spec extends OperationSpec> =
  | (JsonBody<Spec> extends z.ZodType ? z.output<JsonBody<Spec>> : never)
  | FormBody<Spec>
  | ([OtherMedia<Spec>] extends [never] ? never : RawBody<OtherMedia<Spec>>);

export interface RawBody<MediaType extends string = string> {
  readonly mediaType: MediaType;
  readonly bytes: Uint8Array;
}

/** A file of a form, as its part declares it. */
export interface UploadedFile {
  /** The last part of the file's path, without control characters. */
  readonly name?: string;
  /** In lower case and without parameters. */
  readonly mediaType?: string;
  readonly bytes: Uint8Array;
}

export interface ParsedForm<Fields> {
  readonly file: UploadedFile;
  readonly fields: Fields;
}

/** Input of tRPC, MCP and the CLI: `params ∪ query ∪ JSON body`. Names never clash (checked at start). */
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
    ? z.output<Extract<Media[keyof Media], z.ZodType>>
    : Reply extends z.ZodType
      ? z.output<Reply>
      : never;

/** The JSON value that a caller without HTTP receives. */
export type OutputOf<Spec extends OperationSpec> = ReplyValue<Spec["replies"][keyof Spec["replies"]]>;
