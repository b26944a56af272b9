/**
 * ChildWorker runs jobs in a child process, one after the other. A process is a stronger fence than a thread: its memory is
 * limited as a whole, and killing it stops any code.
 *
 * One process is kept warm, because a start costs more than most jobs. It is replaced after a job that failed or was
 * stopped, after `jobsPerProcess` jobs, and ends after `idleMs` without a job. This module does not know the jobs.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { createFrameReader, encodeFrame, type Frame } from "./childFrames.ts";
import type { ChildAnswer } from "./childJobs.ts";
import { toPermissionFlags } from "./childPermissions.ts";
import { processorMsOfProcess, residentBytesOf } from "./threadTime.ts";
import { limitWork } from "./workLimit.ts";

export interface ChildWorkerOptions {
  /** The module that serves the jobs, from `toProgramFile`. */
  readonly program: URL;
  /**
   * Folders and files that the process may read; they are its arguments. It may not use anything else of the machine,
   * except the network.
   */
  readonly readable: readonly string[];
  /** Processor time until the process is ready for its first job. */
  readonly maxStartMs: number;
  readonly maxMemoryBytes: number;
  /** Processor time of one job. */
  readonly maxJobMs: number;
  readonly maxAnswerBytes: number;
  readonly jobsPerProcess: number;
  readonly idleMs: number;
}

export type ChildOutcome =
  | { readonly kind: "done"; readonly result: unknown; readonly bytes: Uint8Array }
  | { readonly kind: "tooLong" | "tooMuchMemory" | "answerTooLarge" | "cancelled" }
  /** The machine was too busy to work on the job for its time. */
  | { readonly kind: "starved" }
  /** The process did not become ready, so the job has not begun. */
  | { readonly kind: "notStarted"; readonly reason: string }
  /** A bug: the job threw, or the process ended by itself. */
  | { readonly kind: "failed"; readonly reason: string };

export interface ChildWorker {
  /**
   * `begin` is called when the job is the next one, before the process gets it. The job is given up as `cancelled` if it
   * returns false, and rejects if it throws.
   */
  run(head: unknown, bytes: Uint8Array, signal?: AbortSignal, begin?: () => Promise<boolean>): Promise<ChildOutcome>;
  /** Kills the process. Running and waiting jobs resolve with `cancelled`. */
  close(): Promise<void>;
  /** Id of the present process, for tests. */
  processId(): number | undefined;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

interface Started {
  readonly child: Child;
  readonly ended: Promise<void>;
  jobs: number;
}

/** Milliseconds between two readings of the memory of a running job. */
const memoryCheckMs = 50;
/** Share of the memory limit that the JavaScript heap may have; the rest is for code, buffers and stacks. */
const heapShare = 0.75;
/** Bytes of the error output that are kept for the reason of a failure. */
const keptErrorBytes = 4096;

export function createChildWorker(options: ChildWorkerOptions): ChildWorker {
  let started: Started | undefined;
  let idle: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const closing = new AbortController();

  async function work(head: unknown, bytes: Uint8Array, signal: AbortSignal): Promise<ChildOutcome> {
    clearTimeout(idle);
    if (signal.aborted) return { kind: "cancelled" };
    let current: Started;
    try {
      current = started ?? begin();
    } catch (error) {
      // For example without a free file descriptor.
      return { kind: "notStarted", reason: String(error) };
    }
    const outcome = await converse(current, head, bytes, signal, options);
    current.jobs += 1;
    if (outcome.kind !== "done" || current.jobs >= options.jobsPerProcess) await stop(current);
    else idle = setTimeout(() => void stop(current), options.idleMs).unref();
    return outcome;
  }

  function begin(): Started {
    const fresh: Started = { ...startChild(options), jobs: 0 };
    started = fresh;
    // A process can also be killed from outside while it is idle; the next job then needs a new one.
    void fresh.ended.then(() => {
      if (started === fresh) started = undefined;
    });
    return fresh;
  }

  async function stop(current: Started): Promise<void> {
    if (started === current) started = undefined;
    current.child.kill("SIGKILL");
    await current.ended;
  }

  return {
    run(head, bytes, signal, begin = async () => true) {
      const signals = AbortSignal.any(signal === undefined ? [closing.signal] : [closing.signal, signal]);
      // The listener must be removed: Node keeps a combined signal as long as it has one, and with it the bytes of the job.
      let stopWaiting = () => {};
      const cancelled = new Promise<ChildOutcome>((resolve) => {
        const cancel = () => resolve({ kind: "cancelled" });
        signals.addEventListener("abort", cancel, { once: true });
        stopWaiting = () => signals.removeEventListener("abort", cancel);
      });
      const job = last.then(async (): Promise<ChildOutcome> => {
        stopWaiting();
        return !signals.aborted && (await begin()) ? work(head, bytes, signals) : { kind: "cancelled" };
      });
      last = job.catch(() => undefined);
      return Promise.race([job, cancelled]);
    },
    async close() {
      closing.abort();
      await last;
      clearTimeout(idle);
      if (started !== undefined) await stop(started);
    },
    processId: () => started?.child.pid,
  };
}

function startChild({ program, readable, maxMemoryBytes }: ChildWorkerOptions): Pick<Started, "child" | "ended"> {
  const heapMiB = Math.max(64, Math.floor((maxMemoryBytes * heapShare) / 1024 / 1024));
  const child = spawn(
    process.execPath,
    [`--max-old-space-size=${heapMiB}`, ...toPermissionFlags(readable), fileURLToPath(program), ...readable],
    {
      // The environment has secrets, and a conversion needs none of it.
      env: {},
      stdio: ["pipe", "pipe", "pipe"],
    },
  );
  // A write to a process that has ended is an error of the stream; `exit` reports the end.
  child.stdin.on("error", () => undefined);
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  return { child, ended };
}

/** Sends one job and waits for its answer. The first job of a process also waits until the process is ready. */
function converse(
  { child, jobs }: Started,
  head: unknown,
  bytes: Uint8Array,
  signal: AbortSignal,
  options: ChildWorkerOptions,
): Promise<ChildOutcome> {
  const { maxAnswerBytes, maxMemoryBytes, maxStartMs, maxJobMs } = options;
  return new Promise((resolve) => {
    let errorOutput = "";
    let isReady = jobs > 0;
    let cancelLimit: () => void = () => undefined;
    const readFrames = createFrameReader(maxAnswerBytes);
    const memory = setInterval(() => {
      if ((residentBytesOf(child.pid) ?? 0) > maxMemoryBytes) end({ kind: "tooMuchMemory" });
    }, memoryCheckMs);

    const send = () => {
      isReady = true;
      cancelLimit();
      cancelLimit = limitWork(
        () => processorMsOfProcess(child.pid),
        maxJobMs,
        (kind) => end({ kind: kind === "tooMuch" ? "tooLong" : "starved" }),
      );
      for (const part of encodeFrame({ head, bytes })) child.stdin.write(part);
    };
    const take = ({ head: answer, bytes: output }: Frame) => {
      const message = answer as ChildAnswer;
      if (message.kind === "ready") send();
      else if (message.kind === "failed") end({ kind: "failed", reason: message.reason });
      else end({ kind: "done", result: message.result, bytes: output });
    };
    const onData = (chunk: Buffer) => {
      try {
        for (const frame of readFrames(chunk)) take(frame);
      } catch {
        end({ kind: "answerTooLarge" });
      }
    };
    const onError = (chunk: Buffer) => {
      errorOutput = (errorOutput + chunk.toString("utf8")).slice(-keptErrorBytes);
    };
    const onExit = () => {
      if (!isReady) return end({ kind: "notStarted", reason: `the process ended: ${errorOutput}` });
      const isMemory = /heap out of memory|allocation failed/i.test(errorOutput);
      end(isMemory ? { kind: "tooMuchMemory" } : { kind: "failed", reason: `the process ended: ${errorOutput}` });
    };
    const onAbort = () => end({ kind: "cancelled" });

    function end(outcome: ChildOutcome): void {
      clearInterval(memory);
      cancelLimit();
      child.stdout.off("data", onData);
      child.stderr.off("data", onError);
      child.off("close", onExit).off("error", onExit);
      signal.removeEventListener("abort", onAbort);
      resolve(outcome);
    }

    child.stdout.on("data", onData);
    child.stderr.on("data", onError);
    child.once("close", onExit).once("error", onExit);
    signal.addEventListener("abort", onAbort);
    if (isReady) send();
    else {
      const reason = `the process was not ready after ${maxStartMs} ms`;
      cancelLimit = limitWork(
        () => processorMsOfProcess(child.pid),
        maxStartMs,
        () => end({ kind: "notStarted", reason }),
      );
    }
  });
}
