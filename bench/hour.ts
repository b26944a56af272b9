/**
 * `npm run bench:hour [-- minutes]` runs the server at human pace for an hour and shows whether memory and latency stay flat.
 *
 * 1,000 visitors edit 500 documents, come and go, and each types one character a second. Meanwhile programs edit, commit
 * and list. Every 10 s it samples memory, p99 and processor time; the samples go to `bench/hour.json` and are drawn in
 * `docs/hour.svg`.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { toShortArticle } from "./growth/fill.ts";
import { type GrownServer, startGrownServer } from "./growth/grownServer.ts";
import { type Sample, toHourPlot } from "./hour/plot.ts";
import { Visitors } from "./hour/visitors.ts";
import { percentile } from "./live/load.ts";
import { memoryUse } from "./processFigures.ts";

const documents = 500;
const visitorCount = 1000;
const sampleMs = 10_000;
const MB = 1e6;
/** A program makes one request in this time: nine edits, then a commit, each followed by a page of the list. */
const requestMs = 1000;

const minutes = Number(process.argv[2] ?? "60");
if (!(minutes > 0)) {
  console.error("Usage: npm run bench:hour [-- minutes]");
  process.exit(64);
}

/** Edits, commits and lists like a program, until the run ends. */
async function runProgram({ rest, articleIds, workspaceId }: GrownServer, hasEnded: () => boolean): Promise<void> {
  for (let made = 0; !hasEnded(); made += 1) {
    const article = `/articles/${articleIds[Math.floor(Math.random() * articleIds.length)]}`;
    if (made % 10 === 9) {
      const { status } = await rest.request("POST", `${article}/commits`, {});
      if (status !== 200 && status !== 201) throw new Error(`a commit answered ${status}`);
    } else await rest.expect(200, "PATCH", `${article}/content`, { mode: "append", content: "A line of a program.\n" });
    await rest.expect(200, "GET", `/articles?workspaceId=${workspaceId}`);
    await pause(requestMs);
  }
}

async function takeSample(server: GrownServer, visitors: Visitors, startedAtMs: number, usedSeconds: number): Promise<Sample> {
  const { latenciesMs, joins } = visitors.take();
  const { anonymous, mapped } = memoryUse([server.pid]);
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  return {
    seconds: Math.round((performance.now() - startedAtMs) / 1000),
    anonymousMB: anonymous / MB,
    mappedMB: mapped / MB,
    heapMB: (await server.metric("nodejs_heap_size_used_bytes")) / MB,
    externalMB: (await server.metric("nodejs_external_memory_bytes")) / MB,
    rooms: await server.metric("svc_rooms"),
    sockets: await server.metric("svc_sockets"),
    joins,
    deliveries: sorted.length,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    cpuMicroseconds: (usedSeconds / Math.max(1, sorted.length)) * 1e6,
  };
}

const articles = { size: "500 articles", articles: documents, toUpdate: toShortArticle };
const server = await startGrownServer("embedded", articles, { settings: {} });
const samples: Sample[] = [];
let hasEnded = false;
const fail = (error: unknown) => {
  console.error(error);
  process.exitCode = 1;
  hasEnded = true;
};
const visitors = new Visitors(server, visitorCount, fail);
try {
  const startedAtMs = performance.now();
  visitors.start();
  const program = runProgram(server, () => hasEnded).catch(fail);
  let used = await server.cpuSeconds();
  for (let at = 1; at * sampleMs <= minutes * 60_000 && !hasEnded; at += 1) {
    await pause(Math.max(0, startedAtMs + at * sampleMs - performance.now()));
    const now = await server.cpuSeconds();
    const sample = await takeSample(server, visitors, startedAtMs, now - used);
    used = now;
    samples.push(sample);
    console.log(JSON.stringify(sample));
  }
  hasEnded = true;
  await program;
} finally {
  visitors.stop();
  await server.stop();
}
writeFileSync(join(import.meta.dirname, "hour.json"), `[\n${samples.map((sample) => `  ${JSON.stringify(sample)}`).join(",\n")}\n]\n`);
writeFileSync(join(import.meta.dirname, "../docs/hour.svg"), toHourPlot(samples));
