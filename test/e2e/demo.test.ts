/** Tests the demo with the command of the README. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { storeUnderTest } from "../support/stores.ts";

const root = resolve(import.meta.dirname, "../..");
const flags = storeUnderTest === "redis" ? ["--", "--redis"] : [];

it("[OP27] `npm run demo` runs to its end, exits by itself and leaves no process behind", async () => {
  const child = spawn("npm", ["run", "demo", ...flags], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let told = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      told += text;
    });
  }
  // "close" is emitted only when no process holds the output. A server that was left running would keep it open.
  const [code] = (await once(child, "close")) as [number | null];
  expect(code, told).toBe(0);
  expect(told).toContain(storeUnderTest === "redis" ? "Redis at 127.0.0.1:" : "svc-server-");
  expect(told).toContain("nothing lost");
  expect(told).toContain("Where to look next");
}, 240_000);

it("[OP27] an unknown flag of the demo prints its usage, and nothing starts", async () => {
  const { status, stdout, stderr } = spawnSync("npx", ["tsx", "test/demo/main.ts", "--reddis"], { cwd: root, encoding: "utf8" });
  expect(status).toBe(2);
  expect(stderr).toContain("usage: npm run demo, or npm run demo -- --redis");
  expect(stdout).toBe("");
});
