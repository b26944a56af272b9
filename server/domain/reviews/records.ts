/**
 * Defines the stored record of reviews. A review is an actor of `machines/review.ts` and holds its replies, so that a reply,
 * its webhook deliveries and the lists change in one commit. It is in the partition of its article and workspace.
 */
import type { Review, ReviewStatus } from "../../../api/schema/review.ts";
import type { ReviewContext, ReviewText, TextAnchor } from "../../../machines/reviewContext.ts";
import type { ActorRecord } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { IndexKey } from "../../platform/storage/port.ts";
import { defineRecord } from "../../platform/storage/recordType.ts";

/** The actor's id is the review id, and its state is the review's status. */
export type ReviewRecord = ActorRecord<ReviewContext>;

/** Each list ends in (createdAt, review id); read backwards it is newest first. */
export const reviewLists = {
  ofArticle: (articleId: string): IndexKey => ["review.article", articleId],
  ofWorkspace: (workspaceId: string, status: ReviewStatus): IndexKey => ["review.workspace", workspaceId, status],
  /** Reviews that mention the account in their text or in a reply, whether or not it could read the article. */
  mentioning: (workspaceId: string, username: string, status: ReviewStatus): IndexKey => ["review.mention", workspaceId, username, status],
};

/** Key of the number of reviews of an article. */
export function reviewCount(articleId: string): IndexKey {
  return ["review.article", articleId];
}

export function statusOf(record: Pick<ReviewRecord, "state">): ReviewStatus {
  return record.state as ReviewStatus;
}

/** Usernames of all accounts that the review and its replies mention. */
export function mentionedIn({ replies, ...review }: ReviewText & Pick<ReviewContext, "replies">): ReadonlySet<string> {
  return new Set([review, ...replies].flatMap(({ mentions, unresolvedMentions }) => [...mentions, ...unresolvedMentions]));
}

export const reviewRecord = defineRecord<ReviewRecord>({
  name: "review",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (review) => review.id,
  indexes: (review) => {
    const { articleId, workspaceId, createdAtMs } = review.context;
    const place = [createdAtMs, review.id] as const;
    const status = statusOf(review);
    return [
      [...reviewLists.ofArticle(articleId), ...place],
      [...reviewLists.ofWorkspace(workspaceId, status), ...place],
      ...[...mentionedIn(review.context)].map((name): IndexKey => [...reviewLists.mentioning(workspaceId, name, status), ...place]),
    ];
  },
  counts: (review) => [reviewCount(review.context.articleId)],
});

export const reviewRecordTypes = [reviewRecord] as const;

/** The review as the API shows it, with its anchor at the given place. */
export function toReview(record: ReviewRecord, anchor: TextAnchor | null): Review {
  const { id, context } = record;
  const { articleId, workspaceId, kind, file, body, author, mentions, unresolvedMentions, replacement, resolvedBy, resolvedAtMs } = context;
  return {
    reviewId: id,
    articleId,
    workspaceId,
    kind,
    status: statusOf(record),
    file,
    anchor: anchor === null ? null : toReviewAnchor(anchor),
    body,
    author: { username: author.username, kind: author.kind },
    mentions: [...mentions],
    unresolvedMentions: [...unresolvedMentions],
    replies: context.replies.map((reply) => toReviewReply(id, reply)),
    createdAt: context.createdAtMs / 1000,
    updatedAt: context.updatedAtMs / 1000,
    ...(replacement === undefined ? {} : { replacement }),
    ...(resolvedBy === undefined ? {} : { resolvedBy }),
    ...(resolvedAtMs === undefined ? {} : { resolvedAt: resolvedAtMs / 1000 }),
  };
}

function toReviewAnchor({ quote, prefix, suffix, start, end, revision, state }: TextAnchor): Review["anchor"] {
  return { quote, prefix, suffix, start, end, revision, state };
}

export function toReviewReply(reviewId: string, reply: ReviewContext["replies"][number]): Review["replies"][number] {
  const { replyId, body, author, mentions, unresolvedMentions, createdAtMs, updatedAtMs } = reply;
  return {
    replyId,
    reviewId,
    body,
    author: { username: author.username, kind: author.kind },
    mentions: [...mentions],
    unresolvedMentions: [...unresolvedMentions],
    createdAt: createdAtMs / 1000,
    updatedAt: updatedAtMs / 1000,
  };
}
