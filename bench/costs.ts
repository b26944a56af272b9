/**
 * `npm run bench:costs [-- name]` measures what documents, connections, keystrokes and articles cost, and writes the page
 * docs/scale.md with the figures and what follows from them. The name is that of one measurement; without it all run.
 * `npm run bench:costs -- page` writes only the page.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { type Costs, measurements } from "./growth/costs.ts";
import { toScalePage } from "./growth/scalePage.ts";
import type { Row } from "./live/row.ts";

const file = join(import.meta.dirname, "costs.json");
const resultsFile = join(import.meta.dirname, "results.json");
const page = join(import.meta.dirname, "../docs/scale.md");

function readCosts(): Costs {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Costs;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { figures: {} };
    throw error;
  }
}

const [wanted] = process.argv.slice(2);
const names = wanted === undefined ? Object.keys(measurements) : wanted === "page" ? [] : [wanted];
let costs = readCosts();
for (const name of names) {
  const measure = measurements[name];
  if (measure === undefined) {
    console.error(`Usage: npm run bench:costs [-- name]. Names: ${Object.keys(measurements).join(", ")}, page`);
    process.exit(64);
  }
  const date = new Date().toISOString().slice(0, 10);
  const measured = await measure();
  const measuredOn = { date, machine: `${cpus().length} × ${cpus()[0]?.model ?? "unknown"}`, node: process.version };
  const fresh = Object.entries(measured).map(([key, figure]) => [key, { ...figure, from: name, ...measuredOn }]);
  for (const [key, { value, unit }] of Object.entries(measured)) console.error(`${name}: ${key} ${value.toFixed(2)} ${unit}`);
  costs = { figures: { ...costs.figures, ...Object.fromEntries(fresh) } };
  writeFileSync(file, `${JSON.stringify(costs, null, 2)}\n`);
}
writeFileSync(page, toScalePage(costs, JSON.parse(readFileSync(resultsFile, "utf8")) as readonly Row[]));
process.exit(0);
