/**
 * BenchServer is one server under measurement, as a process of its own: ours, a peer from npm, or a bare relay.
 *
 * Peers are installed from their lock files into folders of their own at first use, so that no dependency of theirs is one of ours.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createRest, signIn } from "../../test/support/clients.ts";
import { type RedisProcess, startRedis } from "../../test/support/redisServer.ts";
import { freePort, type Settings, startServer } from "../../test/support/server.ts";
import { secretKey } from "../../test/support/stores.ts";
import { hocuspocusWire, plainWire, relayWire, type Wire } from "./benchClient.ts";

export type ServerName =
  | "ours"
  | "relay"
  | "durable relay"
  | "y-websocket"
  | "hocuspocus"
  | "one node on Redis"
  | "two nodes on Redis"
  | "y-redis, two nodes"
  | "bare event streams";

/** Servers of one node, each with the store it has. */
export const singleServers = ["ours", "relay", "y-websocket", "hocuspocus"] as const satisfies readonly ServerName[];

/** The same with a relay that writes every frame to disk before it sends it: the least that this promise costs. */
export const singleServersAndDurableRelay = [
  "ours",
  "relay",
  "durable relay",
  "y-websocket",
  "hocuspocus",
] as const satisfies readonly ServerName[];

export interface BenchServer {
  readonly name: ServerName;
  readonly wire: Wire;
  /** The Redis that the nodes share, if they do. */
  readonly redis?: RedisProcess;
  /** Processes of the server: one for each node. */
  readonly pids: readonly number[];
  /** Makes so many empty documents and returns their names. */
  makeRooms(count: number): Promise<readonly string[]>;
  /** Where the client with this number opens the room: clients are spread over the nodes. */
  address(room: string, client: number): { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  /** Address with a credential for this one connection, as a browser gets it. Without credentials the same as `address`. */
  admit(room: string, client: number): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }>;
  /** Ends the server in order and starts it on the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const bench = join(import.meta.dirname, "..");

function installPeer(name: string): string {
  const folder = join(bench, "peers", name);
  if (!existsSync(join(folder, "node_modules"))) {
    execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  }
  return folder;
}

async function untilListening(port: number): Promise<void> {
  const giveUpAtMs = Date.now() + 30_000;
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await Promise.race([once(socket, "connect").then(() => true), once(socket, "error").then(() => false)]).catch(
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    if (Date.now() > giveUpAtMs) throw new Error(`nothing listens on port ${port} after 30 s`);
    await pause(20);
  }
}

interface Program {
  readonly name: ServerName;
  readonly wire: Wire;
  /** Arguments of Node. */
  readonly command: readonly string[];
  readonly folder: string;
  readonly environment?: Readonly<Record<string, string>>;
}

async function startProgram({ name, wire, command, folder, environment }: Program): Promise<BenchServer> {
  const dataDir = mkdtempSync(join(tmpdir(), "bench-peer-"));
  const port = await freePort();
  let child: ChildProcess;
  let made = 0;
  async function start(): Promise<void> {
    child = spawn(process.execPath, command, {
      cwd: folder,
      env: {
        PATH: process.env.PATH ?? "",
        PORT: String(port),
        HOST: "127.0.0.1",
        DATA_DIR: dataDir,
        NODE_ENV: "production",
        ...environment,
      },
      stdio: ["ignore", "ignore", "inherit"],
    });
    await untilListening(port);
  }
  async function end(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
  }
  const addressOf = (room: string) => ({ url: `ws://127.0.0.1:${port}/${room}`, headers: {} });
  await start();
  return {
    name,
    wire,
    get pids() {
      return [child.pid ?? 0];
    },
    makeRooms: async (count) => Array.from({ length: count }, () => `room-${++made}`),
    address: addressOf,
    admit: async (room) => addressOf(room),
    async restart() {
      await end();
      await start();
    },
    async stop() {
      await end();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

const outOfReach = { count: 1e9, seconds: 1, burst: 1e9 };
/** Rates and counts that a bench would run into, set so high that they are computed and never reached. */
export const benchLimits = JSON.stringify({
  ...Object.fromEntries(
    [
      "rate.default",
      "rate.writes",
      "rate.connects",
      "rate.upgrades",
      "socket.frames",
      "socket.bytes",
      "socket.syncAnswers",
      "socket.syncBytes",
    ].map((name) => [name, outOfReach]),
  ),
  "sockets.article": 100_000,
  "sockets.credential": 1_000_000,
  "sse.credential": 1_000_000,
});

/** Starts nodes of our server on one store: the embedded store holds one node, a Redis any number. */
async function startOurs(name: ServerName, settings: Settings, nodeCount: number): Promise<BenchServer> {
  const first = await startServer({ LIMITS: benchLimits, ...settings });
  const nodes = [first];
  for (let at = 1; at < nodeCount; at += 1) nodes.push(await startServer({ LIMITS: benchLimits, ...settings }));
  const rest = await signIn(first.url, first.operator);
  const { workspaces } = await rest.expect(200, "GET", "/workspaces");
  const { workspaceId } = workspaces[0];
  const { key } = await rest.expect(201, "POST", "/api-keys", { name: "bench", scopes: ["articles:read", "articles:write"] });
  const headers = { "x-api-key": key };
  const writer = createRest(first.url, headers);
  return {
    name,
    wire: plainWire,
    get pids() {
      return nodes.map((node) => node.pid);
    },
    async makeRooms(count) {
      const rooms: string[] = [];
      for (let at = 0; at < count; at += 1) {
        const { articleId } = await writer.expect(201, "POST", "/articles", { workspaceId, title: "Bench" });
        rooms.push(articleId);
      }
      return rooms;
    },
    address(room, client) {
      const url = nodes[client % nodes.length]?.url ?? first.url;
      return { url: `${url.replace(/^http/, "ws")}/collab/${room}`, headers };
    },
    async admit(room, client) {
      const url = nodes[client % nodes.length]?.url ?? first.url;
      const { ticket } = await createRest(url, headers).expect(201, "POST", "/auth/stream-ticket", { resource: `article:${room}` });
      return { url: `${url.replace(/^http/, "ws")}/collab/${room}?ticket=${encodeURIComponent(ticket)}`, headers: {} };
    },
    async restart() {
      for (const node of nodes) await node.stop();
      for (const node of nodes) await node.start();
    },
    async stop() {
      for (const node of nodes) await node.remove();
    },
  };
}

/** Runs a server on a Redis of its own, which goes with it. */
async function onRedis(start: (redis: RedisProcess) => Promise<BenchServer>): Promise<BenchServer> {
  const redis = await startRedis();
  const server = await start(redis);
  return {
    ...server,
    redis,
    get pids() {
      return server.pids;
    },
    async stop() {
      await server.stop();
      await redis.remove();
    },
  };
}

function nodesOnRedis(name: ServerName, count: number): Promise<BenchServer> {
  return onRedis((redis) => startOurs(name, { REDIS_URL: `redis://127.0.0.1:${redis.port}`, SVC_SECRET_KEY: secretKey }, count));
}

/** Two processes of one program as one server. */
function pair(name: ServerName, one: BenchServer, other: BenchServer): BenchServer {
  const nodes = [one, other];
  return {
    ...one,
    name,
    get pids() {
      return nodes.flatMap((node) => node.pids);
    },
    address: (room, client) => (nodes[client % 2] ?? one).address(room, client),
    admit: (room, client) => (nodes[client % 2] ?? one).admit(room, client),
    async restart() {
      for (const node of nodes) await node.restart();
    },
    async stop() {
      for (const node of nodes) await node.stop();
    },
  };
}

export async function startBenchServer(name: ServerName): Promise<BenchServer> {
  switch (name) {
    case "ours":
      return startOurs(name, {}, 1);
    case "one node on Redis":
      return nodesOnRedis(name, 1);
    case "two nodes on Redis":
      return nodesOnRedis(name, 2);
    case "relay":
      return startProgram({ name, wire: relayWire, command: ["--import", "tsx", join(bench, "relayServer.ts")], folder: bench });
    case "durable relay": {
      const folder = mkdtempSync(join(tmpdir(), "bench-relay-"));
      const server = await startProgram({
        name,
        wire: relayWire,
        command: ["--import", "tsx", join(bench, "relayServer.ts")],
        folder: bench,
        environment: { JOURNAL: join(folder, "journal") },
      });
      return {
        ...server,
        get pids() {
          return server.pids;
        },
        async stop() {
          await server.stop();
          rmSync(folder, { recursive: true, force: true });
        },
      };
    }
    case "bare event streams":
      return startProgram({ name, wire: relayWire, command: ["--import", "tsx", join(bench, "eventStreamServer.ts")], folder: bench });
    case "y-websocket":
      return startProgram({
        name,
        wire: plainWire,
        command: ["node_modules/@y/websocket-server/src/server.js"],
        folder: installPeer(name),
      });
    case "hocuspocus":
      return startProgram({ name, wire: hocuspocusWire, command: ["server.js"], folder: installPeer(name) });
    case "y-redis, two nodes":
      return onRedis(async ({ port }) => {
        const program = {
          name,
          wire: plainWire,
          command: ["server.js"],
          folder: installPeer("y-redis"),
          environment: { REDIS_PORT: String(port) },
        };
        return pair(name, await startProgram(program), await startProgram(program));
      });
  }
}
