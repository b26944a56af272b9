/** Builds the server once before the tests that start it as a separate process. */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";

export default function buildOnce(): void {
  const root = resolve(import.meta.dirname, "../..");
  const { status, stderr } = spawnSync(process.execPath, ["esbuild.config.mjs"], { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`the server could not be built:\n${stderr}`);
}
