/**
 * DocumentReader reads a document's log and its stored states.
 *
 * The log may be trimmed, or a state replaced, between two reads. `latest` and `rebuild` then start again with the current
 * record, so a caller never gets a state and batches that do not fit together.
 */
import type { LoggedBatch } from "../../../realtime/ports.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import { type LogEntry, type Storage, StorageDamagedError } from "../../platform/storage/port.ts";
import { conflict, retryOnConflict } from "../../platform/storage/retryOnConflict.ts";
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
  /** State vector of `state`, if it was stored. */
  readonly stateVector?: Uint8Array;
  /** The batches after `revision`, oldest first. */
  readonly batches: readonly (LoggedBatch & BatchHeader)[];
}

export interface DocumentReader {
  /** Position of the newest batch: the article's live revision. */
  tail(articleId: string): Promise<number>;
  /** All batches after a revision, oldest first; undefined when some of them were trimmed. */
  batchesAfter(articleId: string, revision: number): Promise<StateAndBatches["batches"] | undefined>;
  /** The newest batches, at most `count`, oldest first. `before` says whether older batches are kept, were trimmed or never existed. */
  latest(
    articleId: string,
    count: number,
  ): Promise<{ readonly batches: StateAndBatches["batches"]; readonly before: "kept" | "trimmed" | "none" }>;
  /** The batches in (after, through] in pieces of a few megabytes, oldest first; ends early when the batches were trimmed. */
  batchesWithin(articleId: string, after: number, through: number): AsyncGenerator<StateAndBatches["batches"]>;
  /** Time, writer and authors of the batches in (after, through], oldest first; no items when the batches were trimmed. */
  headers(articleId: string, after: number, through: number): AsyncGenerator<BatchHeader & { readonly revision: number }>;
  /**
   * The newest stored state at or below `through` (default: the end of the log), and the batches after that state up to and
   * including `through`. Undefined when the log is trimmed and every stored state is newer. Throws `StorageDamagedError`.
   */
  rebuild(articleId: string, through?: number): Promise<StateAndBatches | undefined>;
}

export function createDocumentReader(storage: Pick<Storage, "records" | "log" | "blobs">): DocumentReader {
  /** Reads the log in (after, through] piece by piece; yields `undefined` and ends when the next entry was trimmed. */
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
    latest(articleId, count) {
      return retryOnConflict("document.latest", async () => {
        const stored = await storage.records.get(documentRecord, articleId);
        const trimmedTo = stored?.value.trimmedTo ?? 0;
        const tail = await storage.log.tail(partitionOfId(articleId), documentLog(articleId));
        const after = Math.max(trimmedTo, tail - count);
        const found = await batches(articleId, after, noEnd);
        if (found === undefined) return conflict;
        return { batches: found, before: after > trimmedTo ? "kept" : after > 0 ? "trimmed" : "none" };
      });
    },
    async *batchesWithin(articleId, after, through) {
      for await (const piece of pieces(articleId, after, through)) yield (piece ?? []).map(decodeBatch);
    },
    async *headers(articleId, after, through) {
      for await (const piece of pieces(articleId, after, through)) {
        for (const entry of piece ?? []) yield { ...decodeHeader(entry.bytes), revision: entry.position };
      }
    },
    rebuild(articleId, through = noEnd) {
      return retryOnConflict("document.rebuild", async () => {
        const stored = await storage.records.get(documentRecord, articleId);
        const saved = stored?.value.states.findLast((state) => state.revision <= through);
        const revision = saved?.revision ?? 0;
        if (stored !== undefined && revision < stored.value.trimmedTo) return undefined;
        const [state, after] = await Promise.all([
          saved === undefined ? undefined : storage.blobs.get(partitionOfId(articleId), saved.blob),
          batches(articleId, revision, through),
        ]);
        const complete = saved === undefined || state !== undefined;
        if (complete && after !== undefined) {
          const vector = saved?.stateVector === undefined ? {} : { stateVector: Buffer.from(saved.stateVector, "base64") };
          return { revision, batches: after, ...(state === undefined ? {} : { state, ...vector }) };
        }
        const now = await storage.records.get(documentRecord, articleId);
        if (now?.revision === stored?.revision) {
          throw new StorageDamagedError(`${articleId} lacks its snapshot at revision ${revision} or batches after it`);
        }
        return conflict;
      });
    },
  };
}
