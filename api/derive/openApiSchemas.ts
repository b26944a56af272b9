/**
 * The zod schemas of the contract as OpenAPI 3.0 schemas, those with an id as named components.
 *
 * zod writes them; the pass after it mends what zod leaves that OpenAPI 3.0 tools stumble over: definitions beside a
 * `$ref`, `allOf` of one, nullable references, the bounds of safe integers, the pattern of an ISO time.
 */
import { z } from "zod";

export type SchemaObject = { readonly [key: string]: unknown };

export interface SchemaBook {
  /** A schema or a reference to its component. `input` is what a caller sends, `output` what it gets. */
  add(schema: z.ZodType, io: "input" | "output"): SchemaObject;
  readonly components: Readonly<Record<string, SchemaObject>>;
}

const definitionPrefix = "#/definitions/";
const componentPrefix = "#/components/schemas/";

export function createSchemaBook(): SchemaBook {
  const components: Record<string, SchemaObject> = {};
  return {
    components,
    add(schema, io) {
      const { definitions = {}, ...written } = z.toJSONSchema(schema, { target: "openapi-3.0", io }) as {
        definitions?: Record<string, SchemaObject>;
      };
      for (const [name, definition] of Object.entries(definitions)) {
        // What zod names itself is the type of any JSON value.
        if (name.startsWith("__")) continue;
        const mended = mend(definition, definitions) as SchemaObject;
        const known = components[name];
        if (known !== undefined && JSON.stringify(known) !== JSON.stringify(mended)) {
          throw new Error(`the schema ${name} is sent and answered in two shapes: give them two names`);
        }
        components[name] = mended;
      }
      return mend(written, definitions) as SchemaObject;
    },
  };
}

function mend(node: unknown, definitions: Readonly<Record<string, SchemaObject>>): unknown {
  if (Array.isArray(node)) return node.map((item) => mend(item, definitions));
  if (typeof node !== "object" || node === null) return node;
  const { $ref, allOf, id: _id, $id: _$id, $schema: _$schema, ...rest } = node as Record<string, unknown>;
  const reference = typeof $ref === "string" ? $ref : onlyReference(allOf);
  if (reference !== undefined) return mendReference(reference, rest, definitions);
  const mended: Record<string, unknown> = allOf === undefined ? {} : { allOf: mend(allOf, definitions) };
  for (const [key, value] of Object.entries(rest)) {
    if (key === "pattern" && "format" in rest) continue;
    if ((key === "minimum" || key === "maximum") && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER) continue;
    // Names of properties are data, not keywords.
    mended[key] =
      key === "properties"
        ? Object.fromEntries(Object.entries(value as object).map(([name, property]) => [name, mend(property, definitions)]))
        : mend(value, definitions);
  }
  return mended;
}

function onlyReference(allOf: unknown): string | undefined {
  if (!Array.isArray(allOf) || allOf.length !== 1) return undefined;
  const { $ref } = allOf[0] as { $ref?: unknown };
  return typeof $ref === "string" ? $ref : undefined;
}

function mendReference(
  reference: string,
  beside: Readonly<Record<string, unknown>>,
  definitions: Readonly<Record<string, SchemaObject>>,
): unknown {
  const name = reference.slice(definitionPrefix.length);
  if (name.startsWith("__")) return {};
  if (beside.nullable !== true) return { $ref: componentPrefix + name };
  // OpenAPI 3.0 ignores what stands beside a reference, so the target is written out.
  const target = mend(definitions[name] ?? {}, definitions) as SchemaObject;
  const values = target.enum;
  return { ...target, nullable: true, ...(Array.isArray(values) ? { enum: [...values, null] } : {}) };
}
