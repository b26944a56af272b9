/**
 * This module lists, reads, updates, revokes and deletes API keys.
 *
 * Each key is an actor of `machines/apiKey.ts`, and only that machine changes its state. A key belongs to the account
 * that created it and is visible only to that account.
 */
import type { Logger } from "pino";
import type { z } from "zod";
import type { ApiKey, ApiKeyState, UpdateApiKeyRequest } from "../../../../api/schema/apiKey.ts";
import { AppError, notFound } from "../../../../api/schema/error.ts";
import { missingScopes } from "../../../../api/scopes.ts";
import type { ActorRuntime, UnitOfWork } from "../../../platform/actors/port.ts";
import type { Directory } from "../../../platform/storage/directory.ts";
import { partitionOfId } from "../../../platform/storage/ids.ts";
import type { RecordWrite, Storage, Stored } from "../../../platform/storage/port.ts";
import { conflict, retryOnConflict } from "../../../platform/storage/retryOnConflict.ts";
import type { Call } from "../../call/call.ts";
import type { PageQuery, Pager } from "../../call/paging.ts";
import { requireMatch } from "../../call/precondition.ts";
import { principalOf, toActor } from "../../call/principal.ts";
import { accessFactWrite } from "../access/accessFacts.ts";
import { type ApiKeyContext, type ApiKeyRecord, apiKeyRecord } from "../access/credentialRecords.ts";
import { apiKeyKind } from "./apiKeyKind.ts";
import { toApiKey } from "./apiKeyView.ts";
import { keyHashSpace } from "./authenticator.ts";
import { keyStateAt } from "./credentials.ts";
import type { KeyUse } from "./keyUse.ts";

/** A key as the API returns it, with the revision of its record for the entity tag. */
export interface KeyView {
  readonly apiKey: ApiKey;
  readonly revision: number;
}

export interface ApiKeyPage {
  readonly apiKeys: readonly ApiKey[];
  readonly nextToken?: string;
}

export interface ApiKeyQuery extends PageQuery {
  readonly state?: ApiKeyState | undefined;
}

export interface ApiKeys {
  list(call: Call, query: ApiKeyQuery): Promise<ApiKeyPage>;
  /** Returns the key that made the request. Throws `not_found` for a session. */
  self(call: Call): Promise<KeyView>;
  get(call: Call, keyId: string): Promise<KeyView>;
  update(call: Call, keyId: string, request: z.output<typeof UpdateApiKeyRequest>): Promise<KeyView>;
  /** Revokes a key. A repeat returns the same response. A key may always revoke itself. */
  revoke(call: Call, keyId: string): Promise<KeyView>;
  delete(call: Call, keyId: string): Promise<void>;
}

export interface ApiKeysOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly actors: Pick<ActorRuntime, "send">;
  readonly directory: Pick<Directory, "release">;
  readonly keyUse: Pick<KeyUse, "lastUsedAtMs" | "removal">;
  readonly pager: Pager;
  readonly log: Logger;
}

function isRefusedMove(reason: unknown): boolean {
  return reason instanceof AppError && reason.code === "invalid_transition";
}

export function createApiKeys({ storage, actors, directory, keyUse, pager, log }: ApiKeysOptions): ApiKeys {
  const audit = log.child({ stream: "audit" });

  function note(call: Call, event: string, keyId: string): void {
    audit.info({ event, keyId, by: toActor(principalOf(call)) }, event);
  }

  async function toView({ value, revision }: Stored<ApiKeyRecord>): Promise<KeyView> {
    const [lastUsedAtMs] = await keyUse.lastUsedAtMs([value.id]);
    return { apiKey: toApiKey(value, lastUsedAtMs, storage.now()), revision };
  }

  /** Reads a key of the caller's account. A key of another account and a missing key give the same error. */
  async function read(call: Call, keyId: string): Promise<Stored<ApiKeyRecord>> {
    const stored = await storage.records.get(apiKeyRecord, keyId);
    if (stored === undefined || stored.value.context.accountId !== principalOf(call).accountId) throw notFound();
    return stored;
  }

  /** Records the expiry of a key whose time is over, before any other decision about the key. */
  async function settle(call: Call, stored: Stored<ApiKeyRecord>): Promise<Stored<ApiKeyRecord>> {
    if (stored.value.state !== "active" || keyStateAt(stored.value, storage.now()) === "active") return stored;
    try {
      return await actors.send(apiKeyKind, stored.value.id, { type: "key.expired" });
    } catch (reason) {
      // The expiry timer or a revocation changed the state first.
      if (isRefusedMove(reason)) return read(call, stored.value.id);
      throw reason;
    }
  }

  function requireManagement(call: Call, keyId: string): void {
    const principal = principalOf(call);
    if (principal.kind === "session" || principal.keyId === keyId) return;
    const missing = missingScopes(principal.scopes, ["keys:manage"]);
    if (missing.length === 0) return;
    const facts = { requiredScopes: ["keys:manage"], missingScopes: [...missing] };
    throw new AppError("insufficient_scope", "Revoking another key needs the scope keys:manage.", facts);
  }

  return {
    async list(call, { state, limit, nextToken }) {
      const { accountId } = principalOf(call);
      const nowMs = storage.now();
      const { items, ...rest } = await pager.page<ApiKey>({
        scope: `api-keys?state=${state ?? ""}`,
        partition: partitionOfId(accountId),
        prefix: ["apiKey.account", accountId],
        reverse: true,
        limit,
        nextToken,
        async load(keys) {
          const [stored, used] = await Promise.all([storage.records.getMany(apiKeyRecord, keys), keyUse.lastUsedAtMs(keys)]);
          return stored.map((found, at) => (found === undefined ? undefined : toApiKey(found.value, used[at], nowMs)));
        },
        ...(state === undefined ? {} : { keep: (key: ApiKey) => key.state === state }),
      });
      return { apiKeys: items, ...rest };
    },

    async self(call) {
      const principal = principalOf(call);
      if (principal.kind === "key") return toView(await read(call, principal.keyId));
      throw new AppError("not_found", "This request was made with a session, not with an API key, so it has no key of its own.");
    },

    get: async (call, keyId) => toView(await read(call, keyId)),

    update(call, keyId, { name, description }) {
      return retryOnConflict("key.update", async () => {
        const replacing = await read(call, keyId);
        requireMatch(call, replacing.revision);
        const before = replacing.value.context;
        const context: ApiKeyContext = {
          ...before,
          ...(name === undefined ? {} : { name }),
          ...(description === undefined ? {} : { description }),
        };
        if (context.name === before.name && context.description === before.description) return toView(replacing);
        const value: ApiKeyRecord = { ...replacing.value, context };
        const view = await toView({ value, revision: replacing.revision + 1 });
        const write: RecordWrite<ApiKeyRecord> = { op: "put", type: apiKeyRecord, value, replacing };
        const result = await call.commit({ partition: partitionOfId(keyId), records: [write] }, view);
        if (!result.ok) return conflict;
        note(call, "key.updated", keyId);
        return view;
      });
    },

    async revoke(call, keyId) {
      requireManagement(call, keyId);
      const before = await settle(call, await read(call, keyId));
      if (before.value.state === "revoked") return toView(before);
      const [lastUsedAtMs] = await keyUse.lastUsedAtMs([keyId]);
      const toRevoked = (next: ApiKeyRecord, revision: number): KeyView => ({
        apiKey: toApiKey(next, lastUsedAtMs, storage.now()),
        revision,
      });
      try {
        const revoked = await actors.send(
          apiKeyKind,
          keyId,
          { type: "key.revoke" },
          {
            gather: (unit) => unit.log(accessFactWrite({ kind: "key.revoked", keyId })),
            commit: (batch, next, revision) => call.commit(batch, toRevoked(next, revision)),
          },
        );
        note(call, "key.revoked", keyId);
        return toRevoked(revoked.value, revoked.revision);
      } catch (reason) {
        // With two concurrent revocations, the second one finds the key already revoked.
        const now = isRefusedMove(reason) ? await read(call, keyId) : undefined;
        if (now?.value.state === "revoked") return toView(now);
        throw reason;
      }
    },

    async delete(call, keyId) {
      const seen = await read(call, keyId);
      requireMatch(call, seen.revision);
      const { value, revision } = await settle(call, seen);
      if (value.state === "active") {
        throw new AppError("key_active", "The key is active; revoke it before deleting it.", {
          currentState: "active",
          allowed: ["keys.revoke"],
        });
      }
      // Release the hash first. After a crash in between, the key can be deleted again. The other order could leave a
      // hash entry that is never removed.
      await directory.release(keyHashSpace, value.context.hash, keyId);
      const gather = async (unit: UnitOfWork) => {
        for (const write of await keyUse.removal(keyId)) unit.record(write);
      };
      const atRevision = call.ifMatch === undefined ? {} : { atRevision: revision };
      await actors.send(apiKeyKind, keyId, { type: "key.delete" }, { gather, ...atRevision });
      note(call, "key.deleted", keyId);
    },
  };
}
