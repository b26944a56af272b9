/**
 * The inside of a thread that works on texts: takes one order after the other and answers each.
 *
 * It knows neither the tasks nor how long they may take: the first are a program's, the second is the affair of
 * the one who ends the thread.
 */
import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { AppError, type ErrorCode, type ProblemFacts } from "../../api/schema/error.ts";

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
    // A RangeError is a stack that a deeply nested text has used up.
    if (error instanceof RangeError) return { kind: "tooMuch" };
    return { kind: "failed", reason: String(error instanceof Error ? error.stack : error) };
  }
}

/** The whole of a program: makes this thread serve `tasks`. */
export function serveTasks(tasks: Tasks): void {
  const port = parentPort;
  if (port === null) throw new Error("tasks are served in a worker thread only");
  // Linux keeps priorities by thread, others by process: the event loop goes before any text.
  if (process.platform === "linux") setPriority(10);
  port.on("message", async (order: TaskOrder) => port.postMessage(await answer(tasks, order)));
  port.postMessage("ready");
}
