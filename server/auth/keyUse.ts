/**
 * When a key was last used: written at most once a minute and never awaited by the request that used it.
 * A note that is lost to a crash or a full disk costs a minute of accuracy and nothing else.
 */
import type { Logger } from "pino";
import { partitionOfId } from "../ids.ts";
import type { RecordWrite, Storage } from "../storage/port.ts";
import { type ApiKeyUse, apiKeyUse } from "./records.ts";

const minIntervalMs = 60_000;
const maxRemembered = 10_000;

export interface KeyUse {
  /** Notes that the key was used now. */
  note(keyId: string): void;
  /** Store time of the last use noted, by key, in the order asked. */
  lastUsedAtMs(keyIds: readonly string[]): Promise<readonly (number | undefined)[]>;
  /** For the commit that deletes the key. */
  removal(keyId: string): Promise<readonly RecordWrite[]>;
  /** Resolves when no note is under way: at shutdown, before the store closes. */
  settled(): Promise<void>;
}

export function createKeyUse({ storage, log }: { storage: Pick<Storage, "records" | "commit" | "now">; log: Logger }): KeyUse {
  /** When this node last wrote, by key; forgetting one costs a read. */
  const written = new Map<string, number>();
  const underWay = new Set<Promise<void>>();

  async function write(keyId: string, nowMs: number): Promise<void> {
    const replacing = (await storage.records.get(apiKeyUse, keyId)) ?? null;
    if (replacing !== null && nowMs - replacing.value.lastUsedAtMs < minIntervalMs) return;
    const value = { keyId, lastUsedAtMs: nowMs };
    // A conflict means that another node has just noted the same.
    await storage.commit({ partition: partitionOfId(keyId), records: [{ op: "put", type: apiKeyUse, value, replacing }] });
  }

  return {
    note(keyId) {
      const nowMs = storage.now();
      const before = written.get(keyId);
      if (before !== undefined && nowMs - before < minIntervalMs) return;
      written.delete(keyId);
      if (written.size >= maxRemembered) {
        const [oldest] = written.keys();
        if (oldest !== undefined) written.delete(oldest);
      }
      written.set(keyId, nowMs);
      const work = write(keyId, nowMs)
        .catch((err: unknown) => log.debug({ err, keyId }, "the last use of a key could not be noted"))
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
