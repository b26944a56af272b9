/** Checks that a text may be stored in a document: well-formed UTF-16, no NUL, at most `article.file` bytes. */
import { AppError } from "../../../api/schema/error.ts";

const unacceptable = /[\0\p{Surrogate}]/gu;

/** Throws `content_not_accepted` for a NUL or an unpaired surrogate. `what` names the text in the message, such as `content`. */
export function requireAccepted(text: string, what: string): void {
  if (text.search(unacceptable) < 0) return;
  const detail = `'${what}' must not contain NUL characters or unpaired surrogates.`;
  throw new AppError("content_not_accepted", detail);
}

/** Replaces each NUL and each unpaired surrogate by U+FFFD. */
export function toAcceptable(text: string): string {
  return text.replace(unacceptable, "\ufffd");
}

export function requireFits(text: string, maxBytes: number): void {
  if (Buffer.byteLength(text, "utf8") > maxBytes) throw tooLarge(maxBytes);
}

export function tooLarge(maxBytes: number): AppError {
  return new AppError("content_too_large", `A file of an article holds at most ${maxBytes} bytes of UTF-8 text.`);
}
