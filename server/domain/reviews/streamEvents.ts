/** Adds the events of reviews to the event log of their article, in the commits of the reviews. */
import type { ArticleEvents } from "../articles/port.ts";
import type { ReviewEventBase, ReviewListeners } from "./port.ts";

export function createReviewStreamEvents(articleEvents: ArticleEvents): ReviewListeners {
  const placeOf = ({ articleId, workspaceId, author }: ReviewEventBase) => ({ articleId, workspaceId, actor: author.username });
  return {
    async reviewCreated(unit, event) {
      const { reviewId, kind, file, author, mentions } = event;
      const data = { reviewId, kind, file, author, mentions: [...mentions] };
      articleEvents.add(unit, { ...placeOf(event), event: "review.created", data });
    },
    async reviewReplied(unit, event) {
      const { reviewId, replyId, author, mentions } = event;
      const data = { reviewId, replyId, author, mentions: [...mentions] };
      articleEvents.add(unit, { ...placeOf(event), event: "review.replied", data });
    },
    async reviewResolved(unit, event) {
      const { reviewId, status } = event;
      articleEvents.add(unit, { ...placeOf(event), event: "review.resolved", data: { reviewId, status } });
    },
  };
}
