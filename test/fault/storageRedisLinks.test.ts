/**
 * Tests connections to Redis that fail without a socket error: replies that are not valid, and dead connections without
 * a close.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import type { Storage } from "../../server/platform/storage/port.ts";
import { createRedisStorage } from "../../server/platform/storage/redis/redisStorage.ts";
import { append, batch, bytes } from "../contract/storageTypes.ts";
import { type RedisProcess, startRedis } from "../support/redisServer.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
});

/** `onPiece` handles each piece of data of a connection. */
async function link(port: number, onPiece: (piece: Buffer, way: "there" | "back", near: Socket) => Buffer | undefined): Promise<number> {
  const open = new Set<Socket>();
  const proxy = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const [from, to, way] of [
      [near, far, "there"],
      [far, near, "back"],
    ] as const) {
      open.add(from);
      from.on("data", (piece) => {
        const passed = onPiece(piece, way, near);
        if (passed !== undefined) to.write(passed);
      });
      from.on("error", () => to.destroy()).on("close", () => to.destroy());
    }
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  ends.push(async () => {
    for (const socket of open) socket.destroy();
    proxy.close();
    await once(proxy, "close");
  });
  return (proxy.address() as AddressInfo).port;
}

async function start(): Promise<RedisProcess> {
  const server = await startRedis();
  ends.push(server.remove);
  return server;
}

async function open(server: RedisProcess, port: number): Promise<Storage> {
  const storage = await createRedisStorage({ address: { ...server.address, servers: [{ host: "127.0.0.1", port }] } });
  ends.push(storage.close);
  return storage;
}

test("[ST55] after bytes that are not an answer, no command gets the answer to another", async () => {
  const server = await start();
  let garbled: (() => void) | undefined;
  const port = await link(server.port, (piece, way) => {
    if (way === "there" || garbled === undefined) return piece;
    garbled();
    garbled = undefined;
    return Buffer.from("\x01what\r\n");
  });
  const storage = await open(server, port);
  await storage.commit(batch(1, { logs: [append("one", "1"), append("two", "1", "2")] }));
  const answered = new Promise<void>((resolve) => {
    garbled = resolve;
  });
  const one = storage.log.tail(1, "one");
  await answered;
  expect(await Promise.all([one, storage.log.tail(1, "two")])).toEqual([1, 2]);
});

test("[ST55] a node whose bus connection is silently dead receives messages again within seconds", async () => {
  const server = await start();
  const dead = new Set<Socket>();
  let dies = true;
  const port = await link(server.port, (piece, way, near) => {
    if (dies && way === "there" && /SUBSCRIBE\r\n/i.test(piece.toString("latin1"))) {
      dead.add(near);
      dies = false;
    }
    return dead.has(near) ? undefined : piece;
  });
  const [deaf, other] = [await open(server, port), await open(server, server.port)];
  const heard = new Promise<Uint8Array>((resolve) => deaf.bus.subscribe("t", resolve));
  const wake = setInterval(() => other.bus.publish("t", bytes("m")), 50);
  expect(await heard.finally(() => clearInterval(wake))).toEqual(bytes("m"));
  expect(dead.size).toBe(1);
}, 15_000);

test("[ST44] a connection lost during the start is opened again, whatever was running", async () => {
  const server = await start();
  for (const command of ["SCRIPT", "EVALSHA", "INFO", "CONFIG"]) {
    let cuts = 0;
    const port = await link(server.port, (piece, way, near) => {
      if (cuts > 0 || way === "back" || !piece.includes(`${command}\r\n`)) return piece;
      cuts += 1;
      near.resetAndDestroy();
      return undefined;
    });
    expect((await (await open(server, port)).commit(batch(1, { logs: [append("one", "1")] }))).ok).toBe(true);
    expect(cuts).toBe(1);
  }
});

test("[ST46] a topic that is left and joined again quickly receives messages from other nodes", async () => {
  const server = await start();
  const [one, other] = [await open(server, server.port), await open(server, server.port)];
  const topics = Array.from({ length: 288 }, (_, at) => `t${at}`);
  const heard = new Map<string, number>();
  const turns = async (count: number) => {
    for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
  };
  await Promise.all(
    topics.map(async (topic, at) => {
      // Unsubscribes and subscribes overlap in all orders.
      const end = one.bus.subscribe(topic, () => {});
      await turns(at % 12);
      end();
      await turns(Math.floor(at / 12) % 12);
      one.bus.subscribe(topic, () => heard.set(topic, (heard.get(topic) ?? 0) + 1));
    }),
  );
  await vi.waitFor(
    async () => {
      const counts = (await server.command("PUBSUB", "NUMSUB", ...topics.map((topic) => `svc:0:bus:${topic}`))) as readonly unknown[];
      expect(counts.filter((each) => each === 1)).toHaveLength(topics.length);
    },
    { timeout: 30_000 },
  );
  for (const topic of topics) other.bus.publish(topic, bytes("m"));
  await vi.waitFor(() => expect(topics.filter((topic) => heard.get(topic) !== 1)).toEqual([]), { timeout: 30_000 });
});
