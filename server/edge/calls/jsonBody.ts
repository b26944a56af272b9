/**
 * `readJson` and `parseJson` parse JSON input. A refusal names the position of the first syntax error and what is
 * expected there. It never quotes the input.
 */
import { isUtf8 } from "node:buffer";
import { AppError } from "../../../api/schema/error.ts";
import { findJsonFault } from "./jsonFault.ts";

/**
 * Parses UTF-8 bytes. Throws `malformed_json` for bytes that are not UTF-8 or not JSON, and `validation_failed` for more
 * than `maxMembers` names and items. They are counted before parsing, because the parser needs about a second for a few
 * megabytes of small members.
 */
export function readJson(bytes: Uint8Array, maxMembers: number): unknown {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!isUtf8(buffer)) throw new AppError("malformed_json", "The body is not valid UTF-8.");
  if (buffer.length > maxMembers && hasMoreMembers(buffer, maxMembers)) {
    const message = `the body must have at most ${maxMembers} names and items together`;
    const errors = [{ pointer: "", code: "too_big", message }];
    throw new AppError("validation_failed", `The body is refused: ${message}.`, { errors });
  }
  return parseJson(buffer.toString(), "body");
}

const [quote, backslash, comma, bracket, brace] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];

/**
 * Reports whether the text certainly has more than `max` members. Each comma separates two members, and each container
 * except the outermost is itself a member, so the number of either is a lower bound of the members. One pass without
 * recursion; syntax errors are left to the parser.
 */
function hasMoreMembers(text: Buffer, max: number): boolean {
  let commas = 0;
  let containers = 0;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === quote) {
      at = endOfString(text, at);
      if (at === -1) return false;
    } else if (byte === comma) commas += 1;
    else if (byte === bracket || byte === brace) containers += 1;
    if (commas >= max || containers > max + 1) return true;
  }
  return false;
}

/** Position of the quote that ends the string begun at `start`, or -1 if the string does not end. */
function endOfString(text: Buffer, start: number): number {
  for (let at = text.indexOf(quote, start + 1); at !== -1; at = text.indexOf(quote, at + 1)) {
    let escapes = 0;
    while (text[at - 1 - escapes] === backslash) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return -1;
}

/** Parses JSON text. Throws `malformed_json` with line, column and expectation. `where` names the text in that message. */
export function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError("malformed_json", `The ${where} ${describeFault(text)}.`);
  }
}

function describeFault(text: string): string {
  const fault = findJsonFault(text);
  if (text.trim() === "") return "is empty, where JSON is expected";
  if (fault === undefined) return "is not valid JSON";
  const { at, expected } = fault;
  const before = text.slice(0, at);
  const place = `line ${before.split("\n").length}, column ${at - before.lastIndexOf("\n")}`;
  return at === text.length
    ? `is not complete: it ends at ${place}, where ${expected} is expected`
    : `is not valid JSON: at ${place}, ${expected} is expected`;
}
