/**
 * Converts the text of a path and a query to the values that their schemas describe.
 *
 * Only text that is exactly a number or a boolean is converted. Other text stays text, and the schema then reports what
 * it should have been. A name that is given several times becomes an array, so a schema without an array refuses it.
 */
import type { z } from "zod";
import { setField } from "./input.ts";

/** Names with their values in the order of the request. */
export type TextFields = ReadonlyMap<string, readonly string[]>;

export type TextReader = (fields: TextFields) => Record<string, unknown>;

type Convert = (text: string) => unknown;

interface FieldReader {
  readonly convert: Convert;
  readonly list: boolean;
}

/** Decodes a query (`+` is a space). Returns `undefined` if a name or value is not percent-encoded UTF-8. */
export function readQuery(query: string): TextFields | undefined {
  const fields = new Map<string, string[]>();
  if (query === "") return fields;
  for (const part of query.split("&")) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    const name = decode(equals === -1 ? part : part.slice(0, equals));
    const value = equals === -1 ? "" : decode(part.slice(equals + 1));
    if (name === undefined || value === undefined) return undefined;
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [value]);
    else values.push(value);
  }
  return fields;
}

const printable = /^[\x21-\x7e]*$/;

function decode(text: string): string | undefined {
  if (!printable.test(text)) return undefined;
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return undefined;
  }
}

/** Returns a reader for the fields of an object schema. Values of names that the schema does not have stay text. */
export function toTextReader(schema: z.ZodObject | undefined): TextReader {
  const readers = new Map<string, FieldReader>();
  for (const [name, field] of Object.entries(schema?.shape ?? {})) readers.set(name, toFieldReader(field as z.ZodType));
  return (fields) => {
    const values: Record<string, unknown> = {};
    for (const [name, texts] of fields) {
      const reader = readers.get(name);
      const converted = texts.map(reader?.convert ?? asText);
      const value = converted.length === 1 && reader?.list !== true ? converted[0] : converted;
      setField(values, name, value);
    }
    return values;
  };
}

export type ParamReader = (params: Readonly<Record<string, string>>) => Readonly<Record<string, unknown>>;

/**
 * Returns a reader for path parameters. Each parameter occurs once. If all are text, the input is returned unchanged.
 */
export function toParamReader(schema: z.ZodObject | undefined): ParamReader {
  const readers = Object.entries(schema?.shape ?? {}).map(([name, field]) => [name, toFieldReader(field as z.ZodType).convert] as const);
  if (readers.every(([, convert]) => convert === asText)) return (params) => params;
  return (params) => Object.fromEntries(readers.map(([name, convert]) => [name, convert(params[name] ?? "")]));
}

interface SchemaDefinition {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly element?: z.ZodType;
  readonly options?: readonly z.ZodType[];
}

function toFieldReader(schema: z.ZodType): FieldReader {
  const definition = schema._zod.def as unknown as SchemaDefinition;
  if (definition.innerType !== undefined) return toFieldReader(definition.innerType);
  if (definition.type === "array" && definition.element !== undefined) {
    return { convert: toFieldReader(definition.element).convert, list: true };
  }
  if (definition.type === "union" && definition.options !== undefined) {
    const readers = definition.options.map((option) => toFieldReader(option).convert);
    // The first option that converts the text to another type is used; otherwise the text stays text.
    return { convert: (text) => readers.map((read) => read(text)).find((value) => typeof value !== "string") ?? text, list: false };
  }
  const convert = definition.type === "number" ? asNumber : definition.type === "boolean" ? asBoolean : asText;
  return { convert, list: false };
}

const asText: Convert = (text) => text;
const asNumber: Convert = (text) => (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) ? Number(text) : text);
const asBoolean: Convert = (text) => (text === "true" ? true : text === "false" ? false : text);
