/**
 * ArticleWriter changes articles in the units of work of topics and runs.
 *
 * A topic or run can thus create, link or commit an article in the same storage commit as its own change. This module
 * commits nothing itself.
 */
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import { toSlug } from "../call/slug.ts";
import { withNextCounter } from "../identity/workspaces/records.ts";
import type { CommitWriter } from "./commitWriter.ts";
import type { History } from "./history.ts";
import type { ArticleWriter } from "./port.ts";
import { type ArticleRecord, articleRecord, commitRecord } from "./records.ts";

export interface ArticleWriterOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly commitWriter: Pick<CommitWriter, "prepare">;
  readonly history: Pick<History, "textsOf">;
}

/** The record of a new article that has no text and no commits. */
export function toNewArticle(input: {
  readonly articleId: string;
  readonly workspaceId: string;
  /** From the workspace's article counter. */
  readonly number: number;
  readonly title: string;
  /** Username. */
  readonly by: string;
  readonly nowMs: number;
}): ArticleRecord {
  const { by, nowMs, ...rest } = input;
  return {
    ...rest,
    slug: toSlug(input.title, `article-${input.number}`),
    metaRevision: 1,
    files: [],
    wordCount: 0,
    createdBy: by,
    createdAtMs: nowMs,
    updatedBy: by,
    updatedAtMs: nowMs,
    checkedRevision: 0,
  };
}

export function createArticleWriter({ storage, commitWriter, history }: ArticleWriterOptions): ArticleWriter {
  return {
    async create(unit, { workspace, title, topicId, author, ids }) {
      const { workspaceId } = workspace;
      const articleId = ids.next("art", partitionOfId(workspaceId));
      const { number, write } = await withNextCounter(storage, workspace, "article");
      const made = toNewArticle({ articleId, workspaceId, number, title, by: author.username, nowMs: storage.now() });
      const value: ArticleRecord = topicId === undefined ? made : { ...made, topicId };
      unit.record({ op: "put", type: articleRecord, value, replacing: null });
      unit.record(write);
      return articleId;
    },

    link(unit, article, topicId) {
      if (article.value.topicId !== undefined) return article.value.topicId === topicId;
      const value: ArticleRecord = { ...article.value, topicId, metaRevision: article.value.metaRevision + 1 };
      unit.record({ op: "put", type: articleRecord, value, replacing: article });
      return true;
    },

    hold: (unit, article) => unit.record({ op: "put", type: articleRecord, value: article.value, replacing: article }),

    async commit(unit, order) {
      const prepared = await commitWriter.prepare(unit, order);
      switch (prepared.kind) {
        case "ready": {
          const { commitId, revision } = prepared.commit;
          return { kind: "ready", commitId, revision };
        }
        case "unchanged": {
          const { revision, last } = prepared;
          return { kind: "unchanged", revision, ...(last === undefined ? {} : { lastCommitId: last.commitId }) };
        }
        default:
          return prepared;
      }
    },

    async committedText(articleId, file) {
      const article = (await storage.records.get(articleRecord, articleId))?.value;
      if (article === undefined || article.deletedAtMs !== undefined) return undefined;
      const { lastCommit, emptied } = article;
      const holds = article.files.some((entry) => entry.file === file);
      const commitId = holds ? lastCommit?.commitId : emptied?.[file];
      const commit = commitId === undefined ? undefined : (await storage.records.get(commitRecord, commitId))?.value;
      if (commit === undefined) return undefined;
      return { text: (await history.textsOf(commit))[file], commitId: commit.commitId, revision: commit.revision };
    },
  };
}
