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
import { freePort, startServer } from "../../test/support/server.ts";
import { hocuspocusWire, plainWire, relayWire, type Wire } from "./benchClient.ts";

export const serverNames = ["ours", "relay", "y-websocket", "hocuspocus"] as const;
export type ServerName = (typeof serverNames)[number];

export interface BenchServer {
  readonly name: ServerName;
  readonly wire: Wire;
  readonly pid: number;
  /** Makes so many empty documents and returns their names. */
  makeRooms(count: number): Promise<readonly string[]>;
  address(room: string): { readonly url: string; readonly headers: Readonly<Record<string, string>> };
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
  readonly name: Exclude<ServerName, "ours">;
  readonly wire: Wire;
  readonly command: () => readonly string[];
  readonly folder: () => string;
}

async function startProgram({ name, wire, command, folder }: Program): Promise<BenchServer> {
  const dataDir = mkdtempSync(join(tmpdir(), `bench-${name}-`));
  const port = await freePort();
  let child: ChildProcess;
  let made = 0;
  async function start(): Promise<void> {
    child = spawn(process.execPath, command(), {
      cwd: folder(),
      env: { PATH: process.env.PATH ?? "", PORT: String(port), HOST: "127.0.0.1", DATA_DIR: dataDir, NODE_ENV: "production" },
      stdio: ["ignore", "ignore", "inherit"],
    });
    await untilListening(port);
  }
  async function end(): Promise<void> {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
  }
  await start();
  return {
    name,
    wire,
    get pid() {
      return child.pid ?? 0;
    },
    makeRooms: async (count) => Array.from({ length: count }, () => `room-${++made}`),
    address: (room) => ({ url: `ws://127.0.0.1:${port}/${room}`, headers: {} }),
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

async function startOurs(): Promise<BenchServer> {
  const server = await startServer({ LIMITS: benchLimits });
  const rest = await signIn(server.url, server.operator);
  const { workspaces } = await rest.expect(200, "GET", "/workspaces");
  const { workspaceId } = workspaces[0];
  const { key } = await rest.expect(201, "POST", "/api-keys", {
    name: "bench",
    scopes: ["articles:read", "articles:write"],
  });
  const headers = { "x-api-key": key };
  const writer = createRest(server.url, headers);
  return {
    name: "ours",
    wire: plainWire,
    get pid() {
      return server.pid;
    },
    async makeRooms(count) {
      const rooms: string[] = [];
      for (let at = 0; at < count; at += 1) {
        const { articleId } = await writer.expect(201, "POST", "/articles", { workspaceId, title: "Bench" });
        rooms.push(articleId);
      }
      return rooms;
    },
    address: (room) => ({ url: `${server.url.replace(/^http/, "ws")}/collab/${room}`, headers }),
    async restart() {
      await server.stop();
      await server.start();
    },
    stop: () => server.remove(),
  };
}

export function startBenchServer(name: ServerName): Promise<BenchServer> {
  switch (name) {
    case "ours":
      return startOurs();
    case "relay":
      return startProgram({
        name,
        wire: relayWire,
        command: () => ["--import", "tsx", join(bench, "relayServer.ts")],
        folder: () => bench,
      });
    case "y-websocket":
      return startProgram({
        name,
        wire: plainWire,
        command: () => ["node_modules/@y/websocket-server/src/server.js"],
        folder: () => installPeer(name),
      });
    case "hocuspocus":
      return startProgram({ name, wire: hocuspocusWire, command: () => ["server.js"], folder: () => installPeer(name) });
  }
}
