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

export type OpenStorage = (time: ManualTime) => Promise<OpenedStorage>;

export const openMemory: OpenStorage = async (time) => {
  const storage = time.watch(createMemoryStorage({ now: time.now }));
  return { storage, close: () => storage.close() };
};

const openLmdb: OpenStorage = async (time) => {
  const directory = await mkdtemp(join(tmpdir(), "actors-"));
  const storage = time.watch(await createLmdbStorage({ directory, now: time.now }));
  return {
    storage,
    async close() {
      await storage.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
};

/** One server for the calling file. It starts when the first test needs it. */
function createOpenRedis(): OpenStorage {
  let server: Promise<RedisProcess> | undefined;
  afterAll(async () => {
    await (await server)?.remove();
  });
  return async (time) => {
    server ??= startRedis();
    const redis = await server;
    await redis.command("FLUSHALL");
    const storage = time.watch(await createRedisStorage({ address: redis.address, now: time.now }));
    return { storage, close: () => storage.close() };
  };
}

type NamedStorage = readonly [name: string, open: OpenStorage];

/** For the tests of the platform. Call it at the top of a test file. */
export const everyStorage = (): NamedStorage[] => [
  ["memory", openMemory],
  ["lmdb", openLmdb],
  ["redis", createOpenRedis()],
];

/** For the tests of a domain. Call it at the top of a test file. */
export const domainStorages = (): NamedStorage[] => (process.env.TEST_STORES === "every" ? everyStorage() : [["memory", openMemory]]);
