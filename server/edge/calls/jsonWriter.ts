/**
 * `compileJsonWriter` compiles a reply schema into a function that writes its values as JSON text.
 *
 * The function is twice as fast as `JSON.stringify`, which took a tenth of the time of a small answer. The value must
 * already be validated by the schema. Types without own code (unions, records, open objects) go to `JSON.stringify`.
 */
import type { z } from "zod";

export type JsonWriter = (value: unknown) => string;

interface Definition {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly element?: z.ZodType;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly catchall?: z.ZodType;
  readonly entries?: Readonly<Record<string, string | number>>;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what JSON escapes
const needsEscape = /["\\\u0000-\u001f\ud800-\udfff]/;

/** Writes a string as JSON. Lone surrogates are escaped as `JSON.stringify` does. */
function quote(text: string): string {
  return needsEscape.test(text) ? JSON.stringify(text) : `"${text}"`;
}

export function compileJsonWriter(schema: z.ZodType): JsonWriter {
  const lines: string[] = [];
  let names = 0;
  const fresh = () => {
    names += 1;
    return `v${names}`;
  };

  /** Generates code that appends the value of the variable `v` to the output `o`. */
  function write(node: z.ZodType, v: string): void {
    const definition = node._zod.def as unknown as Definition;
    const { type, innerType, element, shape } = definition;
    if (type === "string") lines.push(`o += quote(${v});`);
    else if (type === "number" || type === "boolean") lines.push(`o += ${v};`);
    else if (type === "enum" && Object.values(definition.entries ?? {}).every(isPlain)) lines.push(`o += '"' + ${v} + '"';`);
    else if (type === "nullable" && innerType !== undefined) {
      lines.push(`if (${v} === null) o += "null"; else {`);
      write(innerType, v);
      lines.push("}");
    } else if (type === "array" && element !== undefined) {
      const [at, item] = [fresh(), fresh()];
      lines.push(`o += "["; for (let ${at} = 0; ${at} < ${v}.length; ${at}++) { if (${at} > 0) o += ","; const ${item} = ${v}[${at}];`);
      write(element, item);
      lines.push(`} o += "]";`);
    } else if (type === "object" && shape !== undefined && isClosed(definition)) writeObject(shape, v);
    else lines.push(`o += JSON.stringify(${v}) ?? "null";`);
  }

  function writeObject(shape: Readonly<Record<string, z.ZodType>>, v: string): void {
    const comma = fresh();
    // True after the first required member. Before it, only the generated code can know whether a comma is needed.
    let certain = false;
    lines.push(`let ${comma} = "{";`);
    for (const [name, field] of Object.entries(shape)) {
      const member = fresh();
      const definition = field._zod.def as unknown as Definition;
      const optional = field.safeParse(undefined).success;
      const label = JSON.stringify(`${JSON.stringify(name)}:`);
      lines.push(`const ${member} = ${v}[${JSON.stringify(name)}]; if (${member} !== undefined) {`);
      if (certain && definition.type === "string") {
        // String members are the most frequent: write each in one concatenation.
        lines.push(
          `o += needsEscape.test(${member}) ? ${separator(name, "")} + JSON.stringify(${member}) : ${separator(name, '"')} + ${member} + '"';`,
        );
      } else {
        lines.push(certain ? `o += ${separator(name, "")};` : `o += ${comma} + ${label}; ${comma} = ",";`);
        write(definition.type === "optional" && definition.innerType !== undefined ? definition.innerType : field, member);
      }
      lines.push("}");
      if (!optional) certain = true;
    }
    lines.push(certain ? `o += "}";` : `o += ${comma} === "{" ? "{}" : "}";`);
  }

  write(schema, "value");
  const source = `return (value) => { let o = ""; ${lines.join("\n")} return o; };`;
  return new Function("quote", "needsEscape", source)(quote, needsEscape) as JsonWriter;
}

/** Source code of the string literal between two member values: comma, name, colon and `quoteMark`. */
function separator(name: string, quoteMark: string): string {
  return JSON.stringify(`,${JSON.stringify(name)}:${quoteMark}`);
}

function isPlain(value: string | number): boolean {
  return typeof value === "string" && !needsEscape.test(value);
}

/** True for an object schema that allows no members outside its shape. */
function isClosed({ catchall }: Definition): boolean {
  return catchall?._zod.def.type === "never";
}
