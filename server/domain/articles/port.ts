/**
 * Port of the articles domain: the interfaces it offers to publishing, topics and runs, and the listeners it calls.
 *
 * A listener adds its changes to the unit of work of the event and commits nothing itself, so that a webhook delivery or
 * an unpublished page is exactly as durable as its cause.
 */
import type * as Y from "yjs";
import type { ArticleDiff, ArticleFile, Author, CommitKind, DiffFormat, PublicLinkMode } from "../../../api/schema/article.ts";
import type { ArticleEventData, ArticleEventName } from "../../../api/schema/articleEvent.ts";
import type { UnitOfWork } from "../../platform/actors/port.ts";
import type { IdSource } from "../../platform/storage/ids.ts";
import type { Batch, CommitResult, DueWrite, Requirement, Stored } from "../../platform/storage/port.ts";
import type { Call } from "../call/call.ts";
import type { WorkspaceRecord } from "../identity/workspaces/records.ts";
import type { ArticleRecord } from "./records.ts";

export type FileTexts = Readonly<Record<ArticleFile, string>>;

export interface Documents {
  /** The live revision and the text of all files at it. Only durable updates are included. */
  read(articleId: string): Promise<{ readonly revision: number; readonly texts: FileTexts }>;
  /** The text of all files at a revision; undefined when the revision is neither kept nor committed. */
  readAt(articleId: string, revision: number): Promise<FileTexts | undefined>;
  /** The id of the commit at a revision; undefined when the revision has none. */
  commitIdAt(articleId: string, revision: number): Promise<string | undefined>;
  /** Compares an older text of a file with its live text. `owner` is a workspace id. */
  diffFrom(articleId: string, older: OlderText, format: DiffFormat, owner: string): Promise<ArticleDiff>;
}

/** A text of a file that the caller keeps. */
export interface OlderText {
  readonly file: ArticleFile;
  readonly revision: number;
  readonly text: string;
}

/** The run step that a commit is made for. */
export interface CommittingRun {
  readonly runId: string;
  readonly stepName: string;
  /** The file that the step writes. The commit may also contain changes that other authors made to other files. */
  readonly file?: ArticleFile | undefined;
  /** Revision of the SEO brief that the step used as input. */
  readonly seoBriefRevision?: number | undefined;
}

export interface CommitOrder {
  readonly articleId: string;
  /** Chosen by the caller, so that a retry asks for the same commit. */
  readonly commitId: string;
  readonly kind: CommitKind;
  readonly message: string;
  readonly name?: string | undefined;
  /** True for a commit by the service itself. Such a commit is skipped for an article that has no commit and no text. */
  readonly automatic?: boolean;
  /** True for the last armed checkpoint: the commit removes `mayHaveEdits` of the article. */
  readonly clearsMark?: boolean;
  /** Username for the article's `updatedBy`. Default: the author of the newest batch since the last check. */
  readonly committer?: string;
  /** Source of ids for the records that follow from the commit, such as webhook deliveries. */
  readonly ids: IdSource;
  /** Lowest acceptable revision: the committed text must include every batch up to it. */
  readonly notBefore?: number;
  readonly run?: CommittingRun | undefined;
  /** W3C trace context of the request that caused the commit; passed on to the listeners. */
  readonly traceparent?: string | undefined;
}

/** Result of a commit that was added to a unit of work. Only `ready` adds changes. */
export type PreparedCommit =
  | { readonly kind: "ready"; readonly commitId: string; readonly revision: number }
  /** Every file equals its text in the last commit. */
  | { readonly kind: "unchanged"; readonly revision: number; readonly lastCommitId?: string }
  /** The article is in the trash or deleted for good. */
  | { readonly kind: "deleted" }
  /** This node's document is older than `notBefore` or than the last commit. */
  | { readonly kind: "behind" };

/** Operations for a server-side writer that takes part in the room of a live document. */
export interface DocumentWriting {
  /** Replaces NUL characters and unpaired surrogates, which a document must not contain, by U+FFFD. */
  toAcceptable(text: string): string;
  /** Throws `content_too_large` when the text is larger than a file may be. */
  requireFits(text: string): void;
  /**
   * Merges `content`, which was written against `base`, into the live text. Returns a change to apply in one transaction;
   * the change also merges with edits made after `live` was read. Undefined when there is nothing to change. `owner` is a
   * workspace id. Throws `content_too_large` when the result is larger than a file may be.
   */
  carry(
    owner: string,
    task: { readonly base: string; readonly content: string; readonly live: string },
  ): Promise<((text: Y.Text) => void) | undefined>;
}

/**
 * Changes that are stored in the same commit as an edit of a document (`Rooms.edit`), or not at all.
 *
 * `commit` receives the batch of the edit and commits it together with its own changes, its own ones last. It may run
 * several times. If it throws an `AppError` or `AlreadyAnswered`, nothing is stored and the edit is reverted.
 */
export class JoinedCommit {
  readonly commit: (append: Batch) => Promise<CommitResult>;
  constructor(commit: (append: Batch) => Promise<CommitResult>) {
    this.commit = commit;
  }
}

/** Resolves a topic id or short id to the topic id; undefined when the workspace has no such topic. */
export type FindTopicId = (workspaceId: string, reference: string) => Promise<string | undefined>;

/** The functions of folders that articles need. Both make the commit of the unit fail if the folder changes meanwhile. */
export interface ArticleFolders {
  /** Throws `validation_failed` unless the folder exists in the workspace and takes articles. */
  requireOpen(unit: UnitOfWork, workspaceId: string, folderId: string): Promise<void>;
  /** For an article that was in the folder before. Returns false if the folder is missing. */
  keep(unit: UnitOfWork, workspaceId: string, folderId: string): Promise<boolean>;
}

/**
 * Returns the text of a template of the workspace with the values in its placeholders; undefined when the workspace has no
 * such template. Throws `validation_failed` for missing and unknown values, and `content_too_large`.
 */
export type FillTemplate = (
  workspaceId: string,
  templateId: string,
  values: Readonly<Record<string, string>>,
  maxBytes: number,
) => Promise<string | undefined>;

/** An article with its live revision. */
export interface ArticleReply {
  readonly article: ArticleRecord;
  readonly revision: number;
}

export interface DuplicateRequest {
  readonly title?: string | undefined;
  /** Null: at the top level. Absent: in the folder of the article. */
  readonly folderId?: string | null | undefined;
}

/** A copy of an article that is about to be stored. */
export interface NewCopy {
  readonly workspaceId: string;
  readonly copyId: string;
  readonly document: Y.Doc;
  readonly revision: number;
}

/**
 * Copies the live text of all files into a new article. `also` adds changes to the commit of the new article; it runs again
 * after a conflict. Throws `not_found` for an article in the trash.
 */
export type DuplicateArticle = (
  articleId: string,
  request: DuplicateRequest,
  call: Call,
  also?: (unit: UnitOfWork, copy: NewCopy) => Promise<void>,
) => Promise<ArticleReply>;

/** Changes articles in the units of work of topics and runs. */
export interface ArticleWriter {
  /**
   * Creates an article without text, optionally linked to a topic, and increments the workspace's article counter.
   * Returns the article id.
   */
  create(
    unit: UnitOfWork,
    input: {
      readonly workspace: WorkspaceRecord;
      readonly title: string;
      readonly topicId?: string;
      readonly author: Author;
      readonly ids: IdSource;
    },
  ): Promise<string>;
  /** Links an article to a topic. Returns false, and changes nothing, when the article is linked to another topic. */
  link(unit: UnitOfWork, article: Stored<ArticleRecord>, topicId: string): boolean;
  /**
   * Makes the unit's commit and every concurrent change of the article's record exclude each other, so that the later of
   * the two is gathered again. A condition on the revision would not be enough: it refuses this commit after the other
   * one, but lets the other one follow although it has not seen this commit. The article is not changed.
   */
  hold(unit: UnitOfWork, article: Stored<ArticleRecord>): void;
  /** Commits the live document as it is now, with everything that follows from the commit. */
  commit(unit: UnitOfWork, order: CommitOrder): Promise<PreparedCommit>;
  /** The text of a file in the newest commit that contains it; undefined when no commit does or the article is in the trash. */
  committedText(
    articleId: string,
    file: ArticleFile,
  ): Promise<{ readonly text: string; readonly commitId: string; readonly revision: number } | undefined>;
}

/** The commit of a text that comes from outside. All ids are chosen by the caller, so that a retry makes the same changes. */
export interface ImportOrder extends Pick<CommitOrder, "articleId" | "commitId" | "message" | "ids" | "traceparent"> {
  readonly workspaceId: string;
  /** The new text of `content.md`. */
  readonly content: string;
  readonly author: Author;
  /** Yjs client id of the text. No other text of the article may have it. */
  readonly clientId: number;
}

/** Brings texts from outside into articles, for conversions. */
export interface ArticleImports {
  /**
   * Creates an article with the text and with its first commit, of kind `import`. Adds everything to the unit. Throws
   * `not_found` if the workspace does not exist.
   */
  create(unit: UnitOfWork, order: ImportOrder & { readonly title: string; readonly folderId?: string | undefined }): Promise<void>;
  /**
   * Makes `content.md` of the live document equal to the text, merged with the text that others wrote since `baseRevision` as far
   * as that revision is kept. The edit is stored only while `guard` holds, and only once: a repeat finds its client id.
   * Returns the revision that has it; the caller makes the commit. Throws `not_found`, `content_too_large`, and
   * `WriteFenced` if `guard` does not hold.
   */
  replace(order: ImportOrder & { readonly baseRevision: number }, guard: Requirement): Promise<{ readonly revision: number }>;
}

/** `data` of the webhook event article.updated. The set of fields is closed. */
export interface ArticleUpdatedData {
  readonly articleId: string;
  readonly title: string;
  readonly commitId: string;
  readonly kind: CommitKind;
  readonly revision: number;
  /** Revision of the previous commit; null for the first commit. */
  readonly previousRevision: number | null;
  readonly contentHash: string;
  /** Files that this commit changed. */
  readonly files: readonly { readonly file: ArticleFile; readonly added: number; readonly removed: number }[];
  readonly authors: readonly Author[];
  readonly topicId?: string;
  readonly runId?: string;
  readonly publicLink?: { readonly url: string; readonly mode: PublicLinkMode };
  readonly diffUrl: string;
}

export interface ArticleUpdated {
  readonly workspaceId: string;
  /** Store time of the commit. */
  readonly createdAtMs: number;
  /** Source of the event's id. */
  readonly ids: IdSource;
  readonly traceparent?: string | undefined;
  readonly data: ArticleUpdatedData;
}

/** Facts about a commit that the topic of the article needs. */
export interface ArticleCommitted extends Pick<ArticleUpdatedData, "articleId" | "commitId" | "kind" | "revision"> {
  readonly workspaceId: string;
  readonly topicId: string;
  /** Username of the committer, or of the last author when the commit has no committer. */
  readonly by: string;
  /** Files that this commit changed and that are not empty after it. */
  readonly written: readonly ArticleFile[];
  readonly run?: CommittingRun | undefined;
}

/** Listeners that the articles domain calls on its events. Each adds its changes to the commit of the event. */
export interface ArticleListeners {
  /** Webhooks: creates the deliveries of article.updated. */
  articleUpdated(unit: UnitOfWork, event: ArticleUpdated): Promise<void>;
  /** Topics: changes the topic after a commit of its article. */
  articleCommitted(unit: UnitOfWork, event: ArticleCommitted): Promise<void>;
  /**
   * Publishing and runs: unpublishes the article and cancels its runs. The listener must not write the article record,
   * because the same commit writes it already.
   */
  articleDeleted(unit: UnitOfWork, article: DeletedArticle): Promise<void>;
  /** Reviews: the article is being deleted for good. Its reviews are removed later, in pieces. */
  articlePurged(unit: UnitOfWork, article: { readonly articleId: string; readonly workspaceId: string }): Promise<void>;
  /** Topics: the article of a topic is being deleted for good. */
  articleRemoved(unit: UnitOfWork, article: { readonly articleId: string; readonly topicId: string; readonly by: string }): Promise<void>;
}

/** An article that a commit moves to the trash or deletes for good. */
export interface DeletedArticle {
  readonly articleId: string;
  readonly workspaceId: string;
  readonly topicId?: string | undefined;
  /** Username of the account that deletes the article. */
  readonly by: string;
}

/** An event for the event log of an article. */
export interface NewArticleEvent<Name extends ArticleEventName = ArticleEventName> {
  readonly articleId: string;
  readonly workspaceId: string;
  /** The topic that the article is written for. */
  readonly topicId?: string | undefined;
  readonly event: Name;
  /** Username of the account that caused the event, or on whose behalf an agent did. */
  readonly actor: string;
  readonly data: ArticleEventData[Name];
}

/** Writes the event logs of articles. Every domain that changes something of an article may add an event to its own commit. */
export interface ArticleEvents {
  /**
   * Appends an event to the log of an article in the commit of the unit, whose partition must be that of the article. The
   * commit must also exclude that the article is deleted for good meanwhile, for example by requiring its record.
   */
  add<Name extends ArticleEventName>(unit: UnitOfWork, event: NewArticleEvent<Name>): void;
}

/**
 * Publishing: returns the due rows to arm in the commit of an edit, and a callback for after the commit. It must not do any
 * I/O, because every keystroke calls it.
 */
export type ArmAtEdit = (article: ArticleRecord, nowMs: number) => { readonly due: readonly DueWrite[]; readonly started?: () => void };
