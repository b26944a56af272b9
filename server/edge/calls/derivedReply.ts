/**
 * `deriveReply` converts the result of a service to the reply that the contract declares: its only status, the entity
 * tag, the `Location`, and the body.
 *
 * The contract is read once at the start. A contract from which no reply can be derived throws there.
 */
import { z } from "zod";
import type { OperationSpec } from "../../../api/contract/operation.ts";
import { fieldNames } from "../../../api/derive/input.ts";
import { type CallReply, Versioned } from "../../domain/call/call.ts";
import { recordEtag } from "../../domain/call/precondition.ts";

type Fields = Readonly<Record<string, unknown>>;

export function deriveReply(key: string, spec: OperationSpec): (value: unknown, request: { readonly params: Fields }) => CallReply {
  const [[status, schema] = [], ...others] = Object.entries(spec.replies);
  if (status === undefined || schema === undefined || others.length > 0) {
    throw new Error(`operation ${key} has several statuses, so its handler needs a reply`);
  }
  if (schema === null) return () => ({ status: Number(status) });
  if (!(schema instanceof z.ZodType)) throw new Error(`operation ${key} has a reply in bytes, so its handler needs a reply`);
  const itemsField = toItemsField(schema);
  const hasEtag = spec.replyHeaders?.etag !== undefined;
  const toLocation = spec.location === undefined ? undefined : compileLocation(key, spec.location, [spec.params, schema]);
  return (value, { params }) => {
    const shown = (value instanceof Versioned ? value.value : value) as Fields;
    const body = itemsField !== undefined && "items" in shown ? toPageBody(itemsField, shown) : shown;
    const headers: Record<string, string> = {};
    if (hasEtag) {
      if (!(value instanceof Versioned)) throw new Error(`the result of ${key} has no revision for its entity tag`);
      headers.etag = recordEtag(value.revision);
    }
    if (toLocation !== undefined) headers.location = toLocation({ ...params, ...body });
    return { status: Number(status), headers, body };
  };
}

/** Returns the only array field of a reply with `nextToken`. Undefined for other replies. */
function toItemsField(schema: z.ZodType): string | undefined {
  if (!(schema instanceof z.ZodObject) || !("nextToken" in schema.shape)) return undefined;
  return Object.keys(schema.shape).find((name) => schema.shape[name] instanceof z.ZodArray);
}

function toPageBody(itemsField: string, { items, ...rest }: Fields): Fields {
  return { [itemsField]: items, ...rest };
}

function compileLocation(key: string, template: string, sources: readonly (z.ZodType | undefined)[]): (fields: Fields) => string {
  const known = sources.flatMap(fieldNames);
  for (const [, name = ""] of template.matchAll(/\{(\w+)\}/g)) {
    if (!known.includes(name))
      throw new Error(`operation ${key}: '${name}' of its location is neither a path parameter nor a field of its reply`);
  }
  return (fields) => template.replace(/\{(\w+)\}/g, (_, name: string) => String(fields[name]));
}
