/**
 * Trash moves articles to the trash and deletes them for good.
 *
 * Deletion for good starts with one storage commit that removes the article, its document and its log, so that nothing
 * can find the article afterwards. Its commit records, which may be many, are removed in pieces by a due row, which
 * survives a crash. A text blob is removed with the last commit record that refers to it.
 */
import { notFound } from "../../../api/schema/error.ts";
import { type ClaimedDueRow, type DueOutcome, type DueWorker, defineDueKind } from "../../platform/actors/duePort.ts";
import { type ActorRuntime, CommitConflict, type UnitOfWork } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Batch, CommitResult, DueWrite, Storage, Stored } from "../../platform/storage/port.ts";
import { accessFactWrite } from "../identity/access/accessFacts.ts";
import { dropArticleEvents } from "./articleEvents.ts";
import { cancelCheckpoint } from "./checkpointRows.ts";
import type { ArticleEvents, ArticleListeners } from "./port.ts";
import { type ArticleRecord, articleRecord, commitRecord, commitsOf, documentLog, documentRecord } from "./records.ts";

interface ArticlePayload {
  readonly articleId: string;
}

/** Deletes an article for good when its time in the trash is over. */
const trashRows = defineDueKind<ArticlePayload>("article.trash");
/** Deletes the commits of an article that was deleted for good. */
const purgeRows = defineDueKind<ArticlePayload>("article.purge");
const commitsAtOnce = 100;

type Commit = (batch: Batch) => Promise<CommitResult>;

export interface Deletion {
  /** Username of the account that deletes the article. */
  readonly by: string;
  /** Runs first and may throw. */
  readonly check: (article: ArticleRecord) => void;
  readonly commit: Commit;
}

export interface Trash {
  /** Moves an article to the trash. An article that is already in the trash is not changed. */
  put(articleId: string, deletion: Deletion): Promise<void>;
  /** Moves an article to the trash in the unit, which may not write the article otherwise. The article must not be in the trash. */
  move(unit: UnitOfWork, article: Stored<ArticleRecord>, by: string): Promise<void>;
  /** Deletes an article for good, whether it is in the trash or not. */
  purge(articleId: string, deletion: Deletion): Promise<void>;
  /** Cancels the deletion for good; for the commit that restores an article from the trash. */
  cancel(articleId: string): readonly DueWrite[];
  /** Kind of due row → its worker, for the due pump. */
  readonly workers: Readonly<Record<string, DueWorker>>;
}

export interface TrashOptions {
  readonly storage: Pick<Storage, "records" | "index" | "commit" | "now">;
  readonly actors: Pick<ActorRuntime, "commitUnit">;
  readonly listeners: Pick<ArticleListeners, "articleDeleted" | "articlePurged" | "articleRemoved">;
  readonly articleEvents: ArticleEvents;
  readonly keepTrashMs: number;
  /** Schedules a poll of the partition's due queue at `dueAtMs`. */
  readonly wake: (partition: number, dueAtMs: number) => void;
}

/** Username in the events of articles whose time in the trash is over. */
const system = "system";

export function createTrash({ storage, actors, listeners, articleEvents, keepTrashMs, wake }: TrashOptions): Trash {
  const trashRowId = (articleId: string) => `${trashRows.name}/${articleId}`;

  /** Changes for an article that is not in the trash yet: its page is unpublished, its runs are cancelled and its sockets closed. */
  async function takeDown(unit: UnitOfWork, article: ArticleRecord, by: string, permanent: boolean): Promise<void> {
    if (article.deletedAtMs !== undefined) return;
    const { articleId, workspaceId, topicId } = article;
    await listeners.articleDeleted(unit, { articleId, workspaceId, topicId, by });
    articleEvents.add(unit, { articleId, workspaceId, topicId, event: "document.deleted", actor: by, data: { permanent } });
    unit.log(accessFactWrite({ kind: "article.deleted", articleId }));
  }

  async function read(articleId: string): Promise<Stored<ArticleRecord>> {
    const stored = await storage.records.get(articleRecord, articleId);
    if (stored === undefined) throw notFound();
    return stored;
  }

  async function move(unit: UnitOfWork, stored: Stored<ArticleRecord>, by: string): Promise<void> {
    const deletedAtMs = storage.now();
    const { publicLink: _publicLink, ...article } = stored.value;
    const { articleId } = article;
    const value: ArticleRecord = { ...article, metaRevision: article.metaRevision + 1, deletedAtMs };
    unit.record({ op: "put", type: articleRecord, value, replacing: stored });
    const dueAtMs = deletedAtMs + keepTrashMs;
    unit.due({ op: "schedule", row: trashRows.row({ id: trashRowId(articleId), dueAtMs, payload: { articleId } }) });
    await takeDown(unit, stored.value, by, false);
  }

  async function gatherPurge(unit: UnitOfWork, stored: Stored<ArticleRecord>, by: string): Promise<void> {
    const { articleId, workspaceId, topicId, updatedBy } = stored.value;
    const document = await storage.records.get(documentRecord, articleId);
    const nowMs = storage.now();
    unit.record({ op: "delete", type: articleRecord, replacing: stored });
    if (document !== undefined) unit.record({ op: "delete", type: documentRecord, replacing: document });
    // Prevents a state that is stored meanwhile from outliving the article.
    else unit.require({ kind: "revision", type: documentRecord, key: articleId, revision: "absent" });
    unit.log({ op: "drop", log: documentLog(articleId) });
    unit.due(cancelCheckpoint(articleId));
    unit.due({ op: "schedule", row: purgeRows.row({ id: `${purgeRows.name}/${articleId}`, dueAtMs: nowMs, payload: { articleId } }) });
    await takeDown(unit, stored.value, by, true);
    await listeners.articlePurged(unit, { articleId, workspaceId });
    unit.due(dropArticleEvents(articleId, nowMs));
    if (topicId !== undefined) await listeners.articleRemoved(unit, { articleId, topicId, by: updatedBy });
    unit.afterCommit(() => wake(unit.partition, nowMs));
  }

  async function expire({ id, fence, partition, payload: { articleId } }: ClaimedDueRow<ArticlePayload>): Promise<DueOutcome> {
    try {
      return await actors.commitUnit<DueOutcome>({ operation: "article.expire", partition, committer: storage }, async (unit) => {
        const stored = await storage.records.get(articleRecord, articleId);
        if (stored?.value.deletedAtMs === undefined) return { kind: "done" };
        unit.due({ op: "acknowledge", id, fence });
        await gatherPurge(unit, stored, system);
        return { kind: "settled" };
      });
    } catch (reason) {
      if (reason instanceof CommitConflict && reason.conflict.kind === "due") return { kind: "settled" };
      throw reason;
    }
  }

  async function removeCommits({ partition, payload }: ClaimedDueRow<ArticlePayload>, signal: AbortSignal): Promise<DueOutcome> {
    const { articleId } = payload;
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
    put: (articleId, { by, check, commit }) =>
      actors.commitUnit({ operation: "article.trash", partition: partitionOfId(articleId), committer: { commit } }, async (unit) => {
        const stored = await read(articleId);
        check(stored.value);
        if (stored.value.deletedAtMs === undefined) await move(unit, stored, by);
      }),

    move,

    purge: (articleId, { by, check, commit }) =>
      actors.commitUnit({ operation: "article.purge", partition: partitionOfId(articleId), committer: { commit } }, async (unit) => {
        const stored = await read(articleId);
        check(stored.value);
        unit.due({ op: "cancel", id: trashRowId(articleId) });
        await gatherPurge(unit, stored, by);
      }),

    cancel: (articleId) => [{ op: "cancel", id: trashRowId(articleId) }],
    workers: { [trashRows.name]: trashRows.worker(expire), [purgeRows.name]: purgeRows.worker(removeCommits) },
  };
}
