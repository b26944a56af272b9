/**
 * The text of an API key: `svc_` + 8 public characters + `_` + 32 random ones + 6 of checksum, all base 62.
 *
 * The prefix lets scanners find lost keys; the checksum (CRC-32 of all that precedes it) lets a typo be
 * refused without asking the store. 190 random bits need no slow hash: the SHA-256 is what is kept and
 * looked up.
 */
import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const form = /^svc_[0-9A-Za-z]{8}_[0-9A-Za-z]{38}$/;
const checksumCharacters = 6;
const prefixCharacters = 12;

function randomText(characters: number): string {
  let text = "";
  while (text.length < characters) {
    for (const byte of randomBytes(characters)) {
      // 248 is the largest multiple of 62 in a byte: above it some characters would come more often.
      if (byte < 248 && text.length < characters) text += alphabet[byte % 62];
    }
  }
  return text;
}

function toChecksum(text: string): string {
  let left = crc32(text);
  let checksum = "";
  for (let at = 0; at < checksumCharacters; at += 1) {
    checksum = alphabet[left % 62] + checksum;
    left = Math.floor(left / 62);
  }
  return checksum;
}

/** A new key text. Its randomness never comes from an idempotency seed, which the store knows. */
export function createApiKeyText(): string {
  const text = `svc_${randomText(8)}_${randomText(32)}`;
  return text + toChecksum(text);
}

/** Form and checksum are right: it may be a key. */
export function isApiKeyText(text: string): boolean {
  return form.test(text) && toChecksum(text.slice(0, -checksumCharacters)) === text.slice(-checksumCharacters);
}

/** What a person may see of a key later on. */
export function toApiKeyPrefix(text: string): string {
  return text.slice(0, prefixCharacters);
}
