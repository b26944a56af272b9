/**
 * This module authenticates the credential of a request: an API key or an access token.
 *
 * It proves the credential; `credentials.ts` then reads the principal from the record. Only facts that cannot change
 * are cached: the key id of a hash, and verified signatures.
 */
import { LRUCache } from "lru-cache";
import { AppError } from "../../../../api/schema/error.ts";
import type { Directory } from "../../../platform/storage/directory.ts";
import type { Storage } from "../../../platform/storage/port.ts";
import type { Authenticator } from "../../call/ports.ts";
import type { KeyPrincipal, SessionPrincipal } from "../../call/principal.ts";
import type { AccessTokens } from "./accessTokens.ts";
import { isApiKeyText } from "./apiKeyText.ts";
import type { Credentials } from "./credentials.ts";
import type { KeyUse } from "./keyUse.ts";
import { hashSecretText, sameHash } from "./secretHash.ts";

/** The directory space for SHA-256 hashes of key texts. */
export const keyHashSpace = "keyHash";
const maxRemembered = 10_000;

export interface AuthenticatorOptions {
  readonly storage: Pick<Storage, "now">;
  readonly directory: Pick<Directory, "find">;
  readonly tokens: Pick<AccessTokens, "verify">;
  readonly credentials: Credentials;
  readonly keyUse: Pick<KeyUse, "note">;
}

export function createAuthenticator({ storage, directory, tokens, credentials, keyUse }: AuthenticatorOptions): Authenticator {
  /** Key hash → key id. */
  const keyIds = new LRUCache<string, string>({ max: maxRemembered });

  async function findKeyId(hash: string): Promise<string> {
    const known = keyIds.get(hash);
    if (known !== undefined) return known;
    const keyId = await directory.find(keyHashSpace, hash);
    if (keyId === undefined) throw new AppError("unauthenticated", "This API key does not exist.");
    keyIds.set(hash, keyId);
    return keyId;
  }

  async function byKey(text: string): Promise<KeyPrincipal> {
    if (!isApiKeyText(text)) {
      throw new AppError("unauthenticated", "The value of x-api-key is not an API key of this service: its form or its checksum is wrong.");
    }
    const hash = hashSecretText(text);
    const keyId = await findKeyId(hash);
    const principal = await credentials.ofKey(keyId, (key) => sameHash(key.hash, hash));
    keyUse.note(keyId);
    return principal;
  }

  async function byToken(token: string): Promise<SessionPrincipal> {
    if (isApiKeyText(token)) {
      throw new AppError("unauthenticated", "Send an API key in the header x-api-key, not as a bearer token.");
    }
    const claims = await tokens.verify(token, storage.now());
    const principal = await credentials.ofSession(claims.sessionId);
    if (principal.username !== claims.username) throw new AppError("unauthenticated", "The access token does not belong to its session.");
    return principal;
  }

  return {
    async authenticate({ apiKey, bearer }) {
      if (apiKey !== undefined) return byKey(apiKey);
      if (bearer !== undefined) return byToken(bearer);
      throw new AppError(
        "unauthenticated",
        "This operation needs a credential: an API key in x-api-key, or Authorization: Bearer with an access token.",
      );
    },
  };
}
