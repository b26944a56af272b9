/**
 * CommitWriter makes one commit of the live document, for a person, an API key, a run or an automatic checkpoint.
 *
 * Texts, and who wrote them (attributions.ts), are stored first, as deflated, content-addressed blobs. Then one storage commit
 * writes all that follows from them (commitComposition.ts) and the caller's own writes: its due rows or its run step. The
 * commit requires the article revision that was read, so the commits of an article form one chain; after a conflict
 * everything is read again.
 */
import type { Rooms } from "../../../realtime/room/rooms.ts";
import { type ActorRuntime, CommitConflict, type Committer, type UnitOfWork } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Batch, CommitResult, DueWrite, Storage, Stored } from "../../platform/storage/port.ts";
import type { ArticleTexts } from "./articleTexts.ts";
import { type DocumentPieces, piecesOfDocument } from "./attribute.ts";
import type { Attributions } from "./attributions.ts";
import { type CommitComposition, isChanged } from "./commitComposition.ts";
import { textsOfDocument } from "./fileTexts.ts";
import type { CommitOrder } from "./port.ts";
import { type ArticleRecord, articleRecord, type CommitRecord, commitRecord } from "./records.ts";

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
  readonly storage: Pick<Storage, "records">;
  readonly actors: Pick<ActorRuntime, "commitUnit">;
  readonly rooms: Pick<Rooms, "read">;
  readonly attributions: Pick<Attributions, "make">;
  readonly composition: CommitComposition;
  readonly texts: Pick<ArticleTexts, "countWords">;
}

export interface CommitWriter {
  /** Adds the changes of the commit, made from the current state, to the unit. */
  prepare(unit: UnitOfWork, order: CommitOrder): Promise<CommitPreparation>;
  write(params: CommitParams): Promise<CommitOutcome>;
}

export function createCommitWriter(options: CommitWriterOptions): CommitWriter {
  const { storage, actors, rooms, attributions, composition, texts: work } = options;

  /** The article; undefined if it is in the trash or deleted for good. */
  async function readExisting(articleId: string): Promise<Stored<ArticleRecord> | undefined> {
    const article = await storage.records.get(articleRecord, articleId);
    return article?.value.deletedAtMs === undefined ? article : undefined;
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
    const { articleId, commitId, notBefore = 0 } = order;
    const article = await readExisting(articleId);
    if (article === undefined) return { kind: "deleted" };
    const { lastCommit, workspaceId } = article.value;
    const last = lastCommit === undefined ? undefined : (await storage.records.get(commitRecord, lastCommit.commitId))?.value;
    const live = await rooms.read(articleId, (document, revision) => ({
      revision,
      texts: textsOfDocument(document),
      pieces: piecesOfDocument(document),
    }));
    if (live.revision < Math.max(notBefore, last?.revision ?? 0)) {
      // The document is also empty if the article was deleted since its record was read.
      return { kind: (await readExisting(articleId)) === undefined ? "deleted" : "behind" };
    }

    // Checkpoints have their own owner in the worker queue, so that they do not wait behind a workspace's requests.
    const owner = order.automatic === true ? "checkpoints" : workspaceId;
    const files = await composition.store(owner, articleId, live.texts, last);
    if (!files.some(isChanged) && (last !== undefined || order.automatic === true)) {
      const attributed = order.automatic === true ? await attributeUnchanged(owner, article, live) : undefined;
      return {
        kind: "unchanged",
        article,
        revision: live.revision,
        ...(attributed === undefined ? {} : { attribution: attributed }),
        ...(last === undefined ? {} : { last }),
      };
    }

    const [attributed, wordCount] = await Promise.all([
      attributions.make(owner, article, live, commitId),
      work.countWords(owner, live.texts["content.md"]),
    ]);
    const commit = await composition.add(unit, order, {
      article: article.value,
      replacing: article,
      last,
      revision: live.revision,
      files,
      attributed,
      wordCount,
    });
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
