/**
 * Text that the service hands out and knows again: a payload with a MAC, under one purpose. A text made for
 * one purpose is nothing to another. It is readable by its holder and says nothing secret.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

export interface SignedText {
  /** `<payload>.<mac>`, both base64url. */
  sign(payload: string): string;
  /** The payload, or undefined when this service did not sign the text for this purpose. */
  open(text: string): string | undefined;
}

const maxCharacters = 2048;

/** `keys`: the first signs, all verify. */
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
      // Buffer.from skips what is not base64url: one signed text must have one form only.
      if (`${Buffer.from(payload).toString("base64url")}.${mac.toString("base64url")}` !== text || mac.length !== 32) return undefined;
      return keys.some((key) => timingSafeEqual(mac, toMac(key, payload))) ? payload : undefined;
    },
  };
}
