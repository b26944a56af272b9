/**
 * Starts the real server as a separate process: built, in a temporary data directory, on its own port and on either
 * store. It can be killed and started again on the same data. Only the given settings reach its environment.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { residentBytesOf } from "../../server/platform/workers/threadTime.ts";
import { type Store, type StoreKind, startStore, storeUnderTest } from "./stores.ts";

export const serverFile = resolve(import.meta.dirname, "../../dist/svc-server.js");

export type Settings = Readonly<Record<string, string>>;

/** Settings of a server that makes no checkpoint by itself. */
export const withoutCheckpoints: Settings = { CHECKPOINT_QUIET_MS: "3600000", CHECKPOINT_MAX_MS: "3600000" };

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface LogLine {
  readonly level: string;
  readonly msg?: string;
  readonly [field: string]: unknown;
}

export interface RunningServer {
  /** Stays the same over restarts. */
  readonly url: string;
  readonly dataDir: string;
  /** The server's own store, removed with it; undefined if the settings name a Redis of the test. */
  readonly store: Store | undefined;
  readonly operator: { readonly username: string; readonly password: string };
  readonly operatorToken: string;
  /** Log lines of all processes so far. */
  readonly logLines: readonly LogLine[];
  readonly stderr: string;
  readonly pid: number;
  /** Memory of the current process that is in use. */
  residentMiB(): number;
  /** Sends `kill -9`; resolves when the process has ended. */
  kill(): Promise<void>;
  /** Starts on the same data and port, with additional settings if given. */
  start(settings?: Settings): Promise<void>;
  /** Sends `SIGTERM`; resolves with the exit of the process. */
  stop(): Promise<Exit>;
  /** Exit of the current process. */
  readonly exited: Promise<Exit>;
  /** Ends the process if there is one and removes the data. */
  remove(): Promise<void>;
}

const operator = { username: "operator", password: "a password of tests alone" };
const operatorToken = "operator-token-of-the-tests";
const hangMs = 60_000;
/** Options of Node that `npm start` gives. */
const nodeOptions = ["--max-semi-space-size=2", "--enable-source-maps"];

/** These processes are killed if the test process ends first. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

export interface LaunchOptions {
  /** Returns a command line that runs the server in a special environment, such as a small disk at the data directory. */
  readonly within?: (dataDir: string) => readonly string[];
  /** By default the store on which the tests run. */
  readonly store?: StoreKind;
}

/** Settings of the test override those of every test: an operator account and an operator token. */
export async function startServer(
  settings: Settings = {},
  { within = () => [], store: kind = storeUnderTest }: LaunchOptions = {},
): Promise<RunningServer> {
  const store = settings.REDIS_URL === undefined ? await startStore(kind) : undefined;
  const dataDir = mkdtempSync(join(tmpdir(), "svc-server-"));
  const logLines: LogLine[] = [];
  let stderr = "";
  // A port chosen with 0 cannot be bound again while old connections linger; a named port can.
  const port = String(await freePort());
  let url = "";
  let child: ChildProcess | undefined;
  let exited: Promise<Exit> = Promise.resolve({ code: null, signal: null });
  const own: Record<string, string> = {
    SVC_ADMIN_USERNAME: operator.username,
    SVC_ADMIN_PASSWORD: operator.password,
    OPERATOR_TOKEN: operatorToken,
    ...store?.settings,
    ...settings,
  };

  async function start(further: Settings = {}): Promise<void> {
    Object.assign(own, further);
    const environment = { PATH: process.env.PATH ?? "", DATA_DIR: dataDir, PORT: port, ...own };
    const [command = "", ...args] = [...within(dataDir), process.execPath, ...nodeOptions, serverFile, "start"];
    const started = spawn(command, args, {
      env: environment,
      stdio: ["ignore", "pipe", "pipe"],
      cwd: dataDir,
    });
    child = started;
    running.add(started);
    started.once("exit", () => running.delete(started));
    exited = once(started, "exit").then(([code, signal]) => ({ code, signal }) as Exit);
    started.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    const ready = new Promise<string>((resolveReady) => {
      createInterface({ input: started.stdout }).on("line", (text) => {
        const line = JSON.parse(text) as LogLine;
        logLines.push(line);
        if (line.msg === "ready") resolveReady(String(line.listening));
      });
    });
    const failed = exited.then(({ code, signal }) => {
      throw new Error(`the server ended before it was ready: code ${code}, signal ${signal}\n${stderr}`);
    });
    let timer: NodeJS.Timeout | undefined;
    const hung = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`the server was not ready within ${hangMs} ms\n${stderr}`)), hangMs);
    });
    try {
      url = await Promise.race([ready, failed, hung]);
    } finally {
      clearTimeout(timer);
      failed.catch(() => {});
    }
  }

  async function end(signal: NodeJS.Signals): Promise<Exit> {
    child?.kill(signal);
    return exited;
  }

  const server: RunningServer = {
    get url() {
      return url;
    },
    get stderr() {
      return stderr;
    },
    get pid() {
      return child?.pid ?? 0;
    },
    get exited() {
      return exited;
    },
    residentMiB: () => (residentBytesOf(child?.pid) ?? Number.NaN) / (1024 * 1024),
    dataDir,
    store,
    operator,
    operatorToken,
    logLines,
    start,
    async kill() {
      await end("SIGKILL");
    },
    stop: () => end("SIGTERM"),
    async remove() {
      if (child?.exitCode === null && child.signalCode === null) await end("SIGKILL");
      rmSync(dataDir, { recursive: true, force: true });
      await store?.remove();
    },
  };
  try {
    await start();
  } catch (reason) {
    await server.remove();
    throw reason;
  }
  return server;
}

/** Returns a free port. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}

/** Runs one command of `svc-server` to its end. */
export async function runServer(args: readonly string[], settings: Settings = {}): Promise<Exit & { stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [serverFile, ...args], {
    env: { PATH: process.env.PATH ?? "", ...settings },
    stdio: ["ignore", "pipe", "pipe"],
    cwd: tmpdir(),
  });
  const pieces = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      pieces[stream] += text;
    });
  }
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return { code, signal, ...pieces };
}
