/**
 * Splits the single input of callers without HTTP, `params ∪ query ∪ JSON body`, into its parts by field name.
 *
 * If two parts share a name, preparing the operation at start throws an error.
 */
import { z } from "zod";
import type { OperationSpec } from "../contract/operation.ts";

export interface InputParts {
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly body: Record<string, unknown>;
}

/**
 * Returns the function that splits an input. Unknown names go to the body, or to the query if there is no body; the
 * closed schema of that part then refuses them.
 */
export function toInputSplitter(key: string, spec: OperationSpec): (input: Readonly<Record<string, unknown>>) => InputParts {
  const places = new Map<string, keyof InputParts>();
  const bodySchema = spec.bodies?.["application/json"];
  const claim = (part: keyof InputParts, names: readonly string[]) => {
    for (const name of names) {
      const other = places.get(name);
      if (other !== undefined) throw new Error(`operation ${key}: '${name}' is in both its ${other} and its ${part}`);
      places.set(name, part);
    }
  };
  claim("params", fieldNames(spec.params));
  claim("query", fieldNames(spec.query));
  if (bodySchema instanceof z.ZodType) claim("body", fieldNames(bodySchema));
  const elsewhere = bodySchema === undefined ? "query" : "body";
  return (input) => {
    const parts: InputParts = { params: {}, query: {}, body: {} };
    for (const name of Object.keys(input)) {
      setField(parts[places.get(name) ?? elsewhere], name, input[name]);
    }
    return parts;
  };
}

/** Sets an own field of any name. A plain assignment of `__proto__` would change the prototype instead of adding a field. */
export function setField(fields: Record<string, unknown>, name: string, value: unknown): void {
  if (name === "__proto__") Object.defineProperty(fields, name, { value, enumerable: true, writable: true, configurable: true });
  else fields[name] = value;
}

/** Returns the field names of an object schema, or of all alternatives of a union of object schemas. */
export function fieldNames(schema: z.ZodType | undefined): readonly string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  if (schema instanceof z.ZodUnion) return [...new Set(schema.options.flatMap((option) => fieldNames(option as z.ZodType)))];
  return [];
}
