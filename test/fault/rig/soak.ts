/**
 * `npm run soak [NAME…]` plays the full series of the rig, or only the named scenarios, each on every store where it
 * applies. `timers-killed/E` plays one scenario on one store.
 *
 * Each result replaces the earlier line of the same scenario in docs/soak.jsonl, and docs/soak.md is written again from
 * all lines. A result that does not hold its figure makes the command end with 1.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";
import { parseSoakLines, type SoakLine, toSoakLines, toSoakPage } from "./soakPage.ts";

const linesFile = join(process.cwd(), "docs/soak.jsonl");
const pageFile = join(process.cwd(), "docs/soak.md");

function store(line: SoakLine): void {
  const lines = parseSoakLines(existsSync(linesFile) ? readFileSync(linesFile, "utf8") : "").set(line.name, line);
  writeFileSync(linesFile, toSoakLines(lines));
  writeFileSync(pageFile, toSoakPage(lines));
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
  store({ ...outcome, day: new Date().toISOString().slice(0, 10) });
}

for (const scenario of scenarios) {
  for (const mode of scenario.modes) if (named.length === 0 || isNamed(scenario.name, mode)) await run(scenario, mode);
}
