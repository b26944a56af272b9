/**
 * This module creates the text of refresh tokens: the session id and 192 extra bits, signed.
 *
 * The signature distinguishes an issued token from an invented one, so only a holder can end a session by reusing a
 * token. The first token of a session is random. Each later token is computed from its predecessor with the secret key,
 * so a repeated refresh can return the same successor although the store keeps only hashes.
 */
import { createHmac, randomBytes } from "node:crypto";
import { createSignedText } from "./signedText.ts";

export interface RefreshTokens {
  /** Creates the first token of a session. */
  create(sessionId: string): string;
  /**
   * Returns the token that follows `text`, once for each secret key in their order. The first one is the token to
   * issue. The others are the tokens that were issued while another key was the first. Throws when this service never
   * issued `text`.
   */
  successorsOf(text: string): readonly [string, ...string[]];
  /** Returns the session id, or `undefined` for a text that this service never issued. */
  sessionIdOf(text: string): string | undefined;
}

const extraBytes = 24;

function toPayload(sessionId: string, extra: Uint8Array): string {
  return JSON.stringify([sessionId, Buffer.from(extra).toString("base64url")]);
}

/** Creates the functions for refresh tokens. The first of `keys` signs, all of them verify. */
export function createRefreshTokens(keys: readonly Uint8Array[]): RefreshTokens {
  const signed = createSignedText(keys, "refresh");

  function sessionIdOf(text: string): string | undefined {
    const payload = signed.open(text);
    return payload === undefined ? undefined : (JSON.parse(payload) as [string])[0];
  }

  return {
    sessionIdOf,
    create: (sessionId) => signed.sign(toPayload(sessionId, randomBytes(extraBytes))),
    successorsOf(text) {
      const sessionId = sessionIdOf(text);
      if (sessionId === undefined) throw new Error("only a refresh token of this service has a successor");
      const [first, ...others] = keys.map((key) => {
        const extra = createHmac("sha256", key).update("refresh.successor:").update(text).digest().subarray(0, extraBytes);
        return createSignedText([key], "refresh").sign(toPayload(sessionId, extra));
      });
      if (first === undefined) throw new Error("refresh tokens need at least one key");
      return [first, ...others];
    },
  };
}
