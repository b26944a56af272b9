/**
 * `npm test` runs every check and every test, the fastest first. It stops at the first check that fails and names it. The
 * last line is the totals of vitest. A skipped test counts as a failure.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import colors from "picocolors";

const folder = mkdtempSync(join(tmpdir(), "svc-test-"));
const resultFile = join(folder, "vitest.json");

const steps: readonly (readonly [name: string, script: string])[] = [
  ["tools", "check:tools"],
  ["format and lint", "lint"],
  ["types", "check:types"],
  ["imports", "check:imports"],
  ["dead code", "check:unused"],
  ["rules", "check:rules"],
  ["build", "build"],
];

interface VitestResult {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly numFailedTestSuites: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

function run(name: string, args: readonly string[]): boolean {
  console.log(colors.bold(`\n▸ ${name}`));
  const startMs = performance.now();
  const { status, error } = spawnSync("npm", ["run", "--silent", ...args], { stdio: "inherit", shell: process.platform === "win32" });
  if (error !== undefined) console.error(error.message);
  const took = `${((performance.now() - startMs) / 1000).toFixed(1)} s`;
  console.log(status === 0 ? colors.green(`✓ ${name}, ${took}`) : colors.red(`✗ ${name}, ${took}`));
  return status === 0;
}

function readResult(): VitestResult | undefined {
  try {
    return JSON.parse(readFileSync(resultFile, "utf8")) as VitestResult;
  } catch {
    return undefined;
  }
}

function finish(passed: number, failed: number): void {
  rmSync(folder, { recursive: true, force: true });
  console.log(`\n${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}

const broken = steps.find(([name, script]) => !run(name, [script]));
if (broken !== undefined) {
  console.error(colors.red(`\nStopped at "${broken[0]}" (npm run ${broken[1]}); the later steps and the tests did not run.`));
  finish(0, 1);
} else {
  const green = run("tests", ["test:vitest", "--", "--reporter=default", "--reporter=json", `--outputFile.json=${resultFile}`]);
  const result = readResult();
  const skipped = (result?.numPendingTests ?? 0) + (result?.numTodoTests ?? 0);
  if (skipped > 0) console.error(colors.red(`\n${skipped} tests were skipped; no test may be skipped.`));
  for (const file of result?.testResults ?? []) {
    const failures = file.assertionResults.filter((test) => test.status === "failed");
    if (file.status === "failed" && failures.length === 0) console.error(colors.red(`  ${file.name}: ${file.message}`));
    for (const test of failures) console.error(colors.red(`  ${file.name}: ${test.fullName}`));
  }
  const failed = (result?.numFailedTests ?? 0) + skipped;
  finish(result?.numPassedTests ?? 0, green ? failed : Math.max(failed, 1));
}
