/**
 * This module holds the rules for answers that both hosts share: size limits, header checks and the answer to a bug.
 *
 * Both hosts use it so that they behave the same. It knows no routes.
 */
import type { HttpReply, StreamedBody } from "./port.ts";

/** Maximum bytes of request line and headers together. It is large because a tRPC batch of queries is sent in the URL. */
export const maxHeadBytes = 64 * 1024;

/**
 * Maximum declared length of a refused body that is still read and discarded. Closing the connection with unread bytes
 * would reset it, and the client would lose the answer.
 */
export const maxDiscardBytes = 64 * 1024 * 1024;

/** Headers of every answer. Browsers must not guess a media type, because a text of an author could then run as a page. */
export const everyAnswer = { "x-content-type-options": "nosniff" } as const;

/** Answer if the app throws, which is a bug. */
export const failed: HttpReply = { status: 500, headers: { "content-type": "text/plain" }, body: "internal error" };

const unsafe = /[^\t\x20-\x7e]/;
/** A valid name with its separators → both. It stays small because all header names are constants in the code. */
const labels = new Map<string, string>();

function toLabel(name: string): string {
  const known = labels.get(name);
  if (known !== undefined) return known;
  if (!/^[a-z0-9-]{1,64}$/.test(name)) throw new Error(`${JSON.stringify(name)} is not a valid header name`);
  const label = `\r\n${name}: `;
  labels.set(name, label);
  return label;
}

const everyAnswerText = Object.entries(everyAnswer)
  .map(([name, value]) => toLabel(name) + value)
  .join("");

/**
 * Returns the headers, with those of every answer, as text, each after a line break. Throws for a header that contains line
 * breaks or non-ASCII characters: it could end early or be decoded in two ways.
 */
export function toHeaderText(headers: HttpReply["headers"]): string {
  let text = everyAnswerText;
  let values = "";
  for (const name in headers) {
    const value = headers[name] ?? "";
    text += toLabel(name) + value;
    values += value;
  }
  // One search in all values costs less than one in each.
  if (unsafe.test(values)) {
    const name = Object.keys(headers).find((candidate) => unsafe.test(headers[candidate] ?? ""));
    throw new Error(`the header ${name} of an answer is not printable ASCII`);
  }
  return text;
}

export function isStreamed(body: HttpReply["body"]): body is StreamedBody {
  return typeof body === "object" && "open" in body;
}

/** Closes a streamed body that is not sent, so that its source releases its resources. */
export function discardStream(body: HttpReply["body"]): void {
  if (isStreamed(body)) body.close();
}
