/**
 * Changes of articles as parts of somebody else's commit: runs and topics make and link articles, and commit them,
 * together with what happens to themselves. It decides nothing and commits nothing.
 */
import { partitionOfId } from "../ids.ts";
import type { Storage } from "../storage/port.ts";
import { withNextCounter } from "../workspaces/records.ts";
import type { CommitWriter } from "./commitWriter.ts";
import type { History } from "./history.ts";
import type { ArticleWriter } from "./port.ts";
import { type ArticleRecord, articleRecord, commitRecord } from "./records.ts";
import { toSlug } from "./slug.ts";

export interface ArticleWriterOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly commitWriter: Pick<CommitWriter, "prepare">;
  readonly history: Pick<History, "textsOf">;
}

/** A new article as it is before anybody wrote or committed anything. */
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
    prepareArticle({ workspace, title, topicId, author, ids }) {
      const { workspaceId } = workspace.value;
      const articleId = ids.next("art", partitionOfId(workspaceId));
      const { number, write } = withNextCounter(workspace, "article");
      const made = toNewArticle({ articleId, workspaceId, number, title, by: author.username, nowMs: storage.now() });
      const value: ArticleRecord = topicId === undefined ? made : { ...made, topicId };
      return { articleId, change: { records: [{ op: "put", type: articleRecord, value, replacing: null }, write] } };
    },

    prepareLink(article, topicId) {
      if (article.value.topicId === topicId) return {};
      if (article.value.topicId !== undefined) return undefined;
      const value: ArticleRecord = { ...article.value, topicId, metaRevision: article.value.metaRevision + 1 };
      return { records: [{ op: "put", type: articleRecord, value, replacing: article }] };
    },

    async prepareCommit(order) {
      const prepared = await commitWriter.prepare(order);
      switch (prepared.kind) {
        case "ready": {
          const { commitId, revision } = prepared.commit;
          return { kind: "ready", commitId, revision, change: prepared.change };
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
