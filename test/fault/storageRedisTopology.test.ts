/** Tests the sources of the topology: Sentinels and nodes of a Cluster that are cut off, closed, or outdated. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Storage, StorageDamagedError } from "../../server/platform/storage/port.ts";
import { append, batch } from "../contract/storageTypes.ts";
import {
  type RedisClusterProcesses,
  type RedisProcess,
  startRedis,
  startRedisCluster,
  startRedisSentinel,
  startSentinelOf,
} from "../support/redisServer.ts";
import { openStore, started } from "../support/redisStores.ts";

const open: typeof openStore = (address, options = {}) => openStore(address, { startMs: 5000, ...options });

const say = (storage: Storage, word: string) => storage.commit(batch(1, { logs: [append("l", word)] }));

describe("Sentinels", () => {
  test("[ST53] nodes ignore a Sentinel that is cut off with an old master, or that hangs", async () => {
    // Both servers act as masters. Only one of the Sentinels has seen the failover from the old one to its successor.
    const [old, successor] = await Promise.all([started(startRedis()), started(startRedis())]);
    const [stale, hanging, newest] = await Promise.all(
      [startSentinelOf(old.port, 60_000), startSentinelOf(old.port, 60_000), startSentinelOf(successor.port, 60_000, 1)].map(started),
    );
    hanging?.signal("SIGSTOP");
    const servers = [stale, hanging, newest].flatMap((each) => each?.address.servers ?? []);
    const storage = await open({ kind: "sentinel", servers, master: "main", tls: false, database: 0 });
    expect(await say(storage, "one")).toMatchObject({ ok: true, positions: [1] });
    expect(await old.command("DBSIZE")).toBe(0);
    expect(await successor.command("HGET", "svc:{p01}:l", "l")).toBe("1:0");
  });

  test("[ST40] a Sentinel that asks for a password gets that of the URL", async () => {
    const { sentinel, address } = await started(startRedisSentinel({}, 60_000));
    await sentinel.command("ACL", "SETUSER", "default", "resetpass", ">secret");
    await expect(open(address, { startMs: 500 })).rejects.toThrow(/denied access/);
    expect((await say(await open({ ...address, password: "secret" }), "one")).ok).toBe(true);
  });
});

describe("a Cluster", () => {
  let cluster: RedisClusterProcesses;
  beforeAll(async () => {
    cluster = await startRedisCluster();
  });
  afterAll(() => cluster.remove());

  test("[ST53] the answer of a node that has lost the Cluster counts only if all nodes have lost it", async () => {
    const lone = await started(startRedis({ "cluster-enabled": "yes", "cluster-port": "0" }));
    // The node holds all slots but one, which no node holds, so it refuses commands.
    await lone.command("CLUSTER", "ADDSLOTSRANGE", "0", "16382");
    const address = { ...cluster.address, servers: [...lone.address.servers, ...cluster.address.servers] };
    expect((await say(await open(address), "one")).ok).toBe(true);
  });

  test("[ST47] a master that was emptied under a running server is detected, whichever it is", async () => {
    const lost: Error[] = [];
    const storage = await open(cluster.address, { onLost: (error) => lost.push(error) });
    const holdsFirst = cluster.masters.map((master) => master.command("EXISTS", "svc:{p00}:m").then(Boolean, () => false));
    const holders = await Promise.all(holdsFirst);
    const [first, other] = [true, false].map((holds) => cluster.masters[holders.indexOf(holds)]) as [RedisProcess, RedisProcess];
    const probes = async () => {
      const keys = (await other.command("KEYS", "*:m")) as readonly string[];
      return Promise.all(keys.map((key) => other.command("HGET", key, "probe")));
    };
    await vi.waitFor(async () => expect((await probes()).some(Boolean)).toBe(true), { timeout: 10_000 });
    await other.command("FLUSHALL");
    await vi.waitFor(() => expect(lost).toHaveLength(1), { timeout: 10_000 });
    await expect(say(storage, "one")).rejects.toThrow(StorageDamagedError);
    // A new server also refuses to start on the remaining data, whichever part is missing.
    await expect(open(cluster.address)).rejects.toThrow(/of the store is gone/);
    for (const master of cluster.masters) await master.command("FLUSHALL");
    await (await open(cluster.address)).close();
    await first.command("FLUSHALL");
    await expect(open(cluster.address)).rejects.toThrow(/of the store is gone/);
  });
});
