/** Tests that two linters accept the OpenAPI document. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const run = promisify(execFile);
type Redocly = { totals: object; problems: unknown[] };

/** Runs a linter of node_modules. Its output is JSON, whether or not it has findings. */
async function lint<Findings>([file = "", ...args]: readonly string[]): Promise<Findings> {
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", NO_COLOR: "1" };
  const { stdout } = await run(process.execPath, [`node_modules/${file}`, ...args], { env }).catch((failed: { stdout: string }) => failed);
  return JSON.parse(/[[{][\s\S]*[\]}]/.exec(stdout)?.[0] ?? stdout) as Findings;
}

/** A linter loads hundreds of modules, which takes long on a busy machine. */
const lintMs = 180_000;

it(
  "[API43] Redocly reports no error and no warning",
  async () => {
    const { totals, problems } = await lint<Redocly>(["@redocly/cli/bin/cli.js", "lint", "docs/openapi.json", "--format=json"]);
    expect([problems, totals]).toEqual([[], { errors: 0, warnings: 0, ignored: 0 }]);
  },
  lintMs,
);

it(
  "[API43] Spectral reports no error, no warning and no hint",
  async () => {
    const args = [
      "@stoplight/spectral-cli/dist/index.js",
      "lint",
      "docs/openapi.json",
      "--ruleset=test/contract/spectral.yaml",
      "--format=json",
    ];
    expect(await lint(args)).toEqual([]);
  },
  lintMs,
);
