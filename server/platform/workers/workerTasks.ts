/**
 * Runs inside a worker thread: takes one task after the other and posts an answer for each.
 *
 * It does not know the tasks, which belong to the program, nor their time limits, which the worker pool enforces by
 * ending the thread.
 */
import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { AppError, type ErrorCode, type ProblemFacts } from "../../../api/schema/error.ts";
import { ownThreadId } from "./threadTime.ts";

// biome-ignore lint/suspicious/noExplicitAny: each task has an input of its own, checked where it is ordered
export type Tasks = Readonly<Record<string, (input: any) => unknown>>;

export interface TaskOrder {
  readonly name: string;
  readonly input: unknown;
}

export type TaskAnswer =
  | { readonly kind: "done"; readonly value: unknown }
  | { readonly kind: "refused"; readonly code: ErrorCode; readonly detail: string; readonly facts: ProblemFacts }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "tooMuch" };

async function answer(tasks: Tasks, { name, input }: TaskOrder): Promise<TaskAnswer> {
  try {
    const task = tasks[name];
    if (task === undefined) throw new Error(`there is no task ${name}`);
    return { kind: "done", value: await task(input) };
  } catch (error) {
    if (error instanceof AppError) return { kind: "refused", code: error.code, detail: error.message, facts: error.facts };
    // A RangeError means that a deeply nested text has overflowed the stack.
    if (error instanceof RangeError) return { kind: "tooMuch" };
    return { kind: "failed", reason: String(error instanceof Error ? error.stack : error) };
  }
}

/** The first message of a thread: it has loaded its program. `threadId` is that of `ownThreadId`. */
export interface ThreadReady {
  readonly threadId: number | undefined;
}

/** Makes this thread serve `tasks`. A program contains only this call. */
export function serveTasks(tasks: Tasks): void {
  const port = parentPort;
  if (port === null) throw new Error("tasks are served in a worker thread only");
  // On Linux a priority applies to one thread, elsewhere to the whole process. Lower the priority of this thread so
  // that the event loop runs first.
  if (process.platform === "linux") setPriority(10);
  port.on("message", async (order: TaskOrder) => port.postMessage(await answer(tasks, order)));
  port.postMessage({ threadId: ownThreadId() } satisfies ThreadReady);
}
