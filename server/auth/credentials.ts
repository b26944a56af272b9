/**
 * From a credential's id to the principal behind it, as the records say at this moment.
 *
 * Nothing is remembered between calls: that is what makes a revoked key, an ended session and a disabled
 * account be refused on the very next request. It knows nothing of how the id was proven.
 */
import { AppError } from "../../api/schema/error.ts";
import { type AccountRecord, accountRecord } from "../accounts/records.ts";
import type { Principal } from "../calls/call.ts";
import type { KeyPrincipal, SessionPrincipal } from "../calls/principal.ts";
import type { Storage } from "../storage/port.ts";
import { type ApiKeyContext, type ApiKeyRecord, apiKeyRecord, sessionRecord } from "./records.ts";

export type CredentialReference =
  | { readonly kind: "key"; readonly keyId: string }
  | { readonly kind: "session"; readonly sessionId: string };

export interface Credentials {
  /** Refuses with `unauthenticated`, `key_revoked` or `key_expired`. `hash`, when given, must be the key's. */
  ofKey(keyId: string, isTheKey?: (key: ApiKeyContext) => boolean): Promise<KeyPrincipal>;
  /** Refuses with `unauthenticated`. */
  ofSession(sessionId: string): Promise<SessionPrincipal>;
  of(reference: CredentialReference): Promise<Principal>;
}

/** State of a key by store time: an expiry counts from its moment, whether or not it has been recorded. */
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
    if (account === undefined || account.disabled) throw new AppError("unauthenticated", "The account of this credential is disabled.");
    return account;
  }

  const credentials: Credentials = {
    async ofKey(keyId, isTheKey) {
      const key = (await storage.records.get(apiKeyRecord, keyId))?.value;
      if (key === undefined || isTheKey?.(key.context) === false) throw unknownKey();
      const state = keyStateAt(key, storage.now());
      if (state === "revoked") throw new AppError("key_revoked", "This API key was revoked.");
      if (state === "expired") throw new AppError("key_expired", "This API key has expired.");
      const { accountId, scopes, workspaceIds, expiresAtMs } = key.context;
      const { username } = await readAccount(accountId);
      return {
        kind: "key",
        accountId,
        username,
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
      const { accountId, username, operator, sessionEpoch } = await readAccount(session.accountId);
      if (session.epoch !== sessionEpoch) throw new AppError("unauthenticated", "This session has ended. Sign in at POST /auth/token.");
      return { kind: "session", accountId, username, operator, sessionId };
    },
    of: (reference) => (reference.kind === "key" ? credentials.ofKey(reference.keyId) : credentials.ofSession(reference.sessionId)),
  };
  return credentials;
}
