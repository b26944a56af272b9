/**
 * Work on texts in a worker thread: one text after the other, each with an end. A text that takes too long, or
 * exhausts the memory given to it, ends the worker and is refused; the next one gets a new worker.
 *
 * The program is plain JavaScript in a string, because a worker of its own file would have to be built and shipped
 * beside the server. It gets the packages named to it and defines `work(text)`.
 */
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

export interface TextWorkerOptions {
  /** Files of packages, imported in this order and handed to the program as `packages`. */
  readonly packages: readonly string[];
  /** Defines the function `work`, which takes the text and returns a text or a promise of one. */
  readonly program: string;
  readonly maxHeapMiB: number;
}

export type TextOutcome =
  | { readonly kind: "done"; readonly text: string }
  /** It would not have come to an end. */
  | { readonly kind: "tooMuch" };

export interface TextWorker {
  run(text: string, maxMs: number): Promise<TextOutcome>;
  /** Ends what is under way; it and what waits is refused. */
  close(): Promise<void>;
}

interface Answer {
  readonly text?: string;
  readonly failure?: string;
}

const frame = (program: string) => `
const { parentPort, workerData } = require("node:worker_threads");
const ready = Promise.all(workerData.map((url) => import(url))).then((packages) => {
${program}
return work;
});
parentPort.on("message", async (text) => {
  try {
    const work = await ready;
    parentPort.postMessage({ text: await work(text) });
  } catch (error) {
    // A RangeError is a stack that a deeply nested text has used up.
    parentPort.postMessage(error instanceof RangeError ? {} : { failure: String(error && error.stack || error) });
  }
});
`;

export function createTextWorker({ packages, program, maxHeapMiB }: TextWorkerOptions): TextWorker {
  let worker: Worker | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let closed = false;

  function start(): Worker {
    const workerData = packages.map((file) => pathToFileURL(file).href);
    const started = new Worker(frame(program), { eval: true, workerData, resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB } });
    // An error that nobody waits for must not end the process.
    started.on("error", () => undefined);
    started.unref();
    return started;
  }

  function ask(current: Worker, text: string, maxMs: number): Promise<Answer> {
    return new Promise((resolve) => {
      const end = (answer: Answer) => {
        clearTimeout(timer);
        current.off("message", end).off("error", stop).off("exit", stop);
        resolve(answer);
      };
      const stop = () => end({});
      const timer = setTimeout(stop, maxMs);
      current.once("message", end).once("error", stop).once("exit", stop);
      current.postMessage(text);
    });
  }

  async function work(text: string, maxMs: number): Promise<TextOutcome> {
    if (closed) return { kind: "tooMuch" };
    worker ??= start();
    const current = worker;
    const answer = await ask(current, text, maxMs);
    if (answer.text !== undefined) return { kind: "done", text: answer.text };
    worker = undefined;
    await current.terminate();
    if (answer.failure !== undefined) throw new Error(`work on a text failed: ${answer.failure}`);
    return { kind: "tooMuch" };
  }

  return {
    run(text, maxMs) {
      const outcome = last.then(() => work(text, maxMs));
      last = outcome.catch(() => undefined);
      return outcome;
    },
    async close() {
      closed = true;
      await worker?.terminate();
      worker = undefined;
      await last;
    },
  };
}
