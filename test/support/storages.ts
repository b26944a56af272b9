/**
 * The storages of contract tests, each with a manual clock.
 *
 * The platform is tested on every storage. A domain uses only what the storage suite proves of each of them, so its tests
 * run on the fastest one, and end-to-end on the real ones. `TEST_STORES=every` runs them on every storage.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { createLmdbStorage } from "../../server/platform/storage/lmdb/lmdbStorage.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { createRedisStorage } from "../../server/platform/storage/redis/redisStorage.ts";
import type { ManualTime } from "./manualTime.ts";
import { type RedisProcess, startRedis } from "./redisServer.ts";

export interface OpenedStorage {
  readonly storage: Storage;
  close(): Promise<void>;
}

let server: Promise<RedisProcess> | undefined;
afterAll(async () => {
  await (await server)?.remove();
  server = undefined;
});

export type OpenStorage = (time: ManualTime) => Promise<OpenedStorage>;

export const openMemory: OpenStorage = async (time) => {
  const storage = time.watch(createMemoryStorage({ now: time.now }));
  return { storage, close: () => storage.close() };
};

export const everyStorage: readonly [name: string, open: OpenStorage][] = [
  ["memory", openMemory],
  [
    "lmdb",
    async (time) => {
      const directory = await mkdtemp(join(tmpdir(), "actors-"));
      const storage = time.watch(await createLmdbStorage({ directory, now: time.now }));
      return {
        storage,
        async close() {
          await storage.close();
          await rm(directory, { recursive: true, force: true });
        },
      };
    },
  ],
  [
    "redis",
    async (time) => {
      // One server for the file. It starts when the first test needs it.
      server ??= startRedis();
      const redis = await server;
      await redis.command("FLUSHALL");
      const storage = time.watch(await createRedisStorage({ address: redis.address, now: time.now }));
      return { storage, close: () => storage.close() };
    },
  ],
];

export const domainStorages = process.env.TEST_STORES === "every" ? everyStorage : everyStorage.slice(0, 1);
