/**
 * How secret texts of high entropy (keys, refresh tokens, setup links) are kept: as SHA-256. They need no slow
 * hash, and the hash is also what they are looked up by.
 */
import { hash, timingSafeEqual } from "node:crypto";

/** In hex. */
export function hashSecretText(text: string): string {
  return hash("sha256", text);
}

/** Compares two hashes in constant time. */
export function sameHash(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
