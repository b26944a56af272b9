/**
 * `npm run bench [-- [filter] [rounds]]` measures the server against its peers in one run.
 *
 * It prints one table (scenario, ours, peers, ratio, goal, floor), and writes the rows to `bench/results.json`, a page to
 * `docs/bench.md` and a plot to `docs/bench-live.svg`. The filter is part of an id or of a scenario's name. A row below its floor makes the exit code 1.
 * `npm run bench -- page` measures nothing and writes page and plot from the rows.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { runArticleCount } from "./growth/articleCount.ts";
import { runClientIds } from "./growth/clientIds.ts";
import { runTextSize } from "./growth/textSize.ts";
import { httpScenarios, runHttp } from "./http/httpScenarios.ts";
import { runChurn } from "./live/churnScenario.ts";
import { runColdLoad } from "./live/coldLoad.ts";
import { runIdleConnections, runIdleProcess } from "./live/idleScenarios.ts";
import { type Row, standingOf } from "./live/row.ts";
import { runTraffic, trafficScenarios } from "./live/trafficScenarios.ts";
import { runIdleViewers, runViewers } from "./live/viewerScenarios.ts";
import { toRatioPlot } from "./ratioPlot.ts";
import { type MeasuredRow, toResultPage, toTableLine } from "./resultPage.ts";

type Run = (rounds: number, tell: (line: string) => void) => Promise<readonly Row[]>;

const scenarios: readonly { readonly id: string; readonly name: string; readonly run: Run }[] = [
  ...trafficScenarios.map((scenario) => ({
    id: scenario.id,
    name: scenario.name,
    run: (rounds: number, tell: (line: string) => void) => runTraffic(scenario, rounds, tell),
  })),
  { id: "P4", name: "idle connections", run: runIdleConnections },
  { id: "P4b", name: "idle process", run: runIdleProcess },
  { id: "churn", name: "connections that come and go", run: runChurn },
  { id: "P6", name: "cold load", run: runColdLoad },
  ...httpScenarios.map((scenario) => ({
    id: scenario.id,
    name: scenario.name,
    run: (rounds: number, tell: (line: string) => void) => runHttp(scenario, rounds, tell),
  })),
  { id: "P9", name: "viewers of a timeline", run: runViewers },
  { id: "P9", name: "idle viewers", run: runIdleViewers },
  { id: "P10", name: "number of articles", run: (rounds, tell) => runArticleCount("embedded", rounds, tell) },
  { id: "P10", name: "number of articles on Redis", run: (rounds, tell) => runArticleCount("redis", rounds, tell) },
  { id: "P10", name: "length of the text", run: runTextSize },
  { id: "P10", name: "number of client ids", run: runClientIds },
];

const [filter = "", roundsText = "3"] = process.argv.slice(2);
const rounds = Number(roundsText);
const wanted = scenarios.filter(({ id, name }) => id === filter || name.includes(filter));
if ((wanted.length === 0 && filter !== "page") || !(rounds >= 1)) {
  console.error(
    `Usage: npm run bench [-- [filter] [rounds]], or npm run bench -- page. Scenarios:\n${scenarios.map(({ id, name }) => `  ${id}  ${name}`).join("\n")}`,
  );
  process.exit(64);
}

const resultsFile = join(import.meta.dirname, "results.json");
const plotFile = join(import.meta.dirname, "../docs/bench-live.svg");
const peersFolder = join(import.meta.dirname, "peers");
const pageFile = join(import.meta.dirname, "../docs/bench.md");
const key = ({ id, scenario, measure }: Row) => `${id}|${scenario}|${measure}`;

const run: MeasuredRow["run"] = {
  machine: `${cpus().length} × ${cpus()[0]?.model ?? "unknown"}`,
  node: process.version,
  date: new Date().toISOString().slice(0, 10),
  rounds,
};

/** Replaces the rows that were measured again, and keeps the order of the scenarios. */
function keep(rows: readonly Row[]): void {
  let earlier: readonly MeasuredRow[] = [];
  try {
    earlier = JSON.parse(readFileSync(resultsFile, "utf8")) as readonly MeasuredRow[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const fresh = new Map(rows.map((row) => [key(row), { ...row, run }]));
  const merged = [
    ...earlier.map((row) => fresh.get(key(row)) ?? row),
    ...[...fresh.values()].filter((row) => !earlier.some((old) => key(old) === key(row))),
  ];
  writeFileSync(resultsFile, `${JSON.stringify(merged, null, 2)}\n`);
  writeFileSync(plotFile, toRatioPlot(merged));
  writeFileSync(pageFile, toResultPage(merged, peerVersions()));
}

/** The locked version of each package that the peers name. */
function peerVersions(): readonly string[] {
  const versions = readdirSync(peersFolder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => {
      const { dependencies } = JSON.parse(readFileSync(join(peersFolder, name, "package.json"), "utf8")) as {
        readonly dependencies: Readonly<Record<string, string>>;
      };
      return Object.entries(dependencies).map(([dependency, version]) => `${dependency} ${version}`);
    });
  return [...new Set(versions)];
}

const rows: Row[] = [];
if (filter === "page") keep(rows);
for (const { run } of wanted) {
  const measured = await run(rounds, (line) => console.error(line));
  rows.push(...measured);
  keep(rows);
}
console.log("\n| id | scenario | figures | measure | value | goal | floor | |\n|---|---|---|---|---|---|---|---|");
for (const row of rows) console.log(toTableLine(row));
process.exit(rows.some((row) => standingOf(row) === "missed") ? 1 : 0);
