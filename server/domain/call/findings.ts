/**
 * This module validates the parts of a request and converts schema errors to findings.
 *
 * A finding has a JSON Pointer, a stable code and a message that says what would be valid, without zod terms. A finding
 * never contains the rejected value, because that value may be a secret.
 */
import { z } from "zod";
import { AppError, type ProblemFinding } from "../../../api/schema/error.ts";
import { nearestName } from "./nearestName.ts";

/** Maximum number of findings in one answer. */
const maxFindings = 50;
/** Maximum number of known names that a finding about an unknown name lists. */
const maxListed = 8;

export function toPointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** A part of a request, as named in error messages. */
export type Part = "path" | "query" | "body";

export interface PartNames {
  /** Names of members of the other request parts. They let a finding say where a misplaced member belongs. */
  readonly elsewhere: ReadonlyMap<string, Part>;
}

/** Returns the parsed value. Throws `validation_failed` or `unknown_field` with all findings. */
export function parsePart<Schema extends z.ZodType>(schema: Schema, value: unknown, part: Part, names?: PartNames): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  // Parse again with our own messages. The second parse happens only for invalid requests, so its cost does not matter.
  const reparsed = schema.safeParse(value, { error: (issue) => toMessage(issue, part) });
  const found = (reparsed.error ?? parsed.error).issues.flatMap((issue) => toFindings(issue, part, names));
  // The code and the detail of the error must describe the same finding.
  const unknown = found.find((finding) => finding.code === "unknown_field");
  const code = unknown === undefined ? "validation_failed" : "unknown_field";
  const first = unknown ?? found[0];
  const detail = toDetail(first === undefined ? undefined : toFinding(first, part), found.length - 1, part);
  throw new AppError(code, detail, { errors: found.slice(0, maxFindings).map((finding) => toFinding(finding, part)) });
}

/** `unknown` is an unknown name with the names that are known in its place. Only a finding that is shown gets its advice. */
interface Found extends ProblemFinding {
  readonly unknown?: { readonly name: string; readonly known: readonly string[] };
}

function toFinding({ unknown, ...finding }: Found, part: Part): ProblemFinding {
  return unknown === undefined ? finding : { ...finding, message: toAdvice(unknown.name, unknown.known, part) };
}

function toAdvice(name: string, known: readonly string[], part: Part): string {
  const noun = part === "body" ? "field" : "parameter";
  const nearest = nearestName(name, known);
  const guess = nearest === undefined ? "" : `; did you mean ${say(nearest)}?`;
  if (known.length === 0) return `is not a known ${noun}; none is known here`;
  if (known.length > maxListed) return `is not a known ${noun}${guess}`;
  return `is not a known ${noun}${guess || ";"} known: ${known.map(say).join(", ")}`;
}

function toDetail(first: ProblemFinding | undefined, more: number, part: Part): string {
  if (first === undefined) return `The ${part} is not valid.`;
  const others = more > 0 ? ` (and ${more} more, see errors)` : "";
  return first.pointer === "" ? `The ${part} ${first.message}${others}.` : `In the ${part}, ${first.pointer} ${first.message}${others}.`;
}

function toFindings(issue: z.core.$ZodIssue, part: Part, names: PartNames | undefined): readonly Found[] {
  if (issue.code === "unrecognized_keys") {
    const known = knownIn(issue);
    return issue.keys.map((name) => {
      const place = issue.path.length === 0 ? names?.elsewhere.get(name) : undefined;
      const finding = { pointer: toPointer([...issue.path, name]), code: "unknown_field" };
      return place === undefined
        ? { ...finding, message: "", unknown: { name, known } }
        : { ...finding, message: `belongs in the ${place}, not in the ${part}` };
    });
  }
  if (issue.code === "invalid_union" && issue.errors.length > 0) {
    const inner = closest(issue.errors);
    // When exactly one alternative fits the shape of the value, report the findings of that alternative. Otherwise name
    // all alternatives.
    if (inner !== undefined) return inner.flatMap((part_) => toFindings({ ...part_, path: [...issue.path, ...part_.path] }, part, names));
    if (issue.errors.every((errors) => errors.some((error) => error.path.length === 0 && error.message === required))) {
      return [{ pointer: toPointer(issue.path), code: "required", message: required }];
    }
    // Report a wrong type as such. For any other error, prefer the message that the union's schema defines, if there is
    // one.
    if (!issue.message.startsWith(noShape) && !issue.errors.every((errors) => errors.some(isWrongType))) {
      return [{ pointer: toPointer(issue.path), code: "invalid_union", message: issue.message }];
    }
    const alternatives = [...new Set(issue.errors.flatMap((errors) => errors.slice(0, 1).map(toText)))];
    return [
      { pointer: toPointer(issue.path), code: "invalid_union", message: alternatives.join(" or ").replaceAll(" or must be ", " or ") },
    ];
  }
  const code = issue.message === required ? "required" : issue.code;
  return [{ pointer: toPointer(issue.path), code, message: issue.message }];
}

/**
 * Returns the only alternative of a union whose errors are all in nested members or are unknown keys, if there is
 * exactly one.
 */
function closest(alternatives: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] | undefined {
  const inside = alternatives.filter((issues) => issues.every((issue) => issue.path.length > 0 || issue.code === "unrecognized_keys"));
  return inside.length === 1 ? inside[0] : undefined;
}

function isWrongType({ code, path }: z.core.$ZodIssue): boolean {
  return code === "invalid_type" && path.length === 0;
}

/** Between the known names in zod's message of an unknown name, which `knownIn` reads. */
const separator = "\n";

/** The message of one alternative of a union. */
function toText(issue: z.core.$ZodIssue): string {
  return issue.code === "unrecognized_keys" ? `must have no other field than ${knownIn(issue).map(say).join(", ")}` : issue.message;
}

const knownIn = (issue: z.core.$ZodIssueUnrecognizedKeys): readonly string[] => issue.message.split(separator).filter(Boolean);

/** The names of the fields that an object accepts. A field of type `never` accepts nothing and only gives the reason. */
function fieldsOf(schema: unknown): readonly string[] {
  if (!(schema instanceof z.ZodObject)) return [];
  const accepts = (field: unknown) => !(field instanceof z.ZodOptional && field.unwrap() instanceof z.ZodNever);
  return Object.entries(schema.shape).flatMap(([name, field]) => (accepts(field) ? [name] : []));
}

const required = "is required";
/** Message for a union whose schema defines no message. */
const noShape = "matches none of the allowed shapes";

/** Returns `undefined` to keep the message of zod. Messages that a schema defines are never passed to this function. */
function toMessage(issue: z.core.$ZodRawIssue, part: Part): string | undefined {
  const message = toPlainMessage(issue);
  // A query parameter that occurs twice is parsed as a list of its values.
  return part === "query" && message !== undefined && Array.isArray(issue.input) ? `${message}, given once` : message;
}

function toPlainMessage(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return required;
      return `must be ${article(plain[issue.expected] ?? issue.expected)}`;
    case "invalid_value":
      if (issue.input === undefined) return required;
      return issue.values.length === 1 ? `must be ${say(issue.values[0])}` : `must be one of ${issue.values.map(say).join(", ")}`;
    case "too_small":
      return `must ${bound(issue.origin, issue.inclusive === false ? "more than" : "at least", issue.minimum)}`;
    case "too_big":
      return `must ${bound(issue.origin, issue.inclusive === false ? "less than" : "at most", issue.maximum)}`;
    case "invalid_format":
      return issue.format === "datetime"
        ? "must be an ISO 8601 time in UTC with milliseconds, such as 2026-11-21T00:00:00.000Z"
        : `must be a valid ${issue.format}`;
    case "unrecognized_keys":
      return fieldsOf(issue.inst).join(separator);
    case "invalid_union":
      return "discriminator" in issue && Array.isArray(issue.options) ? `must be one of ${issue.options.map(say).join(", ")}` : noShape;
    default:
      return undefined;
  }
}

const plain: Readonly<Record<string, string>> = { int: "whole number", record: "object" };

const say = (value: unknown): string => (typeof value === "string" ? `'${value}'` : String(value));

function article(type: string): string {
  if (type === "null") return "null";
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function bound(origin: string, how: string, limit: number | bigint): string {
  if (origin === "string") return `have ${how} ${limit} character${limit === 1 ? "" : "s"}`;
  if (origin === "array" || origin === "set") return `have ${how} ${limit} item${limit === 1 ? "" : "s"}`;
  return `be ${how} ${limit}`;
}
