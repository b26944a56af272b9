/**
 * The real server as a process of its own: built, started in a temporary data directory on a port of its own, killed
 * and started again on the same data at will, on either store. Nothing of the test's environment reaches it but its settings.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { type Store, type StoreKind, startStore, storeUnderTest } from "./stores.ts";

export const serverFile = resolve(import.meta.dirname, "../../dist/svc-server.js");

export type Settings = Readonly<Record<string, string>>;

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
  /** Its own, which goes with it; none where the settings name a Redis of the test's. */
  readonly store: Store | undefined;
  readonly operator: { readonly username: string; readonly password: string };
  readonly operatorToken: string;
  /** Of all processes so far. */
  readonly logLines: readonly LogLine[];
  readonly stderr: string;
  readonly pid: number;
  /** `kill -9`; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Starts on the same data and port, with further settings if given. */
  start(settings?: Settings): Promise<void>;
  /** `SIGTERM`; resolves with how the process ended. */
  stop(): Promise<Exit>;
  /** How the current process ended, or will end. */
  readonly exited: Promise<Exit>;
  /** Ends the process if there is one and removes the data. */
  remove(): Promise<void>;
}

const operator = { username: "operator", password: "a password of tests alone" };
const operatorToken = "operator-token-of-the-tests";
const hangMs = 30_000;

/** None of them outlives whoever started it, if that one ends by itself. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

export interface LaunchOptions {
  /** Command line that runs another one in surroundings of its own, such as a small disk at the data directory. */
  readonly within?: (dataDir: string) => readonly string[];
  /** By default the one that the tests are run on. */
  readonly store?: StoreKind;
}

/** Settings of the test over those of every test: an operator account and an operator token. */
export async function startServer(
  settings: Settings = {},
  { within = () => [], store: kind = storeUnderTest }: LaunchOptions = {},
): Promise<RunningServer> {
  const store = settings.REDIS_URL === undefined ? await startStore(kind) : undefined;
  const dataDir = mkdtempSync(join(tmpdir(), "svc-server-"));
  const logLines: LogLine[] = [];
  let stderr = "";
  // A port that was picked by number 0 cannot be bound again while old connections linger; a named one can.
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
    const [command = "", ...args] = [...within(dataDir), process.execPath, "--enable-source-maps", serverFile, "start"];
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

/** A port that nothing listens on. */
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
