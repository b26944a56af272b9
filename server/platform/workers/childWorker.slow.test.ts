import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createChildWorker } from "./childWorker.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "child-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function runProgram(source: string) {
  const file = join(folder, `${source.length}.mjs`);
  writeFileSync(file, source);
  const worker = createChildWorker({
    program: pathToFileURL(file),
    readable: [folder],
    maxStartMs: 300,
    maxMemoryBytes: 2 ** 30,
    maxJobMs: 30_000,
    maxAnswerBytes: 1000,
    jobsPerProcess: 10,
    idleMs: 1000,
  });
  try {
    return await worker.run({}, new Uint8Array());
  } finally {
    await worker.close();
  }
}

test("[CV67] a process that ends, or works on and on, before it is ready has not begun the job", async () => {
  expect(await runProgram("throw new Error('no such package')")).toEqual({
    kind: "notStarted",
    reason: expect.stringContaining("no such package"),
  });
  expect(await runProgram("for (;;) {}")).toEqual({ kind: "notStarted", reason: "the process was not ready after 300 ms" });
});
