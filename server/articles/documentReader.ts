/**
 * Reading a document's log and stored states, with the one thing that is easy to get wrong: the log may be
 * trimmed, or a state replaced, between two reads. Then the reader starts again from what stands now.
 */
import type { LoggedBatch } from "../../realtime/ports.ts";
import { partitionOfId } from "../ids.ts";
import { type LogEntry, type Storage, StorageDamagedError } from "../storage/port.ts";
import { type BatchHeader, decodeBatch, decodeHeader } from "./logEntry.ts";
import { documentLog, documentRecord } from "./records.ts";

const readLimit = 1000;
const readBytes = 4 * 1024 * 1024;
const noEnd = Number.MAX_SAFE_INTEGER;

export interface StateAndBatches {
  /** Revision of `state`. */
  readonly revision: number;
  /** A Yjs update; absent for an empty document. */
  readonly state?: Uint8Array;
  /** What came after it, oldest first. */
  readonly batches: readonly (LoggedBatch & BatchHeader)[];
}

export interface DocumentReader {
  /** Position of the newest batch: the article's live revision. */
  tail(articleId: string): Promise<number>;
  /** All batches after a revision; undefined when some of them are no longer kept. */
  batchesAfter(articleId: string, revision: number): Promise<StateAndBatches["batches"] | undefined>;
  /** The newest batches, at most `count`, oldest first, and what became of those before them. */
  latest(
    articleId: string,
    count: number,
  ): Promise<{ readonly batches: StateAndBatches["batches"]; readonly before: "kept" | "trimmed" | "none" }>;
  /** Time, writer and authors of the batches in (after, through], oldest first; nothing when they are no longer kept. */
  headers(articleId: string, after: number, through: number): AsyncGenerator<BatchHeader & { readonly revision: number }>;
  /**
   * The newest stored state at or below `through` (default: the end) and the batches from there through it;
   * undefined when every stored state lies above.
   */
  rebuild(articleId: string, through?: number): Promise<StateAndBatches | undefined>;
}

export function createDocumentReader(storage: Pick<Storage, "records" | "log" | "blobs">): DocumentReader {
  /** Pieces of the log in (after, through]; `undefined` once the log is trimmed above. */
  async function* pieces(articleId: string, after: number, through: number): AsyncGenerator<readonly LogEntry[] | undefined> {
    const where = { partition: partitionOfId(articleId), log: documentLog(articleId), maxBytes: readBytes };
    for (let position = after; position < through; ) {
      const read = await storage.log.read({ ...where, after: position, limit: Math.min(readLimit, through - position) });
      const last = read.gap ? undefined : read.entries.at(-1);
      if (read.gap) yield undefined;
      else yield read.entries;
      if (last === undefined) return;
      position = last.position;
    }
  }

  async function batches(articleId: string, after: number, through: number): Promise<StateAndBatches["batches"] | undefined> {
    const found: (LoggedBatch & BatchHeader)[] = [];
    for await (const piece of pieces(articleId, after, through)) {
      if (piece === undefined) return undefined;
      for (const entry of piece) found.push(decodeBatch(entry));
    }
    return found;
  }

  return {
    tail: (articleId) => storage.log.tail(partitionOfId(articleId), documentLog(articleId)),
    batchesAfter: (articleId, revision) => batches(articleId, revision, noEnd),
    async latest(articleId, count) {
      for (;;) {
        const stored = await storage.records.get(documentRecord, articleId);
        const trimmedTo = stored?.value.trimmedTo ?? 0;
        const tail = await storage.log.tail(partitionOfId(articleId), documentLog(articleId));
        const after = Math.max(trimmedTo, tail - count);
        const found = await batches(articleId, after, noEnd);
        if (found !== undefined) return { batches: found, before: after > trimmedTo ? "kept" : after > 0 ? "trimmed" : "none" };
      }
    },
    async *headers(articleId, after, through) {
      for await (const piece of pieces(articleId, after, through)) {
        for (const entry of piece ?? []) yield { ...decodeHeader(entry.bytes), revision: entry.position };
      }
    },
    async rebuild(articleId, through = noEnd) {
      for (;;) {
        const stored = await storage.records.get(documentRecord, articleId);
        const saved = stored?.value.states.findLast((state) => state.revision <= through);
        const revision = saved?.revision ?? 0;
        if (stored !== undefined && revision < stored.value.trimmedTo) return undefined;
        const [state, after] = await Promise.all([
          saved === undefined ? undefined : storage.blobs.get(partitionOfId(articleId), saved.blob),
          batches(articleId, revision, through),
        ]);
        const complete = saved === undefined || state !== undefined;
        if (complete && after !== undefined) return { revision, batches: after, ...(state === undefined ? {} : { state }) };
        const now = await storage.records.get(documentRecord, articleId);
        if (now?.revision === stored?.revision) {
          throw new StorageDamagedError(`${articleId} lacks its state at revision ${revision} or batches after it`);
        }
      }
    },
  };
}
