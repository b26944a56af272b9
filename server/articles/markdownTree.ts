/**
 * Markdown as its syntax tree (mdast) in JSON text, made in a worker thread.
 *
 * The parser takes about 5 ms for each 1,000 characters: on the event loop a long article would hold up everybody's
 * keystrokes. One worker serves one text after the other. It is started at the first text; when a text takes too
 * long or exhausts its memory, the worker is ended and that text refused.
 */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { AppError } from "../../api/schema/error.ts";

export interface MarkdownTree {
  /** Without positions. Refuses with `content_too_large` what is too long or too deep to be parsed in time. */
  toJson(markdown: string): Promise<string>;
  close(): Promise<void>;
}

const maxCharacters = 512 * 1024;
const maxMs = 5000;
/** Texts that may wait for the worker at once. */
const maxWaiting = 50;
const maxHeapMiB = 512;

const packages = ["unified", "remark-parse", "remark-gfm", "remark-frontmatter"] as const;

/** Plain JavaScript, because a worker of its own file would have to be built and shipped beside the server. */
const program = `
const { parentPort, workerData } = require("node:worker_threads");
const parser = Promise.all(workerData.map((url) => import(url))).then(([{ unified }, parse, gfm, frontmatter]) =>
  unified().use(parse.default).use(gfm.default).use(frontmatter.default));
parentPort.on("message", async (markdown) => {
  try {
    const tree = (await parser).parse(markdown);
    parentPort.postMessage({ json: JSON.stringify(tree, (name, value) => (name === "position" ? undefined : value)) });
  } catch (error) {
    parentPort.postMessage(error instanceof RangeError ? {} : { failure: String(error) });
  }
});
`;

type Answer = { readonly json?: string; readonly failure?: string };

function tooComplex(): AppError {
  return new AppError("content_too_large", "The text is too long or too deeply nested for format json; read it as Markdown.");
}

export function createMarkdownTree(): MarkdownTree {
  const require = createRequire(import.meta.url);
  let worker: Worker | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  function start(): Worker {
    const urls = packages.map((name) => pathToFileURL(require.resolve(name)).href);
    const started = new Worker(program, { eval: true, workerData: urls, resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB } });
    started.unref();
    return started;
  }

  async function parse(markdown: string): Promise<string> {
    worker ??= start();
    const current = worker;
    const answer = await new Promise<Answer>((resolve) => {
      const timer = setTimeout(() => end({}), maxMs);
      const end = (outcome: Answer) => {
        clearTimeout(timer);
        for (const name of ["message", "error", "exit"]) current.removeAllListeners(name);
        resolve(outcome);
      };
      current.once("message", end);
      // Out of memory, among others: the worker is gone.
      current.once("error", () => end({}));
      current.once("exit", () => end({}));
      current.postMessage(markdown);
    });
    if (answer.json !== undefined) return answer.json;
    worker = undefined;
    // An error after its listeners are gone would end the process.
    current.on("error", () => undefined);
    await current.terminate();
    if (answer.failure !== undefined) throw new Error(`the Markdown parser failed: ${answer.failure}`);
    throw tooComplex();
  }

  return {
    toJson(markdown) {
      if (markdown.length > maxCharacters) return Promise.reject(tooComplex());
      if (waiting >= maxWaiting) {
        return Promise.reject(
          new AppError("rate_limited", "Too many syntax trees are being made at once; retry shortly.", { retryAfter: 5 }),
        );
      }
      waiting += 1;
      const parsed = last
        .then(() => parse(markdown))
        .finally(() => {
          waiting -= 1;
        });
      last = parsed.catch(() => undefined);
      return parsed;
    },
    async close() {
      await last;
      await worker?.terminate();
      worker = undefined;
    },
  };
}
