/**
 * Trash moves articles to the trash and deletes them for good.
 *
 * Deletion for good starts with one storage commit that removes the article, its document and its log, so that nothing
 * can find the article afterwards. Its commit records, which may be many, are removed in pieces by a due row, which
 * survives a crash. A text blob is removed with the last commit record that refers to it.
 */
import { notFound } from "../../../api/schema/error.ts";
import type { Alongside, DueOutcome, DueWorker } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Batch, ClaimedRow, CommitResult, DueWrite, Storage, Stored } from "../../platform/storage/port.ts";
import { conflict, retryOnConflict } from "../../platform/storage/retryOnConflict.ts";
import { type AccessWatch, accessFactWrite } from "../identity/access/accessFacts.ts";
import { toAlongside, toBatch } from "./alongside.ts";
import { cancelCheckpoint } from "./checkpointRows.ts";
import type { ArticleListeners } from "./port.ts";
import { type ArticleRecord, articleRecord, commitRecord, commitsOf, documentLog, documentRecord } from "./records.ts";

const trashKind = "article.trash";
const purgeKind = "article.purge";
const commitsAtOnce = 100;

type Commit = (batch: Batch) => Promise<CommitResult>;

export interface Trash {
  /** Moves an article to the trash. `check` runs first and may throw. An article that is already in the trash is not changed. */
  put(articleId: string, check: (article: ArticleRecord) => void, commit: Commit): Promise<void>;
  /** Deletes an article for good, whether it is in the trash or not. `check` runs first and may throw. */
  purge(articleId: string, check: (article: ArticleRecord) => void, commit: Commit): Promise<void>;
  /** Cancels the deletion for good; for the commit that restores an article from the trash. */
  cancel(articleId: string): readonly DueWrite[];
  /** Kind of due row → its worker, for the due pump. */
  readonly workers: Readonly<Record<string, DueWorker>>;
}

export interface TrashOptions {
  readonly storage: Pick<Storage, "records" | "index" | "commit" | "now">;
  readonly listeners: Pick<ArticleListeners, "articleDeleted" | "articleRemoved">;
  readonly access: Pick<AccessWatch, "announce">;
  readonly keepTrashMs: number;
  /** Schedules a poll of the partition's due queue at `dueAtMs`. */
  readonly wake: (partition: number, dueAtMs: number) => void;
}

export function createTrash({ storage, listeners, access, keepTrashMs, wake }: TrashOptions): Trash {
  /** Changes that accompany the deletion of an article not yet in the trash: its page is unpublished and its sockets are closed. */
  async function takenDown({ articleId, workspaceId, deletedAtMs }: ArticleRecord): Promise<Alongside> {
    if (deletedAtMs !== undefined) return {};
    const unpublished = await listeners.articleDeleted({ articleId, workspaceId });
    return { ...unpublished, logs: [...(unpublished.logs ?? []), accessFactWrite({ kind: "article.deleted", articleId })] };
  }

  /** Changes of other domains when an article is deleted for good: its topic is notified. */
  async function parted({ articleId, topicId, updatedBy }: ArticleRecord): Promise<Alongside> {
    return topicId === undefined ? {} : listeners.articleRemoved({ articleId, topicId, by: updatedBy });
  }

  async function purgeOnce(stored: Stored<ArticleRecord>, due: readonly DueWrite[], commit: Commit): Promise<CommitResult> {
    const { articleId } = stored.value;
    const partition = partitionOfId(articleId);
    const document = await storage.records.get(documentRecord, articleId);
    const nowMs = storage.now();
    const others = toAlongside([await takenDown(stored.value), await parted(stored.value)]);
    const result = await commit(
      toBatch(
        partition,
        {
          records: [
            { op: "delete", type: articleRecord, replacing: stored },
            ...(document === undefined ? [] : [{ op: "delete", type: documentRecord, replacing: document } as const]),
          ],
          logs: [{ op: "drop", log: documentLog(articleId) }],
          due: [
            ...due,
            cancelCheckpoint(articleId),
            {
              op: "schedule",
              row: { id: `${purgeKind}/${articleId}`, kind: purgeKind, dueAtMs: nowMs, attempts: 0, payload: { articleId } },
            },
          ],
          // Prevents a state that is stored meanwhile from outliving the article.
          require: document === undefined ? [{ kind: "revision", type: documentRecord, key: articleId, revision: "absent" }] : [],
        },
        others,
      ),
    );
    if (result.ok) {
      others.started?.();
      access.announce(partition);
      wake(partition, nowMs);
    }
    return result;
  }

  async function expire(row: ClaimedRow): Promise<DueOutcome> {
    const { articleId } = row.payload as { readonly articleId: string };
    return retryOnConflict("article.expire", async () => {
      const stored = await storage.records.get(articleRecord, articleId);
      if (stored?.value.deletedAtMs === undefined) return { kind: "done" };
      const result = await purgeOnce(stored, [{ op: "acknowledge", id: row.id, fence: row.fence }], (batch) => storage.commit(batch));
      return result.ok || result.conflict.kind === "due" ? { kind: "settled" } : conflict;
    });
  }

  async function removeCommits(row: ClaimedRow, signal: AbortSignal): Promise<DueOutcome> {
    const { articleId } = row.payload as { readonly articleId: string };
    const { partition } = row;
    while (!signal.aborted) {
      const rows = await storage.index.scan({ partition, prefix: commitsOf(articleId), limit: commitsAtOnce });
      if (rows.length === 0) return { kind: "done" };
      const commits = await storage.records.getMany(
        commitRecord,
        rows.map(({ target }) => target),
      );
      const records = commits.flatMap((stored) =>
        stored === undefined ? [] : [{ op: "delete", type: commitRecord, replacing: stored } as const],
      );
      await storage.commit({ partition, records });
    }
    return { kind: "retry", atMs: storage.now() };
  }

  return {
    put(articleId, check, commit) {
      const partition = partitionOfId(articleId);
      return retryOnConflict("article.trash", async () => {
        const stored = await storage.records.get(articleRecord, articleId);
        if (stored === undefined) throw notFound();
        check(stored.value);
        if (stored.value.deletedAtMs !== undefined) return undefined;
        const deletedAtMs = storage.now();
        const { publicLink: _publicLink, ...article } = stored.value;
        const value: ArticleRecord = { ...article, metaRevision: article.metaRevision + 1, deletedAtMs };
        const row = {
          id: `${trashKind}/${articleId}`,
          kind: trashKind,
          dueAtMs: deletedAtMs + keepTrashMs,
          attempts: 0,
          payload: { articleId },
        };
        const own = {
          records: [{ op: "put", type: articleRecord, value, replacing: stored }],
          due: [{ op: "schedule", row }],
        } as const;
        const down = await takenDown(stored.value);
        if (!(await commit(toBatch(partition, own, down))).ok) return conflict;
        down.started?.();
        access.announce(partition);
        return undefined;
      });
    },

    purge(articleId, check, commit) {
      return retryOnConflict("article.purge", async () => {
        const stored = await storage.records.get(articleRecord, articleId);
        if (stored === undefined) throw notFound();
        check(stored.value);
        const result = await purgeOnce(stored, [{ op: "cancel", id: `${trashKind}/${articleId}` }], commit);
        return result.ok ? undefined : conflict;
      });
    },

    cancel: (articleId) => [{ op: "cancel", id: `${trashKind}/${articleId}` }],
    workers: { [trashKind]: expire, [purgeKind]: removeCommits },
  };
}
