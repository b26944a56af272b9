/**
 * This module records when a key was last used, at most once a minute for each key. The request that used the key never
 * waits for the write. When a write is lost by a crash or a full disk, only the displayed time is less accurate.
 */
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { partitionOfId } from "../../../platform/storage/ids.ts";
import type { RecordWrite, Storage } from "../../../platform/storage/port.ts";
import { type ApiKeyUse, apiKeyUse } from "../access/credentialRecords.ts";

const minIntervalMs = 60_000;
const maxRemembered = 10_000;

export interface KeyUse {
  /** Records that the key was used now, without waiting for the write. */
  note(keyId: string): void;
  /** Returns the store time of the last recorded use of each key, in the order of `keyIds`. */
  lastUsedAtMs(keyIds: readonly string[]): Promise<readonly (number | undefined)[]>;
  /** Returns the writes to add to the commit that deletes the key. */
  removal(keyId: string): Promise<readonly RecordWrite[]>;
  /** Resolves when no write is in progress. Used at shutdown, before the store closes. */
  settled(): Promise<void>;
}

export function createKeyUse({ storage, log }: { storage: Pick<Storage, "records" | "commit" | "now">; log: Logger }): KeyUse {
  /** Time of the last write by this node, by key. Evicting an entry only costs one extra read. */
  const written = new LRUCache<string, number>({ max: maxRemembered });
  const underWay = new Set<Promise<void>>();

  async function write(keyId: string, nowMs: number): Promise<void> {
    const replacing = (await storage.records.get(apiKeyUse, keyId)) ?? null;
    if (replacing !== null && nowMs - replacing.value.lastUsedAtMs < minIntervalMs) return;
    const value = { keyId, lastUsedAtMs: nowMs };
    // A conflict means that another node has just recorded the same use, so the result is ignored.
    await storage.commit({ partition: partitionOfId(keyId), records: [{ op: "put", type: apiKeyUse, value, replacing }] });
  }

  return {
    note(keyId) {
      const nowMs = storage.now();
      const before = written.get(keyId);
      if (before !== undefined && nowMs - before < minIntervalMs) return;
      written.set(keyId, nowMs);
      const work = write(keyId, nowMs)
        .catch((err: unknown) => log.debug({ err, keyId }, "last use of an API key not stored"))
        .finally(() => underWay.delete(work));
      underWay.add(work);
    },
    async lastUsedAtMs(keyIds) {
      return (await storage.records.getMany(apiKeyUse, keyIds)).map((stored) => stored?.value.lastUsedAtMs);
    },
    async removal(keyId) {
      const replacing = await storage.records.get(apiKeyUse, keyId);
      if (replacing === undefined) return [];
      const write: RecordWrite<ApiKeyUse> = { op: "delete", type: apiKeyUse, replacing };
      return [write as RecordWrite];
    },
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
