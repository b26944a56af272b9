/**
 * SearchIndex runs the tasks of the index in threads: one thread writes, others search.
 *
 * SQLite works synchronously, so none of its calls may run on the event loop. The thread that writes ends after a while
 * without changes, because an idle thread takes some megabytes.
 */
import { join } from "node:path";
import { AppError } from "../../../api/schema/error.ts";
import { toProgramFile } from "../../platform/workers/programFile.ts";
import { createWorkerPool, type TaskOutcome } from "../../platform/workers/workerPool.ts";
import { type IndexDirectory, lockIndexDirectory } from "./directory.ts";
import type { FoundDocument, IndexChanges, IndexedPartition } from "./indexFile.ts";
import type { IndexOutcome, SnippetTask } from "./indexTasks.ts";
import type { IndexTasks } from "./search.worker.ts";

export interface SearchIndexOptions {
  /** The setting `SEARCH_DIR`. */
  readonly parentDirectory: string;
  /** Processor time of one search. */
  readonly maxSearchMs: number;
}

/** Throws `UnusableIndex` if the file must be removed and built again, and any other error if a retry may help. */
export interface SearchIndex {
  /** Locks a folder and opens or creates the file in it. */
  open(): Promise<{ readonly partitions: readonly IndexedPartition[]; readonly documents: number }>;
  remove(): Promise<void>;
  begin(partition: Pick<IndexedPartition, "partition" | "cursor" | "mark">): Promise<void>;
  /** Resolves with the number of documents. */
  apply(changes: IndexChanges): Promise<number>;
  finish(partition: number): Promise<number>;
  /** Finds nothing before `open`. Throws `validation_failed` if the search takes too long, and `rate_limited` if too many wait. */
  find(owner: string, query: { expression: string; ranked: number; limit: number }): Promise<readonly FoundDocument[]>;
  snippets(owner: string, task: SnippetTask): Promise<readonly string[]>;
  close(): Promise<void>;
}

export class UnusableIndex extends Error {
  override readonly name = "UnusableIndex";
}

/** A batch of the largest articles, on a busy machine. */
const maxWriteMs = 120_000;
const maxWaitMs = 10_000;
const idleThreadMs = 5000;

export function createSearchIndex({ parentDirectory, maxSearchMs }: SearchIndexOptions): SearchIndex {
  const program = toProgramFile("search.worker");
  const writing = createWorkerPool<IndexTasks>({ program, threads: 1, maxHeapMiB: 512, maxWaiting: 100, idleMs: idleThreadMs });
  const searching = createWorkerPool<IndexTasks>({ program, threads: 2, maxHeapMiB: 256, maxWaiting: 50, idleMs: idleThreadMs });
  const write = { owner: "index", maxMs: maxWriteMs, maxWaitMs: maxWriteMs };
  let locked: IndexDirectory | undefined;
  let path = "";

  function usable<Value>(outcome: IndexOutcome<Value>): Value {
    if (outcome.kind === "unusable") throw new UnusableIndex(outcome.reason);
    return outcome.value;
  }

  async function written<Value>(running: Promise<TaskOutcome<IndexOutcome<Value>>>): Promise<Value> {
    const outcome = await running;
    if (outcome.kind === "done") return usable(outcome.value);
    throw new Error(outcome.kind === "busy" ? "the index thread is busy or closed" : "the index thread took too long or too much memory");
  }

  async function searched<Value>(running: Promise<TaskOutcome<Value>>): Promise<Value> {
    const outcome = await running;
    if (outcome.kind === "done") return outcome.value;
    if (outcome.kind === "busy") throw new AppError("rate_limited", "Too many searches wait; retry shortly.", { retryAfter: 1 });
    const message = "takes too long to search; use fewer or longer words";
    throw new AppError("validation_failed", `The parameter q ${message}.`, { errors: [{ pointer: "/q", code: "custom", message }] });
  }

  return {
    async open() {
      locked ??= await lockIndexDirectory(parentDirectory);
      path = join(locked.path, "index.db");
      return written(writing.run("open", { path }, write));
    },
    async remove() {
      const outcome = await writing.run("remove", { path }, write);
      if (outcome.kind !== "done") throw new Error("the index thread could not remove the file");
    },
    begin: (partition) => written(writing.run("begin", { path, ...partition }, write)),
    apply: (changes) => written(writing.run("apply", { path, ...changes }, write)),
    finish: (partition) => written(writing.run("finish", { path, partition }, write)),
    async find(owner, query) {
      if (path === "") return [];
      return usable(await searched(searching.run("find", { path, ...query }, { owner, maxMs: maxSearchMs, maxWaitMs })));
    },
    snippets: (owner, task) => searched(searching.run("snippets", task, { owner, maxMs: maxSearchMs, maxWaitMs })),
    async close() {
      if (path !== "") await writing.run("close", undefined, write);
      await Promise.all([writing.close(), searching.close()]);
      await locked?.unlock();
    },
  };
}
