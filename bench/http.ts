/**
 * Measures goal P7: REST and tRPC requests per server CPU second, as ratios to Fastify and to tRPC's standalone
 * adapter. Servers and load driver are separate processes and the runs alternate, so only the ratios count. Writes
 * `bench/baseline.json`.
 */
import { type ChildProcess, fork } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { apiKey, articleId, workspaceId } from "./httpWork.ts";
import type { LoadOrder, LoadResult } from "./loadDriver.ts";
import { cpuSeconds } from "./processFigures.ts";

const rounds = Number(process.argv[2] ?? 5);
const seconds = Number(process.argv[3] ?? 2);
const connections = 64;

interface Server {
  readonly process: ChildProcess;
  readonly port: number;
}

const here = fileURLToPath(new URL(".", import.meta.url));
const built = join(here, "../dist/bench");
const baselineFile = join(here, "baseline.json");

/** Bundle the servers as they are shipped, so that no loader runs in the process. */
await build({
  entryPoints: ["oursServer", "fastifyServer", "trpcServer", "loadDriver"].map((name) => join(here, `${name}.ts`)),
  outdir: built,
  bundle: true,
  packages: "external",
  platform: "node",
  format: "esm",
  target: "node20",
  logLevel: "error",
});

const start = (name: string): Promise<Server> =>
  new Promise((resolve, reject) => {
    const child = fork(join(built, `${name}.js`));
    process.once("exit", () => child.kill());
    child.once("message", (port) => resolve({ process: child, port: Number(port) }));
    child.once("exit", (code) => reject(new Error(`${name} ended with ${code}`)));
  });

const head = `host: 127.0.0.1\r\nx-api-key: ${apiKey}\r\naccept: */*\r\nuser-agent: bench\r\n`;
const get = (path: string) => `GET ${path} HTTP/1.1\r\n${head}\r\n`;
const post = (path: string, body: string) =>
  `POST ${path} HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const batch = (size: number) => {
  const paths = Array.from({ length: size }, () => "articles.get").join(",");
  const inputs = Object.fromEntries(Array.from({ length: size }, (_, at) => [at, { articleId }]));
  return get(`/trpc/${paths}?batch=1&input=${encodeURIComponent(JSON.stringify(inputs))}`);
};

interface Scenario {
  readonly name: string;
  readonly rival: "fastify" | "trpc";
  readonly request: string;
  readonly status: number;
  readonly floor: number;
  readonly goal: number;
}

const scenarios: readonly Scenario[] = [
  { name: "REST GET", rival: "fastify", request: get(`/articles/${articleId}`), status: 200, floor: 1.6, goal: 2 },
  {
    name: "REST POST",
    rival: "fastify",
    request: post("/articles", JSON.stringify({ workspaceId, title: "How to write together" })),
    status: 201,
    floor: 2,
    goal: 2,
  },
  { name: "tRPC query", rival: "trpc", request: batch(1), status: 200, floor: 8, goal: 8 },
  { name: "tRPC batch of 10", rival: "trpc", request: batch(10), status: 200, floor: 8, goal: 8 },
];

const ours = await start("oursServer");
const rivals = { fastify: await start("fastifyServer"), trpc: await start("trpcServer") };
const driver = fork(join(built, "loadDriver.js"));

/** Returns the answers per CPU second of the server. */
async function measure(server: Server, scenario: Scenario, forSeconds: number): Promise<number> {
  const order: LoadOrder = { port: server.port, request: scenario.request, status: scenario.status, connections, seconds: forSeconds };
  const before = cpuSeconds([server.process.pid ?? 0]);
  const result = await new Promise<LoadResult>((resolve, reject) => {
    driver.once("message", (message) => resolve(message as LoadResult));
    driver.once("exit", () => reject(new Error("the driver ended")));
    driver.send(order);
  });
  driver.removeAllListeners("exit");
  return result.answers / (cpuSeconds([server.process.pid ?? 0]) - before);
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const results: Record<string, { ratio: number; perCpuSecond: number; rivalPerCpuSecond: number; floor: number; goal: number }> = {};
let failed = false;
for (const scenario of scenarios) {
  const rival = rivals[scenario.rival];
  for (const server of [ours, rival]) await measure(server, scenario, 1);
  const runs: { own: number; other: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    runs.push({ own: await measure(ours, scenario, seconds), other: await measure(rival, scenario, seconds) });
  }
  const ratio = median(runs.map(({ own, other }) => own / other));
  const perCpuSecond = Math.round(median(runs.map(({ own }) => own)));
  const rivalPerCpuSecond = Math.round(median(runs.map(({ other }) => other)));
  const { floor, goal } = scenario;
  results[scenario.name] = { ratio: Math.round(ratio * 100) / 100, perCpuSecond, rivalPerCpuSecond, floor, goal };
  const verdict = ratio >= goal ? "goal reached" : ratio >= floor ? "above the floor" : "BELOW THE FLOOR";
  if (ratio < floor) failed = true;
  console.log(
    `${scenario.name.padEnd(18)} ${ratio.toFixed(2)} x ${scenario.rival.padEnd(8)} (${perCpuSecond} : ${rivalPerCpuSecond} per CPU-second) ${verdict}`,
  );
}
for (const child of [ours.process, rivals.fastify.process, rivals.trpc.process, driver]) child.kill();

const baseline = readBaseline();
writeFileSync(
  baselineFile,
  `${JSON.stringify({ ...baseline, P7: { node: process.version, rounds, seconds, connections, results } }, null, 2)}\n`,
);
process.exitCode = failed ? 1 : 0;

function readBaseline(): object {
  try {
    return JSON.parse(readFileSync(baselineFile, "utf8")) as object;
  } catch {
    return {};
  }
}
