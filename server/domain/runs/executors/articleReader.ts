/**
 * Composes and checks articles in worker threads.
 *
 * Workspaces take turns, so that one of them cannot block the others. A task that exceeds its time limit is stopped.
 */
import { noUsage } from "../../../../machines/agentRunContext.ts";
import { toProgramFile } from "../../../platform/workers/programFile.ts";
import { createWorkerPool } from "../../../platform/workers/workerPool.ts";
import type { ArticleTasks } from "./article.worker.ts";
import type { CodeDiagnostics, CodeToParse } from "./parseCode.ts";
import type { StepResult } from "./port.ts";

export interface Unread {
  readonly kind: "unread";
  readonly reason: string;
  /** True if a later attempt may succeed. */
  readonly retryable: boolean;
}
export type Read<Value> = { readonly kind: "read"; readonly value: Value } | Unread;

type Tasks = Omit<ArticleTasks, "parseCode">;
/** `owner` is the id of the workspace that owns the article. */
type Reading = {
  readonly [Name in keyof Tasks]: (input: Parameters<Tasks[Name]>[0], owner: string) => Promise<Read<ReturnType<Tasks[Name]>>>;
};

export interface ArticleReader extends Reading {
  parseCode(code: CodeToParse, owner: string): Promise<Read<NonNullable<CodeDiagnostics>>>;
  close(): Promise<void>;
}

/** Result of a step whose article could not be read. */
export function toUnread({ reason, retryable }: Unread): StepResult {
  return { kind: "failed", code: "step_failed", message: reason, retryable, usage: noUsage };
}

const maxHeapMiB = 512;
/**
 * Time limit in milliseconds: 20 ms for each 1,000 characters plus 2 s. The usual time is 5 ms for each 1,000
 * characters.
 */
const maxMsFor = (characters: number) => 2000 + characters / 50;
/** Time limit for one code block. It includes the time to load the grammar (0.3 s for the largest). */
const parseMs = 5000;
const maxWaitMs = 60_000;

const tooMuch: Unread = { kind: "unread", reason: "The text is too long or too deeply nested to be read in time.", retryable: false };
const busy: Unread = { kind: "unread", reason: "Too many articles are being read at once.", retryable: true };

export function createArticleReader(): ArticleReader {
  const workers = createWorkerPool<ArticleTasks>({
    program: toProgramFile("article.worker"),
    threads: 2,
    maxHeapMiB,
    maxWaiting: 100,
  });

  function reading<Name extends keyof Tasks>(name: Name, toTexts: (input: Parameters<Tasks[Name]>[0]) => readonly string[]): Reading[Name] {
    const read = async (input: Parameters<Tasks[Name]>[0], owner: string): Promise<Read<ReturnType<Tasks[Name]>>> => {
      const characters = toTexts(input).reduce((sum, { length }) => sum + length, 0);
      const outcome = await workers.run(name, input, { owner, maxMs: maxMsFor(characters), maxWaitMs });
      if (outcome.kind === "done") return { kind: "read", value: outcome.value as ReturnType<Tasks[Name]> };
      return outcome.kind === "busy" ? busy : tooMuch;
    };
    return read as Reading[Name];
  }

  return {
    compose: reading("compose", ({ from }) => Object.values(from.texts)),
    judgeDraft: reading("judgeDraft", ({ texts }) => Object.values(texts)),
    readStructure: reading("readStructure", (markdown) => [markdown]),
    reviewMarkdown: reading("reviewMarkdown", ({ markdown }) => [markdown]),
    validateMarkdown: reading("validateMarkdown", ({ markdown }) => [markdown]),
    async parseCode(code, owner) {
      const outcome = await workers.run("parseCode", code, { owner, maxMs: parseMs, maxWaitMs });
      if (outcome.kind === "busy") return busy;
      if (outcome.kind === "tooMuch" || outcome.value === undefined) return tooMuch;
      return { kind: "read", value: outcome.value };
    },
    close: () => workers.close(),
  };
}
