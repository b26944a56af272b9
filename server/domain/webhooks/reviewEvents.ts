/**
 * Creates the deliveries of `review.mentioned` and `review.replied` in the commits of reviews.
 *
 * A new comment or reply with at least one handle of an account is one `review.mentioned`, for any number of
 * mentioned accounts. Every reply is one `review.replied`. Edits are no events. The sets of fields are closed.
 */
import type { Author } from "../../../api/schema/article.ts";
import type { UnitOfWork } from "../../platform/actors/port.ts";
import type { ReviewCreated, ReviewListeners, ReviewReplied } from "../reviews/port.ts";
import type { Enqueue } from "./enqueue.ts";

/** `data` of the webhook event review.mentioned. */
export interface ReviewMentionedData {
  readonly articleId: string;
  readonly reviewId: string;
  /** The reply that mentions; absent if the review itself does. */
  readonly replyId?: string;
  readonly author: Author;
  /** Usernames of mentioned accounts that can read the article. */
  readonly mentions: readonly string[];
  /** Usernames of mentioned accounts that cannot. */
  readonly unresolvedMentions: readonly string[];
  readonly body: string;
  readonly quote?: string;
  readonly url: string;
}

/** `data` of the webhook event review.replied. */
export interface ReviewRepliedData {
  readonly articleId: string;
  readonly reviewId: string;
  readonly replyId: string;
  readonly author: Author;
  /** Usernames of all authors of the thread. */
  readonly participants: readonly string[];
  readonly body: string;
  readonly url: string;
}

export function createReviewEvents(enqueue: Enqueue["enqueue"]): Pick<ReviewListeners, "reviewCreated" | "reviewReplied"> {
  async function mentioned(unit: UnitOfWork, event: ReviewCreated | ReviewReplied): Promise<void> {
    const { articleId, reviewId, author, mentions, unresolvedMentions, body, quote, url } = event;
    if (mentions.length + unresolvedMentions.length === 0) return;
    const data: ReviewMentionedData = {
      articleId,
      reviewId,
      ...("replyId" in event ? { replyId: event.replyId } : {}),
      author,
      mentions,
      unresolvedMentions,
      body,
      ...(quote === undefined ? {} : { quote }),
      url,
    };
    await enqueue(unit, { ...baseOf(event), event: "review.mentioned", data });
  }

  return {
    reviewCreated: mentioned,
    async reviewReplied(unit, event) {
      const { articleId, reviewId, replyId, author, participants, body, url } = event;
      const data: ReviewRepliedData = { articleId, reviewId, replyId, author, participants, body, url };
      await enqueue(unit, { ...baseOf(event), event: "review.replied", data });
      await mentioned(unit, event);
    },
  };
}

function baseOf({ workspaceId, createdAtMs, ids, traceparent }: ReviewCreated) {
  return { workspaceId, createdAtMs, ids, traceparent };
}
