/** This module converts texts to the bytes of blobs, deflated, and back. */
import { promisify } from "node:util";
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from "node:zlib";

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** Smaller blobs are processed inline, because moving them to another thread costs more than the work. */
const threadFromBytes = 16 * 1024;

export async function toBlob(text: string): Promise<Uint8Array> {
  const bytes = Buffer.from(text, "utf8");
  return bytes.byteLength < threadFromBytes ? deflateRawSync(bytes) : deflate(bytes);
}

export async function fromBlob(bytes: Uint8Array): Promise<string> {
  return (bytes.byteLength < threadFromBytes ? inflateRawSync(bytes) : await inflate(bytes)).toString("utf8");
}
