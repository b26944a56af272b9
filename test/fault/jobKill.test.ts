/** Tests a job in a process that is killed repeatedly in the middle of its pieces. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { buildProgram, runProgram } from "../support/childProgram.ts";
import { toRounds } from "../support/faultRounds.ts";

const child = buildProgram(fileURLToPath(new URL("./jobChild.ts", import.meta.url)));
const kills = toRounds(3);
const articles = 800;
const folders = 41;

test(`[JB2][FO9] ${kills} kill -9 in a deletion job leave no article out and change none twice`, async () => {
  const directory = await mkdtemp(join(tmpdir(), "job-"));
  try {
    expect((await runProgram(child, [directory, "fill"], () => {})).exitCode).toBe(0);
    for (let kill = 0; kill < kills; kill += 1) {
      // Kill after a different number of pieces each time, in the middle of a later one.
      let left = 1 + Math.floor((Math.random() * 160) / kills);
      const ended = await runProgram(child, [directory, "work"], (word, _value, end) => {
        left -= word === "piece" ? 1 : 0;
        if (left === 0) setTimeout(end, Math.random() * 10);
      });
      expect(ended.signalCode).toBe("SIGKILL");
    }
    const ends: object[] = [];
    const last = await runProgram(child, [directory, "work"], (word, value) => {
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
