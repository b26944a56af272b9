/**
 * This module signs texts that the service issues and later verifies: a payload with a MAC for one purpose. A text
 * signed for one purpose is invalid for any other. The holder can read the payload, so it must not contain secrets.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

export interface SignedText {
  /** Returns `<payload>.<mac>`, both in base64url. */
  sign(payload: string): string;
  /** Returns the payload, or undefined when this service did not sign the text for this purpose. */
  open(text: string): string | undefined;
}

const maxCharacters = 2048;

/** Creates the signer for one purpose. The first of `keys` signs, all of them verify. */
export function createSignedText(keys: readonly Uint8Array[], purpose: string): SignedText {
  const [first] = keys;
  if (first === undefined) throw new Error("signed text needs at least one key");
  const toMac = (key: Uint8Array, payload: string) => createHmac("sha256", key).update(`${purpose}:`).update(payload).digest();
  return {
    sign(payload) {
      return `${Buffer.from(payload).toString("base64url")}.${toMac(first, payload).toString("base64url")}`;
    },
    open(text) {
      if (text.length > maxCharacters) return undefined;
      const dot = text.indexOf(".");
      const payload = Buffer.from(text.slice(0, dot), "base64url").toString();
      const mac = Buffer.from(text.slice(dot + 1), "base64url");
      // Buffer.from ignores characters that are not base64url. A signed text must have only one valid form.
      if (`${Buffer.from(payload).toString("base64url")}.${mac.toString("base64url")}` !== text || mac.length !== 32) return undefined;
      return keys.some((key) => timingSafeEqual(mac, toMac(key, payload))) ? payload : undefined;
    },
  };
}
