/**
 * `readForm` reads a body of type multipart/form-data (RFC 7578): one file, and text fields.
 *
 * The body is already in memory, so the file is a view of it and nothing is copied. A body that is not well-formed is
 * refused with 400 and never guessed. This module knows neither the fields nor their meaning.
 */
import { isUtf8 } from "node:buffer";
import type { UploadedFile } from "../../../api/contract/operation.ts";
import type { Limits } from "../../../api/limits.ts";
import { AppError } from "../../../api/schema/error.ts";
import { guardJson } from "./bodyGuard.ts";
import { parseJson } from "./jsonBody.ts";

export const formMediaType = "multipart/form-data";

export interface FormParts {
  readonly file: UploadedFile;
  /** Name → text, or the JSON value of a field that is sent as JSON. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface FormRules {
  /** Names of the fields that are sent as JSON. */
  readonly jsonFields: readonly string[];
  readonly maxFileBytes: number;
  readonly limits: Limits;
}

interface Part {
  readonly name: string;
  readonly fileName: string | undefined;
  readonly mediaType: string | undefined;
  readonly content: Buffer;
}

const maxParts = 20;
const maxHeadBytes = 8 * 1024;
const maxNameCharacters = 255;
const lineEnd = Buffer.from("\r\n");
const headEnd = Buffer.from("\r\n\r\n");

/** `contentType` is the header of the request, which names the boundary. */
export function readForm(bytes: Uint8Array, contentType: string, { jsonFields, maxFileBytes, limits }: FormRules): FormParts {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let file: UploadedFile | undefined;
  const fields = new Map<string, unknown>();
  for (const part of readParts(body, readBoundary(contentType))) {
    const { name, fileName, mediaType, content } = part;
    if (fields.has(name) || (name === "file" && file !== undefined)) throw refusePart(name, "invalid_value", "must be given once");
    if (name === "file") {
      if (content.length > maxFileBytes) throw new AppError("payload_too_large", `The part file may have at most ${maxFileBytes} bytes.`);
      const known = toFileName(fileName);
      file = { ...(known === undefined ? {} : { name: known }), ...(mediaType === undefined ? {} : { mediaType }), bytes: content };
    } else if (fileName !== undefined) throw refusePart(name, "unknown_field", "is not a known file; the file is in the part 'file'");
    else fields.set(name, readField(name, content, jsonFields.includes(name), limits));
  }
  if (file === undefined) throw refusePart("file", "required", "is required");
  return { file, fields: Object.fromEntries(fields) };
}

function readField(name: string, content: Buffer, isJson: boolean, limits: Limits): unknown {
  const maxBytes = limits["body.string"];
  if (content.length > maxBytes) throw refusePart(name, "too_big", `must have at most ${maxBytes} bytes`);
  if (!isUtf8(content)) throw refusePart(name, "invalid_value", "must be UTF-8 text");
  if (!isJson) return content.toString();
  const json = parseJson(content.toString(), `part ${name}`);
  guardJson({ [name]: json }, { limits, documentText: false, freeForm: [] });
  return json;
}

/** The boundary is a token or a quoted string of 1 to 70 characters (RFC 2046). */
function readBoundary(contentType: string): string {
  const [, quoted, token] = /;[ \t]*boundary=(?:"([^"\r\n]{1,70})"|([^\s";,]{1,70}))[ \t]*(?:;|$)/i.exec(contentType) ?? [];
  const boundary = quoted ?? token;
  if (boundary === undefined) throw malformed("its content-type names no boundary");
  return boundary;
}

function* readParts(body: Buffer, boundary: string): Generator<Part> {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  // The first delimiter may begin the body, so its line end is optional.
  const opening = delimiter.subarray(lineEnd.length);
  let at = body.subarray(0, opening.length).equals(opening) ? opening.length : afterDelimiter(body, delimiter, 0);
  for (let count = 1; !isClosed(body, at); count += 1) {
    if (count > maxParts) throw malformed(`it has more than ${maxParts} parts`);
    const head = body.indexOf(lineEnd, at);
    if (head === -1 || body.toString("latin1", at, head).trim() !== "") throw malformed("a boundary is not followed by a line end");
    const end = body.indexOf(headEnd, head);
    if (end === -1 || end - head > maxHeadBytes) throw malformed("the head of a part has no end");
    const start = end + headEnd.length;
    const next = afterDelimiter(body, delimiter, end + lineEnd.length);
    yield toPart(body.subarray(head + lineEnd.length, end), body.subarray(start, Math.max(start, next - delimiter.length)));
    at = next;
  }
}

function afterDelimiter(body: Buffer, delimiter: Buffer, from: number): number {
  const found = body.indexOf(delimiter, from);
  if (found === -1) throw malformed("it ends before its closing boundary");
  return found + delimiter.length;
}

function isClosed(body: Buffer, at: number): boolean {
  return body.toString("latin1", at, at + 2) === "--";
}

function toPart(head: Buffer, content: Buffer): Part {
  if (!isUtf8(head)) throw malformed("the head of a part is not UTF-8");
  const headers = new Map<string, string>();
  for (const line of head.toString().split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  const disposition = headers.get("content-disposition") ?? "";
  const name = readParameter(disposition, "name");
  if (!/^form-data\s*;/i.test(disposition) || name === undefined) throw malformed("a part has no content-disposition with a name");
  const encoding = headers.get("content-transfer-encoding")?.toLowerCase() ?? "binary";
  if (!["binary", "8bit", "7bit"].includes(encoding)) throw malformed("a part has a content-transfer-encoding; send it as it is");
  const mediaType = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  return { name, fileName: readParameter(disposition, "filename"), mediaType, content };
}

/** Browsers write `"`, CR and LF in a name as %22, %0D and %0A, and other clients write `\"`. */
function readParameter(disposition: string, name: string): string | undefined {
  const [, quoted, token] = new RegExp(`;[ \\t]*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s";]+))`, "i").exec(disposition) ?? [];
  if (quoted === undefined) return token;
  return quoted.replace(/\\(["\\])/g, "$1").replace(/%(22|0D|0A)/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

function toFileName(given: string | undefined): string | undefined {
  const last = given?.split(/[\\/]/).at(-1) ?? "";
  const name = last
    .replace(/[\p{Cc}\p{Surrogate}]/gu, "")
    .trim()
    .slice(0, maxNameCharacters)
    .replace(/\p{Surrogate}$/u, "");
  return name === "" ? undefined : name;
}

function malformed(reason: string): AppError {
  return new AppError("bad_request", `The multipart body cannot be read: ${reason}.`);
}

function refusePart(name: string, code: string, message: string): AppError {
  const pointer = `/${name.replaceAll("~", "~0").replaceAll("/", "~1").slice(0, 100)}`;
  const kind = code === "unknown_field" ? "unknown_field" : "validation_failed";
  return new AppError(kind, `In the form, ${pointer} ${message}.`, { errors: [{ pointer, code, message }] });
}
