/** Runs a build program of the repository. It builds only if its sources have changed. */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";

export const repository = resolve(import.meta.dirname, "../..");

/** Throws with the output of the program if it fails. `what` names what it builds. */
export function runBuild(what: string, program: string, args: readonly string[] = []): void {
  const { status, stderr } = spawnSync(process.execPath, [program, ...args], { cwd: repository, encoding: "utf8" });
  if (status !== 0) throw new Error(`${what} could not be built:\n${stderr}`);
}
