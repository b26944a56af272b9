/**
 * `npm run check:types` type-checks the repository, with less than twice the stored number of type instantiations.
 *
 * The number is the same on every machine, also under load; the seconds are only for information. `--store` stores the
 * current number.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const budgetFile = join(import.meta.dirname, "typeBudget.json");
const tsc = join(process.cwd(), "node_modules", "typescript", "bin", "tsc");

const args = [tsc, "-p", ".", "--noEmit", "--extendedDiagnostics", "--pretty", "false"];
const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });

function figure(name: string): number {
  return Number(new RegExp(`^${name}:\\s+([\\d.]+)`, "m").exec(stdout)?.[1] ?? Number.NaN);
}

const instantiations = figure("Instantiations");
if (status !== 0) {
  console.error(stdout.replace(/^Files:[\s\S]*/m, "") + stderr);
  process.exitCode = 1;
} else if (process.argv.includes("--store")) {
  writeFileSync(budgetFile, `{ "instantiations": ${instantiations} }\n`);
  console.log(`${instantiations} instantiations stored`);
} else {
  const stored = (JSON.parse(readFileSync(budgetFile, "utf8")) as { instantiations: number }).instantiations;
  console.log(`${figure("Files")} files, ${instantiations} instantiations (stored: ${stored}), ${figure("Total time").toFixed(1)} s`);
  // The comparison also fails when the compiler's output has no count (NaN).
  if (!(instantiations < 2 * stored)) {
    console.error(`  the instantiations doubled: ${instantiations} against ${stored} stored`);
    process.exitCode = 1;
  }
}
