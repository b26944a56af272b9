/**
 * `npm run soak [NAME…]`: plays the full series of the rig, or the named scenarios. Each is played on every store on
 * which
 * it makes sense, or on one store: `timers-killed/E`.
 *
 * The outcomes replace the earlier ones of the same scenarios in docs/soak.md. If a goal is missed, the exit code is
 * 1.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";
import type { Outcome } from "./outcome.ts";
import type { Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";

interface Line {
  readonly outcome: Outcome;
  /** The day in UTC. */
  readonly day: string;
}

const file = join(process.cwd(), "docs/soak.md");
const block = /```json\n([\s\S]*?)```/;

function readLines(): Map<string, Line> {
  const held = existsSync(file) ? (block.exec(readFileSync(file, "utf8"))?.[1] ?? "") : "";
  const lines = held
    .split("\n")
    .filter((text) => text !== "")
    .map((text): Line => {
      const { day, ...outcome } = JSON.parse(text) as Outcome & { day: string };
      return { day, outcome };
    });
  return new Map(lines.map((line) => [line.outcome.name, line]));
}

function toPage(lines: ReadonlyMap<string, Line>): string {
  const rows: string[] = [];
  const json: string[] = [];
  for (const { name, modes, figure, holds } of scenarios) {
    for (const mode of modes) {
      const line = lines.get(`${name}/${mode}`);
      if (line === undefined) continue;
      const { load, faults, bad, acked, lost, dup, p50, p99, maxRssMiB } = line.outcome;
      rows.push(
        `| ${name} | ${mode} | ${load}; ${faults} | ${acked} | ${lost} | ${dup} | ${bad} | ${p50} / ${p99} | ${maxRssMiB} | ${figure} | ${holds(line.outcome) ? "yes" : "**no**"} |`,
      );
      json.push(JSON.stringify({ ...line.outcome, day: line.day }));
    }
  }
  const memoryGiB = Math.round(totalmem() / 2 ** 30);
  return `# What the faults leave

The full series of \`test/fault/rig\`, written by \`npm run soak\`; the short form of each stands in \`npm test\`. E: one node on the embedded store.
R: two nodes on one Redis that syncs every write. S: two nodes on a master with a replica under a Sentinel, \`REDIS_WAIT_REPLICAS\` 1.
Acked is what somebody outside was told is safe, in the unit of the load; bad is every broken promise that is neither a loss nor a double; times are
in milliseconds, memory is the most of one node. Taken with ${availableParallelism()} cores, ${memoryGiB} GiB,
Node ${process.versions.node}: nodes, store, clients and checker share them.

| scenario | mode | load; faults | acked | lost | dup | bad | p50 / p99 | RSS MiB | to hold | held |
|---|---|---|---|---|---|---|---|---|---|---|
${rows.join("\n")}

\`\`\`json
${json.join("\n")}
\`\`\`
`;
}

const named = process.argv.slice(2);
const isNamed = (name: string, mode: string) => named.includes(name) || named.includes(`${name}/${mode}`);
const known = scenarios.flatMap(({ name, modes }) => [name, ...modes.map((mode) => `${name}/${mode}`)]);
const unknown = named.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`no such scenario: ${unknown.join(", ")}; there are ${scenarios.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}

async function run({ name, modes, holds, play }: Scenario, mode: (typeof modes)[number]): Promise<void> {
  const { outcome, told } = await play(mode, "full");
  for (const what of told) console.error(`  ${what}`);
  if (!holds(outcome)) {
    console.error(`  ${name}/${mode} does not hold its figure`);
    process.exitCode = 1;
  }
  writeFileSync(file, toPage(readLines().set(outcome.name, { outcome, day: new Date().toISOString().slice(0, 10) })));
}

for (const scenario of scenarios) {
  for (const mode of scenario.modes) if (named.length === 0 || isNamed(scenario.name, mode)) await run(scenario, mode);
}
