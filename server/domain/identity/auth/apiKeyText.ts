/**
 * This module creates and checks the text of API keys: `svc_` + 8 public characters + `_` + 32 random characters + 6
 * checksum characters, all in base 62.
 *
 * The prefix lets secret scanners find leaked keys. The checksum (CRC-32 of all preceding characters) lets the server
 * reject a typo without reading the store. A key has 190 random bits and therefore needs no slow hash: its SHA-256 is
 * stored and used for lookup.
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
      // 248 is the largest multiple of 62 in a byte. Bytes above it are skipped because they would make some characters
      // more frequent.
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

/** Creates a new key text. The randomness never comes from an idempotency seed, because the store knows that seed. */
export function createApiKeyText(): string {
  const text = `svc_${randomText(8)}_${randomText(32)}`;
  return text + toChecksum(text);
}

/** Returns whether the form and the checksum are correct. The key may still not exist. */
export function isApiKeyText(text: string): boolean {
  return form.test(text) && toChecksum(text.slice(0, -checksumCharacters)) === text.slice(-checksumCharacters);
}

/** Returns the part of a key that may be shown to users later. */
export function toApiKeyPrefix(text: string): string {
  return text.slice(0, prefixCharacters);
}
