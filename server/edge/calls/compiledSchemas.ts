/** Compiles each schema once in a process, however many operations and applications use it. */
import { z } from "zod";
import { compileJsonWriter, type JsonWriter } from "./jsonWriter.ts";

const compiled = new WeakMap<z.ZodType, z.ZodType>();
const writers = new WeakMap<z.ZodType, JsonWriter>();

export function toCompiled<Schema extends z.ZodType>(schema: Schema): Schema {
  let found = compiled.get(schema);
  if (found === undefined) {
    found = z.compile(schema);
    compiled.set(schema, found);
  }
  return found as Schema;
}

export function toJsonWriter(schema: z.ZodType): JsonWriter {
  let found = writers.get(schema);
  if (found === undefined) {
    found = compileJsonWriter(schema);
    writers.set(schema, found);
  }
  return found;
}
