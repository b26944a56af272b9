/**
 * Defines the records of articles: the article, its commits, and the stored states of its document.
 *
 * The article and the summary of its last commit share one record, because they change together. The states of the
 * live document are a separate record: they change while an author types, and must not conflict with a rename. This
 * module does no I/O; functions return values for the caller's commit.
 */
import type {
  Article,
  ArticleFile,
  ArticleSort,
  Author,
  Commit,
  CommitKind,
  PublicLinkMode,
  PublicLinkState,
  PublishedState,
} from "../../../api/schema/article.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { IndexKey, IndexPart, RecordWrite, Stored } from "../../platform/storage/port.ts";
import { defineRecord } from "../../platform/storage/recordType.ts";
import { toTitleOrder } from "../call/titleOrder.ts";
import { toTitlePrefixes } from "../call/titleWords.ts";

/** Summary of the public link that the article record contains. The publishing domain owns the link itself. */
export interface PublicLinkSummary {
  readonly mode: PublicLinkMode;
  readonly url: string;
  readonly slug: string;
  readonly state: PublicLinkState;
}

/** A file as of the last commit. Before the first commit: as the article was created. */
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
   * Rises when a request changes the article's title, slug, folder, trash state, topic or public link; commits do not raise it.
   * It is the record part of the ETag, so that concurrent typing never makes a rename fail.
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
  /** For each file that a commit emptied: the id of the last commit that contained its text. */
  readonly emptied?: Readonly<Partial<Record<ArticleFile, string>>>;
  /** Newest revision whose text is known to equal `files`. The authors of the next commit are collected from the batches after it. */
  readonly checkedRevision: number;
  /** Blob that says who wrote the text at `checkedRevision`. Absent before the first check by a version that stores it. */
  readonly attribution?: string;
  readonly deletedAtMs?: number;
  /** The topic that the article belongs to. */
  readonly topicId?: string;
  /** The folder that contains the article; absent at the top level. */
  readonly folderId?: string;
  /** The template that the article was created from. */
  readonly templateId?: string;
  /** Store time of the last rename, move or restore from the trash. */
  readonly changedAtMs?: number;
  /**
   * Present while a checkpoint may be armed, so that the list finds articles with uncommitted edits. A first edit does not
   * write it; the first check of its checkpoint does, about a second later.
   */
  readonly mayHaveEdits?: true;
  /** Usernames other than `createdBy` whose text is in a commit, the newest last. At most `maxAuthors`. */
  readonly authors?: readonly string[];
  readonly publicLink?: PublicLinkSummary;
}

/** Authors of one article that the list finds. Each is an index row, and every commit writes the record. */
const maxAuthors = 200;

/** Adds the authors of a commit. Above `maxAuthors`, the authors that wrote least recently are left out. */
export function withAuthors({ createdBy, authors = [] }: ArticleRecord, more: readonly Author[]): Pick<ArticleRecord, "authors"> {
  const added = more.map(({ username }) => username).filter((username) => username !== createdBy);
  const all = [...new Set([...authors, ...added].reverse())].slice(0, maxAuthors).reverse();
  return all.length === 0 ? {} : { authors: all };
}

/** Lists are ordered by (createdAt, articleId); read backwards they are newest first. */
export const articleLists = {
  all: (workspaceId: string): IndexKey => ["article.created", workspaceId],
  trash: (workspaceId: string): IndexKey => ["article.trash", workspaceId],
  /** Articles that belong to the topic. */
  ofTopic: (topicId: string): IndexKey => ["article.topic", topicId],
  /** Articles in the folder itself. */
  inFolder: (folderId: string): IndexKey => ["article.folder", folderId],
  /** Articles of the workspace that are in no folder. */
  atTop: (workspaceId: string): IndexKey => ["article.top", workspaceId],
  /** Articles that the account created, or of which a commit has text by the account. */
  byAuthor: (workspaceId: string, username: string): IndexKey => ["article.author", workspaceId, username],
  /** Articles whose public page is in this state. */
  published: (workspaceId: string, state: PublishedState): IndexKey => ["article.published", workspaceId, state],
  /** `prefix` must be a value that `toTitlePrefixes` returns. */
  titled: (workspaceId: string, prefix: string): IndexKey => ["article.title", workspaceId, prefix],
  /** Ordered by `lastChangeMsOf` instead. Uncommitted edits do not count. */
  changed: (workspaceId: string): IndexKey => ["article.changed", workspaceId],
  /** Articles that may have uncommitted edits. */
  edited: (workspaceId: string): IndexKey => ["article.edited", workspaceId],
};

/** The same list in another order. Only `all`, `trash`, `inFolder` and `atTop` exist in every order. */
export function inOrder([name, ...rest]: IndexKey, sort: ArticleSort): IndexKey {
  return sort === "createdAt" ? [name, ...rest] : [`${name}.${sort}`, ...rest];
}

/** The parts of an index key that order an article within a list. */
export function placeOf({ articleId, createdAtMs, updatedAtMs, title }: ArticleRecord, sort: ArticleSort): readonly [IndexPart, string] {
  switch (sort) {
    case "createdAt":
      return [createdAtMs, articleId];
    case "updatedAt":
      return [updatedAtMs, articleId];
    case "title":
      return [toTitleOrder(title), articleId];
  }
}

/** Store time of the last commit, rename, move, or restore from the trash. */
export function lastChangeMsOf({ updatedAtMs, changedAtMs = 0, deletedAtMs = 0 }: ArticleRecord): number {
  return Math.max(updatedAtMs, changedAtMs, deletedAtMs);
}

export function publishedStateOf({ publicLink }: Pick<ArticleRecord, "publicLink">): PublishedState {
  return publicLink?.state ?? "none";
}

const sorts: readonly ArticleSort[] = ["createdAt", "updatedAt", "title"];

function toListRows(article: ArticleRecord): readonly IndexKey[] {
  const { articleId, workspaceId, folderId, topicId, createdBy, authors = [], deletedAtMs } = article;
  const inEveryOrder = (list: IndexKey): IndexKey[] => sorts.map((sort) => [...inOrder(list, sort), ...placeOf(article, sort)]);
  if (deletedAtMs !== undefined) return inEveryOrder(articleLists.trash(workspaceId));
  const lists = [
    articleLists.published(workspaceId, publishedStateOf(article)),
    ...[createdBy, ...authors].map((username) => articleLists.byAuthor(workspaceId, username)),
    ...(topicId === undefined ? [] : [articleLists.ofTopic(topicId)]),
    ...toTitlePrefixes(article.title).map((prefix) => articleLists.titled(workspaceId, prefix)),
  ];
  return [
    ...inEveryOrder(articleLists.all(workspaceId)),
    ...inEveryOrder(folderId === undefined ? articleLists.atTop(workspaceId) : articleLists.inFolder(folderId)),
    ...lists.map((list): IndexKey => [...list, ...placeOf(article, "createdAt")]),
    [...articleLists.changed(workspaceId), lastChangeMsOf(article), articleId],
    ...(article.mayHaveEdits === true ? [[...articleLists.edited(workspaceId), articleId] as const] : []),
  ];
}

/** Key of the number of articles in a folder, without those in the trash. */
export function articleCount(folderId: string): IndexKey {
  return ["article.folder", folderId];
}

export const articleRecord = defineRecord<ArticleRecord>({
  name: "article",
  version: 1,
  indexVersion: 2,
  partitionOf: partitionOfId,
  keyOf: (article) => article.articleId,
  indexes: toListRows,
  counts: ({ folderId, deletedAtMs }) => (folderId === undefined || deletedAtMs !== undefined ? [] : [articleCount(folderId)]),
  blobs: ({ attribution }) => (attribution === undefined ? [] : [attribution]),
});

export interface CommitFileRecord extends CommittedFile {
  readonly added: number;
  readonly removed: number;
  /** Key of the deflated text in the blob store: the SHA-256 (hex) of its bytes. */
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
  /** The run that made the commit. */
  readonly runId?: string;
  /** Blob that says who wrote each character of the texts. Absent in a commit of a version that did not store it. */
  readonly attribution?: string;
}

/** Index of an article's commits, in ascending order of revision. */
export function commitsOf(articleId: string): IndexKey {
  return ["commit.revision", articleId];
}

export const commitRecord = defineRecord<CommitRecord>({
  name: "commit",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (commit) => commit.commitId,
  indexes: (commit) => [[...commitsOf(commit.articleId), commit.revision]],
  blobs: ({ files, attribution }) => [...files.map((file) => file.blob), ...(attribution === undefined ? [] : [attribution])],
});

/** Reference to the stored state of a whole document (a Yjs update) at a revision. */
export interface StoredState {
  readonly revision: number;
  readonly blob: string;
  /**
   * State vector in base64. With it the state can be sent to a reader before a Y.Doc is built. Only the newest state has one,
   * and only if the state has no pending updates and the vector has at most `maxVectorBytes`.
   */
  readonly stateVector?: string;
}

/** A larger state vector is not stored, because every write of the record would repeat it. */
export const maxVectorBytes = 4096;

/**
 * Stored states of a document, ascending by revision. The last state is the head, which the room loads when a client joins. The
 * first state is the base: the log is trimmed through its revision, and kept revisions are rebuilt from it. The states
 * between them become the next bases.
 */
export interface DocumentRecord {
  readonly articleId: string;
  readonly states: readonly StoredState[];
  /** The log has no entries up to and including this position. */
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

/** Name of the log of a document's batches. The log is in the article's partition. */
export function documentLog(articleId: string): string {
  return `document/${articleId}`;
}

/** Sets or removes the public link summary of an article. The write belongs in the commit of the link actor. */
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
  const { articleId, workspaceId, folderId = null, title, slug, wordCount, createdBy, updatedBy } = record;
  const { deletedAtMs, topicId, templateId, publicLink } = record;
  return {
    articleId,
    workspaceId,
    folderId,
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
    ...(templateId === undefined ? {} : { templateId }),
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
