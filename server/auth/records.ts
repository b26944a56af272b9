/**
 * What is kept of credentials: API keys (actors of `machines/apiKey.ts`), when they were last used, and
 * sessions. No secret is among it: keys and refresh tokens are kept as SHA-256, which their entropy allows.
 */
import type { Scope } from "../../api/scopes.ts";
import type { ActorRecord } from "../actors/port.ts";
import { partitionOfId } from "../ids.ts";
import { defineRecord } from "../storage/recordType.ts";

/**
 * Context of the key's machine, which reads and writes `expiresAtMs` and `revokedAtMs` only; the rest is
 * carried. States: active, revoked, expired. Name and description are rewritten without an event.
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
  /** Absent: full access. */
  readonly scopes?: readonly Scope[];
  /** Absent: every workspace of the account. */
  readonly workspaceIds?: readonly string[];
  readonly createdAtMs: number;
  /** Username. */
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

/** Apart from the key, so that using a key neither changes its entity tag nor gets in the way of revoking it. */
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

/** A sign-in. It lives in its account's partition and is deleted when it ends. */
export interface SessionRecord {
  readonly sessionId: string;
  readonly accountId: string;
  /** The account's `sessionEpoch` at sign-in; a session of an earlier epoch has ended. */
  readonly epoch: number;
  /** Counts refreshes from 1; only the token of the latest generation is good. */
  readonly generation: number;
  /** SHA-256 of that token, in hex. */
  readonly refreshHash: string;
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
