/**
 * The one input that callers without HTTP give, `params ∪ query ∪ JSON body`, taken apart into those parts by name.
 * Two parts that share a name throw when the operation is prepared, at start.
 */
import { z } from "zod";
import type { OperationSpec } from "../operation.ts";

export interface InputParts {
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly body: Record<string, unknown>;
}

/** Names no part knows go to the body, or without one to the query, whose closed schema refuses them. */
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
      // `__proto__` is a name like any other here.
      Object.defineProperty(parts[places.get(name) ?? elsewhere], name, {
        value: input[name],
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
    return parts;
  };
}

/** The names an object schema, or any alternative of a union of them, knows. */
export function fieldNames(schema: z.ZodType | undefined): readonly string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  if (schema instanceof z.ZodUnion) return [...new Set(schema.options.flatMap((option) => fieldNames(option as z.ZodType)))];
  return [];
}
