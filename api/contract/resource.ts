/**
 * Presets of the five usual operations on a resource: create, list, get, update and delete.
 *
 * A preset knows the method, path, replies, headers and rate class that such an operation has in this API. Every field
 * of an operation can be given, and then replaces that of the preset. The presets are data like any other operation;
 * `operation` is for those that are none of the five.
 */
import { z } from "zod";
import { nextToken, pageQuery } from "../schema/common.ts";
import { ArticleId } from "../schema/id.ts";
import type { OperationSpec, ResourceReference } from "./operation.ts";

/** Entity tag of a reply that shows one record. */
export const etag = { etag: "Entity tag of this revision of the record" } as const;

/** The workspace is in the path: `/workspaces/{workspaceId}/…`. */
export const inWorkspace = { kind: "workspace", in: "params", name: "workspaceId" } as const satisfies ResourceReference;

/** Parameters of the path of an article: `/articles/{articleId}/…`. */
export const articleParams = z.strictObject({ articleId: ArticleId });

/** The article is in the path. An article in the trash is neither read nor changed. */
export const ofArticle = { kind: "article", in: "params", name: "articleId" } as const satisfies ResourceReference;

/** The same for requests that also read an article in the trash: callers who may restore it see it, and for others it is 404. */
export const ofArticleOrTrash = { ...ofArticle, deleted: "write" } as const satisfies ResourceReference;

/** Who may call an operation: credential, scopes, role, and the id from which the workspace is found. */
type Access = Pick<OperationSpec, "credential" | "scopes" | "role" | "resource" | "rate">;

export interface ResourceFacts<
  Params extends z.ZodObject | undefined,
  Id extends z.core.$ZodShape,
  Schema extends z.ZodType,
  Field extends string,
> {
  /** One of them with its article, for the texts: "an API key". */
  readonly one: string;
  /** Several of them: "API keys". */
  readonly many: string;
  /** Field of a page that holds them: "apiKeys". */
  readonly field: Field;
  /** Path of the list. */
  readonly path: `/${string}`;
  /** Parameters of that path; absent if it has none. */
  readonly params?: Params;
  /** Name and schema of the id, which follows in the path of one of them. */
  readonly id: Id;
  readonly schema: Schema;
  /** Access of list and get. */
  readonly read: Access;
  /** Access of create, update and delete. */
  readonly write: Access;
}

type Texts = { readonly description: string };
type WithExample = Texts & { readonly example: Readonly<Record<string, unknown>> };
type Own = Partial<OperationSpec>;

/** The preset with the fields of `Own` in place of its own ones. */
type Replaced<Preset, Own> = {
  readonly [Key in keyof Preset | keyof Own]: Key extends keyof Own ? Own[Key] : Key extends keyof Preset ? Preset[Key] : never;
};

type WithParams<Params> = Params extends z.ZodObject ? { readonly params: Params } : unknown;
type ItemParams<Params, Id extends z.core.$ZodShape> = {
  readonly params: z.ZodObject<Params extends z.ZodObject<infer Shape> ? z.core.util.Extend<Shape, Id> : Id, z.core.$strict>;
};
type JsonBody<Body> = { readonly bodies: { readonly "application/json": Body } };
type Etag = { readonly replyHeaders: typeof etag };

type Page<Field extends string, Item extends z.ZodType> = z.ZodObject<
  { readonly [Key in Field]: z.ZodArray<Item> } & { readonly nextToken: typeof nextToken },
  z.core.$strict
>;

type Preset<Method extends OperationSpec["method"], Status extends number, Reply> = {
  readonly method: Method;
  readonly path: `/${string}`;
  readonly replies: { readonly [Key in Status]: Reply };
  readonly credential: OperationSpec["credential"];
  readonly summary: string;
};

/** Texts of a page in the OpenAPI document. */
export interface PageTexts {
  /** Name of the schema. */
  readonly id: string;
  readonly description: string;
  /** Describes which items the list contains, and their order. */
  readonly items: string;
}

/** Returns the reply of a list: a page of items and the token of the next page. */
export function pageOf<Field extends string, Item extends z.ZodType>(field: Field, item: Item, texts: PageTexts): Page<Field, Item> {
  const shape = { [field]: z.array(item).describe(texts.items), nextToken };
  return z.strictObject(shape).meta({ id: texts.id, description: texts.description }) as unknown as Page<Field, Item>;
}

const capitalize = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

/** "an API key" → "ApiKey". */
function toName(one: string): string {
  const [, ...words] = one.toLowerCase().split(" ");
  return words.map(capitalize).join("");
}

export function resource<
  Id extends z.core.$ZodShape,
  Schema extends z.ZodType,
  const Field extends string,
  Params extends z.ZodObject | undefined = undefined,
>(facts: ResourceFacts<Params, Id, Schema, Field>) {
  const { one, many, field, path, params, id, schema, read, write } = facts;
  const itemPath = `${path}/{${Object.keys(id).join()}}` as const;
  const item = { path: itemPath, params: params === undefined ? z.strictObject(id) : params.extend(id) };
  const all = { path, ...(params === undefined ? {} : { params }) };
  const list = pageOf(field, schema, {
    id: `${toName(one)}List`,
    description: `A page of ${many}.`,
    items: `${capitalize(many)}, newest first.`,
  });
  // The fields are combined without types. The return types of the presets declare the result, and `test/types` checks them.
  const preset = (...parts: readonly object[]) => Object.assign({}, ...parts);
  const reply = (status: number, body: z.ZodType | null) => ({ replies: { [status]: body } });
  const bodies = (body: z.ZodType) => ({ bodies: { "application/json": body } });
  const tagged = { replyHeaders: etag };

  return {
    create: <Body extends z.ZodType, const Given extends Own & WithExample>(body: Body, own: Given) =>
      preset(
        { method: "POST", ...all, ...bodies(body), ...reply(201, schema), ...tagged, location: itemPath },
        { ...write, summary: `Create ${one}` },
        own,
      ) as Replaced<Preset<"POST", 201, Schema> & WithParams<Params> & JsonBody<Body> & Etag, Given>,
    list: <const Given extends Own & Texts>(own: Given) =>
      preset(
        { method: "GET", ...all, query: z.strictObject(pageQuery), ...reply(200, list) },
        { ...read, summary: `List ${many}, newest first` },
        own,
      ) as Replaced<
        Preset<"GET", 200, Page<Field, Schema>> & WithParams<Params> & { readonly query: z.ZodObject<typeof pageQuery, z.core.$strict> },
        Given
      >,
    get: <const Given extends Own & Texts>(own: Given) =>
      preset({ method: "GET", ...item, ...reply(200, schema), ...tagged }, { ...read, summary: `Get ${one}` }, own) as Replaced<
        Preset<"GET", 200, Schema> & ItemParams<Params, Id> & Etag,
        Given
      >,
    update: <Body extends z.ZodType, const Given extends Own & WithExample>(body: Body, own: Given) =>
      preset(
        { method: "PATCH", ...item, ...bodies(body), ...reply(200, schema), ...tagged, ifMatch: true },
        { ...write, summary: `Change ${one}` },
        own,
      ) as Replaced<Preset<"PATCH", 200, Schema> & ItemParams<Params, Id> & JsonBody<Body> & Etag, Given>,
    delete: <const Given extends Own & Texts>(own: Given) =>
      preset({ method: "DELETE", ...item, ...reply(204, null), ifMatch: true }, { ...write, summary: `Delete ${one}` }, own) as Replaced<
        Preset<"DELETE", 204, null> & ItemParams<Params, Id>,
        Given
      >,
  };
}
