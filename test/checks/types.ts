/**
 * `npm run check:types` type-checks the web app and then all other code, which has less than twice the stored number of type
 * instantiations.
 *
 * The number is the same on every machine, also under load; the seconds are only for information. `--store` stores the
 * current number. The web app has a configuration of its own, because a bundler and not Node resolves its imports.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const budgetFile = join(import.meta.dirname, "typeBudget.json");
const tsc = join(process.cwd(), "node_modules", "typescript", "bin", "tsc");

interface Checked {
  readonly isGreen: boolean;
  /** Reads one figure of the compiler's statistics; NaN if it has none of this name. */
  figure(name: string): number;
}

/** Prints the errors of the compiler. */
function check(project: string): Checked {
  const args = [tsc, "-p", project, "--noEmit", "--extendedDiagnostics", "--pretty", "false"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) console.error(stdout.replace(/^Files:[\s\S]*/m, "") + stderr);
  return {
    isGreen: status === 0,
    figure: (name) => Number(new RegExp(`^${name}:\\s+([\\d.]+)`, "m").exec(stdout)?.[1] ?? Number.NaN),
  };
}

const web = check("web");
const { isGreen, figure } = check(".");
const instantiations = figure("Instantiations");
if (web.isGreen) console.log(`web: ${web.figure("Files")} files, ${web.figure("Total time").toFixed(1)} s`);
if (!web.isGreen || !isGreen) process.exitCode = 1;
else if (process.argv.includes("--store")) {
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
