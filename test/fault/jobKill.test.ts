/** Tests a job in a process that is killed repeatedly in the middle of its pieces. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const child = fileURLToPath(new URL("./jobChild.ts", import.meta.url));
const kills = 4;
const articles = 800;
const folders = 41;

/** Runs the child process and passes on its lines until it ends. */
async function run(directory: string, mode: "fill" | "work", onLine: (word: string, value: object, kill: () => void) => void) {
  const started = spawn(process.execPath, ["--import", "tsx", child, directory, mode], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(started, "exit");
  for await (const line of createInterface({ input: started.stdout })) {
    const space = line.indexOf(" ");
    onLine(line.slice(0, space), JSON.parse(line.slice(space + 1)), () => started.kill("SIGKILL"));
  }
  await ended;
  return started;
}

test(`[JB2][FO9] ${kills} kill -9 in a deletion job leave no article out and change none twice`, async () => {
  const directory = await mkdtemp(join(tmpdir(), "job-"));
  try {
    expect((await run(directory, "fill", () => {})).exitCode).toBe(0);
    for (let kill = 0; kill < kills; kill += 1) {
      // Kill after a different number of pieces each time, in the middle of a later one.
      let left = 1 + Math.floor((Math.random() * 160) / kills);
      const ended = await run(directory, "work", (word, _value, end) => {
        left -= word === "piece" ? 1 : 0;
        if (left === 0) setTimeout(end, Math.random() * 10);
      });
      expect(ended.signalCode).toBe("SIGKILL");
    }
    const ends: object[] = [];
    const last = await run(directory, "work", (word, value) => {
      if (word === "end") ends.push(value);
    });
    expect(last.exitCode).toBe(0);
    expect(ends).toEqual([
      {
        state: "succeeded",
        done: articles + folders,
        of: articles + folders,
        result: { folders, articles, topics: 0 },
        moves: articles,
        moved: articles,
        inTrash: articles,
        elsewhere: 1,
        leftFolders: 0,
        changedTwice: 0,
      },
    ]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
