/**
 * Starts real Redis servers for tests: separate processes on free ports of this machine, with data in a temporary
 * folder. Each can be killed and started again on its data.
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
  /** Sends one command on a connection of the test. Text is returned as text. */
  command(...args: readonly string[]): Promise<unknown>;
  /** Sends SIGKILL; resolves when the process has ended. */
  kill(): Promise<void>;
  /** Starts the server again on the same port and data. */
  start(): Promise<void>;
  /** Pauses the process, or lets it continue. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  /** Ends the process and removes its data. */
  remove(): Promise<void>;
}

export type RedisOptions = Readonly<Record<string, string>>;

/** Settings under which an acknowledged write is on disk. */
const durable: RedisOptions = { appendonly: "yes", appendfsync: "always", save: "", "repl-diskless-sync-delay": "0" };

/** Returns a reply with text instead of bytes. */
function toTexts(reply: unknown): unknown {
  if (Buffer.isBuffer(reply)) return reply.toString();
  return Array.isArray(reply) ? reply.map(toTexts) : reply;
}

/** These ports are below the range that the system assigns, so no other process gets one before its server starts. */
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

/** Returns different ports that are free at this moment. */
export async function findFreePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(lowestPort, highestPort);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

/** `sentinel`: lines of the configuration file of a Sentinel. */
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

/** Starts one server. `options` are settings of redis.conf that override the durable ones. */
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

/** Resolves when every master reports that the Cluster is complete. */
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

/** Starts three masters that share the slots, without replicas. */
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

/** Starts a master and one replica that has finished its first sync. `remove` of either ends it. */
export async function startRedisReplicated(options: RedisOptions = {}): Promise<readonly [master: RedisProcess, replica: RedisProcess]> {
  const [first, second] = (await findFreePorts(2)) as [number, number];
  const master = await startProcess(first, options);
  const replica = await startProcess(second, { ...options, replicaof: `127.0.0.1 ${first}` });
  for (let look = 0; look < looksForReplica; look += 1) {
    // The first sync is complete once the replica has this write.
    await master.command("SET", "first", "1");
    if (Number(await master.command("WAIT", "1", "500")) === 1) return [master, replica];
    await new Promise((resolve) => setTimeout(resolve, betweenLooksMs));
  }
  await Promise.all([replica.remove(), master.remove()]);
  throw new Error("the replica did not follow");
}

export interface RedisSentinelProcesses {
  readonly address: RedisAddress;
  /** The first server is the master at the start. */
  readonly servers: readonly RedisProcess[];
  readonly sentinel: RedisProcess;
  remove(): Promise<void>;
}

/**
 * Starts a Sentinel that knows a master under the name `main`, with this number of earlier failovers. A Sentinel alone
 * declares the master down `downAfterMs` after its last answer.
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

/**
 * Starts a master, one replica, and the Sentinel that promotes the replica `downAfterMs` after the master's last
 * answer.
 */
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
