/**
 * WorkerPool runs tasks on texts in worker threads, so that the event loop stays free.
 *
 * Each task has a time limit. Owners share the threads: one owner never uses all of them, unless there is only one.
 * Among the owners with waiting tasks, the one that used the least time recently is next ([AR22], [AR24]).
 *
 * A task that exceeds its time or memory ends its thread and is refused; the next task gets a new thread. The limit counts
 * the time that the thread worked, so a busy machine does not make a task look like too much work (PL24). Threads start
 * when they are first needed. This module does not know the tasks; the program does (workerTasks.ts).
 */
import { Worker } from "node:worker_threads";
import { AppError } from "../../../api/schema/error.ts";
import { createRecentUse } from "./recentUse.ts";
import { processorMsOf } from "./threadTime.ts";
import type { TaskAnswer, TaskOrder, Tasks, ThreadReady } from "./workerTasks.ts";
import { limitWork } from "./workLimit.ts";

export interface WorkerPoolOptions {
  /** The module that runs the tasks, from `toProgramFile`. */
  readonly program: URL;
  /** Number of threads. One owner uses at most all but one of them, and at least one. */
  readonly threads: number;
  readonly maxHeapMiB: number;
  /** Maximum number of waiting tasks of one owner. */
  readonly maxWaiting: number;
  /** Milliseconds without a task after which a thread ends. The next task starts a new one. Absent: it stays. */
  readonly idleMs?: number;
}

export interface TaskBounds {
  /** The owner of the text. Owners share the threads. */
  readonly owner: string;
  /**
   * Maximum milliseconds of processor time of the thread. On the clock the task may take longer (workLimit.ts).
   */
  readonly maxMs: number;
  /** Maximum milliseconds to wait for a thread. */
  readonly maxWaitMs: number;
}

export type TaskOutcome<Value> =
  | { readonly kind: "done"; readonly value: Value }
  /** The task exceeded its time or memory. */
  | { readonly kind: "tooMuch" }
  /**
   * The task got no thread in time, or too little of a processor; its owner had too many waiting tasks; or the pool was
   * closed before the task ended.
   */
  | { readonly kind: "busy" };

export interface WorkerPool<Known extends Tasks> {
  /** Runs the named task. Rejects with the errors that the task throws. */
  run<Name extends keyof Known & string>(
    name: Name,
    input: Parameters<Known[Name]>[0],
    bounds: TaskBounds,
  ): Promise<TaskOutcome<Awaited<ReturnType<Known[Name]>>>>;
  /** Ends the threads. Running and waiting tasks resolve with `busy`. */
  close(): Promise<void>;
}

interface Job {
  readonly order: TaskOrder;
  readonly bounds: TaskBounds;
  readonly settle: { resolve(outcome: TaskOutcome<never>): void; reject(error: unknown): void };
  waiting?: NodeJS.Timeout;
}

/** How a task ended whose thread must be ended too. "starved": the machine was too busy to work on it for its time. */
type Stopped = { readonly kind: "starved" };

interface Started {
  readonly worker: Worker;
  /** Id of the thread in the operating system; undefined if its processor time is unknown. */
  readonly threadId: number | undefined;
}

interface Thread {
  started?: Started | undefined;
  isBusy: boolean;
  /** Ends the thread. */
  idle?: NodeJS.Timeout;
}

export function createWorkerPool<Known extends Tasks>(options: WorkerPoolOptions): WorkerPool<Known> {
  const { program, maxHeapMiB, maxWaiting, idleMs } = options;
  const threads: Thread[] = Array.from({ length: options.threads }, () => ({ isBusy: false }));
  const maxThreadsOfOne = Math.max(1, options.threads - 1);
  /** Owner → waiting tasks. If owners have equal use, the first one in this map is next. */
  const queues = new Map<string, Job[]>();
  const working = new Map<string, number>();
  const recentUse = createRecentUse();
  let closed = false;

  /**
   * Returns the owner whose task is next, or undefined if every waiting owner already uses its share of the threads.
   */
  function findNextOwner(): string | undefined {
    const eligible = [...queues.keys()].filter((owner) => (working.get(owner) ?? 0) < maxThreadsOfOne);
    const uses = new Map(eligible.map((owner) => [owner, recentUse.of(owner)]));
    return eligible.toSorted((one, other) => (uses.get(one) ?? 0) - (uses.get(other) ?? 0))[0];
  }

  /** Starts waiting tasks on all free threads. */
  function begin(): void {
    for (const thread of threads) {
      if (thread.isBusy) continue;
      const owner = findNextOwner();
      const queue = owner === undefined ? undefined : queues.get(owner);
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
    clearTimeout(thread.idle);
    working.set(owner, (working.get(owner) ?? 0) + 1);
    const startedAtMs = performance.now();
    try {
      const answer = await ask(thread, order, bounds.maxMs);
      if (answer.kind === "done") settle.resolve({ kind: "done", value: answer.value as never });
      else if (answer.kind === "refused") settle.reject(new AppError(answer.code, answer.detail, answer.facts));
      else if (answer.kind === "failed") settle.reject(new Error(`worker task failed: ${answer.reason}`));
      else settle.resolve({ kind: closed || answer.kind === "starved" ? "busy" : "tooMuch" });
    } catch (error) {
      settle.reject(error);
    }
    thread.isBusy = false;
    recentUse.add(owner, performance.now() - startedAtMs);
    const left = (working.get(owner) ?? 1) - 1;
    if (left > 0) working.set(owner, left);
    else working.delete(owner);
    begin();
    if (idleMs !== undefined && !thread.isBusy) thread.idle = setTimeout(() => rest(thread), idleMs).unref();
  }

  function rest(thread: Thread): void {
    const { started } = thread;
    thread.started = undefined;
    void started?.worker.terminate();
  }

  async function ask(thread: Thread, order: TaskOrder, maxMs: number): Promise<TaskAnswer | Stopped> {
    if (closed) return { kind: "tooMuch" };
    thread.started ??= await start();
    const { worker, threadId } = thread.started;
    if (closed) await worker.terminate();
    if (closed) return { kind: "tooMuch" };
    const answer = await new Promise<TaskAnswer | Stopped>((resolve) => {
      const end = (outcome: TaskAnswer | Stopped) => {
        cancelLimit();
        worker.off("message", end).off("error", stop).off("exit", stop);
        resolve(outcome);
      };
      // The thread has ended, for example because it ran out of memory.
      const stop = () => end({ kind: "tooMuch" });
      const cancelLimit = limitWork(
        () => processorMsOf(threadId),
        maxMs,
        (kind) => end({ kind }),
      );
      worker.once("message", end).once("error", stop).once("exit", stop);
      worker.postMessage(order);
    });
    if (answer.kind !== "tooMuch" && answer.kind !== "starved") return answer;
    thread.started = undefined;
    await worker.terminate();
    return answer;
  }

  /** Starts a thread and waits until it has loaded its program. */
  async function start(): Promise<Started> {
    const worker = new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB } });
    worker.unref();
    const { threadId } = await new Promise<ThreadReady>((resolve, reject) => {
      worker.once("message", resolve).once("error", reject);
      worker.once("exit", () => reject(new Error(`the worker thread of ${program.pathname} ended before it was ready`)));
    });
    // Remove listeners by name only, because the internal listeners of the worker deliver its messages.
    for (const name of ["message", "error", "exit"]) worker.removeAllListeners(name);
    // An error without a listener would end the process.
    worker.on("error", () => undefined);
    return { worker, threadId };
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
      for (const { idle } of threads) clearTimeout(idle);
      await Promise.all(threads.map(({ started }) => started?.worker.terminate()));
    },
  };
}
