/** Tasks of any duration or memory use, for worker threads. */
import { AppError } from "../../api/schema/error.ts";
import { serveTasks } from "../../server/platform/workers/workerTasks.ts";

const spinTasks = {
  echo: (text: string) => text,
  spin: (ms: number) => {
    const startedAt = performance.now();
    while (performance.now() - startedAt < ms);
    return ms;
  },
  /** Blocks the thread without using its processor, as if other processes had it. */
  wait: (ms: number) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    return ms;
  },
  exhaust: () => {
    const kept: number[][] = [];
    for (;;) kept.push(new Array(100_000).fill(kept.length));
  },
  nest: (): number => spinTasks.nest() + 1,
  refuse: (code: "anchor_not_found") => {
    throw new AppError(code, "Not there.", { errors: [{ pointer: "/a", code: "anchor_not_found", message: "Not there." }] });
  },
  fail: () => {
    throw new TypeError("a bug");
  },
};

export type SpinTasks = typeof spinTasks;

serveTasks(spinTasks);
