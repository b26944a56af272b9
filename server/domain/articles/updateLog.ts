/**
 * Implements the rooms' `UpdateLog` port on the storage port: it stores the updates and states of documents.
 *
 * `append` runs for every keystroke. It makes one commit with the batch, the armed checkpoint row and, for a published
 * article, the due rows of publishing. It writes nothing else: the time of the last edit is read from the log itself. The
 * commit requires the revision of the article's record, so a shared store needs no round trip to read the record again:
 * if it has changed since the last append, the commit is refused and the next attempt reads it.
 *
 * A document has a short ascending list of states. The first is the base, through which the log is trimmed; the last is
 * the head. A base is never computed: a later state becomes the base once everything below it may be removed. Therefore
 * the log keeps about 1.5 times as much as `document.keptMs` and `document.keptBatches` require.
 */
import { LRUCache } from "lru-cache";
import type { Limits } from "../../../api/limits.ts";
import { AppError } from "../../../api/schema/error.ts";
import type { JoinedChanges, UpdateLog } from "../../../realtime/ports.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Batch, CommitResult, DueWrite, Storage, Stored } from "../../platform/storage/port.ts";
import { conflict, retryOnConflict } from "../../platform/storage/retryOnConflict.ts";
import { AlreadyAnswered } from "../call/call.ts";
import { checkpointRow, firstCheckAtMs } from "./checkpointRows.ts";
import type { DocumentReader } from "./documentReader.ts";
import { encodeBatch } from "./logEntry.ts";
import { type ArmAtEdit, JoinedCommit } from "./port.ts";
import { type ArticleRecord, articleRecord, documentLog, documentRecord, maxVectorBytes, type StoredState } from "./records.ts";

/** The base, the head, and two states between them that become the next bases. */
const maxStates = 4;
/** Articles whose record is remembered between appends, about 1 kB each. */
const maxLastRead = 2000;

export interface UpdateLogOptions {
  readonly storage: Pick<Storage, "isShared" | "records" | "log" | "blobs" | "commit" | "now">;
  readonly reader: DocumentReader;
  /** Written with each batch, so that a node can skip the batches it wrote itself. */
  readonly nodeId: string;
  readonly checkpointQuietMs: number;
  readonly limits: Pick<Limits, "document.keptMs" | "document.keptBatches">;
  readonly armAtEdit: ArmAtEdit;
}

export function createUpdateLog(options: UpdateLogOptions): UpdateLog {
  const { storage, reader, nodeId, checkpointQuietMs, limits, armAtEdit } = options;

  /** Records of articles at their last append, on a store where a read costs a round trip. */
  const lastRead = new LRUCache<string, Stored<ArticleRecord>>({ max: maxLastRead });

  /**
   * Index of the newest state below which nothing is needed: neither for a kept revision, nor for the authors of the next
   * commit, nor for the batches that are loaded after the head. -1 when no state can become the base.
   */
  async function findBase(article: ArticleRecord, states: readonly StoredState[]): Promise<number> {
    const keptFrom = (await reader.tail(article.articleId)) - limits["document.keptBatches"];
    const keptFromMs = storage.now() - limits["document.keptMs"];
    for (let at = states.length - 1; at >= 0; at -= 1) {
      const revision = states[at]?.revision ?? 0;
      if (revision > article.checkedRevision) continue;
      if (revision <= keptFrom) return at;
      // The time of the batch at a revision is the time at which the previous revision was superseded.
      for await (const { atMs } of reader.headers(article.articleId, revision - 1, revision)) if (atMs < keptFromMs) return at;
    }
    return -1;
  }

  /** Commits the batch with the changes that join it. Returns the error with which they were refused. */
  async function commitWith(batch: Batch, joined: JoinedChanges | undefined): Promise<CommitResult | Error> {
    if (joined === undefined) return storage.commit(batch);
    if (!(joined instanceof JoinedCommit)) throw new Error("only a JoinedCommit can join an append");
    try {
      return await joined.commit(batch);
    } catch (error) {
      if (error instanceof AppError || error instanceof AlreadyAnswered) return error;
      throw error;
    }
  }

  return {
    isShared: storage.isShared,

    async load(articleId) {
      const found = await reader.rebuild(articleId);
      if (found === undefined) throw new Error(`the log head of ${articleId} is below its base`);
      const { batches, revision, ...state } = found;
      return { revision: batches.at(-1)?.revision ?? revision, tail: batches, ...state };
    },

    tail: (articleId) => storage.log.tail(partitionOfId(articleId), documentLog(articleId)),

    append(articleId, updates, guard, after, joined) {
      return retryOnConflict("document.append", async () => {
        const article = lastRead.get(articleId) ?? (await storage.records.get(articleRecord, articleId));
        if (article === undefined || article.value.deletedAtMs !== undefined) return { kind: "deleted" };
        if (storage.isShared) lastRead.set(articleId, article);
        const nowMs = storage.now();
        const checkpoint: DueWrite = { op: "arm", row: checkpointRow(articleId, nowMs, firstCheckAtMs(nowMs, checkpointQuietMs)) };
        const armed = article.value.publicLink === undefined ? undefined : armAtEdit(article.value, nowMs);
        const batch: Batch = {
          partition: partitionOfId(articleId),
          logs: [{ op: "append", log: documentLog(articleId), entries: [encodeBatch(nowMs, nodeId, updates)] }],
          due: armed === undefined ? [checkpoint] : [checkpoint, ...armed.due],
          // Prevents an edit of an article that was moved to the trash between the read and this commit.
          require: [
            { kind: "revision", type: articleRecord, key: articleId, revision: article.revision },
            ...(guard === undefined ? [] : [{ kind: "due", ...guard } as const]),
            ...(after === undefined ? [] : [{ kind: "tail", log: documentLog(articleId), position: after } as const]),
          ],
        };
        const result = await commitWith(batch, joined);
        if (result instanceof Error) return { kind: "refused", error: result };
        if (result.ok) {
          armed?.started?.();
          return { kind: "appended", revision: result.positions[0] as number };
        }
        if (result.conflict.kind === "due") return { kind: "fenced" };
        if (result.conflict.kind === "tail") return { kind: "behind" };
        lastRead.delete(articleId);
        return conflict;
      });
    },

    async readAfter(articleId, revision) {
      const batches = await reader.batchesAfter(articleId, revision);
      return batches === undefined ? { gap: true } : { gap: false, batches };
    },

    async saveState(articleId, revision, state, stateVector) {
      const partition = partitionOfId(articleId);
      const blob = await storage.blobs.put(partition, state);
      await retryOnConflict("document.saveState", async () => {
        const [article, stored] = await Promise.all([
          storage.records.get(articleRecord, articleId),
          storage.records.get(documentRecord, articleId),
        ]);
        const before = stored?.value ?? { articleId, states: [], trimmedTo: 0 };
        if (article === undefined || revision <= (before.states.at(-1)?.revision ?? 0)) return undefined;
        const states = withHead(before.states, { revision, blob, ...toStoredVector(stateVector) });
        const base = await findBase(article.value, states);
        const trimmedTo = Math.max(before.trimmedTo, states[base]?.revision ?? 0);
        const value = { articleId, states: states.slice(Math.max(0, base)), trimmedTo };
        const result = await storage.commit({
          partition,
          records: [{ op: "put", type: documentRecord, value, replacing: stored ?? null }],
          logs: trimmedTo === before.trimmedTo ? [] : [{ op: "trim", log: documentLog(articleId), through: trimmedTo }],
          // Prevents a state from being stored for an article that was deleted for good meanwhile.
          require: [{ kind: "revision", type: articleRecord, key: articleId, revision: article.revision }],
        });
        return result.ok ? undefined : conflict;
      });
    },
  };
}

function toStoredVector(stateVector: Uint8Array | undefined): Pick<StoredState, "stateVector"> {
  if (stateVector === undefined || stateVector.length > maxVectorBytes) return {};
  return { stateVector: Buffer.from(stateVector).toString("base64") };
}

/** Adds the new head. While there are more than `maxStates`, drops the inner state whose two neighbours are closest together. */
function withHead(states: readonly StoredState[], head: StoredState): readonly StoredState[] {
  const next = [...states.map(({ revision, blob }) => ({ revision, blob })), head];
  while (next.length > maxStates) {
    const span = (at: number) => (next[at + 1]?.revision ?? 0) - (next[at - 1]?.revision ?? 0);
    let closest = 1;
    for (let at = 2; at < next.length - 1; at += 1) if (span(at) < span(closest)) closest = at;
    next.splice(closest, 1);
  }
  return next;
}
