/**
 * The seams of the articles: what they offer to publishing, and what they ask of others when something happens.
 *
 * A listener answers with changes, never makes them: they join the commit of what happened, so that a webhook
 * or an unpublished page is exactly as durable as the cause.
 */
import type * as Y from "yjs";
import type { ArticleFile, Author, CommitKind, PublicLinkMode } from "../../api/schema/article.ts";
import type { Alongside } from "../actors/port.ts";
import type { IdSource } from "../ids.ts";
import type { DueWrite, Stored } from "../storage/port.ts";
import type { WorkspaceRecord } from "../workspaces/records.ts";
import type { ArticleRecord } from "./records.ts";

export type FileTexts = Readonly<Record<ArticleFile, string>>;

export interface Documents {
  /** Live text of all files (only durable state) and the revision. */
  read(articleId: string): Promise<{ readonly revision: number; readonly texts: FileTexts }>;
  /** A kept or committed revision; undefined when it is neither. */
  readAt(articleId: string, revision: number): Promise<FileTexts | undefined>;
}

/** The step of a run on whose behalf a commit is made. */
export interface CommittingRun {
  readonly runId: string;
  readonly stepName: string;
  /** What the step writes; the commit may hold others' changes of other files as well. */
  readonly file?: ArticleFile | undefined;
  /** Of the brief that it worked from. */
  readonly seoBriefRevision?: number | undefined;
}

export interface CommitOrder {
  readonly articleId: string;
  /** Made by the caller, so that a repeat asks for the same one. */
  readonly commitId: string;
  readonly kind: CommitKind;
  readonly message: string;
  readonly name?: string | undefined;
  /** Made by the service itself: then there is nothing to commit in an article that never held a text. */
  readonly automatic?: boolean;
  /** Shown as the article's `updatedBy`; absent: who wrote last. */
  readonly committer?: string;
  /** Source of the ids of what follows from the commit. */
  readonly ids: IdSource;
  /** The text must hold all batches up to here. */
  readonly notBefore?: number;
  readonly run?: CommittingRun | undefined;
  /** Trace context (W3C) of what asked for the commit, for those who are told of it. */
  readonly traceparent?: string | undefined;
}

export type PreparedCommit =
  | { readonly kind: "ready"; readonly commitId: string; readonly revision: number; readonly change: Alongside }
  /** Every file is as in the last commit. */
  | { readonly kind: "unchanged"; readonly revision: number; readonly lastCommitId?: string }
  /** The article is in the trash or gone. */
  | { readonly kind: "deleted" }
  /** This node's document has not caught up with `notBefore` or with the last commit. */
  | { readonly kind: "behind" };

/** For whoever writes into a live document as a participant of its room. */
export interface DocumentWriting {
  /** A document holds neither NUL nor halves of surrogate pairs: they become U+FFFD. */
  toAcceptable(text: string): string;
  /** Refuses with `content_too_large` what is more than a file holds. */
  requireFits(text: string): void;
  /**
   * What was written against `base` carried onto the live text: a change for one transaction, which meets what came since
   * `live` was read; undefined when there is nothing to do. `owner` is a workspace. Refuses what does not fit.
   */
  carry(
    owner: string,
    task: { readonly base: string; readonly content: string; readonly live: string },
  ): Promise<((text: Y.Text) => void) | undefined>;
}

/** Changes of articles as parts of somebody else's commit. */
export interface ArticleWriter {
  /** A new article without text, which may belong to a topic; the workspace's counter is moved on with it. */
  prepareArticle(input: {
    readonly workspace: Stored<WorkspaceRecord>;
    readonly title: string;
    readonly topicId?: string;
    readonly author: Author;
    readonly ids: IdSource;
  }): { readonly articleId: string; readonly change: Alongside };
  /** Links a living article of the workspace to a topic; undefined when it is linked to another one. */
  prepareLink(article: Stored<ArticleRecord>, topicId: string): Alongside | undefined;
  /** A commit of the live document, made from what is there now: after a conflict it must be made anew. */
  prepareCommit(order: CommitOrder): Promise<PreparedCommit>;
  /** The text of a file in the last commit that holds it; undefined when none does or the article is in the trash. */
  committedText(
    articleId: string,
    file: ArticleFile,
  ): Promise<{ readonly text: string; readonly commitId: string; readonly revision: number } | undefined>;
}

/** `data` of the webhook event article.updated; closed. */
export interface ArticleUpdatedData {
  readonly articleId: string;
  readonly title: string;
  readonly commitId: string;
  readonly kind: CommitKind;
  readonly revision: number;
  /** Revision of the commit before; null for the first one. */
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

/** An article's commit as its topic sees it. */
export interface ArticleCommitted extends Pick<ArticleUpdatedData, "articleId" | "commitId" | "kind" | "revision"> {
  readonly workspaceId: string;
  readonly topicId: string;
  /** Username: who committed, or wrote last. */
  readonly by: string;
  /** Files that this commit changed and that hold a text now. */
  readonly written: readonly ArticleFile[];
  readonly run?: CommittingRun | undefined;
}

/** What articles asks of others when something happens; each answers with changes for the same commit. */
export interface ArticleListeners {
  /** Webhooks: the deliveries of article.updated. */
  articleUpdated(event: ArticleUpdated): Promise<Alongside>;
  /** Topics: what a commit of a topic's article makes of the topic. */
  articleCommitted(event: ArticleCommitted): Promise<Alongside>;
  /** Publishing: unpublish in the same commit. `article` is written by that commit too: leave its record alone. */
  articleDeleted(article: { readonly articleId: string; readonly workspaceId: string }): Promise<Alongside>;
  /** Topics: the article of a topic is gone for good. */
  articleRemoved(article: { readonly articleId: string; readonly topicId: string; readonly by: string }): Promise<Alongside>;
}

/** Rows to arm in the commit of a durable edit, and what to do once it stands (publishing; no I/O: this is the path of every keystroke). */
export type ArmAtEdit = (article: ArticleRecord, nowMs: number) => { readonly due: readonly DueWrite[]; readonly started?: () => void };
