/**
 * Real Redis servers for tests: processes of their own, on free ports of this machine, with data in a folder that goes
 * with them. Each can be killed and started again on its data.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createRedisClient, type RedisClient } from "../../server/platform/storage/redis/client.ts";
import type { RedisAddress } from "../../server/platform/storage/storeAddress.ts";

export interface RedisProcess {
  readonly port: number;
  readonly address: RedisAddress;
  /** One command, on a connection of the test's own; text comes back as text. */
  command(...args: readonly string[]): Promise<unknown>;
  /** SIGKILL, and the process is gone when it resolves. */
  kill(): Promise<void>;
  /** Again on the same port and data. */
  start(): Promise<void>;
  /** Stops it in its tracks, or lets it go on. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  /** Ends it and removes its data. */
  remove(): Promise<void>;
}

export type RedisOptions = Readonly<Record<string, string>>;

/** What keeps the promise that an acknowledged write is on disk. */
const durable: RedisOptions = { appendonly: "yes", appendfsync: "always", save: "", "repl-diskless-sync-delay": "0" };

/** A reply as tests read it: text instead of bytes. */
function toTexts(reply: unknown): unknown {
  if (Buffer.isBuffer(reply)) return reply.toString();
  return Array.isArray(reply) ? reply.map(toTexts) : reply;
}

/** Below the ports that a system gives to whoever asks for any, so that nobody is given one of them before its server starts. */
const lowestPort = 12_000;
const highestPort = 30_000;

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const free = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true));
  });
  if (free) await once(server.close(), "close");
  return free;
}

/** Ports that nobody listens on at this moment, all different. */
export async function findFreePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(lowestPort, highestPort);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

/** `sentinel`: lines of the configuration that a Sentinel keeps. */
async function startProcess(port: number, options: RedisOptions, sentinel?: readonly string[]): Promise<RedisProcess> {
  const folder = await mkdtemp(join(tmpdir(), "redis-"));
  const settings = { port: String(port), bind: "127.0.0.1", dir: folder, daemonize: "no", ...durable, ...options };
  const sentinelFile = join(folder, "sentinel.conf");
  if (sentinel !== undefined)
    await writeFile(sentinelFile, [`port ${port}`, `dir ${folder}`, "bind 127.0.0.1", ...sentinel, ""].join("\n"));
  let child: ChildProcess | undefined;
  let client: RedisClient | undefined;
  const end = () => child?.kill("SIGKILL");

  async function start(): Promise<void> {
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, ...value.split(" ")]);
    const started = spawn("redis-server", sentinel === undefined ? args : [sentinelFile, "--sentinel"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    child = started;
    const lines: string[] = [];
    await new Promise<void>((resolve, reject) => {
      started.once("error", reject);
      started.once("exit", () => reject(new Error(`redis-server ended at its start:\n${lines.join("\n")}`)));
      createInterface({ input: started.stdout }).on("line", (line) => {
        lines.push(line);
        if (lines.length > 50) lines.shift();
        if (/Ready to accept connections|Sentinel ID is/.test(line)) resolve();
      });
    });
  }

  async function kill(): Promise<void> {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const exit = once(running, "exit");
    running.kill("SIGKILL");
    await exit;
  }

  process.once("exit", end);
  await start();
  return {
    port,
    address: { kind: "single", servers: [{ host: "127.0.0.1", port }], tls: false, database: 0 },
    async command(...args) {
      if (client?.isReady !== true) {
        client?.destroy();
        client = createRedisClient({ host: "127.0.0.1", port }, { tls: false, database: 0 });
        client.on("error", () => {});
        await client.connect();
      }
      return toTexts(await client.sendCommand(args));
    },
    kill,
    start,
    signal: (signal) => void child?.kill(signal),
    async remove() {
      client?.destroy();
      await kill();
      process.removeListener("exit", end);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** One server; `options` are settings of redis.conf, over those of a durable one. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisProcess> {
  const [port] = (await findFreePorts(1)) as [number];
  return startProcess(port, options);
}

export interface RedisClusterProcesses {
  readonly address: RedisAddress;
  readonly masters: readonly RedisProcess[];
  remove(): Promise<void>;
}

const slots = 16_384;
const looksForCluster = 200;
const looksForReplica = 20;
const betweenLooksMs = 50;

/** Resolves when every master says that the Cluster is whole. */
export async function clusterIsWhole(masters: readonly RedisProcess[]): Promise<void> {
  for (let look = 0; look < looksForCluster; look += 1) {
    const states = await Promise.all(masters.map((master) => master.command("CLUSTER", "INFO").catch(() => "")));
    const isWhole = (state: unknown) =>
      /cluster_state:ok/.test(String(state)) && String(state).includes(`cluster_known_nodes:${masters.length}`);
    if (states.every(isWhole)) return;
    await new Promise((resolve) => setTimeout(resolve, betweenLooksMs));
  }
  throw new Error("the Cluster did not come together");
}

/** Three masters that share the slots, without replicas. */
export async function startRedisCluster(options: RedisOptions = {}): Promise<RedisClusterProcesses> {
  const count = 3;
  const ports = await findFreePorts(2 * count);
  const settings = { "cluster-enabled": "yes", "cluster-node-timeout": "1000", ...options };
  const masters = await Promise.all(
    ports.slice(0, count).map((port, at) => startProcess(port, { ...settings, "cluster-port": String(ports[count + at]) })),
  );
  try {
    for (const [at, master] of masters.entries()) {
      const [from, to] = [Math.floor((slots * at) / count), Math.floor((slots * (at + 1)) / count) - 1];
      await master.command("CLUSTER", "ADDSLOTSRANGE", String(from), String(to));
      await master.command("CLUSTER", "SET-CONFIG-EPOCH", String(at + 1));
    }
    for (const [at, { port }] of masters.entries()) {
      for (const master of masters.slice(0, at)) {
        await master.command("CLUSTER", "MEET", "127.0.0.1", String(port), String(ports[count + at]));
      }
    }
    await clusterIsWhole(masters);
  } catch (reason) {
    await Promise.all(masters.map((master) => master.remove()));
    throw reason;
  }
  return {
    address: { kind: "cluster", servers: masters.map(({ port }) => ({ host: "127.0.0.1", port })), tls: false, database: 0 },
    masters,
    async remove() {
      await Promise.all(masters.map((master) => master.remove()));
    },
  };
}

/** A master and one replica that has its first sync behind it; whoever is named goes with `remove`. */
export async function startRedisReplicated(options: RedisOptions = {}): Promise<readonly [master: RedisProcess, replica: RedisProcess]> {
  const [first, second] = (await findFreePorts(2)) as [number, number];
  const master = await startProcess(first, options);
  const replica = await startProcess(second, { ...options, replicaof: `127.0.0.1 ${first}` });
  for (let look = 0; look < looksForReplica; look += 1) {
    // The replica has the first sync behind it once it says that it holds a write.
    await master.command("SET", "first", "1");
    if (Number(await master.command("WAIT", "1", "500")) === 1) return [master, replica];
    await new Promise((resolve) => setTimeout(resolve, betweenLooksMs));
  }
  await Promise.all([replica.remove(), master.remove()]);
  throw new Error("the replica did not follow");
}

export interface RedisSentinelProcesses {
  readonly address: RedisAddress;
  /** The first is the master at the beginning. */
  readonly servers: readonly RedisProcess[];
  readonly sentinel: RedisProcess;
  remove(): Promise<void>;
}

/**
 * A Sentinel that knows a master under the name `main`, as one that is so many failovers old, and, alone, gives it up
 * `downAfterMs` after its silence.
 */
export async function startSentinelOf(masterPort: number, downAfterMs: number, epoch = 0): Promise<RedisProcess> {
  const [port] = (await findFreePorts(1)) as [number];
  return startProcess(port, {}, [
    `sentinel monitor main 127.0.0.1 ${masterPort} 1`,
    `sentinel down-after-milliseconds main ${downAfterMs}`,
    "sentinel failover-timeout main 2000",
    `sentinel config-epoch main ${epoch}`,
  ]);
}

/** A master, one replica of it, and the Sentinel that makes the one the other's successor, `downAfterMs` after its silence. */
export async function startRedisSentinel(options: RedisOptions = {}, downAfterMs = 500): Promise<RedisSentinelProcesses> {
  const [master, replica] = await startRedisReplicated(options);
  const sentinel = await startSentinelOf(master.port, downAfterMs);
  for (let look = 0; look < looksForCluster; look += 1) {
    if (((await sentinel.command("SENTINEL", "replicas", "main")) as readonly unknown[]).length === 1) break;
    await new Promise((resolve) => setTimeout(resolve, betweenLooksMs));
  }
  const all = [sentinel, replica, master];
  return {
    address: { kind: "sentinel", servers: sentinel.address.servers, master: "main", tls: false, database: 0 },
    servers: [master, replica],
    sentinel,
    async remove() {
      await Promise.all(all.map((each) => each.remove()));
    },
  };
}
