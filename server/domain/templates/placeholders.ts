/**
 * Fills the placeholders of a template with values.
 *
 * `{{name}}` is a placeholder only if `name` is declared, so that other text between braces stays as it is. `\{{name}}`
 * becomes `{{name}}`. The text is read once from its beginning to its end; values are never read, so a placeholder inside
 * a value stays text. This module knows no records.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { AppError, type ProblemFinding } from "../../../api/schema/error.ts";
import type { TemplateVariable } from "../../../api/schema/template.ts";
import { tooLarge } from "../call/acceptedText.ts";
import { toPointer } from "../call/findings.ts";

/** Time is linear in the length of the text: a run of white space is read for one pair of braces only. */
const placeholder = /(\\?)\{\{[ \t]*([A-Za-z][A-Za-z0-9_-]{0,63})[ \t]*\}\}/g;
/** Placeholders that are replaced in one turn of the event loop, in about a millisecond. */
const atOnce = 2000;
/** Findings in one answer. */
const maxFindings = 50;

/**
 * Returns the value of each declared variable; the empty text for an optional variable without one. Throws
 * `validation_failed` with a pointer to each missing value of a required variable and to each unknown name.
 */
export function toValues(variables: readonly TemplateVariable[], given: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const values = new Map(variables.map(({ name }) => [name, Object.hasOwn(given, name) ? (given[name] ?? "") : ""]));
  const refuse = (name: string, code: string, message: string): ProblemFinding => ({
    pointer: toPointer(["variables", name]),
    code,
    message,
  });
  const findings = [
    ...variables
      .filter(({ name, required }) => required && values.get(name) === "")
      .map(({ name }) => refuse(name, "required", "is required and must not be empty")),
    ...Object.keys(given)
      .filter((name) => !values.has(name))
      .map((name) => refuse(name, "unknown_variable", "is not a variable of the template")),
  ];
  const [first] = findings;
  if (first === undefined) return values;
  const more = findings.length > 1 ? ` (and ${findings.length - 1} more, see errors)` : "";
  throw new AppError("validation_failed", `In the body, ${first.pointer} ${first.message}${more}.`, {
    errors: findings.slice(0, maxFindings),
  });
}

/** Throws `content_too_large` as soon as the result has more than `maxBytes` in UTF-8, before it is built. */
export async function fillPlaceholders(content: string, values: ReadonlyMap<string, string>, maxBytes: number): Promise<string> {
  const parts: string[] = [];
  let left = maxBytes;
  let from = 0;
  let found = 0;
  const add = (part: string): void => {
    left -= Buffer.byteLength(part, "utf8");
    if (left < 0) throw tooLarge(maxBytes);
    parts.push(part);
  };
  for (const { 0: whole, 1: backslash, 2: name = "", index } of content.matchAll(placeholder)) {
    found += 1;
    if (found % atOnce === 0) await nextTurn();
    const value = values.get(name);
    if (value === undefined) continue;
    add(content.slice(from, index));
    add(backslash === "" ? value : whole.slice(1));
    from = index + whole.length;
  }
  add(content.slice(from));
  return parts.join("");
}
