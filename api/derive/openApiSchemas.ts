/**
 * Converts the zod schemas of the contract to OpenAPI 3.0 schemas. Schemas with an id become named components.
 *
 * zod does the conversion. A second pass normalizes what OpenAPI 3.0 tools cannot read: keywords next to a `$ref`,
 * nullable references, properties that can have no value, the bounds of safe integers, and the pattern of an ISO time.
 */
import { z } from "zod";

export type SchemaObject = { readonly [key: string]: unknown };

export interface SchemaRegistry {
  /**
   * Returns the schema or a reference to its component. `input` is what a caller sends, `output` what a caller
   * receives.
   */
  add(schema: z.ZodType, io: "input" | "output"): SchemaObject;
  readonly components: Readonly<Record<string, SchemaObject>>;
}

const definitionPrefix = "#/definitions/";
const componentPrefix = "#/components/schemas/";

export function createSchemaRegistry(): SchemaRegistry {
  const components: Record<string, SchemaObject> = {};
  // Ids and queries occur in many operations. Each is converted only once, because the conversion delays the start.
  const converted = { input: new Map<z.ZodType, SchemaObject>(), output: new Map<z.ZodType, SchemaObject>() };

  function convert(schema: z.ZodType, io: "input" | "output"): SchemaObject {
    const { definitions = {}, ...root } = z.toJSONSchema(schema, { target: "openapi-3.0", io }) as {
      definitions?: Record<string, SchemaObject>;
    };
    for (const [name, definition] of Object.entries(definitions)) {
      // zod itself generates names with `__` only for the type of any JSON value, which needs no component.
      if (name.startsWith("__")) continue;
      const normalized = normalize(definition, definitions) as SchemaObject;
      const known = components[name];
      if (known !== undefined && JSON.stringify(known) !== JSON.stringify(normalized)) {
        throw new Error(`the schema ${name} has two shapes, one in requests and one in answers: give each shape its own id`);
      }
      components[name] = normalized;
    }
    return normalize(root, definitions) as SchemaObject;
  }

  return {
    components,
    add(schema, io) {
      const known = converted[io].get(schema) ?? convert(schema, io);
      converted[io].set(schema, known);
      return known;
    },
  };
}

/** Keywords whose value is data, not a schema. */
const dataKeywords = ["example", "enum", "default"];

function normalize(node: unknown, definitions: Readonly<Record<string, SchemaObject>>): unknown {
  if (Array.isArray(node)) return node.map((item) => normalize(item, definitions));
  if (typeof node !== "object" || node === null) return node;
  const { $ref, allOf, id: _id, $id: _$id, $schema: _$schema, ...rest } = node as Record<string, unknown>;
  const reference = typeof $ref === "string" ? $ref : onlyReference(allOf);
  if (reference !== undefined) return normalizeReference(reference, rest, definitions);
  const normalized: Record<string, unknown> = allOf === undefined ? {} : { allOf: normalize(allOf, definitions) };
  for (const [key, value] of Object.entries(rest)) {
    if (key === "pattern" && "format" in rest) continue;
    if ((key === "minimum" || key === "maximum") && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER) continue;
    if (key === "properties") normalized[key] = normalizeProperties(value as object, definitions);
    else normalized[key] = dataKeywords.includes(key) ? value : normalize(value, definitions);
  }
  return normalized;
}

/**
 * Property names are data, not keywords. A property that can have no value is omitted, because the object is closed.
 */
function normalizeProperties(properties: object, definitions: Readonly<Record<string, SchemaObject>>): SchemaObject {
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([, property]) => !(typeof property === "object" && property !== null && "not" in property))
      .map(([name, property]) => [name, normalize(property, definitions)]),
  );
}

function onlyReference(allOf: unknown): string | undefined {
  if (!Array.isArray(allOf) || allOf.length !== 1) return undefined;
  const { $ref } = allOf[0] as { $ref?: unknown };
  return typeof $ref === "string" ? $ref : undefined;
}

function normalizeReference(
  reference: string,
  siblings: Readonly<Record<string, unknown>>,
  definitions: Readonly<Record<string, SchemaObject>>,
): unknown {
  const name = reference.slice(definitionPrefix.length);
  if (name.startsWith("__")) return siblings;
  const { description } = siblings;
  if (siblings.nullable !== true) {
    const target = { $ref: componentPrefix + name };
    // OpenAPI 3.0 ignores keywords next to a reference, but not next to `allOf`.
    return description === undefined || description === definitions[name]?.description ? target : { description, allOf: [target] };
  }
  // `allOf` would refuse null, so the target schema is copied here.
  const target = normalize(definitions[name] ?? {}, definitions) as SchemaObject;
  const values = target.enum;
  return {
    ...target,
    ...(description === undefined ? {} : { description }),
    nullable: true,
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
  };
}
