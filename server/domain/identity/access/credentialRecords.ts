/**
 * This module defines the stored records of credentials: API keys (actors of `machines/apiKey.ts`), the last use of
 * each key, and sessions. No record contains a secret. Keys and refresh tokens are stored as SHA-256, which is safe
 * because of their entropy.
 */
import type { Scope } from "../../../../api/scopes.ts";
import type { ActorRecord } from "../../../platform/actors/port.ts";
import { partitionOfId } from "../../../platform/storage/ids.ts";
import { defineRecord } from "../../../platform/storage/recordType.ts";

/**
 * Context of the API key machine. The machine reads and writes only `expiresAtMs` and `revokedAtMs`. States: active,
 * revoked, expired. Changes of name and description rewrite the record without an event.
 */
export interface ApiKeyContext {
  readonly keyId: string;
  readonly accountId: string;
  readonly name: string;
  readonly description?: string;
  /** First 12 characters of the key text. */
  readonly prefix: string;
  /** SHA-256 of the key text, in hex. */
  readonly hash: string;
  /** When absent, the key has full access. */
  readonly scopes?: readonly Scope[];
  /** When absent, the key reaches every workspace of the account. */
  readonly workspaceIds?: readonly string[];
  readonly createdAtMs: number;
  /** Username of the creator. */
  readonly createdBy: string;
  readonly expiresAtMs?: number;
  readonly revokedAtMs?: number;
}

export type ApiKeyRecord = ActorRecord<ApiKeyContext>;

export const apiKeyRecord = defineRecord<ApiKeyRecord>({
  name: "apiKey",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (value) => value.id,
  indexes: ({ id, context }) => [["apiKey.account", context.accountId, context.createdAtMs, id]],
  counts: ({ state, context }) => (state === "active" ? [["apiKey.active", context.accountId]] : []),
});

/**
 * Time of the last use. It is separate from the key, so that using a key does not change its entity tag or conflict
 * with a revocation.
 */
export interface ApiKeyUse {
  readonly keyId: string;
  readonly lastUsedAtMs: number;
}

export const apiKeyUse = defineRecord<ApiKeyUse>({
  name: "apiKeyUse",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (value) => value.keyId,
});

/** A session, created at sign-in. It is stored in the partition of its account and deleted when it ends. */
export interface SessionRecord {
  readonly sessionId: string;
  readonly accountId: string;
  /** The account's `sessionEpoch` at sign-in. A session of an earlier epoch has ended. */
  readonly epoch: number;
  /** SHA-256 of the current refresh token, in hex. */
  readonly refreshHash: string;
  /** The refresh token before the current one. Absent until the first refresh. */
  readonly predecessor?: {
    /** SHA-256, in hex. */
    readonly hash: string;
    /** Store time of its first use, which is the start of the grace period. */
    readonly usedAtMs: number;
  };
  readonly refreshExpiresAtMs: number;
  readonly createdAtMs: number;
}

export const sessionRecord = defineRecord<SessionRecord>({
  name: "session",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (value) => value.sessionId,
  indexes: (value) => [["session.account", value.accountId, value.sessionId]],
  expiresAtMs: (value) => value.refreshExpiresAtMs,
});

export const authRecordTypes = [apiKeyRecord, apiKeyUse, sessionRecord];
