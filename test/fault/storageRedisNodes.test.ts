/**
 * Tests several nodes on one Redis, and Redis servers that change: a Cluster whose slots move, and a master that is
 * replaced.
 */
import { describe, expect, test, vi } from "vitest";
import { type Storage, StorageUnavailableError } from "../../server/platform/storage/port.ts";
import { append, batch, bytes, itemType, put } from "../contract/storageTypes.ts";
import {
  type RedisClusterProcesses,
  type RedisProcess,
  startRedis,
  startRedisCluster,
  startRedisReplicated,
  startRedisSentinel,
} from "../support/redisServer.ts";
import { openStore, started } from "../support/redisStores.ts";

const partitions = Array.from({ length: 64 }, (_, partition) => partition);
const row = (id: string, dueAtMs: number) => ({ id, kind: "k", dueAtMs, payload: null, attempts: 0 });

describe.each([
  ["one server", () => started(startRedis())],
  ["a Cluster", () => started(startRedisCluster())],
] as const)("two nodes on %s", (_name, start) => {
  test("[ST46] nodes see each other's commits, claim each row once, share leases and buckets, and wake", async () => {
    const { address } = await start();
    const [one, two] = await Promise.all([openStore(address), openStore(address)]);
    const tails = async (storage: Storage) => Promise.all([1, 2, 3].map((partition) => storage.log.tail(partition, "l")));
    await Promise.all(
      Array.from({ length: 60 }, (_, at) => (at % 2 === 0 ? one : two).commit(batch(1 + (at % 3), { logs: [append("l", String(at))] }))),
    );
    expect([await tails(one), await tails(two)]).toEqual([
      [20, 20, 20],
      [20, 20, 20],
    ]);

    // The limit is generous, because each node's error is as large as its last clock read took.
    expect(Math.abs(one.now() - two.now())).toBeLessThan(10_000);
    const dueAtMs = one.now() - 5;
    for (const partition of [1, 2, 3]) {
      await one.commit(batch(partition, { due: Array.from({ length: 20 }, (_, at) => ({ op: "schedule", row: row(`r${at}`, dueAtMs) })) }));
    }
    const claims = await Promise.all([one, two, one, two].map((storage) => storage.due.claim({ partitions, limit: 30, leaseMs: 60_000 })));
    const claimed = claims.flat().map(({ partition, id }) => `${partition}/${id}`);
    expect(new Set(claimed).size).toBe(claimed.length);

    const lease = await one.leases.acquire(5, "room", "one", 60_000);
    expect(await two.leases.acquire(5, "room", "two", 60_000)).toBeUndefined();
    if (lease !== undefined) await one.leases.release(lease);
    expect((await two.leases.acquire(5, "room", "two", 60_000))?.fence).toBeGreaterThan(lease?.fence ?? Number.POSITIVE_INFINITY);

    // A burst of 100 and one token a minute: no token comes back during the test.
    const policy = { count: 1, seconds: 60, burst: 100 };
    const takes = await Promise.all(
      Array.from({ length: 160 }, (_, at) => (at % 2 === 0 ? one : two).rates.take([{ bucket: "b", policy }])),
    );
    const allowed = takes.filter(([answer]) => answer?.allowed).length;
    expect(allowed).toBeGreaterThan(90);
    expect(allowed).toBeLessThanOrEqual(101);

    const heard: string[] = [];
    const stop = two.bus.subscribe("t", (message) => heard.push(`two ${message[0]}`));
    one.bus.subscribe("t", (message) => heard.push(`one ${message[0]}`));
    await vi.waitFor(
      () => {
        one.bus.publish("t", bytes("a"));
        expect(heard.filter((each) => each === "two 97").length).toBeGreaterThan(0);
      },
      { timeout: 10_000 },
    );
    stop();
    heard.length = 0;
    const own = new Promise<void>((resolve) => one.bus.subscribe("t", () => resolve()));
    one.bus.publish("t", bytes("b"));
    await own;
    // The subscriber of the same node is called once, because its own message does not return over Redis.
    await one.log.tail(1, "l");
    expect(heard).toEqual(["one 98"]);
  });
});

/** Returns the slot of a partition and the index of the master that holds it. */
async function findSlot({ masters }: RedisClusterProcesses, partition: number): Promise<readonly [slot: string, master: number]> {
  const tag = `{p${String(partition).padStart(2, "0")}}`;
  const slot = Number(await masters[0]?.command("CLUSTER", "KEYSLOT", tag));
  const ranges = (await masters[0]?.command("CLUSTER", "SLOTS")) as readonly [number, number, readonly [string, number]][];
  const range = ranges.find(([from, to]) => from <= slot && slot <= to);
  return [String(slot), masters.findIndex(({ port }) => port === range?.[2][1])];
}

describe("one Redis", () => {
  test("[ST17] concurrent callers of one node share its tokens, and none is refused while some are left", async () => {
    const { address } = await started(startRedis());
    const storage = await openStore(address, { now: () => 1_900_000_000_000 });
    const policy = { count: 10, seconds: 1, burst: 100 };
    const take = (bucket: string) => storage.rates.take([{ bucket, policy }]);
    await take("b");
    const answers = (await Promise.all(Array.from({ length: 120 }, () => take("b")))).flat();
    expect(answers.filter(({ allowed }) => allowed)).toHaveLength(99);
    expect(answers.filter(({ allowed }) => !allowed).every(({ retryAfterMs }) => retryAfterMs > 0)).toBe(true);
    expect((await Promise.all(Array.from({ length: 100 }, () => take("new")))).flat().every(({ allowed }) => allowed)).toBe(true);
  });

  test("[ST21] store time continues from its last value when the clock of Redis has gone back", async () => {
    const server = await started(startRedis());
    const first = await openStore(server.address);
    expect(Math.abs(first.now() - Date.now())).toBeLessThan(5000);
    await first.close();
    // Simulates a clock that was an hour ahead until now.
    const reachedMs = Date.now() + 3_600_000;
    await server.command("HSET", "svc:{p00}:m", "time", String(reachedMs));
    const [one, two] = [await openStore(server.address), await openStore(server.address)];
    for (const storage of [one, two]) {
      expect(storage.now()).toBeGreaterThanOrEqual(reachedMs - 50);
      expect(storage.now()).toBeLessThan(reachedMs + 60_000);
    }
    const beforeMs = one.now();
    await vi.waitFor(() => expect(one.now()).toBeGreaterThan(beforeMs + 1100), { timeout: 10_000 });
  });
});

describe("a Cluster", () => {
  test("[ST41] a master that is killed and restarts has every acknowledged write, and serves again", async () => {
    const cluster = await started(startRedisCluster());
    const storage = await openStore(cluster.address, { patienceMs: 20_000 });
    const commit = (partition: number, word: string) => storage.commit(batch(partition, { logs: [append("l", word)] }));
    await Promise.all(partitions.map((partition) => commit(partition, "before")));
    const owners = await Promise.all(partitions.map(async (partition) => (await findSlot(cluster, partition))[1]));
    const place = owners[1] as number;
    await cluster.masters[place]?.kill();
    const during = Promise.allSettled(partitions.map((partition) => commit(partition, "during")));
    await cluster.masters[place]?.start();
    const results = await during;
    await Promise.all(partitions.map((partition) => commit(partition, "after")));
    for (const [partition, result] of results.entries()) {
      const read = await storage.log.read({ partition, log: "l", after: 0, limit: 9 });
      const words = read.gap ? [] : read.entries.map(({ bytes: entry }) => Buffer.from(entry).toString());
      if (result.status === "fulfilled") expect(words).toEqual(["before", "during", "after"]);
      else {
        // The command was in transit to the master that died.
        expect([owners[partition], result.reason]).toEqual([place, expect.any(StorageUnavailableError)]);
        expect(words.filter((word) => word !== "during")).toEqual(["before", "after"]);
      }
    }
  });

  test("[ST49] while slots move between masters, commits continue, each applied once", async () => {
    const cluster = await started(startRedisCluster());
    const storage = await openStore(cluster.address, { patienceMs: 10_000 });
    const places = new Map<number, number[]>();
    let done = false;
    const write = async (partition: number) => {
      const positions: number[] = [];
      places.set(partition, positions);
      for (let serial = 0; !done; serial += 1) {
        const id = `${String(partition).padStart(2, "0")}/${serial}`;
        const result = await storage.commit(batch(partition, { records: [put({ id })], logs: [append("l", String(serial))] }));
        positions.push(result.ok ? (result.positions[0] as number) : -1);
      }
    };
    const moving = [1, 2, 3];
    const writers = moving.map(write);
    const ids = await Promise.all(cluster.masters.map(async (master) => String(await master.command("CLUSTER", "MYID"))));
    for (const partition of moving) {
      const [slot, from] = await findSlot(cluster, partition);
      const to = (from + 1) % ids.length;
      const [source, target] = [cluster.masters[from], cluster.masters[to]] as [RedisProcess, RedisProcess];
      await vi.waitFor(() => expect(places.get(partition)?.length).toBeGreaterThan(20), { timeout: 20_000 });
      await target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[from] as string);
      await source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[to] as string);
      for (;;) {
        const keys = (await source.command("CLUSTER", "GETKEYSINSLOT", slot, "1")) as readonly string[];
        if (keys.length === 0) break;
        await source.command("MIGRATE", "127.0.0.1", String(target.port), "", "0", "5000", "KEYS", ...keys);
      }
      for (const master of [target, source, ...cluster.masters])
        await master.command("CLUSTER", "SETSLOT", slot, "NODE", ids[to] as string);
      const reached = places.get(partition)?.length ?? 0;
      await vi.waitFor(() => expect(places.get(partition)?.length).toBeGreaterThan(reached + 20), { timeout: 20_000 });
    }
    done = true;
    await Promise.all(writers);
    for (const [partition, positions] of places) {
      expect(positions).toEqual(positions.map((_, at) => at + 1));
      expect(await storage.log.tail(partition, "l")).toBe(positions.length);
      const ids = positions.map((_, serial) => `0${partition}/${serial}`);
      expect((await storage.records.getMany(itemType, ids)).every((record) => record !== undefined)).toBe(true);
    }
  });
});

describe("a slot that is moving", () => {
  test("[ST49] a half-moved slot can be read, and written once it has moved", async () => {
    const cluster = await started(startRedisCluster());
    const storage = await openStore(cluster.address, { patienceMs: 300 });
    const say = (partition: number, word: string) =>
      storage.commit(batch(partition, { records: [put({ id: `0${partition}/${word}` })], logs: [append("l", word)] }));
    expect((await say(1, "old")).ok).toBe(true);
    const moves = await Promise.all(
      [1, 2].map(async (partition) => {
        const [slot, from] = await findSlot(cluster, partition);
        const [source, target] = [cluster.masters[from], cluster.masters[(from + 1) % 3]] as [RedisProcess, RedisProcess];
        await target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", String(await source.command("CLUSTER", "MYID")));
        await source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", String(await target.command("CLUSTER", "MYID")));
        return { slot, source, target };
      }),
    );
    const move = ({ source, target }: (typeof moves)[number], key: string) =>
      source.command("MIGRATE", "127.0.0.1", String(target.port), key, "0", "5000");
    const [half] = moves as [(typeof moves)[number]];

    // Keys that have moved cannot be distinguished from keys that never existed.
    await expect(say(2, "early")).rejects.toThrow(StorageUnavailableError);
    expect(await storage.records.get(itemType, "02/early")).toBeUndefined();
    await move(half, "svc:{p01}:r:item");
    expect(await storage.records.get(itemType, "01/old")).toBeDefined();
    await expect(say(1, "early")).rejects.toThrow(StorageUnavailableError);
    for (const each of moves) {
      const { slot, source, target } = each;
      for (const key of (await source.command("CLUSTER", "GETKEYSINSLOT", slot, "99")) as readonly string[]) await move(each, key);
      const id = String(await target.command("CLUSTER", "MYID"));
      for (const master of [target, source, ...cluster.masters]) await master.command("CLUSTER", "SETSLOT", slot, "NODE", id);
    }
    expect(await say(1, "late")).toMatchObject({ ok: true, positions: [2] });
    expect(await say(2, "late")).toMatchObject({ ok: true, positions: [1] });
    expect(await storage.records.get(itemType, "01/early")).toBeUndefined();
  });
});

describe("replicas", () => {
  test("[ST48] a commit is acknowledged only when REDIS_WAIT_REPLICAS replicas hold it", async () => {
    // The long timeout keeps a slow master from being replaced.
    const { servers, address } = await started(startRedisSentinel({}, 60_000));
    const storage = await openStore(address, { waitReplicas: 1 });
    expect(await storage.status()).toMatchObject({ durable: true });
    expect(await (await openStore(address)).status()).toMatchObject({
      durable: false,
      reason: expect.stringContaining("REDIS_WAIT_REPLICAS is 0"),
    });
    const results = await Promise.all(Array.from({ length: 50 }, (_, at) => storage.commit(batch(1, { logs: [append("l", String(at))] }))));
    expect(results.every((result) => result.ok)).toBe(true);
    await servers[1]?.kill();
    await expect(storage.commit(batch(1, { logs: [append("l", "alone")] }))).rejects.toThrow(StorageUnavailableError);
    await vi.waitFor(async () => expect((await storage.status()).writes).toBe("refused"), { timeout: 10_000 });
  });

  test("[ST51] data that fewer replicas hold is not read, neither by its writer nor by another node", async () => {
    const servers = await startRedisReplicated();
    for (const server of servers) await started(Promise.resolve(server));
    const [{ address }, replica] = servers;
    const [one, other] = await Promise.all([1, 2].map(() => openStore(address, { waitReplicas: 1, patienceMs: 1000 })));
    if (one === undefined || other === undefined) throw new Error("two were opened");
    await one.commit(batch(1, { records: [put({ id: "01/kept" })], logs: [append("l", "kept")] }));
    const read = (storage: Storage) => storage.log.read({ partition: 1, log: "l", after: 0, limit: 10 });
    expect((await read(other)).tail).toBe(1);
    replica.signal("SIGSTOP");
    const lonely = one.commit(batch(1, { records: [put({ id: "01/lonely" })], logs: [append("l", "lonely")] }));
    await expect(lonely).rejects.toThrow(StorageUnavailableError);
    // The write is still on the master.
    const plain = await openStore(address);
    expect((await read(plain)).tail).toBe(2);
    for (const storage of [one, other]) {
      await expect(read(storage)).rejects.toThrow(StorageUnavailableError);
      await expect(storage.records.get(itemType, "01/lonely")).rejects.toThrow(StorageUnavailableError);
    }
    replica.signal("SIGCONT");
    await vi.waitFor(async () => expect((await read(other)).tail).toBe(2), { timeout: 20_000 });
    expect((await one.records.get(itemType, "01/lonely"))?.value).toBeDefined();
  });

  test("[ST48] when the master dies, its replica takes over with every acknowledged write", async () => {
    const { servers, address } = await started(startRedisSentinel());
    const storage = await openStore(address, { waitReplicas: 1, patienceMs: 20_000 });
    const acknowledged: string[] = [];
    let done = false;
    let serial = 0;
    const write = async () => {
      while (!done) {
        const name = String(serial++);
        try {
          await storage.commit(batch(1, { logs: [append("l", name)] }));
          acknowledged.push(name);
        } catch (reason) {
          if (!(reason instanceof StorageUnavailableError)) throw reason;
          // The new master has no replica yet, but REDIS_WAIT_REPLICAS requires one.
          if (servers[0] !== undefined && acknowledged.length > 200) return;
        }
      }
    };
    const writers = Array.from({ length: 8 }, write);
    await vi.waitFor(() => expect(acknowledged.length).toBeGreaterThan(200), { timeout: 20_000 });
    await servers[0]?.kill();
    await Promise.all(writers);
    done = true;
    const after = await openStore(address, { patienceMs: 20_000 });
    await vi.waitFor(() => after.commit(batch(2, { logs: [append("l", "after")] })), { timeout: 20_000 });
    const read = await after.log.read({ partition: 1, log: "l", after: 0, limit: 100_000 });
    const found = new Map<string, number>();
    for (const { bytes: entry } of read.gap ? [] : read.entries) {
      const name = Buffer.from(entry).toString();
      found.set(name, (found.get(name) ?? 0) + 1);
    }
    expect(acknowledged.filter((name) => !found.has(name))).toEqual([]);
    expect([...found.values()].every((times) => times === 1)).toBe(true);
  });
});
