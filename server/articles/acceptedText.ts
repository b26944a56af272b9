/** What a text must be to go into a document: well-formed, without NUL, within `article.file`. */
import { AppError } from "../../api/schema/error.ts";

const unacceptable = /[\0\p{Surrogate}]/u;

/** `what` names the text in the refusal, such as `content`. */
export function requireAccepted(text: string, what: string): void {
  if (!unacceptable.test(text)) return;
  const detail = `'${what}' must not contain NUL characters or halves of surrogate pairs.`;
  throw new AppError("content_not_accepted", detail);
}

export function requireFits(text: string, maxBytes: number): void {
  if (Buffer.byteLength(text, "utf8") > maxBytes) throw tooLarge(maxBytes);
}

export function tooLarge(maxBytes: number): AppError {
  return new AppError("content_too_large", `A file of an article holds at most ${maxBytes} bytes of UTF-8 text.`);
}
