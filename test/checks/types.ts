/**
 * `npm run check:types`: the whole repository type-checks, within a bound: below 15 s by the clock or in processor
 * time, whichever is less (a busy machine stretches both, so what is above it is measured again, twice), and with less than
 * twice the type instantiations that were stored.
 * `--store` writes the count of today.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const maxSeconds = 15;
const budgetFile = join(import.meta.dirname, "typeBudget.json");

const tsc = join(process.cwd(), "node_modules", "typescript", "bin", "tsc");
/** Tells the compiler's processor time among its own figures. */
const meter = `process.on("exit", () => { const { user, system } = process.cpuUsage(); console.log("Processor time: " + (user + system) / 1e6); });`;
const command = ["--import", `data:text/javascript,${encodeURIComponent(meter)}`, tsc, "-p", "."];

function check() {
  const run = spawnSync(process.execPath, [...command, "--noEmit", "--extendedDiagnostics", "--pretty", "false"], { encoding: "utf8" });
  const figure = (name: string): number => Number(new RegExp(`^${name}:\\s+([\\d.]+)`, "m").exec(run.stdout)?.[1] ?? Number.NaN);
  const seconds = Math.min(figure("Total time"), figure("Processor time"));
  return { run, files: figure("Files"), instantiations: figure("Instantiations"), seconds };
}

let measured = check();
for (let again = 0; again < 2 && measured.run.status === 0 && measured.seconds > maxSeconds; again += 1) measured = check();
const { run, files, instantiations, seconds } = measured;

if (run.status !== 0) {
  console.error(run.stdout.replace(/^Files:[\s\S]*/m, "") + run.stderr);
  process.exitCode = 1;
} else if (process.argv.includes("--store")) {
  writeFileSync(budgetFile, `{ "instantiations": ${instantiations} }\n`);
  console.log(`${instantiations} instantiations stored`);
} else {
  const stored = (JSON.parse(readFileSync(budgetFile, "utf8")) as { instantiations: number }).instantiations;
  console.log(`${files} files, ${instantiations} instantiations (stored: ${stored}), ${seconds.toFixed(1)} s`);
  // Written so that a figure that could not be read fails too.
  if (!(seconds <= maxSeconds)) console.error(`  the type check took ${seconds} s; the bound is ${maxSeconds} s`);
  if (!(instantiations < 2 * stored)) console.error(`  the instantiations doubled: ${instantiations} against ${stored} stored`);
  if (!(seconds <= maxSeconds) || !(instantiations < 2 * stored)) process.exitCode = 1;
}
