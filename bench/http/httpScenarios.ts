/**
 * HTTP scenarios: small requests through every check, without a store, compared with servers that do the same work.
 *
 * Servers and load driver are processes of their own. Both servers of a scenario are warmed up with its request, rounds are
 * interleaved, and a value is the ratio of medians.
 */
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { build } from "esbuild";
import { median, type Row } from "../live/row.ts";
import { cpuSeconds } from "../processFigures.ts";
import { apiKey, articleId, workspaceId } from "./httpWork.ts";
import type { LoadOrder, LoadResult } from "./loadDriver.ts";

type ServerName = "ours" | "fastify" | "tRPC adapter";

const programs: Readonly<Record<ServerName, string>> = { ours: "oursServer", fastify: "fastifyServer", "tRPC adapter": "trpcServer" };

export interface HttpScenario {
  readonly id: "P7";
  readonly name: string;
  readonly peer: ServerName;
  /** The complete request as raw bytes. */
  readonly request: string;
  readonly status: number;
  readonly goal: number;
  readonly floor: number;
}

const head = `host: 127.0.0.1\r\nx-api-key: ${apiKey}\r\naccept: */*\r\nuser-agent: bench\r\n`;
const get = (path: string) => `GET ${path} HTTP/1.1\r\n${head}\r\n`;
const post = (path: string, body: string) =>
  `POST ${path} HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const trpcBatch = (size: number) => {
  const paths = Array.from({ length: size }, () => "articles.get").join(",");
  const inputs = Object.fromEntries(Array.from({ length: size }, (_, at) => [at, { articleId }]));
  return get(`/trpc/${paths}?batch=1&input=${encodeURIComponent(JSON.stringify(inputs))}`);
};
const newArticle = JSON.stringify({ workspaceId, title: "How to write together" });

export const httpScenarios: readonly HttpScenario[] = [
  { id: "P7", name: "REST GET, small", peer: "fastify", request: get(`/articles/${articleId}`), status: 200, goal: 2, floor: 1.7 },
  { id: "P7", name: "REST POST, small", peer: "fastify", request: post("/articles", newArticle), status: 201, goal: 4, floor: 3 },
  { id: "P7", name: "tRPC query", peer: "tRPC adapter", request: trpcBatch(1), status: 200, goal: 12, floor: 8 },
  { id: "P7", name: "tRPC batch of 10", peer: "tRPC adapter", request: trpcBatch(10), status: 200, goal: 12, floor: 8 },
];

const connections = 64;
const warmUpSeconds = 10;
const restMs = 2000;
const roundSeconds = 4;

const built = join(import.meta.dirname, "../../dist/bench");

/** Bundles the programs as the server is shipped, so that no loader runs in their processes. */
async function buildPrograms(): Promise<void> {
  await build({
    entryPoints: [...Object.values(programs), "loadDriver"].map((name) => join(import.meta.dirname, `${name}.ts`)),
    outdir: built,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error",
  });
}

interface HttpServer {
  readonly name: ServerName;
  readonly process: ChildProcess;
  readonly port: number;
}

function startProgram(name: ServerName): Promise<HttpServer> {
  return new Promise((resolve, reject) => {
    const child = fork(join(built, `${programs[name]}.js`));
    child.once("message", (port) => resolve({ name, process: child, port: Number(port) }));
    child.once("exit", (code) => reject(new Error(`the server ${name} ended with exit code ${code}`)));
  });
}

/** Has the driver send the request for so many seconds and returns the answers per processor second of the server. */
async function measure(driver: ChildProcess, server: HttpServer, { request, status }: HttpScenario, seconds: number): Promise<number> {
  const pids = [server.process.pid ?? 0];
  const order: LoadOrder = { port: server.port, request, status, connections, seconds };
  const before = cpuSeconds(pids);
  const { answers } = await new Promise<LoadResult>((resolve, reject) => {
    const onExit = () => reject(new Error("the load driver ended"));
    driver.once("exit", onExit);
    driver.once("message", (message) => {
      driver.off("exit", onExit);
      resolve(message as LoadResult);
    });
    driver.send(order);
  });
  return answers / (cpuSeconds(pids) - before);
}

export async function runHttp(scenario: HttpScenario, rounds: number, tell: (line: string) => void): Promise<readonly Row[]> {
  const { id, name, peer, goal, floor } = scenario;
  await buildPrograms();
  const driver = fork(join(built, "loadDriver.js"));
  const servers: HttpServer[] = [];
  const results = new Map<ServerName, number[]>();
  try {
    for (const serverName of ["ours", peer] as const) {
      const server = await startProgram(serverName);
      servers.push(server);
      await measure(driver, server, scenario, warmUpSeconds);
    }
    await pause(restMs);
    for (let round = 0; round < rounds; round += 1) {
      for (const server of servers) {
        const answers = await measure(driver, server, scenario, roundSeconds);
        results.set(server.name, [...(results.get(server.name) ?? []), answers]);
        tell(`${id} ${name}: ${server.name} ${Math.round(answers)} answers per CPU second`);
      }
    }
  } finally {
    for (const child of [driver, ...servers.map((server) => server.process)]) child.kill();
  }
  const rates = Object.fromEntries([...results].map(([server, values]) => [server, Math.round(median(values))]));
  const value = Number(rates.ours) / Number(rates[peer]);
  return [{ id, scenario: name, measure: `answers per CPU second ÷ ${peer}`, value, goal, floor, better: "higher", figures: rates }];
}
