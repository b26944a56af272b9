/**
 * ArticleTexts runs the CPU work on the articles' texts: inline for a short text, in a worker thread for a long one.
 *
 * The event loop therefore stays free for keystrokes. Owners share the threads, and no single owner gets all of them.
 */
import type { Limits } from "../../../api/limits.ts";
import type { ArticleDiff, DiffFormat } from "../../../api/schema/article.ts";
import { AppError } from "../../../api/schema/error.ts";
import { toProgramFile } from "../../platform/workers/programFile.ts";
import { createWorkerPool, type TaskOutcome } from "../../platform/workers/workerPool.ts";
import type { AttributeTask, AuthoredSpan, ClaimTask, SpansTask } from "./attribute.ts";
import type { EditTask, PlannedEdit } from "./editPlan.ts";
import type { Replayed, ReplayTask } from "./replay.ts";
import type { Section, SectionTask } from "./sections.ts";
import type { TextTasks } from "./text.worker.ts";
import { findChanged } from "./textDiff.ts";
import { textTasks } from "./textTasks.ts";

export interface ArticleTexts {
  /** Throws what `planEdit` throws, and `edit_too_complex` when planning takes longer than `edit.workMs`. `owner` is a workspace id. */
  planEdit(owner: string, task: EditTask): Promise<PlannedEdit>;
  diff(owner: string, from: string, to: string, format: DiffFormat): Promise<Pick<ArticleDiff, "hunks" | "stats">>;
  countLines(owner: string, from: string, to: string): Promise<{ readonly added: number; readonly removed: number }>;
  countWords(owner: string, text: string): Promise<number>;
  /** `owner` is an article id. */
  replay(owner: string, task: ReplayTask): Promise<Replayed>;
  /** The clocks that updates bring, with their authors, in the packed form of `ClockOwners`. */
  claimClocks(owner: string, task: ClaimTask): Promise<Float64Array>;
  /** The author of each character of a document, in stored form. */
  attribute(owner: string, task: AttributeTask): Promise<Uint8Array>;
  readSpans(owner: string, task: SpansTask): Promise<readonly AuthoredSpan[]>;
  /** The sections of Markdown with this heading. Throws `content_too_large` like `toSyntaxTree`. */
  findSections(owner: string, task: SectionTask): Promise<readonly Section[]>;
  /** The syntax tree of Markdown as JSON text. Throws `content_too_large` for a text too long or too deeply nested to parse in time. */
  toSyntaxTree(owner: string, markdown: string): Promise<string>;
  close(): Promise<void>;
}

/** Total characters of all texts that are processed inline. Sending them to a thread takes about 0.5 ms; hashing them takes less. */
const maxShort = 64 * 1024;
/** Differing characters compared inline, in up to 10 ms. Ten times as many take little longer, because the comparison is bounded. */
const maxCompared = 8 * 1024;
/** Characters that the edits of a patch may search inline; this takes 2 ms. */
const maxSearched = 1024 * 1024;
/** Characters of a patch's base and live text together, because the size of its change is unknown before it is applied. */
const maxPatched = 16 * 1024;
/** The steps of a comparison are bounded: two texts of 2 MiB take up to a second, or longer on a busy machine. */
const maxMs = 15_000;
const maxWaitMs = 15_000;
/** Updates of one keystroke each that can be applied within a few milliseconds. */
const maxUpdates = 200;
/** Updates of one keystroke each whose clocks can be read in about 5 ms. */
const maxClaims = 2000;
/** Bytes of a stored attribution that is read inline. Inflated it may be ten times as large. */
const maxShortAttribution = 16 * 1024;
/** Items and ranges that can be attributed in a few milliseconds. */
const maxPieces = 5000;
/** Rebuilding a document of 16 MiB takes five seconds. */
const maxReplayMs = 60_000;
const maxTreeCharacters = 512 * 1024;
/** Parsing usually takes about 5 ms for each 1,000 characters. */
const maxTreeMs = 5000;

/** Whether comparing the first text with each of the others is fast enough to run inline. */
function isLight(base: string, ...others: readonly string[]): boolean {
  if (others.reduce((sum, text) => sum + text.length, base.length) > maxShort) return false;
  return others.reduce((sum, text) => sum + changedCharacters(base, text), 0) <= maxCompared;
}

function changedCharacters(base: string, next: string): number {
  const { start, baseEnd, nextEnd } = findChanged(base, next);
  return base === next ? 0 : baseEnd - start + (nextEnd - start);
}

/** Whether the edit can be planned within a few milliseconds. */
export function isLightEdit({ request: { mode, content = "", edits = [] }, base, live }: EditTask): boolean {
  if (mode === "append" || mode === "prepend") return true;
  if (mode === "replace") return isLight(base, content, live);
  return base.length + live.length <= maxPatched && edits.length * base.length <= maxSearched && isLight(base, live);
}

function isShortReplay({ state, updates }: ReplayTask): boolean {
  const bytes = updates.reduce((sum, update) => sum + update.length, state?.length ?? 0);
  return bytes <= maxShort && updates.length <= maxUpdates;
}

function isShortClaim({ updates }: ClaimTask): boolean {
  return updates.length <= maxClaims && updates.reduce((sum, { update }) => sum + update.length, 0) <= maxShort;
}

function isShortAttribution({ before, claims, pieces }: AttributeTask): boolean {
  const items = Object.values(pieces.files).reduce((sum, file) => sum + file.length / 3, claims.length / 4);
  return items <= maxPieces && (before?.length ?? 0) <= maxShortAttribution;
}

function busy(): AppError {
  return new AppError("rate_limited", "Too many long texts are being processed at once; retry shortly.", { retryAfter: 5 });
}

export function createArticleTexts(limits: Pick<Limits, "edit.workMs">): ArticleTexts {
  const maxEditMs = limits["edit.workMs"];
  const program = toProgramFile("text.worker");
  const threads = createWorkerPool<TextTasks>({ program, threads: 2, maxHeapMiB: 512, maxWaiting: 20 });
  // Trees have their own threads, because parsing one takes a hundred times as long as any comparison.
  const trees = createWorkerPool<TextTasks>({ program, threads: 2, maxHeapMiB: 512, maxWaiting: 50 });

  // Commits and reads have their own threads, because counting or rebuilding any text is fast and must not wait for edits.
  const reads = createWorkerPool<TextTasks>({ program, threads: 2, maxHeapMiB: 1024, maxWaiting: 20 });

  async function demand<Value>(
    outcome: Promise<TaskOutcome<Value>>,
    tooMuch: string,
    code: "content_too_large" | "edit_too_complex" = "content_too_large",
  ): Promise<Value> {
    const answer = await outcome;
    if (answer.kind === "done") return answer.value;
    throw answer.kind === "busy" ? busy() : new AppError(code, tooMuch);
  }

  return {
    async planEdit(owner, task) {
      if (isLightEdit(task)) return textTasks.edit(task);
      const { request, base, live, maxFileBytes } = task;
      const { mode, content, edits } = request;
      const input = { request: { mode, content, edits }, base, live, maxFileBytes };
      const tooComplex = `The edit takes more than ${maxEditMs / 1000} s to compute, so nothing was written. Send fewer edits at once, or longer 'find' texts that occur only once.`;
      return demand(threads.run("edit", input, { owner, maxMs: maxEditMs, maxWaitMs }), tooComplex, "edit_too_complex");
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
      return demand(reads.run("countWords", text, { owner, maxMs, maxWaitMs }), "Counting the words of the text takes too long.");
    },
    async replay(owner, task) {
      if (isShortReplay(task)) return textTasks.replay(task);
      return demand(reads.run("replay", task, { owner, maxMs: maxReplayMs, maxWaitMs }), "The document takes too long to rebuild.");
    },
    async claimClocks(owner, task) {
      if (isShortClaim(task)) return textTasks.claimClocks(task);
      return demand(reads.run("claimClocks", task, { owner, maxMs, maxWaitMs }), "The edits take too long to attribute.");
    },
    async attribute(owner, task) {
      if (isShortAttribution(task)) return textTasks.attribute(task);
      return demand(reads.run("attribute", task, { owner, maxMs, maxWaitMs }), "The text takes too long to attribute.");
    },
    async readSpans(owner, task) {
      if (task.attribution.length <= maxShortAttribution) return textTasks.readSpans(task);
      return demand(reads.run("readSpans", task, { owner, maxMs, maxWaitMs }), "The authors of the text take too long to read.");
    },
    async findSections(owner, task) {
      const tooMuch = "The text is too long or too deeply nested to find its sections; restore the whole file.";
      if (task.markdown.length > maxTreeCharacters) throw new AppError("content_too_large", tooMuch);
      return demand(trees.run("findSections", task, { owner, maxMs: maxTreeMs, maxWaitMs: maxTreeMs * 2 }), tooMuch);
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
