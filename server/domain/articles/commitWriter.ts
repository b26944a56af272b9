/**
 * CommitWriter makes one commit of the live document, for a person, an API key, a run or an automatic checkpoint.
 *
 * Texts, and who wrote them (attributions.ts), are stored first, as deflated, content-addressed blobs. Then one storage commit
 * writes the commit record, the article that points to it, the deliveries of article.updated, the event of the article's
 * stream, the change of its topic and the caller's own writes (its due rows or its run step). The commit requires the article revision that was read,
 * so the commits of an article form one chain; after a conflict everything is read again.
 */
import { articleFiles } from "../../../api/schema/article.ts";
import type { Rooms } from "../../../realtime/room/rooms.ts";
import { type ActorRuntime, CommitConflict, type Committer, type UnitOfWork } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Batch, CommitResult, DueWrite, Storage, Stored } from "../../platform/storage/port.ts";
import { toBlob } from "../../platform/storage/textBlob.ts";
import { toCommitEvent, toCommitEventData } from "./articleEvents.ts";
import type { ArticleTexts } from "./articleTexts.ts";
import { type DocumentPieces, piecesOfDocument } from "./attribute.ts";
import type { Attributions } from "./attributions.ts";
import { textsOfDocument, toContentHash } from "./fileTexts.ts";
import type { History } from "./history.ts";
import type { ArticleEvents, ArticleListeners, ArticleUpdatedData, CommitOrder, FileTexts } from "./port.ts";
import {
  type ArticleRecord,
  articleRecord,
  type CommitFileRecord,
  type CommitRecord,
  commitRecord,
  emptyTextHash,
  hashOf,
  withAuthors,
} from "./records.ts";

export interface CommitParams extends CommitOrder {
  /** Due rows that the same storage commit removes or changes. */
  readonly due?: readonly DueWrite[];
  /** Commits the batch. It receives the commit record so that a call can store its answer in the same commit. */
  commit(batch: Batch, record: CommitRecord): Promise<CommitResult>;
}

/** A commit whose changes are in the unit but not stored yet. */
export interface ReadyCommit {
  readonly kind: "ready";
  readonly commit: CommitRecord;
}

interface Unchanged {
  readonly kind: "unchanged";
  readonly article: Stored<ArticleRecord>;
  readonly revision: number;
  /** Only for an automatic commit of new edits: the stored attribution at `revision`, for the article's record. */
  readonly attribution?: string;
  /** The last commit; absent when the article has no commit yet and nothing to commit. */
  readonly last?: CommitRecord;
}

export type CommitPreparation = ReadyCommit | Unchanged | { readonly kind: "deleted" } | { readonly kind: "behind" };

export type CommitOutcome =
  | { readonly kind: "committed"; readonly commit: CommitRecord }
  /** Every file equals its text in the last commit. */
  | Unchanged
  /** The article is in the trash or deleted for good. */
  | { readonly kind: "deleted" }
  /** This node's document is older than `notBefore` or than the last commit. */
  | { readonly kind: "behind" }
  /** The caller lost the lease of one of its due rows. */
  | { readonly kind: "lost" };

export interface CommitWriterOptions {
  readonly storage: Pick<Storage, "records" | "blobs" | "now">;
  readonly actors: Pick<ActorRuntime, "commitUnit">;
  readonly rooms: Pick<Rooms, "read">;
  readonly attributions: Attributions;
  readonly history: History;
  readonly listeners: Pick<ArticleListeners, "articleUpdated" | "articleCommitted">;
  readonly articleEvents: ArticleEvents;
  readonly texts: Pick<ArticleTexts, "countLines" | "countWords">;
  /** Without a trailing slash. */
  readonly baseUrl: string;
}

export interface CommitWriter {
  /** Adds the changes of the commit, made from the current state, to the unit. */
  prepare(unit: UnitOfWork, order: CommitOrder): Promise<CommitPreparation>;
  write(params: CommitParams): Promise<CommitOutcome>;
}

/** An event names only the newest authors, at most this many; the commit record names all. */
const maxEventAuthors = 100;

export function createCommitWriter(options: CommitWriterOptions): CommitWriter {
  const { storage, actors, rooms, attributions, history, listeners, articleEvents, texts: work, baseUrl } = options;

  async function toFiles(
    owner: string,
    articleId: string,
    texts: FileTexts,
    last: CommitRecord | undefined,
  ): Promise<readonly CommitFileRecord[]> {
    const files: CommitFileRecord[] = [];
    let before: FileTexts | undefined;
    for (const file of articleFiles) {
      const contentHash = toContentHash(texts[file]);
      const older = last?.files.find((entry) => entry.file === file);
      if (contentHash === (older?.contentHash ?? emptyTextHash)) {
        if (older !== undefined && contentHash !== emptyTextHash) files.push({ ...older, added: 0, removed: 0 });
        continue;
      }
      if (last !== undefined) before ??= await history.textsOf(last);
      const blob = await storage.blobs.put(partitionOfId(articleId), await toBlob(texts[file]));
      const lines = await work.countLines(owner, before?.[file] ?? "", texts[file]);
      files.push({ file, contentHash, ...lines, blob });
    }
    return files;
  }

  /** For each file that is empty in this commit: the id of the last commit that contained its text. */
  function toEmptied(
    { emptied }: ArticleRecord,
    files: readonly CommitFileRecord[],
    last: CommitRecord | undefined,
  ): ArticleRecord["emptied"] {
    const left = articleFiles.flatMap((file) => {
      if (hashOf(files, file) !== emptyTextHash) return [];
      const commitId = last !== undefined && hashOf(last.files, file) !== emptyTextHash ? last.commitId : emptied?.[file];
      return commitId === undefined ? [] : [[file, commitId] as const];
    });
    return left.length === 0 ? undefined : Object.fromEntries(left);
  }

  function toEventData(article: ArticleRecord, commit: CommitRecord): ArticleUpdatedData {
    const { articleId, commitId, kind, revision, parentRevision } = commit;
    return {
      articleId,
      title: article.title,
      commitId,
      kind,
      revision,
      previousRevision: parentRevision,
      contentHash: hashOf(commit.files, "content.md"),
      files: commit.files.filter(({ added, removed }) => added + removed > 0).map(({ file, added, removed }) => ({ file, added, removed })),
      authors: commit.authors.slice(-maxEventAuthors),
      ...(article.topicId === undefined ? {} : { topicId: article.topicId }),
      ...(commit.runId === undefined ? {} : { runId: commit.runId }),
      ...(article.publicLink === undefined || article.publicLink.state === "expired"
        ? {}
        : { publicLink: { url: article.publicLink.url, mode: article.publicLink.mode } }),
      diffUrl: `${baseUrl}/articles/${articleId}/diff?from=${parentRevision ?? 0}&to=${revision}`,
    };
  }

  /** Text may be equal and yet have other authors, because it was deleted and typed again. The log that says so is trimmed. */
  async function attributeUnchanged(
    owner: string,
    article: Stored<ArticleRecord>,
    live: { readonly revision: number; readonly pieces: DocumentPieces },
  ): Promise<string | undefined> {
    if (live.revision <= article.value.checkedRevision) return undefined;
    return (await attributions.make(owner, article, live, undefined)).blob;
  }

  async function prepare(unit: UnitOfWork, order: CommitOrder): Promise<CommitPreparation> {
    const { articleId, commitId, kind, message, name, ids, notBefore = 0, run, traceparent } = order;
    const article = await storage.records.get(articleRecord, articleId);
    if (article === undefined || article.value.deletedAtMs !== undefined) return { kind: "deleted" };
    const { lastCommit, topicId, workspaceId } = article.value;
    const last = lastCommit === undefined ? undefined : (await storage.records.get(commitRecord, lastCommit.commitId))?.value;
    const live = await rooms.read(articleId, (document, revision) => ({
      revision,
      texts: textsOfDocument(document),
      pieces: piecesOfDocument(document),
    }));
    if (live.revision < Math.max(notBefore, last?.revision ?? 0)) return { kind: "behind" };

    // Checkpoints have their own owner in the worker queue, so that they do not wait behind a workspace's requests.
    const owner = order.automatic === true ? "checkpoints" : workspaceId;
    const files = await toFiles(owner, articleId, live.texts, last);
    const changed = files.filter((file) => file.added + file.removed > 0);
    if (changed.length === 0 && (last !== undefined || order.automatic === true)) {
      const attributed = order.automatic === true ? await attributeUnchanged(owner, article, live) : undefined;
      return {
        kind: "unchanged",
        article,
        revision: live.revision,
        ...(attributed === undefined ? {} : { attribution: attributed }),
        ...(last === undefined ? {} : { last }),
      };
    }

    const [{ authors, blob: attribution }, wordCount] = await Promise.all([
      attributions.make(owner, article, live, commitId),
      work.countWords(owner, live.texts["content.md"]),
    ]);
    const createdAtMs = storage.now();
    const commit: CommitRecord = {
      commitId,
      articleId,
      revision: live.revision,
      parentRevision: last?.revision ?? null,
      kind,
      message,
      ...(name === undefined ? {} : { name }),
      authors,
      files,
      createdAtMs,
      ...(run === undefined ? {} : { runId: run.runId }),
      attribution,
    };
    const { emptied: _emptied, mayHaveEdits, ...kept } = article.value;
    const emptied = toEmptied(article.value, files, last);
    const next: ArticleRecord = {
      ...kept,
      ...(emptied === undefined ? {} : { emptied }),
      ...(mayHaveEdits === undefined || order.clearsMark === true ? {} : { mayHaveEdits }),
      ...withAuthors(article.value, authors),
      files: files.filter((file) => file.contentHash !== emptyTextHash).map(({ file, contentHash }) => ({ file, contentHash })),
      wordCount,
      updatedBy: order.committer ?? authors.at(-1)?.username ?? article.value.updatedBy,
      updatedAtMs: createdAtMs,
      lastCommit: { commitId, revision: live.revision },
      checkedRevision: live.revision,
      attribution,
    };
    unit.record({ op: "put", type: commitRecord, value: commit, replacing: null });
    unit.record({ op: "put", type: articleRecord, value: next, replacing: article });
    const eventData = toEventData(next, commit);
    await listeners.articleUpdated(unit, { workspaceId, createdAtMs, ids, traceparent, data: eventData });
    const data = toCommitEventData(next, commit, eventData);
    articleEvents.add(unit, { articleId, workspaceId, topicId, event: toCommitEvent(commit), actor: next.updatedBy, data });
    if (topicId !== undefined) {
      const written = changed.filter((file) => file.contentHash !== emptyTextHash).map(({ file }) => file);
      const { revision } = commit;
      const by = next.updatedBy;
      await listeners.articleCommitted(unit, { workspaceId, articleId, topicId, commitId, kind, revision, by, written, run });
    }
    return { kind: "ready", commit };
  }

  return {
    prepare,
    async write(params) {
      let hasMetConflict = false;
      const committer: Committer<CommitOutcome> = {
        commit(batch, outcome) {
          if (outcome.kind !== "committed") throw new Error(`a commit that is ${outcome.kind} has nothing to store`);
          return params.commit(batch, outcome.commit);
        },
      };
      const partition = partitionOfId(params.articleId);
      try {
        return await actors.commitUnit({ operation: "commit.write", partition, committer }, async (unit) => {
          // An earlier attempt of the caller may have made this commit.
          const made = hasMetConflict ? await storage.records.get(commitRecord, params.commitId) : undefined;
          if (made !== undefined) return { kind: "committed", commit: made.value };
          hasMetConflict = true;
          const prepared = await prepare(unit, params);
          if (prepared.kind !== "ready") return prepared;
          for (const write of params.due ?? []) unit.due(write);
          return { kind: "committed", commit: prepared.commit };
        });
      } catch (reason) {
        if (reason instanceof CommitConflict && reason.conflict.kind === "due") return { kind: "lost" };
        throw reason;
      }
    },
  };
}
