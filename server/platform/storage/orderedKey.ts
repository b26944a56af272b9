/**
 * This module encodes index keys as text whose byte order equals the order of the tuples.
 *
 * "Byte text" is a string in which every character is one byte (U+0000 to U+00FF) of the text's UTF-8 form. With it,
 * `<` in JavaScript, LMDB's memcmp and Redis BYLEX sort alike, and the length of the string is its size in bytes. A
 * string part is `s`, its bytes with 0x00 and 0x01 escaped, then 0x00. A number part is `n` and 16 hex digits. No
 * encoded part is the beginning of another one, so a prefix of parts matches only keys that begin with exactly these
 * parts. No key contains the byte 0xFF.
 *
 * This module does not know records, partitions or stores.
 */
import type { IndexKey, IndexPart } from "./port.ts";

/** Maximum size of an encoded index key; every store must support it. */
export const maxIndexKeyBytes = 1900;

/** `prefix + afterAll` sorts after every key that starts with `prefix`. */
export const afterAll = "\xff";

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are bytes like any other
const ascii = /^[\x00-\x7f]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the two bytes that are escaped
const escaped = /[\x00\x01]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escapes themselves
const escapes = /\x01[\x01\x02]/g;
const loneSurrogate = /\p{Surrogate}/u;
const encodedSurrogate = /\xed[\xa0-\xbf]/;

/**
 * Converts text to the bytes of its UTF-8 form. A lone surrogate is encoded as its own three bytes, so different texts
 * never give the same bytes.
 */
export function toByteText(text: string): string {
  if (ascii.test(text)) return text;
  if (!loneSurrogate.test(text)) return Buffer.from(text, "utf8").toString("latin1");
  let bytes = "";
  for (const character of text) {
    const code = character.charCodeAt(0);
    bytes += loneSurrogate.test(character)
      ? String.fromCharCode(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f))
      : Buffer.from(character, "utf8").toString("latin1");
  }
  return bytes;
}

/** Reverses `toByteText`. */
export function fromByteText(bytes: string): string {
  if (ascii.test(bytes)) return bytes;
  if (!encodedSurrogate.test(bytes)) return Buffer.from(bytes, "latin1").toString("utf8");
  let text = "";
  let start = 0;
  for (let at = bytes.search(encodedSurrogate); at < bytes.length; at += 1) {
    if (bytes.charCodeAt(at) !== 0xed || bytes.charCodeAt(at + 1) < 0xa0) continue;
    text += Buffer.from(bytes.slice(start, at), "latin1").toString("utf8");
    text += String.fromCharCode(0xd000 | ((bytes.charCodeAt(at + 1) & 0x3f) << 6) | (bytes.charCodeAt(at + 2) & 0x3f));
    start = at + 3;
    at += 2;
  }
  return text + Buffer.from(bytes.slice(start), "latin1").toString("utf8");
}

const double = new DataView(new ArrayBuffer(8));

/**
 * Encodes a number as 16 hex digits that sort in numeric order. The digits are the bits of the double: all bits are
 * flipped if it is negative, otherwise only the sign bit.
 */
export function toSortableNumber(value: number): string {
  if (Number.isNaN(value)) throw new RangeError("an index key cannot hold NaN");
  double.setFloat64(0, value === 0 ? 0 : value);
  const high = double.getUint32(0);
  const negative = high >>> 31 === 1;
  const sortableHigh = negative ? ~high >>> 0 : (high ^ 0x80000000) >>> 0;
  const sortableLow = negative ? ~double.getUint32(4) >>> 0 : double.getUint32(4);
  return sortableHigh.toString(16).padStart(8, "0") + sortableLow.toString(16).padStart(8, "0");
}

export function fromSortableNumber(digits: string): number {
  const high = Number.parseInt(digits.slice(0, 8), 16);
  const low = Number.parseInt(digits.slice(8, 16), 16);
  const negative = high >>> 31 === 0;
  double.setUint32(0, negative ? ~high >>> 0 : (high ^ 0x80000000) >>> 0);
  double.setUint32(4, negative ? ~low >>> 0 : low);
  return double.getFloat64(0);
}

function toPart(part: IndexPart): string {
  if (typeof part === "number") return `n${toSortableNumber(part)}`;
  return `s${toByteText(part).replace(escaped, (byte) => (byte === "\x00" ? "\x01\x01" : "\x01\x02"))}\x00`;
}

/** Byte text of a key, or of its first parts. Throws a RangeError if it is longer than `maxIndexKeyBytes`. */
export function encodeKey(key: IndexKey): string {
  let bytes = "";
  for (const part of key) bytes += toPart(part);
  if (bytes.length > maxIndexKeyBytes) {
    throw new RangeError(`index key ${JSON.stringify(key[0])} takes ${bytes.length} bytes, at most ${maxIndexKeyBytes} are possible`);
  }
  return bytes;
}

/** Decodes parts from `start` up to the first byte that does not begin a part. `end` is the offset of that byte. */
export function decodeKey(bytes: string, start = 0): { readonly key: IndexKey; readonly end: number } {
  const parts: IndexPart[] = [];
  let at = start;
  for (;;) {
    if (bytes[at] === "n") {
      parts.push(fromSortableNumber(bytes.slice(at + 1, at + 17)));
      at += 17;
    } else if (bytes[at] === "s") {
      const end = bytes.indexOf("\x00", at);
      parts.push(fromByteText(bytes.slice(at + 1, end).replace(escapes, (pair) => (pair[1] === "\x01" ? "\x00" : "\x01"))));
      at = end + 1;
    } else {
      return { key: parts as unknown as IndexKey, end: at };
    }
  }
}
