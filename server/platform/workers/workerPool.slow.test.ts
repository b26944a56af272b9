import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, expect, test, vi } from "vitest";
import { buildProgram } from "../../../test/support/childProgram.ts";
import type { SpinTasks } from "../../../test/support/spinThread.ts";
import { createWorkerPool, type TaskOutcome, type WorkerPool } from "./workerPool.ts";

const program = pathToFileURL(buildProgram(join(import.meta.dirname, "../../../test/support/spinThread.ts")));
const hour = 3_600_000;
const of = (owner: string, maxMs = hour, maxWaitMs = hour) => ({ owner, maxMs, maxWaitMs });

let workers: WorkerPool<SpinTasks>;
afterEach(() => workers.close());
const start = (threads: number, maxWaiting = 10) => {
  workers = createWorkerPool<SpinTasks>({ program, threads, maxHeapMiB: 64, maxWaiting });
  return workers;
};

/** Repeats a task until it gets the processor for its time, which a busy machine may refuse. */
async function judge(ask: () => Promise<TaskOutcome<unknown>>): Promise<TaskOutcome<unknown>> {
  for (;;) {
    const outcome = await ask();
    if (outcome.kind !== "busy") return outcome;
  }
}

test("[AR19] a task that hangs or exhausts memory or stack is stopped, and the next one runs", async () => {
  const { run } = start(1);
  expect(await judge(() => run("spin", hour, of("a", 50)))).toEqual({ kind: "tooMuch" });
  expect(await run("exhaust", undefined, of("a"))).toEqual({ kind: "tooMuch" });
  expect(await run("nest", undefined, of("a"))).toEqual({ kind: "tooMuch" });
  expect(await run("echo", "after", of("a"))).toEqual({ kind: "done", value: "after" });
});

test("[PL24] a task is judged by the time that its thread worked, not by the time that it waited", async () => {
  const { run } = start(1);
  expect(await judge(() => run("wait", 300, of("a", 150)))).toEqual({ kind: "done", value: 300 });
  // The limit is not the fault of the task, so it may be tried again.
  expect(await run("wait", hour, of("a", 50))).toEqual({ kind: "busy" });
  expect(await judge(() => run("spin", hour, of("a", 50)))).toEqual({ kind: "tooMuch" });
});

test("[AR19] a refusal is returned unchanged, and a bug as a failure", async () => {
  const { run } = start(1);
  await expect(run("refuse", "anchor_not_found", of("a"))).rejects.toMatchObject({
    code: "anchor_not_found",
    message: "Not there.",
    facts: { errors: [{ pointer: "/a" }] },
  });
  await expect(run("fail", undefined, of("a"))).rejects.toThrow("a bug");
  expect(await run("echo", "after", of("a"))).toEqual({ kind: "done", value: "after" });
});

test("[AR22] an owner with many waiting tasks leaves a thread for others, and owners take turns", async () => {
  const { run } = start(2);
  const order: string[] = [];
  const ask = async (owner: string, ms: number, name: string) => {
    await run("spin", ms, of(owner));
    order.push(name);
  };
  const endless = run("spin", hour, of("hostile", 1000));
  const later = [ask("hostile", 1, "hostile again"), ask("a", 30, "a1"), ask("a", 30, "a2"), ask("a", 30, "a3"), ask("b", 1, "b1")];
  await Promise.all(later);
  // The endless task holds one thread, so the other thread serves the rest. Owner b has used no time yet and goes before the rest of a.
  expect(await endless).toEqual({ kind: "tooMuch" });
  expect(order).toEqual(["a1", "b1", "a2", "a3", "hostile again"]);
});

test("[AR24] quick tasks of one owner are not delayed by heavy tasks of several others", async () => {
  const { run } = start(1);
  const order: string[] = [];
  // Waiting takes the thread, but no processor, so that the tasks take their time on a busy machine too.
  const ask = async (owner: string, ms: number) => {
    await run("wait", ms, of(owner));
    order.push(owner);
  };
  const heavy = ["a", "b", "c"].flatMap((owner) => [ask(owner, 1000), ask(owner, 1000)]);
  const quick = Array.from({ length: 6 }, () => ask("quick", 1));
  await Promise.all([...heavy, ...quick]);
  const first = ["a", "b", "c", ...Array(6).fill("quick")];
  expect(order.slice(0, 9)).toEqual(first);
  expect(order.slice(9).toSorted()).toEqual(["a", "b", "c"]);
});

test("[AR22] work that waits too long or in too large a queue is refused, and running work continues", async () => {
  const { run } = start(1, 1);
  const first = run("spin", 300, of("a"));
  const second = run("echo", "in time", of("a"));
  expect(await run("echo", "one too many", of("a"))).toEqual({ kind: "busy" });
  expect(await run("echo", "too late", of("b", hour, 20))).toEqual({ kind: "busy" });
  expect(await first).toEqual({ kind: "done", value: 300 });
  expect(await second).toEqual({ kind: "done", value: "in time" });
});

test("[AR19] after close nothing hangs: running, waiting and new tasks are refused", async () => {
  const { run, close } = start(1);
  const asked = [run("spin", hour, of("a")), run("echo", "x", of("a"))];
  await close();
  expect(await Promise.all([...asked, run("echo", "y", of("a"))])).toEqual(Array(3).fill({ kind: "busy" }));
});

test("[SR14] a thread that is idle for `idleMs` ends, and the next task starts a new one", async () => {
  workers = createWorkerPool<SpinTasks>({ program, threads: 1, maxHeapMiB: 64, maxWaiting: 10, idleMs: 1 });
  const threadsOf = () => readdirSync("/proc/self/task").length;
  const before = threadsOf();
  expect(await workers.run("echo", "one", of("a"))).toEqual({ kind: "done", value: "one" });
  await vi.waitFor(() => expect(threadsOf()).toBeLessThanOrEqual(before), 20_000);
  expect(await workers.run("echo", "two", of("a"))).toEqual({ kind: "done", value: "two" });
});
