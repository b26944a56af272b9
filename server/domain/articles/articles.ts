/**
 * Creates, lists, renames, deletes and restores articles.
 *
 * This module does not handle text, except the initial text of a new article. trash.ts implements deletion.
 */
import { AppError, notFound } from "../../../api/schema/error.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Batch, LogWrite, Storage, Stored } from "../../platform/storage/port.ts";
import { conflict, retryOnConflict } from "../../platform/storage/retryOnConflict.ts";
import type { Call } from "../call/call.ts";
import type { Page, PageRequest, Pager } from "../call/paging.ts";
import { requireMatch } from "../call/precondition.ts";
import { toTitleSearch } from "../call/titleWords.ts";
import { withNextCounter, workspaceRecord } from "../identity/workspaces/records.ts";
import { requireAccepted, requireFits } from "./acceptedText.ts";
import type { ArticleTexts } from "./articleTexts.ts";
import { toNewArticle } from "./articleWriter.ts";
import { accessOf, authorOf } from "./author.ts";
import { checkpointRow } from "./checkpointRows.ts";
import type { DocumentReader } from "./documentReader.ts";
import { toContentHash } from "./fileTexts.ts";
import { encodeBatch } from "./logEntry.ts";
import type { FindTopicId } from "./port.ts";
import { type ArticleRecord, articleLists, articleRecord, documentLog } from "./records.ts";
import { toClientId, toTextUpdate } from "./textUpdate.ts";
import type { Trash } from "./trash.ts";

/** An article with its live revision. */
export interface ArticleReply {
  readonly article: ArticleRecord;
  readonly revision: number;
}

export interface CreateArticle {
  readonly workspaceId: string;
  readonly title: string;
  readonly content?: string | undefined;
}

export interface ArticleFilter {
  readonly workspaceId: string;
  readonly topicId?: string | undefined;
  readonly q?: string | undefined;
  /** Unix seconds. */
  readonly updatedSince?: number | undefined;
  readonly deleted?: boolean | undefined;
  readonly limit?: number | undefined;
  readonly nextToken?: string | undefined;
}

export interface Articles {
  create(request: CreateArticle, call: Call): Promise<ArticleReply>;
  list(filter: ArticleFilter): Promise<Page<ArticleReply>>;
  get(articleId: string): Promise<ArticleReply>;
  update(articleId: string, change: { title?: string | undefined; slug?: string | undefined }, call: Call): Promise<ArticleReply>;
  /** Moves the article to the trash, or deletes it for good when `permanent` is true (administrators and owners only). */
  delete(articleId: string, permanent: boolean, call: Call): Promise<void>;
  undelete(articleId: string, call: Call): Promise<ArticleReply>;
}

export interface ArticlesOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly reader: DocumentReader;
  readonly trash: Trash;
  readonly findTopicId: FindTopicId;
  readonly pager: Pager;
  readonly texts: Pick<ArticleTexts, "countWords">;
  readonly nodeId: string;
  readonly checkpointQuietMs: number;
}

/** Returns the index rows that contain every article of the query: of a search, one list for each word. */
function toList(
  workspaceId: string,
  deleted: boolean,
  topicId: string | undefined,
  words: readonly string[],
): PageRequest<never>["prefix"] {
  if (deleted) return articleLists.trash(workspaceId);
  if (topicId !== undefined) return articleLists.ofTopic(topicId);
  const [first, ...others] = words.map((word) => articleLists.titled(workspaceId, word));
  return first === undefined ? articleLists.all(workspaceId) : { anyOf: [first, ...others] };
}

export function createArticles(options: ArticlesOptions): Articles {
  const { storage, reader, trash, findTopicId, pager, texts, nodeId, checkpointQuietMs } = options;

  async function find(articleId: string): Promise<Stored<ArticleRecord>> {
    const stored = await storage.records.get(articleRecord, articleId);
    if (stored === undefined) throw notFound();
    return stored;
  }

  async function withRevision(article: ArticleRecord): Promise<ArticleReply> {
    return { article, revision: await reader.tail(article.articleId) };
  }

  /** Reads the article, decides and commits; repeats when another change caused a conflict. */
  async function change(
    articleId: string,
    call: Call,
    decide: (stored: Stored<ArticleRecord>) => Promise<{ next: ArticleRecord; rest?: Omit<Batch, "partition" | "records"> } | undefined>,
  ): Promise<ArticleReply> {
    return retryOnConflict("article.change", async () => {
      const stored = await find(articleId);
      const decision = await decide(stored);
      if (decision === undefined) return withRevision(stored.value);
      const reply = await withRevision({ ...decision.next, metaRevision: stored.value.metaRevision + 1 });
      const batch: Batch = {
        ...decision.rest,
        partition: partitionOfId(articleId),
        records: [{ op: "put", type: articleRecord, value: reply.article, replacing: stored }],
      };
      return (await call.commit(batch, reply)).ok ? reply : conflict;
    });
  }

  return {
    async create({ workspaceId, title, content = "" }, call) {
      requireAccepted(content, "content");
      requireFits(content, call.limits["article.file"]);
      const { partition } = accessOf(call);
      const author = authorOf(call);
      const articleId = call.ids.next("art", partition);
      const clientId = toClientId(call.ids);
      const log: LogWrite[] = [];
      if (content !== "") {
        const update = toTextUpdate("content.md", content, clientId);
        log.push({ op: "append", log: documentLog(articleId), entries: [encodeBatch(call.nowMs, nodeId, [{ author, update }])] });
      }
      const wordCount = await texts.countWords(workspaceId, content);
      return retryOnConflict("article.create", async () => {
        const workspace = await storage.records.get(workspaceRecord, workspaceId);
        if (workspace === undefined) throw notFound();
        const counter = await withNextCounter(storage, workspace.value, "article");
        const made = toNewArticle({ articleId, workspaceId, number: counter.number, title, by: author.username, nowMs: call.nowMs });
        const files = content === "" ? [] : [{ file: "content.md", contentHash: toContentHash(content) } as const];
        const article: ArticleRecord = { ...made, files, wordCount };
        const reply = { article, revision: log.length };
        const dueAtMs = storage.now() + checkpointQuietMs;
        const result = await call.commit(
          {
            partition,
            records: [{ op: "put", type: articleRecord, value: article, replacing: null }, counter.write],
            logs: log,
            due: content === "" ? [] : [{ op: "arm", row: checkpointRow(articleId, call.nowMs, dueAtMs) }],
          },
          reply,
        );
        if (result.ok) return reply;
        // A retry of a request that lost its connection after the commit finds the article that the first attempt made.
        const before = await storage.records.get(articleRecord, articleId);
        return before === undefined ? conflict : withRevision(before.value);
      });
    },

    async list({ workspaceId, topicId: reference, q, updatedSince, deleted = false, limit, nextToken }) {
      const topicId = reference === undefined ? undefined : await findTopicId(workspaceId, reference);
      if (reference !== undefined && topicId === undefined) return { items: [] };
      const search = q === undefined ? undefined : toTitleSearch(q);
      return pager.page<ArticleReply>({
        scope: `articles?${JSON.stringify([topicId ?? null, q ?? null, updatedSince ?? null, deleted])}`,
        partition: partitionOfId(workspaceId),
        prefix: toList(workspaceId, deleted, topicId, search?.prefixes ?? []),
        reverse: true,
        limit,
        nextToken,
        load: async (articleIds) => {
          const found = await storage.records.getMany(articleRecord, articleIds);
          return Promise.all(found.map((stored) => (stored === undefined ? undefined : withRevision(stored.value))));
        },
        keep: ({ article }) =>
          article.workspaceId === workspaceId &&
          (article.deletedAtMs !== undefined) === deleted &&
          (topicId === undefined || article.topicId === topicId) &&
          (updatedSince === undefined || article.updatedAtMs >= updatedSince * 1000) &&
          (search === undefined || search.matches(article.title)),
      });
    },

    get: async (articleId) => withRevision((await find(articleId)).value),

    update(articleId, { title, slug }, call) {
      return change(articleId, call, async ({ value }) => {
        if (value.deletedAtMs !== undefined) throw notFound();
        requireMatch(call, value.metaRevision);
        const next = { ...value, title: title ?? value.title, slug: slug ?? value.slug };
        return next.title === value.title && next.slug === value.slug ? undefined : { next };
      });
    },

    async delete(articleId, permanent, call) {
      if (permanent && !["admin", "owner"].includes(accessOf(call).role)) {
        throw new AppError("insufficient_role", "Only an administrator of the workspace may delete an article permanently.");
      }
      const check = (article: ArticleRecord) => requireMatch(call, article.metaRevision);
      const remove = permanent ? trash.purge : trash.put;
      await remove(articleId, { by: authorOf(call).username, check, commit: (batch) => call.commit(batch) });
    },

    undelete(articleId, call) {
      return change(articleId, call, async ({ value }) => {
        if (value.deletedAtMs === undefined) {
          throw new AppError("invalid_transition", "The article is not in the trash.", { currentState: "active", allowed: ["delete"] });
        }
        const { deletedAtMs: _deletedAtMs, ...next } = value;
        const nowMs = storage.now();
        const edited = (await reader.tail(articleId)) > value.checkedRevision;
        return {
          next,
          rest: {
            due: [
              ...trash.cancel(articleId),
              // A checkpoint that was due while the article was in the trash did nothing, so it is armed again.
              ...(edited ? [{ op: "arm", row: checkpointRow(articleId, nowMs, nowMs + checkpointQuietMs) } as const] : []),
            ],
          },
        };
      });
    },
  };
}
