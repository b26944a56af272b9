/** Tests Redis servers that are killed, paused, emptied, filled up and stripped of their scripts during writes. */
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  type Storage,
  StorageDamagedError,
  StorageFullError,
  StorageUnavailableError,
  type Stored,
} from "../../server/platform/storage/port.ts";
import { createRedisStorage, type RedisStorageOptions } from "../../server/platform/storage/redis/redisStorage.ts";
import { append, batch, bytes, type Item, itemType, put, remove, text } from "../contract/storageTypes.ts";
import { type RedisOptions, type RedisProcess, startRedis } from "../support/redisServer.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
});

async function start(options: RedisOptions = {}): Promise<RedisProcess> {
  const server = await startRedis(options);
  ends.push(server.remove);
  return server;
}

async function open(server: RedisProcess, options: Partial<RedisStorageOptions> = {}): Promise<Storage> {
  const storage = await createRedisStorage({ address: server.address, ...options });
  ends.push(storage.close);
  return storage;
}

const partition = 20;
const serialId = (serial: number) => `${partition}/s${serial}`;

/** Commits a serial to a record, a count, and two logs that name each other. */
function commitSerial(storage: Storage, serial: number) {
  return storage.commit(
    batch(partition, {
      records: [put({ id: serialId(serial), groups: ["g"], keys: [["s", serial]] })],
      logs: [{ op: "append", log: "own", twin: "all", entries: [bytes(String(serial))] }],
    }),
  );
}

/** Fails if a commit is incomplete, is present twice, or is at another position than acknowledged. */
async function checkSerials(storage: Storage, acknowledged: ReadonlyMap<number, number>, lost: ReadonlySet<number>): Promise<void> {
  const tail = await storage.log.tail(partition, "own");
  const read = await storage.log.read({ partition, log: "own", after: 0, limit: tail });
  if (read.gap) throw new Error("nothing was trimmed");
  const places = new Map(read.entries.map(({ position, bytes: entry }) => [Number(text(entry.subarray(8))), position]));
  expect(places.size).toBe(tail);
  for (const [serial, position] of acknowledged) expect([serial, places.get(serial)]).toEqual([serial, position]);
  for (const serial of places.keys()) expect(acknowledged.has(serial) || lost.has(serial)).toBe(true);
  expect(await storage.log.tail(partition, "all")).toBe(tail);
  expect(await storage.counts.get(partition, [["group", "g"]])).toEqual([tail]);
  const rows = await storage.index.scan({ partition, prefix: ["item", "s"], limit: tail + 1 });
  expect(rows.map(({ key }) => key[2])).toEqual([...places.keys()].sort((one, other) => one - other));
  for (const serial of lost) expect((await storage.records.get(itemType, serialId(serial))) !== undefined).toBe(places.has(serial));
}

describe("a Redis that is killed", () => {
  test("[ST41] no acknowledged write is lost, and a commit without an answer is stored once or not at all", async () => {
    const server = await start();
    const storage = await open(server, { patienceMs: 10_000 });
    const acknowledged = new Map<number, number>();
    const lost = new Set<number>();
    let next = 0;
    let done = false;
    const write = async () => {
      while (!done) {
        const serial = next++;
        try {
          const result = await commitSerial(storage, serial);
          if (!result.ok) throw new Error("no commit stands in the way of another");
          acknowledged.set(serial, result.positions[0] as number);
        } catch (reason) {
          if (!(reason instanceof StorageUnavailableError)) throw reason;
          lost.add(serial);
        }
      }
    };
    const writers = Array.from({ length: 16 }, write);
    for (let kill = 0; kill < 5; kill += 1) {
      const reached = acknowledged.size + 50 + 100 * kill;
      await vi.waitFor(() => expect(acknowledged.size).toBeGreaterThan(reached), { timeout: 20_000, interval: 1 });
      await server.kill();
      await server.start();
    }
    const reached = acknowledged.size + 50;
    await vi.waitFor(() => expect(acknowledged.size).toBeGreaterThan(reached), { timeout: 20_000 });
    done = true;
    await Promise.all(writers);
    // A kill interrupts at most the open commits.
    expect(lost.size).toBeLessThanOrEqual(5 * 16);
    await checkSerials(storage, acknowledged, lost);
    await storage.close();
    await checkSerials(await open(server), acknowledged, lost);
  });

  test("[ST44] while Redis is away calls wait and then fail as unavailable, and later succeed again", async () => {
    const server = await start();
    const storage = await open(server, { patienceMs: 300 });
    await commitSerial(storage, 1);
    await server.kill();
    await expect(commitSerial(storage, 2)).rejects.toThrow(StorageUnavailableError);
    await expect(storage.records.get(itemType, serialId(1))).rejects.toThrow(StorageUnavailableError);
    await vi.waitFor(async () => expect((await storage.status()).writes).toBe("refused"), { timeout: 10_000 });
    await server.start();
    await vi.waitFor(() => commitSerial(storage, 3), { timeout: 10_000 });
    await vi.waitFor(async () => expect((await storage.status()).writes).toBe("ok"), { timeout: 10_000 });
    await checkSerials(
      storage,
      new Map([
        [1, 1],
        [3, 2],
      ]),
      new Set(),
    );
  });

  test("[ST44] a command to a hanging Redis fails, and if Redis runs it later, it is applied once", async () => {
    const server = await start();
    const storage = await open(server, { patienceMs: 300 });
    await commitSerial(storage, 1);
    server.signal("SIGSTOP");
    await expect(commitSerial(storage, 2)).rejects.toThrow(StorageUnavailableError);
    server.signal("SIGCONT");
    await vi.waitFor(() => commitSerial(storage, 3), { timeout: 10_000 });
    await checkSerials(storage, new Map([[1, 1]]), new Set([2, 3]));
  });

  test("[ST44] a start waits for a missing Redis server and then reports it", async () => {
    const server = await start();
    await server.kill();
    const opening = open(server, { startMs: 400, patienceMs: 100 });
    await expect(opening).rejects.toThrow(/Redis at 127\.0\.0\.1:\d+ cannot be used/);
    await expect(opening).rejects.toThrow(StorageUnavailableError);
    const late = open(server, { patienceMs: 100 });
    await server.start();
    expect((await commitSerial(await late, 1)).ok).toBe(true);
  });
});

describe("a Redis with a password", () => {
  test("[ST40] the password gives access, and a wrong or missing one is reported at once", async () => {
    const server = await start({ requirepass: "let me in".replaceAll(" ", "-") });
    const as = (password?: string): Partial<RedisStorageOptions> => ({
      address: { ...server.address, database: 3, ...(password === undefined ? {} : { password }) },
    });
    for (const password of [undefined, "wrong"]) await expect(open(server, as(password))).rejects.toThrow(/denied access/);
    expect((await commitSerial(await open(server, as("let-me-in")), 1)).ok).toBe(true);
  });
});

describe("a Redis without room", () => {
  test("[ST42] without memory, additions are refused, removals and reads continue, and memory ends it", async () => {
    const server = await start({ maxmemory: "64mb", "maxmemory-policy": "noeviction" });
    const storage = await open(server);
    await storage.commit(batch(partition, { records: [put({ id: `${partition}/old`, groups: ["g"] })], logs: [append("l", "a", "b")] }));
    const sha256 = await storage.blobs.put(partition, bytes("kept"));
    await server.command("CONFIG", "SET", "maxmemory", "1mb");
    const refused = batch(partition, { records: [put({ id: `${partition}/new`, groups: ["g"] })], logs: [append("l", "c")] });
    await expect(storage.commit(refused)).rejects.toThrow(StorageFullError);
    await expect(storage.blobs.put(partition, bytes("more"))).rejects.toThrow(StorageFullError);
    expect((await storage.status()).writes).toBe("refused");
    const old = (await storage.records.get(itemType, `${partition}/old`)) as Stored<Item>;
    expect(await storage.log.tail(partition, "l")).toBe(2);
    expect(await storage.blobs.get(partition, sha256)).toEqual(bytes("kept"));
    expect(await storage.counts.get(partition, [["group", "g"]])).toEqual([1]);
    const freed = await storage.commit(batch(partition, { records: [remove(old)], logs: [{ op: "trim", log: "l", through: 1 }] }));
    expect(freed.ok).toBe(true);
    expect(await storage.rates.take([{ bucket: "b", policy: { count: 1, seconds: 1, burst: 1 } }])).toMatchObject([{ allowed: true }]);
    await server.command("CONFIG", "SET", "maxmemory", "64mb");
    await vi.waitFor(async () => expect((await storage.status()).writes).toBe("ok"), { timeout: 10_000 });
    expect(await storage.commit(refused)).toMatchObject({ ok: true, positions: [3] });
  });
});

describe("a damaged Redis", () => {
  test("[ST57] a commit that meets a key of another type changes nothing", async () => {
    const server = await start({ "enable-debug-command": "local" });
    const storage = await open(server);
    const sha256 = await storage.blobs.put(partition, bytes("blob"));
    const item = (id: string): Item => ({ id: `${partition}/${id}`, groups: ["g"], keys: [["k"]], name: id, expiresAtMs: 1 });
    const write = async (id: string, replaces?: string) => {
      const old = replaces === undefined ? undefined : await storage.records.get(itemType, `${partition}/${replaces}`);
      return storage.commit(
        batch(partition, {
          records: [put({ ...item(id), blobs: [sha256] }), ...(old === undefined ? [] : [remove(old)])],
          logs: [
            { op: "append", log: "own", twin: "all", entries: [bytes(id)] },
            { op: "trim", log: "own", through: 1 },
            append("third", id),
          ],
        }),
      );
    };
    expect((await write("a")).ok).toBe(true);
    const keys = ((await server.command("KEYS", `svc:{p${partition}}:*`)) as string[]).filter((key) => !/:b:|:m$/.test(key));
    expect(keys.length).toBe(11);
    const dumpAll = async () =>
      Object.fromEntries(await Promise.all(keys.map(async (key) => [key, await server.command("DEBUG", "DIGEST-VALUE", key)])));
    for (const key of keys) {
      await server.command("RENAME", key, "kept");
      await server.command("SET", key, "of another kind");
      const before = await dumpAll();
      await expect(write("b"), key).rejects.toThrow(/WRONGTYPE/);
      expect(await dumpAll(), key).toEqual(before);
      await server.command("RENAME", "kept", key);
    }
    expect(await write("b", "a")).toMatchObject({ ok: true, positions: [2, 2] });
  });
});

describe("a Redis that forgets", () => {
  test("[ST43] scripts that Redis has forgotten are loaded again, and no commit is applied twice", async () => {
    const server = await start();
    const storage = await open(server);
    const acknowledged = new Map<number, number>();
    for (let round = 0; round < 10; round += 1) {
      const serials = Array.from({ length: 30 }, (_, at) => 30 * round + at);
      const [results] = await Promise.all([
        Promise.all(serials.map((serial) => commitSerial(storage, serial))),
        server.command("SCRIPT", "FLUSH"),
      ]);
      for (const [at, result] of results.entries()) {
        if (!result.ok) throw new Error("no commit stands in the way of another");
        acknowledged.set(serials[at] as number, result.positions[0] as number);
      }
    }
    expect(acknowledged.size).toBe(300);
    await checkSerials(storage, acknowledged, new Set());
  });

  test("[ST47] a server whose Redis was emptied refuses everything from then on and says so", async () => {
    const server = await start();
    const lost: Error[] = [];
    const storage = await open(server, { onLost: (error) => lost.push(error) });
    await commitSerial(storage, 1);
    await server.command("FLUSHALL");
    await vi.waitFor(() => expect(lost).toHaveLength(1), { timeout: 10_000 });
    expect(lost[0]).toBeInstanceOf(StorageDamagedError);
    await expect(commitSerial(storage, 2)).rejects.toThrow(StorageDamagedError);
    await expect(storage.records.get(itemType, serialId(1))).rejects.toThrow(StorageDamagedError);
    expect((await storage.status()).writes).toBe("refused");
  });

  test("[ST56] a server whose Redis returned to an older state refuses everything from then on", async () => {
    const server = await start({ appendonly: "no" });
    const lost: Error[] = [];
    const storage = await open(server, { onLost: (error) => lost.push(error) });
    await commitSerial(storage, 1);
    const look = async () => {
      const before = await server.command("HGET", "svc:{p00}:m", "probe");
      await vi.waitFor(async () => expect(await server.command("HGET", "svc:{p00}:m", "probe")).not.toBe(before), { timeout: 10_000 });
    };
    await look();
    await server.command("SAVE");
    await commitSerial(storage, 2);
    // The second check starts only after the first one was answered.
    for (let looks = 0; looks < 2; looks += 1) await look();
    expect(lost).toEqual([]);
    await server.kill();
    await server.start();
    await vi.waitFor(() => expect(lost).toHaveLength(1), { timeout: 10_000 });
    await expect(commitSerial(storage, 3)).rejects.toThrow(StorageDamagedError);
    // A server that starts now uses the present data.
    await checkSerials(await open(server), new Map([[1, 1]]), new Set([2]));
  });

  test("[ST47] a store of a newer version is refused and left unchanged", async () => {
    const server = await start();
    await (await open(server)).close();
    await server.command("HSET", "svc:{p00}:m", "version", "99");
    await expect(open(server)).rejects.toThrow(/has version 99/);
    await server.command("HSET", "svc:{p00}:m", "version", "1", "partitions", "32");
    await expect(open(server)).rejects.toThrow(/has 32 partitions/);
  });
});

describe("durability of the settings", () => {
  test.each<[string, RedisOptions, string | undefined]>([
    ["on every write", {}, undefined],
    ["each second", { appendfsync: "everysec" }, "appendfsync is everysec, not always: a crash of the machine loses the last writes"],
    ["never", { appendonly: "no" }, "appendonly is not yes: a restart loses what was written since the last snapshot"],
    [
      "but not while it rewrites",
      { "no-appendfsync-on-rewrite": "yes" },
      "no-appendfsync-on-rewrite is yes: a crash of the machine while Redis rewrites its log loses the writes of that time",
    ],
    [
      "but throws away",
      { "maxmemory-policy": "allkeys-lru" },
      "maxmemory-policy is allkeys-lru, not noeviction: Redis throws data away when memory is short",
    ],
    ["in secret", { "rename-command": "CONFIG " }, "CONFIG GET is not allowed, so it is not known whether what is acknowledged is on disk"],
  ])("[ST45] status describes a Redis that saves %s", async (_name, options, reason) => {
    const storage = await open(await start(options));
    expect(await storage.status()).toMatchObject({
      kind: "redis",
      durable: reason === undefined,
      writes: "ok",
      usedMiB: expect.any(Number),
      ...(reason === undefined ? {} : { reason }),
    });
  });
});
