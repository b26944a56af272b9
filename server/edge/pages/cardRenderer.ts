/**
 * CardRenderer draws the picture of a public page for chat programs and social networks, and caches it in bounded memory.
 *
 * A picture depends only on the title and the address of the server. It is drawn at the first request, in one worker
 * thread that ends when it has been idle for a while.
 */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { AppError } from "../../../api/schema/error.ts";
import { toProgramFile } from "../../platform/workers/programFile.ts";
import { createWorkerPool } from "../../platform/workers/workerPool.ts";
import type { CardTasks } from "./card.worker.ts";
import type { CardText } from "./pageCardLayout.ts";

export interface CardRenderer {
  /** Entity tag of the picture. */
  tagOf(text: CardText): string;
  /** Returns the PNG. Throws `unavailable` if no thread was free in time. */
  draw(workspaceId: string, text: CardText): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** The number must be increased when the layout of the picture changes. */
const cardVersion = 1;
const maxCachedBytes = 4 * 1024 * 1024;
const maxMs = 3000;
const maxWaitMs = 4000;
const idleMs = 60_000;
const maxHeapMiB = 128;
const maxWaiting = 20;

export function createCardRenderer(): CardRenderer {
  const program = toProgramFile("card.worker");
  const threads = createWorkerPool<CardTasks>({ program, threads: 1, maxHeapMiB, maxWaiting, idleMs });
  /** Entity tag → picture. */
  const cache = new LRUCache<string, Uint8Array>({ maxSize: maxCachedBytes, sizeCalculation: (bytes) => bytes.byteLength });
  const flights = new Map<string, Promise<Uint8Array>>();

  const tagOf = ({ title, site }: CardText) =>
    createHash("sha256")
      .update(JSON.stringify([cardVersion, title, site]))
      .digest("base64url")
      .slice(0, 27);

  async function make(owner: string, text: CardText, tag: string): Promise<Uint8Array> {
    const outcome = await threads.run("card", text, { owner, maxMs, maxWaitMs });
    if (outcome.kind !== "done") throw new AppError("unavailable", "The picture could not be drawn in time; try again.", { retryAfter: 5 });
    cache.set(tag, outcome.value);
    return outcome.value;
  }

  return {
    tagOf,
    draw(workspaceId, text) {
      const tag = tagOf(text);
      const known = cache.get(tag);
      if (known !== undefined) return Promise.resolve(known);
      const flight = flights.get(tag) ?? make(workspaceId, text, tag).finally(() => flights.delete(tag));
      flights.set(tag, flight);
      return flight;
    },
    close: () => threads.close(),
  };
}
