/**
 * Port of the reviews domain: the listeners it calls on its events.
 *
 * A listener adds its changes to the unit of work of the event and commits nothing itself, so that a webhook delivery or a
 * log entry is exactly as durable as the review, the reply or the decision.
 */
import type { ArticleFile, Author } from "../../../api/schema/article.ts";
import type { ReviewKind, ReviewStatus } from "../../../api/schema/review.ts";
import type { ReviewText } from "../../../machines/reviewContext.ts";
import type { UnitOfWork } from "../../platform/actors/port.ts";
import type { IdSource } from "../../platform/storage/ids.ts";

/** Fields of every event of a review. */
export interface ReviewEventBase {
  readonly workspaceId: string;
  readonly articleId: string;
  readonly reviewId: string;
  readonly kind: ReviewKind;
  /** The file that the review is about. */
  readonly file: ArticleFile;
  /** The account that caused the event. */
  readonly author: Author;
  /** Store time of the event. */
  readonly createdAtMs: number;
  /** Source of the event's ids. */
  readonly ids: IdSource;
  readonly traceparent?: string | undefined;
  /** Quoted text of the article. */
  readonly quote?: string | undefined;
  /** Address of the review in the API. */
  readonly url: string;
}

export interface ReviewCreated extends ReviewEventBase, ReviewText {}

export interface ReviewReplied extends ReviewEventBase, ReviewText {
  readonly replyId: string;
  /** Usernames of the authors of the review and of its replies, this one included, in order of their first text. */
  readonly participants: readonly string[];
}

export interface ReviewResolved extends ReviewEventBase {
  readonly status: Exclude<ReviewStatus, "open">;
}

/** Listeners that the reviews domain calls on its events. Each adds its changes to the commit of the event. */
export interface ReviewListeners {
  reviewCreated(unit: UnitOfWork, event: ReviewCreated): Promise<void>;
  reviewReplied(unit: UnitOfWork, event: ReviewReplied): Promise<void>;
  /** A comment was resolved, or a suggestion was accepted or rejected. */
  reviewResolved(unit: UnitOfWork, event: ReviewResolved): Promise<void>;
}

/** The account of a username; undefined if there is none. Case is ignored. */
export type FindAccount = (
  username: string,
) => Promise<{ readonly accountId: string; readonly username: string; readonly disabled: boolean } | undefined>;
