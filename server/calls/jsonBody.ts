/** Bytes to a JSON value, or a refusal that says where the text stops being JSON. */
import { isUtf8 } from "node:buffer";
import { AppError } from "../../api/schema/error.ts";

export function readJson(bytes: Uint8Array): unknown {
  if (!isUtf8(bytes)) throw new AppError("malformed_json", "The body is not valid UTF-8.");
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  return parseJson(text, "body");
}

/** `where` names the text in the refusal. */
export function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The engine's own message quotes the text, so only its position is used.
    const position = Number(/position (\d+)/.exec(error instanceof Error ? error.message : "")?.[1] ?? text.length);
    const before = text.slice(0, position);
    const line = before.split("\n").length;
    const column = position - before.lastIndexOf("\n");
    const what = text.trim() === "" ? "is empty" : position >= text.length ? "ends before the JSON does" : "is not JSON";
    throw new AppError("malformed_json", `The ${where} ${what} at line ${line}, column ${column} (position ${position}).`);
  }
}
