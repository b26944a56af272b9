/**
 * Reads articles for the checks, in worker threads: owners take turns, and what does not come to an end is given up.
 */
import { createTextWorkers, toProgramFile } from "../../convert/textWorker.ts";
import type { ArticleTasks } from "./articleProgram.ts";
import type { CodeDiagnostics, CodeToParse } from "./parseCode.ts";
import type { ArticleStructure } from "./readStructure.ts";

export type Unread = { readonly kind: "unread"; readonly reason: string };

export interface ArticleReader {
  /** `owner`: whose article it is, a workspace's id. */
  readStructure(markdown: string, owner: string): Promise<{ readonly kind: "read"; readonly structure: ArticleStructure } | Unread>;
  parseCode(
    code: CodeToParse,
    owner: string,
  ): Promise<{ readonly kind: "read"; readonly diagnostics: NonNullable<CodeDiagnostics> } | Unread>;
  close(): Promise<void>;
}

const maxHeapMiB = 512;
/** Usual are 5 ms for each 1,000 characters. */
const maxMsFor = (characters: number) => 2000 + characters / 50;
/** For one block, the loading of its grammar included (0.3 s for the largest). */
const parseMs = 5000;
const maxWaitMs = 60_000;

const tooMuch: Unread = { kind: "unread", reason: "The text is too long or too deeply nested to be read in time." };
const busy: Unread = { kind: "unread", reason: "Too many articles are being read at once." };

export function createArticleReader(): ArticleReader {
  const workers = createTextWorkers<ArticleTasks>({
    program: toProgramFile("articleProgram", import.meta.url),
    threads: 2,
    maxHeapMiB,
    maxWaiting: 100,
  });
  return {
    async readStructure(markdown, owner) {
      const outcome = await workers.run("readStructure", markdown, { owner, maxMs: maxMsFor(markdown.length), maxWaitMs });
      if (outcome.kind === "done") return { kind: "read", structure: outcome.value };
      return outcome.kind === "busy" ? busy : tooMuch;
    },
    async parseCode(code, owner) {
      const outcome = await workers.run("parseCode", code, { owner, maxMs: parseMs, maxWaitMs });
      if (outcome.kind === "busy") return busy;
      if (outcome.kind === "tooMuch" || outcome.value === undefined) return tooMuch;
      return { kind: "read", diagnostics: outcome.value };
    },
    close: () => workers.close(),
  };
}
