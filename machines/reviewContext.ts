/**
 * ReviewContext defines the context and the events of a review.
 *
 * It must not decide which event is allowed in which state: the machine does that (`review.ts`).
 */
import type { ArticleFile, Author } from "../api/schema/article.ts";
import type { AnchorState, ReviewKind } from "../api/schema/review.ts";

/** Id of one character of a Yjs text. It stays the same while the character exists, wherever the character is. */
export interface CharacterId {
  readonly client: number;
  readonly clock: number;
}

/**
 * A quoted place in a file, as it was at `revision`. The quote never changes. The other fields are updated when the
 * text around the quote has changed, so that the place can still be found after the next change.
 */
export interface TextAnchor {
  readonly quote: string;
  readonly prefix: string;
  readonly suffix: string;
  /** Offsets of the quote in UTF-16 code units at `revision`. */
  readonly start: number;
  readonly end: number;
  readonly revision: number;
  /** State at `revision`. */
  readonly state: AnchorState;
  /** The quote was found at another place than before at least once. */
  readonly isMoved: boolean;
  /** First and last character of the quote. */
  readonly first: CharacterId;
  readonly last: CharacterId;
}

/** A text that a person or a program wrote into a review, with the accounts that it mentions (usernames). */
export interface ReviewText {
  readonly body: string;
  readonly mentions: readonly string[];
  /** Mentioned accounts that could not read the article when the text was written. */
  readonly unresolvedMentions: readonly string[];
}

export interface ReplyContext extends ReviewText {
  readonly replyId: string;
  readonly author: Author;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface ReviewContext extends ReviewText {
  readonly articleId: string;
  readonly workspaceId: string;
  readonly kind: ReviewKind;
  readonly file: ArticleFile;
  /** Null: the review is about the whole file. */
  readonly anchor: TextAnchor | null;
  readonly author: Author;
  /** Oldest first. */
  readonly replies: readonly ReplyContext[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Rises with every change of a request. Following the text does not raise it, so that typing fails no request. */
  readonly metaRevision: number;
  /** Suggestions only. */
  readonly replacement?: string | undefined;
  /** Username. Absent while the review is open. */
  readonly resolvedBy?: string | undefined;
  readonly resolvedAtMs?: number | undefined;
}

/** Input of a new review, and the current time. */
export interface ReviewInput
  extends Omit<ReviewContext, "replies" | "createdAtMs" | "updatedAtMs" | "metaRevision" | "resolvedBy" | "resolvedAtMs"> {
  readonly nowMs: number;
}

export type ReviewEvent = { readonly nowMs: number } & (
  | { readonly type: "review.edit"; readonly text: ReviewText }
  | { readonly type: "review.resolve"; readonly by: string }
  | { readonly type: "review.reopen"; readonly by: string }
  | { readonly type: "review.reject"; readonly by: string }
  | { readonly type: "review.delete"; readonly by: string }
  /** The suggestion's replacement is written in the same commit. `anchor` is the place where the quote was; default: as stored. */
  | { readonly type: "review.accept"; readonly by: string; readonly anchor?: TextAnchor }
  | { readonly type: "reply.add"; readonly reply: Omit<ReplyContext, "createdAtMs" | "updatedAtMs"> }
  | { readonly type: "reply.edit"; readonly replyId: string; readonly text: ReviewText }
  | { readonly type: "reply.delete"; readonly replyId: string }
  /** The text around the quote has changed. */
  | { readonly type: "anchor.placed"; readonly anchor: TextAnchor }
);

/** Events that callers may send; refusals name only these. */
export const reviewCommands = [
  "review.edit",
  "review.resolve",
  "review.reopen",
  "review.accept",
  "review.reject",
  "review.delete",
  "reply.add",
  "reply.edit",
  "reply.delete",
] as const;
