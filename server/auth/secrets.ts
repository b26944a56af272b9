/**
 * The secrets of the service, derived from `SVC_SECRET_KEY` so that every node has the same ones.
 *
 * One HKDF label for each use: what one use leaks says nothing of another. With several keys the first
 * seals and signs, all of them open and verify, so a key can be changed while old seals are still about.
 * This file knows no record and no token; it hands out bytes and sealed text.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const masterKeyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
/** First byte of every sealed value: AES-256-GCM, 96-bit random nonce, tag before the ciphertext. */
const sealVersion = 1;

export interface Secrets {
  /**
   * Encrypts for one place: `binding` names it as `<purpose>/<record id>` and is authenticated with the
   * bytes, so a sealed value moved to another record or another purpose does not open there.
   */
  seal(binding: string, bytes: Uint8Array): string;
  /** The bytes sealed for this place; throws a `SealError` when no key opens them. */
  open(binding: string, sealed: string): Uint8Array;
  /** 32-byte Ed25519 seeds; the first signs, all verify. */
  readonly jwtSeeds: readonly Uint8Array[];
  /** MAC keys of stream tickets and refresh tokens; the first signs, all verify. */
  readonly ticketKeys: readonly Uint8Array[];
  /** MAC key of continuation tokens. */
  readonly pageKey: Uint8Array;
}

/** A sealed value that was cut, changed, moved, or sealed under a key that is no longer known. */
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
          // Not this key, or not the bytes it sealed: GCM cannot tell which. The next key may open it.
        }
      }
      throw new SealError("no secret key of this service opens the sealed value");
    },
    jwtSeeds: masterKeys.map((key) => deriveKey(key, "jwt")),
    ticketKeys: masterKeys.map((key) => deriveKey(key, "ticket")),
    pageKey: deriveKey(first, "page"),
  };
}
