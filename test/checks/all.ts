/**
 * `npm test` runs every check and then every test. The checks run two at a time, because each uses one core; the longest
 * starts first. No check starts after one has failed, and the failed checks are named. The last line is the totals of
 * vitest. A skipped test counts as a failure.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import colors from "picocolors";

const folder = mkdtempSync(join(tmpdir(), "svc-test-"));
const resultFile = join(folder, "vitest.json");

interface Check {
  readonly name: string;
  readonly script: string;
}

const checks: readonly Check[] = [
  { name: "tools", script: "check:tools" },
  { name: "types", script: "check:types" },
  { name: "format and lint", script: "lint" },
  { name: "imports", script: "check:imports" },
  { name: "dead code", script: "check:unused" },
  { name: "rules", script: "check:rules" },
  { name: "build", script: "build" },
];
const checksAtOnce = 2;

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

/** Runs one npm script. With `isQuiet` its output is printed at its end, so that scripts at the same time do not mix theirs. */
async function run(name: string, args: readonly string[], isQuiet: boolean): Promise<boolean> {
  if (!isQuiet) console.log(colors.bold(`\n▸ ${name}`));
  const startMs = performance.now();
  const child = spawn("npm", ["run", "--silent", ...args], {
    stdio: ["ignore", isQuiet ? "pipe" : "inherit", isQuiet ? "pipe" : "inherit"],
    shell: process.platform === "win32",
  });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (bytes: Buffer) => output.push(bytes));
  let isGreen = false;
  try {
    const [status] = await once(child, "close");
    isGreen = status === 0;
  } catch (reason) {
    output.push(Buffer.from(`${String(reason)}\n`));
  }
  const took = `${((performance.now() - startMs) / 1000).toFixed(1)} s`;
  process.stdout.write(Buffer.concat(output));
  console.log(isGreen ? colors.green(`✓ ${name}, ${took}`) : colors.red(`✗ ${name}, ${took}`));
  return isGreen;
}

/** Returns the checks that failed. */
async function runChecks(): Promise<readonly Check[]> {
  const waiting = [...checks];
  const failed: Check[] = [];
  const lane = async () => {
    for (let check = waiting.shift(); check !== undefined && failed.length === 0; check = waiting.shift()) {
      if (!(await run(check.name, [check.script], true))) failed.push(check);
    }
  };
  await Promise.all(Array.from({ length: checksAtOnce }, lane));
  return failed;
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

const broken = await runChecks();
if (broken.length > 0) {
  const names = broken.map(({ name, script }) => `"${name}" (npm run ${script})`).join(" and ");
  console.error(colors.red(`\nStopped at ${names}; the later checks and the tests did not run.`));
  finish(0, broken.length);
} else {
  const green = await run(
    "tests",
    ["test:vitest", "--", "--reporter=default", "--reporter=json", `--outputFile.json=${resultFile}`],
    false,
  );
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
