/**
 * `guardJson` checks the bounds of a parsed JSON value before any schema validates it.
 *
 * It limits the depth, the number of members, the length of strings and the size of free-form objects, and refuses
 * malformed Unicode. Schemas can then walk the value without a risk of deep recursion or long run time.
 */
import type { Limits } from "../../../api/limits.ts";
import { AppError, type ErrorCode } from "../../../api/schema/error.ts";
import { toPointer } from "../../domain/call/findings.ts";

export interface GuardRules {
  readonly limits: Limits;
  /** True if members named `content`, `replace` or `find` hold document text. Their limit is then `article.file`. */
  readonly documentText: boolean;
  /** Top-level members that are free-form objects. */
  readonly freeForm: readonly string[];
}

const loneSurrogate = /\p{Surrogate}/u;
const documentFields = new Set(["content", "replace", "find"]);

export function guardJson(value: unknown, rules: GuardRules): void {
  const { limits } = rules;
  const path: (string | number)[] = [];
  let members = 0;

  function checkText(text: string, field: string | undefined): void {
    const isDocument = rules.documentText && field !== undefined && documentFields.has(field);
    if (loneSurrogate.test(text)) {
      const code = isDocument ? "content_not_accepted" : "validation_failed";
      throw refuse(code, path, "invalid_text", "must not contain an unpaired surrogate");
    }
    const maxBytes = isDocument ? limits["article.file"] : limits["body.string"];
    if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return;
    throw refuse(isDocument ? "content_too_large" : "validation_failed", path, "too_big", `must be at most ${maxBytes} bytes of UTF-8`);
  }

  function walk(node: unknown, depth: number, field: string | undefined): void {
    if (typeof node === "string") checkText(node, field);
    if (typeof node !== "object" || node === null) return;
    if (depth >= limits["body.depth"]) {
      throw refuse("validation_failed", path, "too_deep", `must be nested at most ${limits["body.depth"]} deep`);
    }
    for (const name of Object.keys(node)) {
      members += 1;
      path.push(Array.isArray(node) ? Number(name) : name);
      if (members > limits["body.keys"]) {
        const message = `the body must have at most ${limits["body.keys"]} names and items together`;
        throw refuse("validation_failed", [], "too_big", message);
      }
      if (!Array.isArray(node)) {
        checkText(name, undefined);
        // Assigning a member of this name to another object would set that object's prototype.
        if (name === "__proto__") throw refuse("validation_failed", path, "invalid_name", "has a name that is not allowed");
      }
      walk((node as Record<string, unknown>)[name], depth + 1, Array.isArray(node) ? field : name);
      path.pop();
    }
  }

  walk(value, 0, undefined);
  if (typeof value !== "object" || value === null) return;
  for (const name of rules.freeForm) {
    const part = (value as Record<string, unknown>)[name];
    if (part === undefined) continue;
    if (Buffer.byteLength(JSON.stringify(part)) > limits["body.freeForm"]) {
      throw refuse("validation_failed", [name], "too_big", `must be at most ${limits["body.freeForm"]} bytes of JSON`);
    }
    if (depthOf(part) > limits["body.freeFormDepth"]) {
      throw refuse("validation_failed", [name], "too_deep", `must be nested at most ${limits["body.freeFormDepth"]} deep`);
    }
  }
}

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Object.values(value).reduce((deepest: number, part) => Math.max(deepest, depthOf(part)), 0);
}

function refuse(code: ErrorCode, path: readonly (string | number)[], finding: string, message: string): AppError {
  const pointer = toPointer(path);
  return new AppError(code, pointer === "" ? `The body is refused: ${message}.` : `The value at ${pointer} ${message}.`, {
    errors: [{ pointer, code: finding, message }],
  });
}
