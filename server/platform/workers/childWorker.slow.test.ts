import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createChildWorker } from "./childWorker.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "child-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const options = {
  maxStartMs: 300,
  maxMemoryBytes: 2 ** 30,
  maxJobMs: 30_000,
  maxAnswerBytes: 1000,
  jobsPerProcess: 10,
  idleMs: 1000,
};

async function runProgram(source: string) {
  const file = join(folder, `${source.length}.mjs`);
  writeFileSync(file, source);
  const worker = createChildWorker({ ...options, program: pathToFileURL(file), readable: [folder] });
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

test("[CV73] the bytes of a job are free when it has ended, with and without a signal to cancel it", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const file = join(folder, "broken.mjs");
  writeFileSync(file, "throw new Error('broken')");
  const worker = createChildWorker({ ...options, program: pathToFileURL(file), readable: [folder] });
  const run = async (signal?: AbortSignal) => {
    const bytes = new Uint8Array(1000);
    await worker.run({}, bytes, signal);
    return new WeakRef(bytes);
  };
  const jobs = [await run(), await run(new AbortController().signal)];
  // A WeakRef keeps its target until the turn of the event loop ends.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  expect(jobs.map((job) => job.deref() === undefined)).toEqual([true, true]);
  await worker.close();
});
