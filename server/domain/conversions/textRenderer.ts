/**
 * TextRenderer renders the text of an article as HTML or plain text while the caller waits. A conversion is a
 * stored job: it runs in a child process and also measures the losses.
 *
 * Texts are rendered in threads, within bounded time and memory, and workspaces take turns (AR36). Results are kept by
 * workspace and hash of the text. This module must not know articles or who may read them.
 */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Limits } from "../../../api/limits.ts";
import { AppError } from "../../../api/schema/error.ts";
import { toProgramFile } from "../../platform/workers/programFile.ts";
import { createWorkerPool } from "../../platform/workers/workerPool.ts";
import { engineVersion } from "./engine/version.ts";
import type { RenderTasks } from "./render.worker.ts";
import type { RenderedFormat } from "./renderTasks.ts";

export type { RenderedFormat } from "./renderTasks.ts";

export interface TextToRender {
  readonly text: string;
  /** SHA-256 (hex) of the UTF-8 bytes of the text. */
  readonly contentHash: string;
}

export interface TextRenderer {
  /** Names the behaviour of the writers. It is part of entity tags. */
  readonly version: string;
  /**
   * Returns the UTF-8 bytes of the rendered text. Throws `content_too_large` for a text that is too long, or takes too long, and
   * `rate_limited` if the threads are busy. `owner` is a workspace id.
   */
  render(owner: string, text: TextToRender, format: RenderedFormat): Promise<Uint8Array>;
  close(): Promise<void>;
}

const maxCharacters = 512 * 1024;
const maxOutputBytes = 8 * 1024 * 1024;
/** Usual texts take about 6 ms per 1,000 characters. */
const maxMs = 8000;
const maxWaitMs = 10_000;
const maxWaiting = 20;
const maxHeapMiB = 512;
const idleMs = 60_000;
const maxKeptBytes = 8 * 1024 * 1024;
const tooLarge = "The text is too long or too complex to be rendered; read it as Markdown.";

export function createTextRenderer({ limits }: { readonly limits: Pick<Limits, "conversion.nodes" | "conversion.depth"> }): TextRenderer {
  const bounds = { nodes: limits["conversion.nodes"], depth: limits["conversion.depth"], outputBytes: maxOutputBytes };
  const program = toProgramFile("render.worker");
  const threads = createWorkerPool<RenderTasks>({ program, threads: 2, maxHeapMiB, maxWaiting, idleMs });
  /** Owner, format and content hash → rendered text. The owner is in the key, because a fast answer would tell that another workspace has the same text. */
  const kept = new LRUCache<string, Uint8Array>({
    maxSize: maxKeptBytes,
    sizeCalculation: (bytes) => Math.max(1, bytes.byteLength),
  });
  return {
    version: createHash("sha256").update(engineVersion).digest("hex").slice(0, 8),
    async render(owner, { text, contentHash }, format) {
      const key = `${owner}/${format}/${contentHash}`;
      const known = kept.get(key);
      if (known !== undefined) return known;
      if (text.length > maxCharacters) throw new AppError("content_too_large", tooLarge);
      const outcome = await threads.run("render", { markdown: text, format, bounds }, { owner, maxMs, maxWaitMs });
      if (outcome.kind === "tooMuch") throw new AppError("content_too_large", tooLarge);
      if (outcome.kind === "busy") {
        throw new AppError("rate_limited", "Too many texts are being rendered at once; retry shortly.", { retryAfter: 5 });
      }
      kept.set(key, outcome.value);
      return outcome.value;
    },
    close: () => threads.close(),
  };
}
