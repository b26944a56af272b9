/**
 * This module reads the principal behind a credential id from the current records.
 *
 * Nothing is cached between calls, so a revoked key, an ended session or a disabled account is rejected on the very
 * next request. This module does not know how the id was proven.
 */
import { AppError } from "../../../../api/schema/error.ts";
import type { Storage } from "../../../platform/storage/port.ts";
import type { Principal } from "../../call/call.ts";
import type { KeyPrincipal, SessionPrincipal } from "../../call/principal.ts";
import { type ApiKeyContext, type ApiKeyRecord, apiKeyRecord, sessionRecord } from "../access/credentialRecords.ts";
import { type AccountRecord, accountRecord } from "../registry/accountRecords.ts";

export type CredentialReference =
  | { readonly kind: "key"; readonly keyId: string }
  | { readonly kind: "session"; readonly sessionId: string };

export interface Credentials {
  /**
   * Throws `unauthenticated`, `key_revoked` or `key_expired`. `acceptsKey`, when given, must accept the key that was
   * read.
   */
  ofKey(keyId: string, acceptsKey?: (key: ApiKeyContext) => boolean): Promise<KeyPrincipal>;
  /** Throws `unauthenticated`. */
  ofSession(sessionId: string): Promise<SessionPrincipal>;
  of(reference: CredentialReference): Promise<Principal>;
}

/**
 * Returns the state of a key at store time. A key is expired from its expiry time on, even if the transition is not
 * recorded yet.
 */
export function keyStateAt({ state, context }: ApiKeyRecord, nowMs: number): "active" | "revoked" | "expired" {
  if (state === "revoked") return "revoked";
  if (state === "expired") return "expired";
  return context.expiresAtMs !== undefined && context.expiresAtMs <= nowMs ? "expired" : "active";
}

function unknownKey(): AppError {
  return new AppError("unauthenticated", "This API key does not exist.");
}

export function createCredentials({ storage }: { storage: Pick<Storage, "records" | "now"> }): Credentials {
  async function readAccount(accountId: string): Promise<AccountRecord> {
    const account = (await storage.records.get(accountRecord, accountId))?.value;
    if (account === undefined || account.disabled) {
      throw new AppError("unauthenticated", "This account is disabled. An operator can enable it again.");
    }
    return account;
  }

  const credentials: Credentials = {
    async ofKey(keyId, acceptsKey) {
      const key = (await storage.records.get(apiKeyRecord, keyId))?.value;
      if (key === undefined || acceptsKey?.(key.context) === false) throw unknownKey();
      const state = keyStateAt(key, storage.now());
      if (state === "revoked") throw new AppError("key_revoked", "This API key was revoked.");
      if (state === "expired") throw new AppError("key_expired", "This API key has expired.");
      const { accountId, scopes, workspaceIds, expiresAtMs } = key.context;
      const { username, displayName } = await readAccount(accountId);
      return {
        kind: "key",
        accountId,
        username,
        ...(displayName === undefined ? {} : { displayName }),
        operator: false,
        keyId,
        ...(scopes === undefined ? {} : { scopes }),
        ...(workspaceIds === undefined ? {} : { workspaceIds }),
        ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
      };
    },
    async ofSession(sessionId) {
      const session = (await storage.records.get(sessionRecord, sessionId))?.value;
      if (session === undefined) throw new AppError("unauthenticated", "This session has ended. Sign in at POST /auth/token.");
      const { accountId, username, displayName, operator, sessionEpoch } = await readAccount(session.accountId);
      if (session.epoch !== sessionEpoch) throw new AppError("unauthenticated", "This session has ended. Sign in at POST /auth/token.");
      const named = displayName === undefined ? {} : { displayName };
      return { kind: "session", accountId, username, ...named, operator, sessionId };
    },
    of: (reference) => (reference.kind === "key" ? credentials.ofKey(reference.keyId) : credentials.ofSession(reference.sessionId)),
  };
  return credentials;
}
