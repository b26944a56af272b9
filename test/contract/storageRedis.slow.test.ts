/** Runs the storage suite on one Redis server and on a Cluster of three masters. Each test starts with empty servers. */
import { afterAll, beforeAll } from "vitest";
import { createRedisStorage } from "../../server/platform/storage/redis/redisStorage.ts";
import type { RedisAddress } from "../../server/platform/storage/storeAddress.ts";
import { type RedisProcess, startRedis, startRedisCluster } from "../support/redisServer.ts";
import { storageSuite } from "./storage.suite.ts";
import type { WithStorage } from "./storageTypes.ts";

/** Fewer runs, because opening a store on Redis takes longer than opening one in a folder. */
const modelRuns = 20;

interface Servers {
  readonly address: RedisAddress;
  readonly masters: readonly RedisProcess[];
}

function withRedis(servers: () => Servers): WithStorage {
  return async (test, options = {}) => {
    const { address, masters } = servers();
    await Promise.all(masters.map((master) => master.command("FLUSHALL")));
    const storage = await createRedisStorage({ address, ...options });
    try {
      await test(storage);
    } finally {
      await storage.close();
    }
  };
}

let single: Servers;
let cluster: Servers;
const ends: (() => Promise<void>)[] = [];

beforeAll(async () => {
  const [server, servers] = await Promise.all([startRedis(), startRedisCluster()]);
  ends.push(server.remove, servers.remove);
  single = { address: server.address, masters: [server] };
  cluster = servers;
});
afterAll(async () => {
  await Promise.all(ends.map((end) => end()));
});

storageSuite(
  "redis",
  withRedis(() => single),
  modelRuns,
);
storageSuite(
  "redis cluster",
  withRedis(() => cluster),
  modelRuns,
);
