/** Reads and writes the results of `npm run soak`: docs/soak.jsonl for programs, and docs/soak.md for people. */
import { availableParallelism, totalmem } from "node:os";
import type { Outcome } from "./outcome.ts";
import { scenarios } from "./scenarios.ts";

export interface SoakLine extends Outcome {
  /** The day of the measurement, UTC. */
  readonly day: string;
}

/** The name of a result, such as `timers-killed/E` → its line. */
export function parseSoakLines(text: string): Map<string, SoakLine> {
  const lines = text.split("\n").filter((line) => line !== "");
  return new Map(lines.map((line) => JSON.parse(line) as SoakLine).map((line) => [line.name, line]));
}

/** The lines in the order of the scenarios, with each scenario's figure; results of unknown scenarios are left out. */
function inOrder(lines: ReadonlyMap<string, SoakLine>) {
  return scenarios.flatMap((scenario) =>
    scenario.modes.flatMap((mode) => {
      const line = lines.get(`${scenario.name}/${mode}`);
      return line === undefined ? [] : [{ scenario, mode, line }];
    }),
  );
}

export function toSoakLines(lines: ReadonlyMap<string, SoakLine>): string {
  return inOrder(lines)
    .map(({ line }) => `${JSON.stringify(line)}\n`)
    .join("");
}

export function toSoakPage(lines: ReadonlyMap<string, SoakLine>): string {
  const all = inOrder(lines);
  const results = all.map(
    ({ scenario, mode, line }) =>
      `| ${scenario.name} | ${mode} | ${line.acked} | ${line.lost} | ${line.dup} | ${line.bad} | ${line.p50} / ${line.p99} | ${line.maxRssMiB} | ${scenario.holds(line) ? "yes" : "**no**"} | ${line.day} |`,
  );
  const figures = scenarios
    .filter(({ name }) => all.some(({ scenario }) => scenario.name === name))
    .map(({ name, figure }) => `| ${name} | ${figure} |`);
  const loads = all.map(({ scenario, mode, line }) => `| ${scenario.name} | ${mode} | ${line.load} | ${line.faults} |`);
  return `# Results of the fault tests

\`npm run soak\` runs the full series of \`test/fault/rig\` and writes this page. \`npm test\` runs a short form of each scenario. The results as JSON
lines are in [soak.jsonl](soak.jsonl).

\`\`\`sh
npm run soak                    # every scenario on every store where it applies
npm run soak timers-killed/E    # one scenario on one store
\`\`\`

Measured with ${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB and Node ${process.versions.node}. Nodes, store, clients and checker share them.

## Results

| scenario | mode | acked | lost | dup | bad | p50 / p99 ms | RSS MiB | held | day |
|---|---|---|---|---|---|---|---|---|---|
${results.join("\n")}

| column | meaning |
|---|---|
| mode E | one node on the embedded store |
| mode R | two nodes on one Redis that syncs every write |
| mode S | two nodes on a master with a replica and a Sentinel, \`REDIS_WAIT_REPLICAS\` 1 |
| acked | writes or answers that the server acknowledged, in the unit of the load |
| lost | acknowledged writes that are missing at the end |
| dup | writes that are present twice |
| bad | other broken promises |
| p50 / p99 | the time that the scenario measures; 0 if it measures none |
| RSS | the largest memory of one node |
| held | whether the result meets the condition of its scenario |

## What each scenario must hold

| scenario | condition |
|---|---|
${figures.join("\n")}

## Load and faults

| scenario | mode | load | faults |
|---|---|---|---|
${loads.join("\n")}
`;
}
