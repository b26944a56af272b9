/**
 * Builds examples of whole bodies from the examples of their parts.
 *
 * An example of an object contains only its required members, because some optional members exclude each other. A
 * schema with its own `example` uses that.
 */
import type { SchemaObject } from "./openApiSchemas.ts";

export type Components = Readonly<Record<string, SchemaObject>>;

export function toExample(schema: SchemaObject, components: Components): unknown {
  const { $ref, example, enum: values, allOf, oneOf, anyOf, type } = schema;
  if (example !== undefined) return example;
  if (typeof $ref === "string") return toExample(components[$ref.split("/").at(-1) ?? ""] ?? {}, components);
  if (Array.isArray(values)) return values[0];
  const [first] = [allOf, oneOf, anyOf].find(Array.isArray) ?? [];
  if (first !== undefined) return toExample(first as SchemaObject, components);
  if (type === "object") return toObjectExample(schema, components);
  if (type === "array") return [toExample((schema.items ?? {}) as SchemaObject, components)];
  return type === "boolean" ? false : {};
}

function toObjectExample({ properties = {}, required = [] }: SchemaObject, components: Components): unknown {
  return Object.fromEntries(
    (required as readonly string[]).map((name) => [
      name,
      toExample((properties as Readonly<Record<string, SchemaObject>>)[name] ?? {}, components),
    ]),
  );
}
