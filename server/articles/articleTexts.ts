/**
 * Where the articles' texts are worked on: a short one at once, a long one in a thread, so that the event loop is
 * free for everybody's keystrokes. Workspaces take turns, and none has all threads.
 */
import type { ArticleDiff, DiffFormat } from "../../api/schema/article.ts";
import { AppError } from "../../api/schema/error.ts";
import { createTextWorkers, type TextOutcome, toProgramFile } from "../convert/textWorker.ts";
import type { EditTask, PlannedEdit } from "./editPlan.ts";
import type { Replayed, ReplayTask } from "./replay.ts";
import { findChanged } from "./textDiff.ts";
import { textTasks } from "./textTasks.ts";
import type { TextTasks } from "./textThread.ts";

export interface ArticleTexts {
  /** Refuses what the plan refuses, and with `content_too_large` what takes too long. `owner` is a workspace. */
  planEdit(owner: string, task: EditTask): Promise<PlannedEdit>;
  diff(owner: string, from: string, to: string, format: DiffFormat): Promise<Pick<ArticleDiff, "hunks" | "stats">>;
  countLines(owner: string, from: string, to: string): Promise<{ readonly added: number; readonly removed: number }>;
  countWords(owner: string, text: string): Promise<number>;
  /** `owner` is an article. */
  replay(owner: string, task: ReplayTask): Promise<Replayed>;
  /** The syntax tree of Markdown as JSON text. Refuses what is too long or too deep to be parsed in time. */
  toSyntaxTree(owner: string, markdown: string): Promise<string>;
  close(): Promise<void>;
}

/** Characters of all texts together. A trip to another thread takes about half a millisecond, hashing this much less. */
const maxShort = 64 * 1024;
/** Of those that differ: comparing so many takes up to 10 ms, and ten times as many hardly longer, for it is bounded. */
const maxCompared = 8 * 1024;
/** Characters that the edits of a patch look through, in 2 ms. */
const maxSearched = 1024 * 1024;
/** And of its base and the live text, for how much it changes is not known beforehand. */
const maxPatched = 16 * 1024;
/** A text of 2 MiB with a thousand edits takes four seconds. */
const maxMs = 15_000;
const maxWaitMs = 15_000;
/** Updates of a key each that are applied in a few milliseconds. */
const maxUpdates = 200;
/** A document of 16 MiB takes five seconds. */
const maxReplayMs = 60_000;
const maxTreeCharacters = 512 * 1024;
/** About 5 ms for each 1,000 characters are usual. */
const maxTreeMs = 5000;

/** The first text may be compared with each of the others at once. */
function isLight(base: string, ...others: readonly string[]): boolean {
  if (others.reduce((sum, text) => sum + text.length, base.length) > maxShort) return false;
  return others.reduce((sum, text) => sum + changedCharacters(base, text), 0) <= maxCompared;
}

function changedCharacters(base: string, next: string): number {
  const { start, baseEnd, nextEnd } = findChanged(base, next);
  return base === next ? 0 : baseEnd - start + (nextEnd - start);
}

/** An edit that is planned within a few milliseconds. */
export function isLightEdit({ request: { mode, content = "", edits = [] }, base, live }: EditTask): boolean {
  if (mode === "append" || mode === "prepend") return true;
  if (mode === "replace") return isLight(base, content, live);
  return base.length + live.length <= maxPatched && edits.length * base.length <= maxSearched && isLight(base, live);
}

function isShortReplay({ state, updates }: ReplayTask): boolean {
  const bytes = updates.reduce((sum, update) => sum + update.length, state?.length ?? 0);
  return bytes <= maxShort && updates.length <= maxUpdates;
}

function busy(): AppError {
  return new AppError("rate_limited", "Too many long texts are being worked on at once; retry shortly.", { retryAfter: 5 });
}

export function createArticleTexts(): ArticleTexts {
  const program = toProgramFile("textThread", import.meta.url);
  const threads = createTextWorkers<TextTasks>({ program, threads: 2, maxHeapMiB: 512, maxWaiting: 20 });
  // Of their own: a tree takes a hundred times as long as any comparison.
  const trees = createTextWorkers<TextTasks>({ program, threads: 2, maxHeapMiB: 512, maxWaiting: 50 });

  // Commits and readers do not wait for edits: a text is soon counted or read, whatever it is.
  const reads = createTextWorkers<TextTasks>({ program, threads: 2, maxHeapMiB: 1024, maxWaiting: 20 });

  async function demand<Value>(outcome: Promise<TextOutcome<Value>>, tooMuch: string): Promise<Value> {
    const answer = await outcome;
    if (answer.kind === "done") return answer.value;
    throw answer.kind === "busy" ? busy() : new AppError("content_too_large", tooMuch);
  }

  return {
    async planEdit(owner, task) {
      if (isLightEdit(task)) return textTasks.edit(task);
      const { request, base, live, maxFileBytes } = task;
      const { mode, content, edits } = request;
      const input = { request: { mode, content, edits }, base, live, maxFileBytes };
      return demand(threads.run("edit", input, { owner, maxMs, maxWaitMs }), "The edits take too long; send fewer of them at once.");
    },
    async diff(owner, from, to, format) {
      if (isLight(from, to)) return textTasks.diff({ from, to, format });
      return demand(threads.run("diff", { from, to, format }, { owner, maxMs, maxWaitMs }), "The two texts take too long to compare.");
    },
    async countLines(owner, from, to) {
      if (isLight(from, to)) return textTasks.countLines({ from, to });
      return demand(reads.run("countLines", { from, to }, { owner, maxMs, maxWaitMs }), "The two texts take too long to compare.");
    },
    async countWords(owner, text) {
      if (text.length <= maxShort) return textTasks.countWords(text);
      return demand(reads.run("countWords", text, { owner, maxMs, maxWaitMs }), "The text takes too long to count.");
    },
    async replay(owner, task) {
      if (isShortReplay(task)) return textTasks.replay(task);
      return demand(reads.run("replay", task, { owner, maxMs: maxReplayMs, maxWaitMs }), "The document takes too long to rebuild.");
    },
    async toSyntaxTree(owner, markdown) {
      const tooMuch = "The text is too long or too deeply nested for format json; read it as Markdown.";
      if (markdown.length > maxTreeCharacters) throw new AppError("content_too_large", tooMuch);
      return demand(trees.run("syntaxTree", markdown, { owner, maxMs: maxTreeMs, maxWaitMs: maxTreeMs * 2 }), tooMuch);
    },
    async close() {
      await Promise.all([threads.close(), trees.close(), reads.close()]);
    },
  };
}
