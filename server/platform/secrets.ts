/**
 * Secrets derives all secrets of the service from `SVC_SECRET_KEY`, so that every node has the same ones.
 *
 * Each use has its own HKDF label, so a leak in one use reveals nothing about another. If there are several keys, the
 * first one seals and signs, and all of them open and verify. A key can therefore be changed while values sealed with
 * the old key still exist. This file knows no record and no token; it returns bytes and sealed text.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const masterKeyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
/** First byte of every sealed value: AES-256-GCM, 96-bit random nonce, tag before the ciphertext. */
const sealVersion = 1;

export interface Secrets {
  /**
   * Encrypts bytes for one place. `binding` names the place as `<purpose>/<record id>` and is authenticated with the
   * bytes, so a sealed value cannot be opened in another record or for another purpose.
   */
  seal(binding: string, bytes: Uint8Array): string;
  /** Returns the bytes that were sealed for this place. Throws a `SealError` if no key opens them. */
  open(binding: string, sealed: string): Uint8Array;
  /** 32-byte Ed25519 seeds. The first one signs, all of them verify. */
  readonly jwtSeeds: readonly Uint8Array[];
  /** MAC keys of stream tickets and refresh tokens. The first one signs, all of them verify. */
  readonly ticketKeys: readonly Uint8Array[];
  /** MAC key of continuation tokens. */
  readonly pageKey: Uint8Array;
}

/** The sealed value was truncated, changed or moved, or its key is no longer configured. */
export class SealError extends Error {
  override readonly name = "SealError";
}

function deriveKey(master: Uint8Array, label: "seal" | "jwt" | "page" | "ticket"): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", master, new Uint8Array(0), `svc/${label}`, 32));
}

/** `masterKeys`: the 32-byte values of `SVC_SECRET_KEY`, in its order. */
export function deriveSecrets(masterKeys: readonly Uint8Array[]): Secrets {
  const [first] = masterKeys;
  if (first === undefined) throw new Error("the service needs at least one secret key");
  if (masterKeys.some((key) => key.byteLength !== masterKeyBytes)) throw new Error(`a secret key must be ${masterKeyBytes} bytes`);
  const sealKeys = masterKeys.map((key) => deriveKey(key, "seal"));
  const sealKey = deriveKey(first, "seal");

  return {
    seal(binding, bytes) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", sealKey, nonce, { authTagLength: tagBytes });
      cipher.setAAD(Buffer.from(binding));
      const ciphertext = Buffer.concat([cipher.update(bytes), cipher.final()]);
      return Buffer.concat([Uint8Array.of(sealVersion), nonce, cipher.getAuthTag(), ciphertext]).toString("base64url");
    },
    open(binding, sealed) {
      const bytes = Buffer.from(sealed, "base64url");
      if (bytes.length < 1 + nonceBytes + tagBytes || bytes[0] !== sealVersion) throw new SealError("the sealed value is damaged");
      const nonce = bytes.subarray(1, 1 + nonceBytes);
      const tag = bytes.subarray(1 + nonceBytes, 1 + nonceBytes + tagBytes);
      const ciphertext = bytes.subarray(1 + nonceBytes + tagBytes);
      for (const key of sealKeys) {
        const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes });
        decipher.setAAD(Buffer.from(binding));
        decipher.setAuthTag(tag);
        const plain = decipher.update(ciphertext);
        try {
          return new Uint8Array(Buffer.concat([plain, decipher.final()]));
        } catch {
          // Either this is the wrong key or the bytes were changed; GCM cannot distinguish the two. The next key may
          // open the value.
        }
      }
      throw new SealError("no secret key of this service opens the sealed value");
    },
    jwtSeeds: masterKeys.map((key) => deriveKey(key, "jwt")),
    ticketKeys: masterKeys.map((key) => deriveKey(key, "ticket")),
    pageKey: deriveKey(first, "page"),
  };
}
