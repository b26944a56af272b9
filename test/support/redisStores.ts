/** Stores on Redis servers of a test file. Both are closed after the test that opened them, the last one first. */
import { afterEach } from "vitest";
import type { Storage } from "../../server/platform/storage/port.ts";
import { createRedisStorage, type RedisStorageOptions } from "../../server/platform/storage/redis/redisStorage.ts";
import type { RedisAddress } from "../../server/platform/storage/storeAddress.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
});

/** Returns the same servers and removes them after the test. */
export async function started<Servers extends { remove(): Promise<void> }>(starting: Promise<Servers>): Promise<Servers> {
  const servers = await starting;
  ends.push(servers.remove);
  return servers;
}

/** Opens a store that is closed after the test. */
export async function openStore(address: RedisAddress, options: Partial<RedisStorageOptions> = {}): Promise<Storage> {
  const storage = await createRedisStorage({ address, ...options });
  ends.push(storage.close);
  return storage;
}
