/**
 * This module creates API keys. The key text leaves this module only once, in the response; only its SHA-256 is stored.
 *
 * A key is looked up by its hash, so the directory entry is claimed first. The commit then creates the key and rewrites
 * the unchanged account record. Two concurrent creations therefore conflict on the revision of that record, which keeps
 * the limit of active keys exact.
 */
import type { Logger } from "pino";
import type { z } from "zod";
import type { CreateApiKeyRequest, CreatedApiKey } from "../../../../api/schema/apiKey.ts";
import { AppError } from "../../../../api/schema/error.ts";
import type { ActorRuntime } from "../../../platform/actors/port.ts";
import type { Directory } from "../../../platform/storage/directory.ts";
import { partitionOfId } from "../../../platform/storage/ids.ts";
import type { Storage } from "../../../platform/storage/port.ts";
import { conflict, retryOnConflict } from "../../../platform/storage/retryOnConflict.ts";
import type { Call } from "../../call/call.ts";
import type { AccessResolver } from "../../call/ports.ts";
import { principalOf, toActor } from "../../call/principal.ts";
import { type ApiKeyContext, apiKeyRecord } from "../access/credentialRecords.ts";
import { accountRecord } from "../registry/accountRecords.ts";
import { apiKeyKind } from "./apiKeyKind.ts";
import { createApiKeyText, toApiKeyPrefix } from "./apiKeyText.ts";
import { toApiKey } from "./apiKeyView.ts";
import { keyHashSpace } from "./authenticator.ts";
import { keyStateAt } from "./credentials.ts";
import { requireGrantable } from "./keyGrant.ts";
import { hashSecretText } from "./secretHash.ts";

export type CreateApiKey = (call: Call, request: z.output<typeof CreateApiKeyRequest>) => Promise<CreatedApiKey>;

export interface KeyCreationOptions {
  readonly storage: Pick<Storage, "records" | "index" | "counts" | "now">;
  readonly actors: Pick<ActorRuntime, "openUnit">;
  readonly directory: Directory;
  /** Checks whether a workspace is visible to the caller. */
  readonly resolver: AccessResolver;
  readonly log: Logger;
}

/** Maximum number of keys of one account that are read to find expired keys among the active ones. */
const maxCounted = 10_000;

function toExpiry(expiresAt: string | undefined, nowMs: number): number | undefined {
  if (expiresAt === undefined) return undefined;
  const expiresAtMs = Date.parse(expiresAt);
  if (expiresAtMs > nowMs) return expiresAtMs;
  const message = "must lie in the future";
  throw new AppError("validation_failed", `The field expiresAt ${message}.`, {
    errors: [{ pointer: "/expiresAt", code: "too_small", message }],
  });
}

export function createKeyCreation({ storage, actors, directory, resolver, log }: KeyCreationOptions): CreateApiKey {
  const audit = log.child({ stream: "audit" });

  async function requireVisible(call: Call, workspaceIds: readonly string[]): Promise<void> {
    for (const [at, workspaceId] of workspaceIds.entries()) {
      if ((await resolver.resolve(principalOf(call), "workspace", workspaceId, { deleted: false })) !== undefined) continue;
      const message = "There is no such workspace, or it is not visible to this credential.";
      throw new AppError("not_found", message, { errors: [{ pointer: `/workspaceIds/${at}`, code: "not_found", message }] });
    }
  }

  /**
   * The count still includes keys that are expired but not yet recorded as expired. At the limit, the keys are read and
   * only active ones count.
   */
  async function requireRoom(accountId: string, max: number): Promise<void> {
    const partition = partitionOfId(accountId);
    const [counted = 0] = await storage.counts.get(partition, [["apiKey.active", accountId]]);
    if (counted < max) return;
    const rows = await storage.index.scan({ partition, prefix: ["apiKey.account", accountId], reverse: true, limit: maxCounted });
    const keys = await storage.records.getMany(
      apiKeyRecord,
      rows.map((row) => row.target),
    );
    const nowMs = storage.now();
    if (keys.filter((key) => key !== undefined && keyStateAt(key.value, nowMs) === "active").length < max) return;
    throw new AppError("limit_reached", `An account has at most ${max} active API keys; revoke one that is not needed.`);
  }

  async function commitWithinLimit(call: Call, context: ApiKeyContext, text: string): Promise<CreatedApiKey> {
    const { accountId, keyId } = context;
    return retryOnConflict("key.create", async () => {
      const account = await storage.records.get(accountRecord, accountId);
      if (account === undefined) throw new Error(`there is no account ${accountId}`);
      await requireRoom(accountId, call.limits["keys.active"]);
      const unit = actors.openUnit(partitionOfId(accountId));
      const created: CreatedApiKey = { ...toApiKey(unit.create(apiKeyKind, keyId, context), undefined, storage.now()), key: text };
      unit.record({ op: "put", type: accountRecord, value: account.value, replacing: account });
      const result = await unit.commit((batch) => call.commit(batch, created));
      if (result.ok) return created;
      if (result.conflict.kind === "record" && result.conflict.type === accountRecord.name) return conflict;
      throw new Error(`the new key ${keyId} exists already`);
    });
  }

  return async (call, { name, description, expiresAt, ...request }) => {
    const principal = principalOf(call);
    const { accountId, username } = principal;
    const scopes = request.scopes === undefined ? undefined : [...new Set(request.scopes)];
    const workspaceIds = request.workspaceIds === undefined ? undefined : [...new Set<string>(request.workspaceIds)];
    requireGrantable(principal, { scopes, workspaceIds, expiresAtMs: expiresAt === undefined ? undefined : Date.parse(expiresAt) });
    await requireVisible(call, workspaceIds ?? []);
    const nowMs = storage.now();
    const expiresAtMs = toExpiry(expiresAt, nowMs);
    await requireRoom(accountId, call.limits["keys.active"]);

    const keyId = call.ids.next("key", partitionOfId(accountId));
    const text = createApiKeyText();
    const context: ApiKeyContext = {
      keyId,
      accountId,
      name,
      ...(description === undefined ? {} : { description }),
      prefix: toApiKeyPrefix(text),
      hash: hashSecretText(text),
      ...(scopes === undefined ? {} : { scopes }),
      ...(workspaceIds === undefined ? {} : { workspaceIds }),
      createdAtMs: nowMs,
      createdBy: username,
      ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
    };
    await directory.claim(keyHashSpace, context.hash, keyId, async () => true);
    let created: CreatedApiKey;
    try {
      created = await commitWithinLimit(call, context, text);
    } catch (reason) {
      if (reason instanceof AppError) await directory.release(keyHashSpace, context.hash, keyId);
      throw reason;
    }
    audit.info({ event: "key.created", keyId, scopes, workspaceIds, expiresAt, by: toActor(principal) }, "key created");
    return created;
  };
}
