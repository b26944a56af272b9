/**
 * Builds a program of a test into one file, and runs it as a process of its own.
 *
 * The file is beside the built server, where the program finds its packages and the programs of its threads. A built file
 * starts in a fraction of the time in which tsx compiles all its sources, and fault tests start their programs many times.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { buildSync } from "esbuild";
import { externalPackages } from "../../esbuild.config.mjs";
import { serverFile } from "./server.ts";

/** Builds the TypeScript file and returns the path of the program. */
export function buildProgram(source: string): string {
  const outfile = join(dirname(serverFile), `${basename(source, ".ts")}.js`);
  const asNode = { platform: "node", format: "esm", target: "node20.19", external: externalPackages } as const;
  buildSync({ ...asNode, entryPoints: [source], outfile, bundle: true, sourcemap: "inline", logLevel: "warning" });
  return outfile;
}

/** Runs a program that writes lines of a word and a JSON value, and passes these on until the program ends. */
export async function runProgram(
  program: string,
  args: readonly string[],
  onLine: (word: string, value: never, kill: () => void) => void,
): Promise<ChildProcess> {
  const started = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(started, "exit");
  for await (const line of createInterface({ input: started.stdout })) {
    const space = line.indexOf(" ");
    onLine(line.slice(0, space), JSON.parse(line.slice(space + 1)) as never, () => started.kill("SIGKILL"));
  }
  await ended;
  return started;
}
