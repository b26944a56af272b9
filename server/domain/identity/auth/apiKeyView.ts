/** This module converts a key record to its API form: without the hash, and with the state at store time. */
import type { ApiKey } from "../../../../api/schema/apiKey.ts";
import type { ApiKeyRecord } from "../access/credentialRecords.ts";
import { keyStateAt } from "./credentials.ts";

function toIso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

export function toApiKey(record: ApiKeyRecord, lastUsedAtMs: number | undefined, nowMs: number): ApiKey {
  const { keyId, name, description, prefix, scopes, workspaceIds, createdAtMs, createdBy, expiresAtMs, revokedAtMs } = record.context;
  return {
    keyId,
    name,
    ...(description === undefined ? {} : { description }),
    prefix,
    state: keyStateAt(record, nowMs),
    ...(scopes === undefined ? {} : { scopes: [...scopes] }),
    ...(workspaceIds === undefined ? {} : { workspaceIds: [...workspaceIds] }),
    createdAt: toIso(createdAtMs),
    createdBy,
    ...(lastUsedAtMs === undefined ? {} : { lastUsedAt: toIso(lastUsedAtMs) }),
    ...(expiresAtMs === undefined ? {} : { expiresAt: toIso(expiresAtMs) }),
    ...(revokedAtMs === undefined ? {} : { revokedAt: toIso(revokedAtMs) }),
  };
}
