/** Tests a process that edits, commits and makes checkpoints while it is killed repeatedly at any moment. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { toContentHash } from "../../server/domain/articles/fileTexts.ts";
import { buildProgram, runProgram } from "../support/childProgram.ts";
import { toRounds } from "../support/faultRounds.ts";

const child = buildProgram(fileURLToPath(new URL("./checkpointChild.ts", import.meta.url)));
const kills = toRounds(4);

interface End {
  readonly articleId: string;
  readonly text: string;
  readonly commits: readonly { commitId: string; revision: number; parentRevision: number | null; kind: string; hash: string }[];
  readonly events: readonly string[];
}

test("[CO5][CO3][AR17] kill -9 loses no acknowledged edit or commit; one event and checkpoint each", async () => {
  const directory = await mkdtemp(join(tmpdir(), "checkpoint-"));
  try {
    const edited: { articleId: string; content: string }[] = [];
    const committed: { articleId: string; commitId: string }[] = [];
    for (let kill = 0; kill < kills; kill += 1) {
      // Kill after a different number of acknowledgements each time, in the middle of the work that follows them.
      let left = 20 + kill * 37;
      const ended = await runProgram(child, [directory, "write"], (word, value, end) => {
        if (word === "edited") edited.push(value);
        if (word === "committed") committed.push(value);
        left -= 1;
        if (left === 0) end();
      });
      expect(ended.signalCode).toBe("SIGKILL");
    }
    const ends: End[] = [];
    const last = await runProgram(child, [directory, "settle"], (word, value) => {
      if (word === "end") ends.push(value);
    });
    expect(last.exitCode).toBe(0);

    expect(edited.length).toBeGreaterThan(kills * 20);
    const byArticle = new Map(ends.map((end) => [end.articleId, end]));
    for (const { articleId, content } of edited) {
      const text = byArticle.get(articleId)?.text ?? "";
      expect(text.split(content).length, `${content.trim()} once in ${articleId}`).toBe(2);
    }
    for (const { articleId, commitId } of committed) expect(byArticle.get(articleId)?.events).toContain(commitId);
    let checkpoints = 0;
    for (const { text, commits, events } of ends) {
      expect(commits.at(-1)?.hash).toBe(toContentHash(text));
      expect(events).toEqual(commits.map((commit) => commit.commitId));
      for (const [at, commit] of commits.entries()) {
        expect(commit.parentRevision).toBe(commits[at - 1]?.revision ?? null);
        expect(commit.hash).not.toBe(commits[at - 1]?.hash);
        if (commit.kind === "checkpoint") checkpoints += 1;
      }
    }
    expect(checkpoints).toBeGreaterThan(0);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
