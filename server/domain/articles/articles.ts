/**
 * Renames, moves, deletes and restores articles.
 *
 * articleCreation.ts creates them, articleList.ts lists them, and trash.ts implements deletion. This module does not
 * handle text.
 */
import { AppError, notFound } from "../../../api/schema/error.ts";
import type { ActorRuntime, UnitOfWork } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage, Stored } from "../../platform/storage/port.ts";
import { authorOf } from "../call/author.ts";
import type { Call } from "../call/call.ts";
import type { Page } from "../call/paging.ts";
import { requireMatch } from "../call/precondition.ts";
import { present } from "../call/present.ts";
import { accessOf } from "../call/principal.ts";
import type { ArticleCreation } from "./articleCreation.ts";
import type { ArticleFilter, ArticleList } from "./articleList.ts";
import { checkpointRow } from "./checkpointRows.ts";
import type { DocumentReader } from "./documentReader.ts";
import type { ArticleFolders, ArticleReply } from "./port.ts";
import { type ArticleRecord, articleRecord } from "./records.ts";
import type { Trash } from "./trash.ts";

export interface ArticleChanges {
  readonly title?: string | undefined;
  readonly slug?: string | undefined;
  /** Null moves the article to the top level. */
  readonly folderId?: string | null | undefined;
}

export interface Articles extends ArticleCreation {
  list(filter: ArticleFilter): Promise<Page<ArticleReply>>;
  get(articleId: string): Promise<ArticleReply>;
  /** Renames or moves the article. Throws `validation_failed` for a folder that the workspace does not have. */
  update(articleId: string, changes: ArticleChanges, call: Call): Promise<ArticleReply>;
  /** Moves the article to the trash, or deletes it for good when `permanent` is true (administrators and owners only). */
  delete(articleId: string, permanent: boolean, call: Call): Promise<void>;
  /** Restores an article from the trash, to the top level if its folder is gone. */
  undelete(articleId: string, call: Call): Promise<ArticleReply>;
}

export interface ArticlesOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly actors: Pick<ActorRuntime, "commitUnit">;
  readonly reader: Pick<DocumentReader, "tail">;
  readonly creation: ArticleCreation;
  readonly list: ArticleList;
  readonly trash: Trash;
  readonly folders: ArticleFolders;
  readonly checkpointQuietMs: number;
}

export function createArticles(options: ArticlesOptions): Articles {
  const { storage, actors, reader, creation, list, trash, folders, checkpointQuietMs } = options;

  async function find(articleId: string): Promise<Stored<ArticleRecord>> {
    const stored = await storage.records.get(articleRecord, articleId);
    if (stored === undefined) throw notFound();
    return stored;
  }

  async function withRevision(article: ArticleRecord): Promise<ArticleReply> {
    return { article, revision: await reader.tail(article.articleId) };
  }

  /** Reads the article, decides and commits; repeats when another change caused a conflict. Undefined: nothing to change. */
  async function change(
    articleId: string,
    call: Call,
    decide: (article: ArticleRecord, unit: UnitOfWork) => Promise<ArticleRecord | undefined>,
  ): Promise<ArticleReply> {
    const partition = partitionOfId(articleId);
    return actors.commitUnit<ArticleReply>({ operation: "article.change", partition, committer: call }, async (unit) => {
      const stored = await find(articleId);
      const next = await decide(stored.value, unit);
      if (next === undefined) return withRevision(stored.value);
      const value: ArticleRecord = { ...next, metaRevision: stored.value.metaRevision + 1, changedAtMs: storage.now() };
      unit.record({ op: "put", type: articleRecord, value, replacing: stored });
      return withRevision(value);
    });
  }

  return {
    ...creation,
    list: list.page,

    get: async (articleId) => withRevision((await find(articleId)).value),

    update(articleId, { title, slug, folderId }, call) {
      return change(articleId, call, async (article, unit) => {
        if (article.deletedAtMs !== undefined) throw notFound();
        requireMatch(call, article.metaRevision, "live");
        const { folderId: before, ...rest } = article;
        const place = folderId === null ? undefined : (folderId ?? before);
        if (place !== undefined && place !== before) await folders.requireOpen(unit, article.workspaceId, place);
        const next = { ...rest, title: title ?? rest.title, slug: slug ?? rest.slug, ...present({ folderId: place }) };
        const isEqual = next.title === article.title && next.slug === article.slug && place === before;
        return isEqual ? undefined : next;
      });
    },

    async delete(articleId, permanent, call) {
      if (permanent && !["admin", "owner"].includes(accessOf(call).role)) {
        throw new AppError("insufficient_role", "Only an administrator of the workspace may delete an article permanently.");
      }
      const check = (article: ArticleRecord) => requireMatch(call, article.metaRevision, "live");
      const remove = permanent ? trash.purge : trash.put;
      await remove(articleId, { by: authorOf(call).username, check, commit: (batch) => call.commit(batch) });
    },

    undelete(articleId, call) {
      return change(articleId, call, async (article, unit) => {
        if (article.deletedAtMs === undefined) {
          throw new AppError("invalid_transition", "Cannot restore the article: it is not in the trash.", {
            currentState: "active",
            allowed: ["articles.delete"],
          });
        }
        const { deletedAtMs: _deletedAtMs, folderId: before, mayHaveEdits: _mayHaveEdits, ...rest } = article;
        const isKept = before !== undefined && (await folders.keep(unit, article.workspaceId, before));
        const folderId = isKept ? before : undefined;
        const nowMs = storage.now();
        const isEdited = (await reader.tail(articleId)) > article.checkedRevision;
        for (const write of trash.cancel(articleId)) unit.due(write);
        // A checkpoint that was due while the article was in the trash did nothing, so it is armed again.
        if (isEdited) unit.due({ op: "arm", row: checkpointRow(articleId, nowMs, nowMs + checkpointQuietMs) });
        return { ...rest, ...present({ folderId, mayHaveEdits: isEdited ? (true as const) : undefined }) };
      });
    },
  };
}
