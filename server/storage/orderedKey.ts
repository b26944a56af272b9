/**
 * Index keys as text whose byte order is the order of the tuples.
 *
 * "Byte text" is a string in which every character is one byte (U+0000 … U+00FF): the UTF-8 form of the
 * text, so that `<` in JavaScript, LMDB's memcmp and Redis BYLEX agree, and length is size. A string part
 * is `s`, its bytes with 0x00 and 0x01 escaped, then 0x00; a number part is `n` and 16 hex digits. As no
 * part is the beginning of another, a prefix of parts never matches a sibling. No key holds the byte 0xFF.
 *
 * It knows nothing of records, partitions or stores.
 */
import type { IndexKey, IndexPart } from "./port.ts";

/** A store must take this many bytes for an encoded index key. */
export const maxIndexKeyBytes = 1900;

/** Sorts after every key that starts with a given prefix: `prefix + afterAll`. */
export const afterAll = "\xff";

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are bytes like any other
const ascii = /^[\x00-\x7f]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the two bytes that are escaped
const escaped = /[\x00\x01]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escapes themselves
const escapes = /\x01[\x01\x02]/g;
const loneSurrogate = /\p{Surrogate}/u;
const encodedSurrogate = /\xed[\xa0-\xbf]/;

/** UTF-8 bytes of a text; a lone surrogate becomes its own three bytes, so no two texts collide. */
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

/** The text that `toByteText` was given. */
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

/** 16 hex digits in numeric order: the bits of the double, all flipped when negative, else only the sign. */
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

/** Byte text of a key, or of the leading parts of keys. Throws a RangeError above `maxIndexKeyBytes`. */
export function encodeKey(key: IndexKey): string {
  let bytes = "";
  for (const part of key) bytes += toPart(part);
  if (bytes.length > maxIndexKeyBytes) {
    throw new RangeError(`index key ${JSON.stringify(key[0])} takes ${bytes.length} bytes, at most ${maxIndexKeyBytes} are possible`);
  }
  return bytes;
}

/** Reads parts from `start` until a byte that begins none; `end` is where that byte stands. */
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
