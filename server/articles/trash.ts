/**
 * Deleted articles: into the trash, and out of the world.
 *
 * Going for good begins with one commit that removes the article, its document and its log, so that from then on
 * nothing can find it; its commits, of which there may be many, follow in pieces under a due row that survives a
 * crash. The texts go with the last commit that names them.
 */

import { notFound } from "../../api/schema/error.ts";
import type { Alongside, DueOutcome, DueWorker } from "../actors/port.ts";
import { type AccessWatch, accessFactWrite } from "../auth/accessFacts.ts";
import { partitionOfId } from "../ids.ts";
import type { Batch, ClaimedRow, CommitResult, DueWrite, Storage, Stored } from "../storage/port.ts";
import { toAlongside, toBatch } from "./alongside.ts";
import { cancelCheckpoint } from "./checkpointRows.ts";
import type { ArticleListeners } from "./port.ts";
import { type ArticleRecord, articleRecord, commitRecord, commitsOf, documentLog, documentRecord } from "./records.ts";

const trashKind = "article.trash";
const purgeKind = "article.purge";
const commitsAtOnce = 100;

type Commit = (batch: Batch) => Promise<CommitResult>;

export interface Trash {
  /** `check` sees the article first and may refuse. An article that is there already stays as it is. */
  put(articleId: string, check: (article: ArticleRecord) => void, commit: Commit): Promise<void>;
  /** For good, from the trash or not. */
  purge(articleId: string, check: (article: ArticleRecord) => void, commit: Commit): Promise<void>;
  /** For the commit that takes an article back. */
  cancel(articleId: string): readonly DueWrite[];
  /** Kind of due row → its worker, for the due pump. */
  readonly workers: Readonly<Record<string, DueWorker>>;
}

export interface TrashOptions {
  readonly storage: Pick<Storage, "records" | "index" | "commit" | "now">;
  readonly listeners: Pick<ArticleListeners, "articleDeleted" | "articleRemoved">;
  readonly access: Pick<AccessWatch, "announce">;
  readonly keepTrashMs: number;
  /** Looks at the due queue once something in it is due. */
  readonly wake: (partition: number, dueAtMs: number) => void;
}

export function createTrash({ storage, listeners, access, keepTrashMs, wake }: TrashOptions): Trash {
  /** What else goes when a living article is deleted: its page and its sockets. */
  async function takenDown({ articleId, workspaceId, deletedAtMs }: ArticleRecord): Promise<Alongside> {
    if (deletedAtMs !== undefined) return {};
    const unpublished = await listeners.articleDeleted({ articleId, workspaceId });
    return { ...unpublished, logs: [...(unpublished.logs ?? []), accessFactWrite({ kind: "article.deleted", articleId })] };
  }

  /** What of others ends with an article that goes for good. */
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
          // A state saved meanwhile would be left behind.
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
    for (;;) {
      const stored = await storage.records.get(articleRecord, articleId);
      if (stored?.value.deletedAtMs === undefined) return { kind: "done" };
      const result = await purgeOnce(stored, [{ op: "acknowledge", id: row.id, fence: row.fence }], (batch) => storage.commit(batch));
      if (result.ok || result.conflict.kind === "due") return { kind: "settled" };
    }
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
    async put(articleId, check, commit) {
      const partition = partitionOfId(articleId);
      for (;;) {
        const stored = await storage.records.get(articleRecord, articleId);
        if (stored === undefined) throw notFound();
        check(stored.value);
        if (stored.value.deletedAtMs !== undefined) return;
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
        if (!(await commit(toBatch(partition, own, down))).ok) continue;
        down.started?.();
        access.announce(partition);
        return;
      }
    },

    async purge(articleId, check, commit) {
      for (;;) {
        const stored = await storage.records.get(articleRecord, articleId);
        if (stored === undefined) throw notFound();
        check(stored.value);
        const result = await purgeOnce(stored, [{ op: "cancel", id: `${trashKind}/${articleId}` }], commit);
        if (result.ok) return;
      }
    },

    cancel: (articleId) => [{ op: "cancel", id: `${trashKind}/${articleId}` }],
    workers: { [trashKind]: expire, [purgeKind]: removeCommits },
  };
}
