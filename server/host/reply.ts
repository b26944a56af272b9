/** What both hosts hold about answers: how much they read and discard, which header values may go out, what a bug answers. */
import type { HttpReply } from "./port.ts";

/** Request line and headers together; a batch of queries travels in the URL. */
export const maxHeadBytes = 64 * 1024;

/** A declared body that is too large is read and thrown away up to here, so that the answer is not lost to a reset. */
export const maxDiscardBytes = 64 * 1024 * 1024;

/** The answer when the app throws, which it promises not to. */
export const failed: HttpReply = { status: 500, headers: { "content-type": "text/plain" }, body: "internal error" };

const unsafe = /[^\t\x20-\x7e]/;
/** Names are few and written in the code. */
const checkedNames = new Set<string>();

/** Throws for a header that could end early or be read in two encodings. */
export function checkHeader(name: string, value: string): void {
  if (unsafe.test(value)) throw new Error(`the header ${name} of an answer is not printable ASCII`);
  if (checkedNames.has(name)) return;
  if (!/^[a-z0-9-]{1,64}$/.test(name)) throw new Error(`${JSON.stringify(name)} is no name of a header`);
  checkedNames.add(name);
}

export function isPieces(body: HttpReply["body"]): body is AsyncIterable<string | Uint8Array> {
  return typeof body === "object" && Symbol.asyncIterator in body;
}
