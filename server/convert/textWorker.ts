/**
 * Work on texts in worker threads, so that it never holds up the event loop: each task with an end, and taken in
 * turn from whoever has some waiting, so that nobody's texts hold up everybody's.
 *
 * A task that takes too long, or exhausts the memory given to it, ends its thread and is refused; the next one gets
 * a new thread. Threads start when they are first needed. What the tasks are, the program knows (textProgram.ts).
 */
import { createRequire } from "node:module";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { AppError } from "../../api/schema/error.ts";
import type { TaskAnswer, TaskOrder, Tasks } from "./textProgram.ts";

export interface TextWorkersOptions {
  /** The module that serves the tasks, from `toProgramFile`. */
  readonly program: URL;
  /** One owner has all of them but one at most. */
  readonly threads: number;
  readonly maxHeapMiB: number;
  /** Tasks of one owner that may wait. */
  readonly maxWaiting: number;
}

export interface TaskBounds {
  /** Whose text it is: owners take turns. */
  readonly owner: string;
  /** From when its thread has begun with it. */
  readonly maxMs: number;
  /** Until then. */
  readonly maxWaitMs: number;
}

export type TextOutcome<Value> =
  | { readonly kind: "done"; readonly value: Value }
  /** It would not have come to an end. */
  | { readonly kind: "tooMuch" }
  /** Its turn did not come, or the threads were closed before it had ended. */
  | { readonly kind: "busy" };

export interface TextWorkers<Known extends Tasks> {
  /** Throws what the task refuses. */
  run<Name extends keyof Known & string>(
    name: Name,
    input: Parameters<Known[Name]>[0],
    bounds: TaskBounds,
  ): Promise<TextOutcome<Awaited<ReturnType<Known[Name]>>>>;
  /** Ends what is under way; it and what waits is refused. */
  close(): Promise<void>;
}

/** A program beside the module that names it: in the sources as TypeScript, in the build under the same name. */
export function toProgramFile(name: string, importer: string): URL {
  return new URL(`./${name}${extname(new URL(importer).pathname)}`, importer);
}

interface Job {
  readonly order: TaskOrder;
  readonly bounds: TaskBounds;
  readonly settle: { resolve(outcome: TextOutcome<never>): void; reject(error: unknown): void };
  waiting?: NodeJS.Timeout;
}

interface Thread {
  worker?: Worker | undefined;
  isBusy: boolean;
}

export function createTextWorkers<Known extends Tasks>(options: TextWorkersOptions): TextWorkers<Known> {
  const { program, maxHeapMiB, maxWaiting } = options;
  const threads: Thread[] = Array.from({ length: options.threads }, () => ({ isBusy: false }));
  const maxThreadsOfOne = Math.max(1, options.threads - 1);
  /** Owner → what waits, whose turn is next first. */
  const queues = new Map<string, Job[]>();
  const working = new Map<string, number>();
  let closed = false;

  /** Begins as many tasks as there are free threads for. */
  function begin(): void {
    for (const thread of threads) {
      if (thread.isBusy) continue;
      const [owner, queue] = [...queues].find(([name]) => (working.get(name) ?? 0) < maxThreadsOfOne) ?? [];
      const job = queue?.shift();
      if (owner === undefined || queue === undefined || job === undefined) return;
      queues.delete(owner);
      if (queue.length > 0) queues.set(owner, queue);
      clearTimeout(job.waiting);
      void work(thread, owner, job);
    }
  }

  async function work(thread: Thread, owner: string, { order, bounds, settle }: Job): Promise<void> {
    thread.isBusy = true;
    working.set(owner, (working.get(owner) ?? 0) + 1);
    try {
      const answer = await ask(thread, order, bounds.maxMs);
      if (answer.kind === "done") settle.resolve({ kind: "done", value: answer.value as never });
      else if (answer.kind === "refused") settle.reject(new AppError(answer.code, answer.detail, answer.facts));
      else if (answer.kind === "failed") settle.reject(new Error(`work on a text failed: ${answer.reason}`));
      else settle.resolve({ kind: closed ? "busy" : "tooMuch" });
    } catch (error) {
      settle.reject(error);
    }
    thread.isBusy = false;
    const left = (working.get(owner) ?? 1) - 1;
    if (left > 0) working.set(owner, left);
    else working.delete(owner);
    begin();
  }

  async function ask(thread: Thread, order: TaskOrder, maxMs: number): Promise<TaskAnswer> {
    if (closed) return { kind: "tooMuch" };
    thread.worker ??= await start();
    const { worker } = thread;
    if (closed) await worker.terminate();
    if (closed) return { kind: "tooMuch" };
    const answer = await new Promise<TaskAnswer>((resolve) => {
      const end = (outcome: TaskAnswer) => {
        clearTimeout(timer);
        worker.off("message", end).off("error", stop).off("exit", stop);
        resolve(outcome);
      };
      // Out of memory, among others: the thread is gone.
      const stop = () => end({ kind: "tooMuch" });
      const timer = setTimeout(stop, maxMs);
      worker.once("message", end).once("error", stop).once("exit", stop);
      worker.postMessage(order);
    });
    if (answer.kind !== "tooMuch") return answer;
    thread.worker = undefined;
    await worker.terminate();
    return answer;
  }

  /** A thread that has loaded its program. */
  async function start(): Promise<Worker> {
    const worker = startWorker(program, maxHeapMiB);
    worker.unref();
    await new Promise<void>((resolve, reject) => {
      worker.once("message", () => resolve()).once("error", reject);
      worker.once("exit", () => reject(new Error(`the thread of ${program.pathname} ended before it was ready`)));
    });
    // By name: among the others are those that make a worker deliver its messages.
    for (const name of ["message", "error", "exit"]) worker.removeAllListeners(name);
    // An error that nobody waits for must not end the process.
    worker.on("error", () => undefined);
    return worker;
  }

  return {
    run(name, input, bounds) {
      const { owner, maxWaitMs } = bounds;
      const queue = queues.get(owner) ?? [];
      if (closed) return Promise.resolve({ kind: "busy" });
      if (queue.length >= maxWaiting) return Promise.resolve({ kind: "busy" });
      return new Promise((resolve, reject) => {
        const job: Job = { order: { name, input }, bounds, settle: { resolve, reject } };
        job.waiting = setTimeout(() => {
          const left = (queues.get(owner) ?? []).filter((other) => other !== job);
          if (left.length > 0) queues.set(owner, left);
          else queues.delete(owner);
          resolve({ kind: "busy" });
        }, maxWaitMs);
        queue.push(job);
        queues.set(owner, queue);
        begin();
      });
    },
    async close() {
      closed = true;
      for (const job of [...queues.values()].flat()) {
        clearTimeout(job.waiting);
        job.settle.resolve({ kind: "busy" });
      }
      queues.clear();
      await Promise.all(threads.map(({ worker }) => worker?.terminate()));
    },
  };
}

function startWorker(program: URL, maxOldGenerationSizeMb: number): Worker {
  const resourceLimits = { maxOldGenerationSizeMb };
  if (!program.pathname.endsWith(".ts")) return new Worker(program, { resourceLimits });
  // From the sources, as tests run it: the loader of the main thread does not reach a worker.
  const loader = createRequire(import.meta.url).resolve("tsx/cjs/api");
  const load = `require(${JSON.stringify(loader)}).register(); require(${JSON.stringify(program.pathname)});`;
  return new Worker(load, { eval: true, resourceLimits });
}
