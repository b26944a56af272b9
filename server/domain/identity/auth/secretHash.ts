/**
 * This module hashes secret texts of high entropy (keys, refresh tokens, setup links) with SHA-256. Such texts need no
 * slow hash, and the hash is also used to look them up.
 */
import { hash, timingSafeEqual } from "node:crypto";

/** Returns the SHA-256 in hex. */
export function hashSecretText(text: string): string {
  return hash("sha256", text);
}

/** Compares two hashes in constant time. */
export function sameHash(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
