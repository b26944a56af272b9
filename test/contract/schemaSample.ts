/** Creates a small valid value for a schema, for tests that visit the whole contract. */
import type { z } from "zod";

interface Definition {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly element?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly entries?: Readonly<Record<string, string>>;
  readonly values?: readonly unknown[];
  readonly format?: string;
}

/** Texts that match the patterns of the contract. */
const texts = [
  "ana",
  "a line of text",
  "ws_01KAHX0000050123456789ABCD",
  "art_01KAHX0000050123456789ABCD",
  "key_01KAHX0000050123456789ABCD",
  "cmt_01KAHX0000050123456789ABCD",
  "whk_01KAHX0000050123456789ABCD",
  "article:art_01KAHX0000050123456789ABCD",
  "2026-11-21T00:00:00.000Z",
  "2026-11-21",
  "T-1",
  "top_01KAHX0000050123456789ABCD",
  "run_01KAHX0000050123456789ABCD",
  "apr_01KAHX0000050123456789ABCD",
  "fld_01KAHX0000050123456789ABCD",
  "tpl_01KAHX0000050123456789ABCD",
  "ana@example.com",
  "https://hooks.example/in",
  "a".repeat(64),
  "a long enough password",
];

/** With `optional`, optional members are included. */
export function sampleOf(schema: z.ZodType, optional = false): unknown {
  const definition = schema._zod.def as unknown as Definition;
  const value = toSample(definition, optional);
  if (schema.safeParse(value).success) return value;
  const candidates = [...toCandidates(definition, value, optional), schema.meta()?.example];
  const fitting = candidates.find((candidate) => schema.safeParse(candidate).success);
  if (fitting === undefined) throw new Error(`no sample for a schema of type ${definition.type}`);
  return fitting;
}

function toCandidates(definition: Definition, value: unknown, optional: boolean): readonly unknown[] {
  if (definition.type === "object") return variants(definition, value as object);
  if (definition.type === "number") return [0, 1, 10];
  const { element } = definition;
  // Twelve items, because the list of monthly values needs one for each month.
  if (definition.type === "array" && element !== undefined) return [Array.from({ length: 12 }, () => sampleOf(element, optional))];
  return texts;
}

/** Returns variants with one optional member more or less, for objects whose members depend on each other. */
function variants(definition: Definition, value: object): unknown[] {
  return Object.entries(definition.shape ?? {}).flatMap(([name, field]) => {
    if (!field.safeParse(undefined).success) return [];
    const { [name]: _, ...without } = value as Record<string, unknown>;
    return [without, { ...value, [name]: sampleOf(field, true) }];
  });
}

/** True for a member that accepts no value. Its object declares it only to explain the refusal. */
function isForbidden(field: z.ZodType): boolean {
  const { innerType } = field._zod.def as unknown as Definition;
  return innerType?._zod.def.type === "never";
}

function toSample(definition: Definition, optional: boolean): unknown {
  switch (definition.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(definition.shape ?? {}).flatMap(([name, field]) =>
          (!optional && field.safeParse(undefined).success) || isForbidden(field) ? [] : [[name, sampleOf(field, optional)]],
        ),
      );
    case "optional":
    case "nullable":
      return definition.innerType === undefined ? undefined : sampleOf(definition.innerType, optional);
    case "array":
      return definition.element === undefined ? [] : [sampleOf(definition.element, optional)];
    case "union":
      return definition.options?.[0] === undefined ? undefined : sampleOf(definition.options[0], optional);
    case "enum":
      return Object.values(definition.entries ?? {})[0];
    case "literal":
      return definition.values?.[0];
    case "boolean":
      return true;
    case "number":
      return 1;
    case "record":
      return { tone: "plain" };
    default:
      return "ana";
  }
}
