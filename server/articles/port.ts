/**
 * The seams of the articles: what they offer to publishing, and what they ask of others when something happens.
 *
 * A listener answers with changes, never makes them: they join the commit of what happened, so that a webhook
 * or an unpublished page is exactly as durable as the cause.
 */
import type { ArticleFile, Author, CommitKind, PublicLinkMode } from "../../api/schema/article.ts";
import type { Alongside } from "../actors/port.ts";
import type { IdSource } from "../ids.ts";
import type { DueWrite } from "../storage/port.ts";
import type { ArticleRecord } from "./records.ts";

export type FileTexts = Readonly<Record<ArticleFile, string>>;

export interface Documents {
  /** Live text of all files (only durable state) and the revision. */
  read(articleId: string): Promise<{ readonly revision: number; readonly texts: FileTexts }>;
  /** A kept or committed revision; undefined when it is neither. */
  readAt(articleId: string, revision: number): Promise<FileTexts | undefined>;
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
  readonly publicLink?: { readonly url: string; readonly mode: PublicLinkMode };
  readonly diffUrl: string;
}

export interface ArticleUpdated {
  readonly workspaceId: string;
  /** Store time of the commit. */
  readonly createdAtMs: number;
  /** Source of the event's id. */
  readonly ids: IdSource;
  readonly data: ArticleUpdatedData;
}

/** What articles asks of others when something happens; each answers with changes for the same commit. */
export interface ArticleListeners {
  /** Webhooks: the deliveries of article.updated. */
  articleUpdated(event: ArticleUpdated): Promise<Alongside>;
  /** Publishing: unpublish in the same commit. `article` is written by that commit too: leave its record alone. */
  articleDeleted(article: { readonly articleId: string; readonly workspaceId: string }): Promise<Alongside>;
}

/** Rows to arm in the commit of a durable edit (publishing; no I/O: this is the path of every keystroke). */
export type ArmAtEdit = (article: ArticleRecord, nowMs: number) => readonly DueWrite[];
