/** Runs the text tasks of reviews: short ones inline, all others in worker threads, so that the event loop stays free. */
import { AppError } from "../../../api/schema/error.ts";
import { toProgramFile } from "../../platform/workers/programFile.ts";
import { createWorkerPool, type TaskOutcome } from "../../platform/workers/workerPool.ts";
import { placeQuotes, type Quoted, type QuotePlace } from "./anchorPlaces.ts";
import type { ReviewTasks } from "./review.worker.ts";

export interface ReviewTexts {
  /** Returns the different handles of a Markdown text in lower case. `owner` is a workspace id. */
  findHandles(owner: string, markdown: string): Promise<readonly string[]>;
  /** Returns the place of each quote in the text; undefined for a quote without a place. `owner` is a workspace id. */
  placeQuotes(owner: string, text: string, quotes: readonly Quoted[]): Promise<readonly (QuotePlace | undefined)[]>;
  close(): Promise<void>;
}

/** Characters of the text and of all quotes that are searched inline, in a few milliseconds. */
const maxInline = 64 * 1024;
/** The search is bounded and takes less than half a second. Parsing takes about 5 ms for each 1,000 characters. */
const maxMs = 5000;
const maxWaitMs = 15_000;

export function createReviewTexts(): ReviewTexts {
  const program = toProgramFile("review.worker");
  const threads = createWorkerPool<ReviewTasks>({ program, threads: 2, maxHeapMiB: 256, maxWaiting: 50 });

  async function demand<Value>(outcome: Promise<TaskOutcome<Value>>, tooMuch: string): Promise<Value> {
    const answer = await outcome;
    if (answer.kind === "done") return answer.value;
    if (answer.kind === "tooMuch") throw new AppError("content_too_large", tooMuch);
    throw new AppError("rate_limited", "Too many reviews are being processed at once; retry shortly.", { retryAfter: 5 });
  }

  return {
    async findHandles(owner, markdown) {
      if (!markdown.includes("@")) return [];
      const tooMuch = "The Markdown of the text is nested too deeply to be read in time.";
      return demand(threads.run("findHandles", markdown, { owner, maxMs, maxWaitMs }), tooMuch);
    },
    async placeQuotes(owner, text, quotes) {
      if (quotes.length === 0) return [];
      const characters = quotes.reduce((sum, { quote }) => sum + quote.length, text.length);
      if (characters <= maxInline) return placeQuotes(text, quotes);
      const tooMuch = "The text takes too long to search.";
      return demand(threads.run("placeQuotes", { text, quotes }, { owner, maxMs, maxWaitMs }), tooMuch);
    },
    close: () => threads.close(),
  };
}
