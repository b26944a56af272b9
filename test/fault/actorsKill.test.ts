/** Tests a real process with a real store that is killed repeatedly in the middle of its effects. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { buildProgram } from "../support/childProgram.ts";

const child = buildProgram(fileURLToPath(new URL("./actorChild.ts", import.meta.url)));
const count = 120;
/** One kill follows each of these errors of the wall clock. In the last run the clock is right again. */
const wallErrorsMs = [0, 600_000, -600_000, 3_600_000, -3_600_000];
const kills = wallErrorsMs.length;

function start(directory: string, wallErrorMs = 0): { process: ChildProcess; lines: AsyncIterable<string> } {
  const args = [child, directory, join(directory, "journal"), String(count), String(wallErrorMs)];
  const started = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  return { process: started, lines: createInterface({ input: started.stdout }) };
}

test("[AC1][AC2][AC3] kill -9 and clock jumps lose no acknowledged work and accept nothing twice", async () => {
  const directory = await mkdtemp(join(tmpdir(), "actors-kill-"));
  try {
    const acked = new Set<string>();
    for (const [kill, wallErrorMs] of wallErrorsMs.entries()) {
      const run = start(directory, wallErrorMs);
      const ended = once(run.process, "exit");
      // Kill after a different number of acknowledgements each time, in the middle of the work that follows them.
      let left = 7 + kill * 11;
      for await (const line of run.lines) {
        const [word, id = ""] = line.split(" ");
        if (word === "acked") acked.add(id);
        left -= 1;
        if (left === 0) run.process.kill("SIGKILL");
      }
      await ended;
      expect(run.process.signalCode).toBe("SIGKILL");
    }
    const last = start(directory);
    const contexts: { results: object; order: string[]; rang: number }[] = [];
    let rows = "";
    const ended = once(last.process, "exit");
    for await (const line of last.lines) {
      if (line.startsWith("end ")) contexts.push(JSON.parse(line.slice(4)));
      if (line.startsWith("rows ")) rows = line;
    }
    await ended;
    expect(last.process.exitCode).toBe(0);
    expect(acked.size).toBeGreaterThan(40);
    expect(contexts).toHaveLength(count);
    for (const context of contexts) expect(context).toMatchObject({ results: { a: 1, b: 1 }, order: ["a", "b"], rang: 1 });
    expect(rows).toBe("rows 0");
    const runs = (await readFile(join(directory, "journal"), "utf8")).trim().split("\n");
    expect(new Set(runs).size).toBe(2 * count);
    // Only effects that ran during a kill may have run again.
    expect(runs.length - 2 * count).toBeLessThan(kills * 20);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
