/**
 * The records of articles: the article itself, its commits, and the stored states of its document.
 *
 * The article's own facts and those of its last commit share one record, because they change together; the
 * states of the live document have one of their own, because they change while somebody types and must not
 * disturb a rename. Nothing here reads or writes: changes are values for somebody's commit.
 */
import type { Article, ArticleFile, Author, Commit, CommitKind, PublicLinkMode, PublicLinkState } from "../../api/schema/article.ts";
import { partitionOfId } from "../ids.ts";
import type { IndexKey, RecordWrite, Stored } from "../storage/port.ts";
import { defineRecord } from "../storage/recordType.ts";
import { toTitlePrefixes } from "./titleWords.ts";

/** What the article shows of its public link; the link itself is publishing's. */
export interface PublicLinkSummary {
  readonly mode: PublicLinkMode;
  readonly url: string;
  readonly slug: string;
  readonly state: PublicLinkState;
}

/** A text as it stands in the last commit (before the first one: as the article was created). */
export interface CommittedFile {
  readonly file: ArticleFile;
  /** SHA-256 (hex) of the UTF-8 bytes. */
  readonly contentHash: string;
}

export interface ArticleRecord {
  readonly articleId: string;
  readonly workspaceId: string;
  /** From the workspace's article counter. */
  readonly number: number;
  readonly title: string;
  readonly slug: string;
  /**
   * Rises with each change of the article by a request about it (title, slug, trash, public link), not with its
   * commits: the record part of the ETag, so that somebody typing never fails a rename.
   */
  readonly metaRevision: number;
  /** Files that are not empty. */
  readonly files: readonly CommittedFile[];
  readonly wordCount: number;
  readonly createdBy: string;
  readonly createdAtMs: number;
  readonly updatedBy: string;
  readonly updatedAtMs: number;
  readonly lastCommit?: { readonly commitId: string; readonly revision: number };
  /** Files that were emptied by a commit, with the commit that held their text last. */
  readonly emptied?: Readonly<Partial<Record<ArticleFile, string>>>;
  /** Up to here the text is known to equal `files`: authors are gathered from the batches after it. */
  readonly checkedRevision: number;
  readonly deletedAtMs?: number;
  /** The topic whose document it is. */
  readonly topicId?: string;
  readonly publicLink?: PublicLinkSummary;
}

const createdIndex = "article.created";
const trashIndex = "article.trash";
const titleIndex = "article.title";

/** Lists are ordered by (createdAt, articleId); read backwards they are newest first. */
export const articleLists = {
  all: (workspaceId: string): IndexKey => [createdIndex, workspaceId],
  trash: (workspaceId: string): IndexKey => [trashIndex, workspaceId],
  /** The topic's own, if it has one. */
  ofTopic: (topicId: string): IndexKey => ["article.topic", topicId],
  /** `prefix` must be one that `toTitlePrefixes` makes. */
  titled: (workspaceId: string, prefix: string): IndexKey => [titleIndex, workspaceId, prefix],
};

export const articleRecord = defineRecord<ArticleRecord>({
  name: "article",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (article) => article.articleId,
  indexes: (article) => {
    const place = [article.createdAtMs, article.articleId] as const;
    if (article.deletedAtMs !== undefined) return [[...articleLists.trash(article.workspaceId), ...place]];
    return [
      [...articleLists.all(article.workspaceId), ...place],
      ...(article.topicId === undefined ? [] : [[...articleLists.ofTopic(article.topicId), ...place] as const]),
      ...toTitlePrefixes(article.title).map((prefix): IndexKey => [...articleLists.titled(article.workspaceId, prefix), ...place]),
    ];
  },
});

export interface CommitFileRecord extends CommittedFile {
  readonly added: number;
  readonly removed: number;
  /** SHA-256 (hex) of the deflated text, under which the store keeps it. */
  readonly blob: string;
}

export interface CommitRecord {
  readonly commitId: string;
  readonly articleId: string;
  readonly revision: number;
  readonly parentRevision: number | null;
  readonly kind: CommitKind;
  readonly message: string;
  readonly name?: string;
  readonly authors: readonly Author[];
  readonly files: readonly CommitFileRecord[];
  readonly createdAtMs: number;
  /** The run that made it. */
  readonly runId?: string;
}

/** Commits of an article ascend with its revision. */
export function commitsOf(articleId: string): IndexKey {
  return ["commit.revision", articleId];
}

export const commitRecord = defineRecord<CommitRecord>({
  name: "commit",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (commit) => commit.commitId,
  indexes: (commit) => [[...commitsOf(commit.articleId), commit.revision]],
  blobs: (commit) => commit.files.map((file) => file.blob),
});

/** The whole state of a document (a Yjs update) at a revision. */
export interface StoredState {
  readonly revision: number;
  readonly blob: string;
}

/**
 * States in ascending revision. The last is the head, from which a join is answered; the log is trimmed through
 * the first, the base, from which kept revisions are rebuilt. Those between become the next bases.
 */
export interface DocumentRecord {
  readonly articleId: string;
  readonly states: readonly StoredState[];
  /** The log holds nothing up to this position. */
  readonly trimmedTo: number;
}

export const documentRecord = defineRecord<DocumentRecord>({
  name: "document",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (document) => document.articleId,
  blobs: (document) => document.states.map((state) => state.blob),
});

export const articleRecordTypes = [articleRecord, commitRecord, documentRecord] as const;

/** The log of a document's batches, in the article's partition. */
export function documentLog(articleId: string): string {
  return `document/${articleId}`;
}

/** Publishing's change of the article, for the commit of its link actor. */
export function withPublicLink(stored: Stored<ArticleRecord>, publicLink: PublicLinkSummary | undefined): RecordWrite<ArticleRecord> {
  const { publicLink: _before, ...rest } = stored.value;
  const value: ArticleRecord = { ...rest, metaRevision: rest.metaRevision + 1, ...(publicLink === undefined ? {} : { publicLink }) };
  return { op: "put", type: articleRecord, value, replacing: stored };
}

export const emptyTextHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

export function hashOf(files: readonly CommittedFile[], file: ArticleFile): string {
  return files.find((entry) => entry.file === file)?.contentHash ?? emptyTextHash;
}

export function toArticle(record: ArticleRecord, revision: number): Article {
  const { articleId, workspaceId, title, slug, wordCount, createdBy, updatedBy, deletedAtMs, topicId, publicLink } = record;
  return {
    articleId,
    workspaceId,
    folderId: null,
    title,
    slug,
    revision,
    contentHash: hashOf(record.files, "content.md"),
    files: record.files.map((entry) => entry.file),
    wordCount,
    createdBy,
    createdAt: record.createdAtMs / 1000,
    updatedBy,
    updatedAt: record.updatedAtMs / 1000,
    ...(topicId === undefined ? {} : { topicId }),
    ...(deletedAtMs === undefined ? {} : { deletedAt: deletedAtMs / 1000 }),
    ...(publicLink === undefined ? {} : { publicLink: { mode: publicLink.mode, url: publicLink.url, state: publicLink.state } }),
  };
}

export function toCommit(record: CommitRecord): Commit {
  return {
    commitId: record.commitId,
    articleId: record.articleId,
    revision: record.revision,
    parentRevision: record.parentRevision,
    kind: record.kind,
    message: record.message,
    ...(record.name === undefined ? {} : { name: record.name }),
    authors: record.authors.map(({ username, kind }) => ({ username, kind })),
    files: record.files.map(({ file, contentHash, added, removed }) => ({ file, contentHash, added, removed })),
    createdAt: record.createdAtMs / 1000,
    ...(record.runId === undefined ? {} : { runId: record.runId }),
  };
}
