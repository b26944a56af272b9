/** Tests Redis servers that require a password or restrict the commands of a user. */
import { readFile } from "node:fs/promises";
import { afterEach, describe, expect, test } from "vitest";
import { type Storage, StorageUnavailableError } from "../../server/platform/storage/port.ts";
import { createRedisStorage } from "../../server/platform/storage/redis/redisStorage.ts";
import { redisScripts } from "../../server/platform/storage/redis/scripts.ts";
import type { RedisAddress } from "../../server/platform/storage/storeAddress.ts";
import { append, batch, bytes, put } from "../contract/storageTypes.ts";
import { type RedisProcess, startRedis } from "../support/redisServer.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
});

async function start(): Promise<RedisProcess> {
  const server = await startRedis();
  ends.push(server.remove);
  return server;
}

async function open(address: RedisAddress): Promise<Storage> {
  const storage = await createRedisStorage({ address, startMs: 500, patienceMs: 1000 });
  ends.push(storage.close);
  return storage;
}

async function allow(server: RedisProcess, ...rights: readonly string[]): Promise<RedisAddress> {
  await server.command("ACL", "SETUSER", "svc", "reset", "on", ">secret", ...rights);
  return { ...server.address, username: "svc", password: "secret" };
}

const all = ["~svc:*", "&svc:*", "+@all"];
/** Commands that run outside of scripts. */
const plain = ["HKEYS", "ZCARD", "ZRANGE", "PUBLISH", "SUBSCRIBE", "UNSUBSCRIBE", "EVAL", "EVALSHA"];
const scripted = Object.values(redisScripts).flatMap(({ text }) => [...text.matchAll(/redis\.call\('([A-Z]+)'/g)].map(([, name]) => name));

describe("a user of Redis", () => {
  test("[ST54] a user who lacks one right gets its name at the start, and nothing is written", async () => {
    const server = await start();
    const commands = [...new Set([...plain, ...scripted])] as string[];
    expect(commands.length).toBeGreaterThan(23);
    for (const command of commands) {
      const refused = open(await allow(server, ...all, `-${command.toLowerCase()}`));
      await expect(refused, command).rejects.toThrow(StorageUnavailableError);
      await expect(refused).rejects.toThrow(new RegExp(`denied access: NOPERM .*${command}`, "i"));
    }
    for (const rights of [
      ["~other:*", "&svc:*", "+@all"],
      ["~svc:*", "+@all"],
    ]) {
      await expect(open(await allow(server, ...rights))).rejects.toThrow(/NOPERM the user needs the right/);
    }
    expect(await server.command("DBSIZE")).toBe(0);
    await expect(open(await allow(server, ...all, "-info"))).rejects.toThrow(/denied access: NOPERM .*info/);
  });

  test("[ST54] the rights that the README names are enough", async () => {
    const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
    const rights = /ACL SETUSER svc on >\S+ (.*)/.exec(readme)?.[1]?.split(" ") ?? [];
    const server = await start();
    const storage = await open(await allow(server, ...rights));
    const heard = new Promise<Uint8Array>((resolve) => storage.bus.subscribe("t", resolve));
    const other = await open(server.address);
    const wake = setInterval(() => other.bus.publish("t", bytes("m")), 20);
    expect(await heard.finally(() => clearInterval(wake))).toEqual(bytes("m"));
    const sha256 = await storage.blobs.put(1, bytes("blob"));
    const records = [put({ id: "01/a", groups: ["g"], keys: [["k"]], name: "n", blobs: [sha256], expiresAtMs: 1 })];
    expect((await storage.commit(batch(1, { records, logs: [append("l", "one", "two")] }))).ok).toBe(true);
    expect((await storage.commit(batch(1, { logs: [{ op: "trim", log: "l", through: 1 }] }))).ok).toBe(true);
    expect(await storage.due.claim({ partitions: [1], limit: 9, leaseMs: 1000 })).toHaveLength(1);
    expect(await storage.leases.acquire(1, "lease", "me", 1000)).toBeDefined();
    expect(await storage.rates.take([{ bucket: "b", policy: { count: 1, seconds: 1, burst: 1 } }])).toMatchObject([{ allowed: true }]);
    expect(await storage.status()).toMatchObject({ durable: true, writes: "ok" });
    expect(await server.command("ACL", "LOG")).toEqual([]);
  });
});

describe("a Redis of another kind than its URL says", () => {
  test.each<[string, Partial<RedisAddress>, RegExp]>([
    ["has fewer databases", { database: 99 }, /denied access: ERR DB index is out of range/],
    ["is no Cluster", { kind: "cluster" }, /denied access: ERR This instance has cluster support disabled/],
    ["is no Sentinel", { kind: "sentinel", master: "main" }, /denied access: ERR unknown command 'SENTINEL'/],
  ])("[ST54] a Redis that %s is reported at once", async (_name, address, reason) => {
    const refused = open({ ...(await start()).address, ...address });
    await expect(refused).rejects.toThrow(reason);
    await expect(refused).rejects.toThrow(StorageUnavailableError);
  });
});

describe("a Redis with too many clients", () => {
  test("[ST44] the server waits until Redis has room for it", async () => {
    const server = await start();
    const storage = await open(server.address);
    await server.command("CONFIG", "SET", "maxclients", "1");
    await server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    await server.command("CLIENT", "KILL", "TYPE", "pubsub");
    await expect(storage.log.tail(1, "l")).rejects.toThrow(/max number of clients/);
    const waiting = storage.log.tail(1, "l");
    await server.command("CONFIG", "SET", "maxclients", "100");
    expect(await waiting).toBe(0);
  });
});
