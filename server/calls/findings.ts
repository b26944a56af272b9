/**
 * What a schema found wrong, in words that say what would be right: JSON Pointers, stable codes, no zod jargon.
 * The value that was refused is never repeated: it may be a secret.
 */
import type { z } from "zod";
import { AppError, type ProblemFinding } from "../../api/schema/error.ts";

/** An answer lists at most this many findings. */
const maxFindings = 50;

export function toPointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Where the parts of a request stand, for the words of a refusal. */
export type Part = "path" | "query" | "body";

export interface PartNames {
  /** Names that another part of the request takes, so that a misplaced one can be told where it belongs. */
  readonly elsewhere: ReadonlyMap<string, Part>;
}

/** The value as the schema gives it, or a refusal with all that is wrong. */
export function parsePart<Schema extends z.ZodType>(schema: Schema, value: unknown, part: Part, names?: PartNames): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  // Said again in our words: on this path a second look costs nothing that matters.
  const said = schema.safeParse(value, { error: (issue) => toMessage(issue, part) });
  const findings = (said.error ?? parsed.error).issues.flatMap((issue) => toFindings(issue, part, names));
  // The code and the words of a refusal tell the same fault.
  const unknown = findings.find((finding) => finding.code === "unknown_field");
  const code = unknown === undefined ? "validation_failed" : "unknown_field";
  throw new AppError(code, toDetail(unknown ?? findings[0], findings.length - 1, part), { errors: findings.slice(0, maxFindings) });
}

function toDetail(first: ProblemFinding | undefined, more: number, part: Part): string {
  if (first === undefined) return `The ${part} is not valid.`;
  const others = more > 0 ? ` (and ${more} more, see errors)` : "";
  return first.pointer === "" ? `The ${part} ${first.message}${others}.` : `In the ${part}, ${first.pointer} ${first.message}${others}.`;
}

function toFindings(issue: z.core.$ZodIssue, part: Part, names: PartNames | undefined): readonly ProblemFinding[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => {
      const place = issue.path.length === 0 ? names?.elsewhere.get(key) : undefined;
      const message = place === undefined ? "is not a known field" : `belongs in the ${place}, not in the ${part}`;
      return { pointer: toPointer([...issue.path, key]), code: "unknown_field", message };
    });
  }
  if (issue.code === "invalid_union" && issue.errors.length > 0) {
    const inner = closest(issue.errors);
    // Findings of one alternative help when the value is plainly meant as it; otherwise all of them are named.
    if (inner !== undefined) return inner.flatMap((part_) => toFindings({ ...part_, path: [...issue.path, ...part_.path] }, part, names));
    if (issue.errors.every((errors) => errors.some((error) => error.path.length === 0 && error.message === required))) {
      return [{ pointer: toPointer(issue.path), code: "required", message: required }];
    }
    const alternatives = [...new Set(issue.errors.flatMap((errors) => errors.slice(0, 1).map((error) => error.message)))];
    return [
      { pointer: toPointer(issue.path), code: "invalid_union", message: alternatives.join(" or ").replaceAll(" or must be ", " or ") },
    ];
  }
  const code = issue.message === required ? "required" : issue.code;
  return [{ pointer: toPointer(issue.path), code, message: issue.message }];
}

/** The alternative of a union that went wrong only inside, when there is exactly one. */
function closest(alternatives: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] | undefined {
  const inside = alternatives.filter((issues) => issues.every((issue) => issue.path.length > 0 || issue.code === "unrecognized_keys"));
  return inside.length === 1 ? inside[0] : undefined;
}

const required = "is required";

/** `undefined` leaves the message to zod. Messages that stand in a schema never come here. */
function toMessage(issue: z.core.$ZodRawIssue, part: Part): string | undefined {
  const message = toPlainMessage(issue);
  // A parameter that is given twice comes as a list of its values.
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
    case "invalid_union":
      return "discriminator" in issue && Array.isArray(issue.options)
        ? `must be one of ${issue.options.map(say).join(", ")}`
        : "matches none of the allowed shapes";
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
