/**
 * The text of refresh tokens: session, generation and 192 random bits, signed. The signature lets a token
 * that was once good be told from an invented one, so that only its holder can end a session by reusing it.
 */
import { randomBytes } from "node:crypto";
import { createSignedText } from "./signedText.ts";

export interface RefreshClaims {
  readonly sessionId: string;
  /** Counts the tokens of a session from 1. */
  readonly generation: number;
}

export interface RefreshTokens {
  create(claims: RefreshClaims): string;
  /** `undefined` for a text that this service never gave out. */
  open(text: string): RefreshClaims | undefined;
}

export function createRefreshTokens(keys: readonly Uint8Array[]): RefreshTokens {
  const signed = createSignedText(keys, "refresh");
  return {
    create({ sessionId, generation }) {
      return signed.sign(JSON.stringify([sessionId, generation, randomBytes(24).toString("base64url")]));
    },
    open(text) {
      const payload = signed.open(text);
      if (payload === undefined) return undefined;
      const [sessionId, generation] = JSON.parse(payload) as [string, number, string];
      return { sessionId, generation };
    },
  };
}
