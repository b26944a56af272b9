/**
 * Costs measures what one document, connection, keystroke and article cost, on a node and on its Redis.
 *
 * The page docs/scale.md calculates with these figures. Every figure has a key, so that one of them can be measured again.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { defaultLimits } from "../../api/limits.ts";
import { createDocumentStore } from "../../server/domain/articles/service.ts";
import { createIds } from "../../server/platform/storage/ids.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { openStorage } from "../../server/store.ts";
import { type RedisProcess, startRedis } from "../../test/support/redisServer.ts";
import { type BenchServer, type ServerName, startBenchServer } from "../live/benchServer.ts";
import { idleConnections, megabytesPerThousand } from "../live/idleScenarios.ts";
import { drive, type Figures, type Flow, holdIdle, type Shape, type Watch } from "../live/load.ts";
import { warmUp } from "../live/trafficScenarios.ts";
import { residentBytes } from "../processFigures.ts";
import { fill, toShortArticle } from "./fill.ts";

export interface Figure {
  readonly value: number;
  readonly unit: string;
  readonly what: string;
  /** Name of the measurement. */
  readonly from: string;
  readonly date: string;
  readonly machine: string;
  /** Version of Node. */
  readonly node: string;
}

export interface Costs {
  readonly figures: Readonly<Record<string, Figure>>;
}

type Measured = Readonly<Record<string, Pick<Figure, "value" | "unit" | "what">>>;

const pairs: Shape = { rooms: 500, clients: 2, typists: 2 };
const everySecond: Flow = { updates: 12, everyMs: 1000 };
const crowd: Shape = { rooms: 1, clients: 500, typists: 10 };
const human: Flow = { updates: 24, everyMs: 500 };
const MB = 1e6;
/** Above this p50 updates wait so long that batches grow, and an update seems cheaper than it is. */
const busyMs = 50;

function requireQuiet({ p50Ms = 0 }: Figures): void {
  if (p50Ms > busyMs) throw new Error(`the p50 is ${p50Ms.toFixed(0)} ms: the machine is too busy for this measurement`);
}

async function withServer<T>(name: ServerName, use: (server: BenchServer) => Promise<T>): Promise<T> {
  const server = await startBenchServer(name);
  try {
    return await use(server);
  } finally {
    await server.stop();
  }
}

interface RedisUse {
  readonly cpuSeconds: number;
  readonly appends: number;
  readonly memoryBytes: number;
  readonly appendOnlyBytes: number;
  readonly networkBytes: number;
}

async function readRedisUse(redis: RedisProcess): Promise<RedisUse> {
  const info = String(await redis.command("INFO", "everything"));
  const read = (field: string) => Number(new RegExp(`^${field}:([\\d.]+)`, "m").exec(info)?.[1] ?? 0);
  return {
    appends: Number(/^cmdstat_xadd:calls=(\d+)/m.exec(info)?.[1] ?? 0),
    cpuSeconds: read("used_cpu_sys") + read("used_cpu_user"),
    memoryBytes: read("used_memory"),
    appendOnlyBytes: read("aof_current_size"),
    networkBytes: read("total_net_input_bytes") + read("total_net_output_bytes"),
  };
}

/** What Redis used between two moments. */
class RedisWatch implements Watch {
  readonly #redis: RedisProcess;
  #before: RedisUse | undefined;
  #used: RedisUse | undefined;

  constructor(redis: RedisProcess | undefined) {
    if (redis === undefined) throw new Error("the server has no Redis");
    this.#redis = redis;
  }

  async begin(): Promise<void> {
    this.#before = await readRedisUse(this.#redis);
  }

  async end(): Promise<void> {
    const now = await readRedisUse(this.#redis);
    const before = this.#before as RedisUse;
    this.#used = Object.fromEntries(Object.entries(now).map(([name, value]) => [name, value - before[name as keyof RedisUse]])) as never;
  }

  get used(): RedisUse {
    return this.#used as RedisUse;
  }
}

async function measureKeystrokes(): Promise<Measured> {
  return withServer("ours", async (server) => {
    await warmUp(server, { shape: pairs, flow: everySecond });
    const own = await drive(server, pairs, everySecond);
    requireQuiet(own);
    await warmUp(server, { shape: crowd, flow: human });
    const shared = await drive(server, crowd, human);
    const fewer = await drive(server, { ...crowd, clients: 11 }, human);
    // 490 further readers of each update cost what the larger crowd costs more.
    const perUpdate = (perSecond: number, readers: number) => (readers / perSecond) * 1e6;
    const delivery = (perUpdate(shared.deliveriesPerCpuSecond, 499) - perUpdate(fewer.deliveriesPerCpuSecond, 10)) / 489;
    return {
      keystroke: {
        value: 1e6 / own.deliveriesPerCpuSecond,
        unit: "µs CPU",
        what: "a keystroke, stored and delivered to one other client, 500 documents × 2 clients, one update a second each",
      },
      delivery: { value: delivery, unit: "µs CPU", what: "each further delivery of it, 1 document, 500 clients against 11" },
      keystrokeP99: { value: own.p99Ms ?? Number.NaN, unit: "ms", what: "p99 from sending to receiving under that load" },
    };
  });
}

const manyConnections = 16_000;

async function measureMemory(): Promise<Measured> {
  return withServer("ours", async (server) => {
    await pause(8000);
    const start = residentBytes(server.pids) / MB;
    // A connection takes less than the heap varies by with 4,000 of them.
    const one = await megabytesPerThousand(server, 1, console.error, manyConnections);
    const own = await megabytesPerThousand(server, idleConnections, console.error);
    return {
      process: { value: start, unit: "MB", what: "a process that nobody uses" },
      connection: { value: one, unit: "kB", what: "an idle connection" },
      document: { value: own - one, unit: "kB", what: "an open document with one idle connection, without the connection" },
    };
  });
}

async function measureOnRedis(): Promise<Measured> {
  const [alone, both] = [await onNodes("one node on Redis"), await onNodes("two nodes on Redis")];
  return {
    keystrokeOnRedis: { value: alone.node, unit: "µs CPU", what: "the nodes for one append, the same load on one node on Redis" },
    keystrokeOnTwo: {
      value: both.node,
      unit: "µs CPU",
      what: "the nodes for one append, the two clients of each document on different nodes",
    },
    redisKeystroke: {
      value: both.redis,
      unit: "µs CPU",
      what: "Redis for one append: script, message, read by the other node, and polls",
    },
    merged: {
      value: both.merged,
      unit: "updates",
      what: "updates in one append of that load; far above 1 if the machine was too busy and updates waited for each other",
    },
    redisIdleCpu: {
      value: both.idleCpu,
      unit: "µs CPU/s",
      what: "Redis for an open document in which nobody types, on one node: its poll of the log",
    },
  };
}

/** Values are for one append, because on a busy machine several keystrokes share one. */
async function onNodes(name: ServerName) {
  return withServer(name, async (server) => {
    await warmUp(server, { shape: pairs, flow: everySecond });
    const watch = new RedisWatch(server.redis);
    const driven = await drive(server, pairs, everySecond, watch);
    const keystrokes = pairs.rooms * pairs.typists * everySecond.updates;
    const { used } = watch;
    const { appends } = used;
    const rooms = await server.makeRooms(pairs.rooms);
    const idle = new RedisWatch(server.redis);
    const seconds = 10;
    await holdIdle(server, rooms, [rooms.length], async () => {
      await pause(2000);
      await idle.begin();
      await pause(seconds * 1000);
      await idle.end();
    });
    return {
      node: (keystrokes / driven.deliveriesPerCpuSecond / appends) * 1e6,
      redis: (used.cpuSeconds / appends) * 1e6,
      merged: keystrokes / appends,
      idleCpu: (idle.used.cpuSeconds / seconds / rooms.length) * 1e6,
    };
  });
}

/** Appends as fast as one process can, through the code that a room uses. */
async function measureAppends(): Promise<Measured> {
  const documents = 500;
  const appends = 40_000;
  const redis = await startRedis();
  const storage = await openStorage({ redis: { address: redis.address, waitReplicas: 0 }, dataDir: "", diskReserveMiB: 0 }, (error) => {
    throw error;
  });
  try {
    const { updateLog, texts } = createDocumentStore({
      storage,
      nodeId: "bench",
      limits: defaultLimits,
      checkpointQuietMs: 3_600_000,
      armAtEdit: () => ({ due: [] }),
    });
    const articleIds = await fill(storage, createIds(storage).next("ws", 5), { size: "", articles: documents, toUpdate: toShortArticle });
    const update = Buffer.alloc(30);
    const author = { username: "operator", kind: "user" } as const;
    let left = 0;
    const flood = async (count: number) => {
      left = count;
      await Promise.all(
        articleIds.map(async (articleId) => {
          while (left > 0) {
            left -= 1;
            await updateLog.append(articleId, [{ author, update }]);
          }
        }),
      );
    };
    const warmUpAppends = appends / 4;
    await flood(warmUpAppends);
    const watch = new RedisWatch(redis);
    await watch.begin();
    const startedAtMs = performance.now();
    await flood(appends);
    const seconds = (performance.now() - startedAtMs) / 1000;
    await watch.end();
    await texts.close();
    const { used } = watch;
    const streams = (await redis.command("KEYS", "*document/*")) as readonly string[];
    const sizes = await Promise.all(streams.map((stream) => redis.command("MEMORY", "USAGE", stream, "SAMPLES", "0")));
    const memoryBytes = sizes.reduce((sum: number, bytes) => sum + Number(bytes), 0);
    // Each document began with one entry that holds its text.
    const stored = appends + warmUpAppends + documents;
    const per = (value: number) => value / appends;
    return {
      appends: {
        value: appends / seconds,
        unit: "appends/s",
        what: "appends that one process sent and one Redis stored, `appendfsync always`",
      },
      appendCpu: { value: per(used.cpuSeconds) * 1e6, unit: "µs CPU", what: "Redis for one append of 30 bytes in that run" },
      appendMemory: { value: memoryBytes / stored, unit: "bytes", what: "memory of Redis for one append of 30 bytes" },
      appendDisk: { value: per(used.appendOnlyBytes), unit: "bytes", what: "append-only file of Redis for one append of 30 bytes" },
      appendNetwork: { value: per(used.networkBytes), unit: "bytes", what: "network of Redis for one append, both directions" },
    };
  } finally {
    await storage.close();
    await redis.remove();
  }
}

/** Sends bus messages as fast as one connection can. No node subscribes, so this is the least that a message costs. */
async function measureMessages(): Promise<Measured> {
  const redis = await startRedis();
  const messages = 200_000;
  const perTurn = 1000;
  const message = "x".repeat(60);
  try {
    await redis.command("PING");
    const watch = new RedisWatch(redis);
    await watch.begin();
    for (let sent = 0; sent < messages; sent += perTurn) {
      await Promise.all(Array.from({ length: perTurn }, () => redis.command("PUBLISH", "svc:0:bus:room/bench", message)));
    }
    await watch.end();
    const cpu = (watch.used.cpuSeconds / messages) * 1e6;
    return { messageCpu: { value: cpu, unit: "µs CPU", what: "Redis for one bus message without subscribers, pipelined" } };
  } finally {
    await redis.remove();
  }
}

/** Bytes that the files of a folder take on disk. */
function diskBytes(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).blocks * 512, 0);
}

const manyArticles = 20_000;

function addMany(storage: Storage): Promise<readonly string[]> {
  return fill(storage, createIds(storage).next("ws", 5), { size: "", articles: manyArticles, toUpdate: toShortArticle });
}

async function measureArticles(): Promise<Measured> {
  const fail = (error: Error) => {
    throw error;
  };
  const dataDir = mkdtempSync(join(tmpdir(), "bench-articles-"));
  const redis = await startRedis();
  try {
    const embedded = await openStorage({ dataDir, diskReserveMiB: 0 }, fail);
    await addMany(embedded);
    await embedded.close();
    const onRedis = await openStorage({ redis: { address: redis.address, waitReplicas: 0 }, dataDir, diskReserveMiB: 0 }, fail);
    const watch = new RedisWatch(redis);
    await watch.begin();
    await addMany(onRedis);
    await watch.end();
    await onRedis.close();
    return {
      articleDisk: { value: diskBytes(dataDir) / manyArticles, unit: "bytes", what: "an article of 1 kB in the embedded store, on disk" },
      articleMemory: { value: watch.used.memoryBytes / manyArticles, unit: "bytes", what: "an article of 1 kB in the memory of Redis" },
    };
  } finally {
    await redis.remove();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** The measurements by the name that `npm run bench:costs -- <name>` takes. */
export const measurements: Readonly<Record<string, () => Promise<Measured>>> = {
  keystrokes: measureKeystrokes,
  memory: measureMemory,
  redis: measureOnRedis,
  appends: measureAppends,
  messages: measureMessages,
  articles: measureArticles,
};
