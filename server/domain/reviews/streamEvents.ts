/** Adds the events of reviews to the event log of their article, in the commits of the reviews. */
import type { Storage } from "../../platform/storage/port.ts";
import type { ArticleEvents } from "../articles/port.ts";
import { articleRecord } from "../articles/records.ts";
import { present } from "../call/present.ts";
import type { ReviewEventBase, ReviewListeners } from "./port.ts";

export interface ReviewStreamEventsOptions {
  readonly storage: Pick<Storage, "records">;
  readonly articleEvents: ArticleEvents;
}

export function createReviewStreamEvents({ storage, articleEvents }: ReviewStreamEventsOptions): ReviewListeners {
  async function placeOf({ articleId, workspaceId, author }: ReviewEventBase) {
    const article = await storage.records.get(articleRecord, articleId);
    return { articleId, workspaceId, actor: author.username, ...present({ topicId: article?.value.topicId }) };
  }
  return {
    async reviewCreated(unit, event) {
      const { reviewId, kind, file, author, mentions } = event;
      const data = { reviewId, kind, file, author, mentions: [...mentions] };
      articleEvents.add(unit, { ...(await placeOf(event)), event: "review.created", data });
    },
    async reviewReplied(unit, event) {
      const { reviewId, replyId, author, mentions } = event;
      const data = { reviewId, replyId, author, mentions: [...mentions] };
      articleEvents.add(unit, { ...(await placeOf(event)), event: "review.replied", data });
    },
    async reviewResolved(unit, event) {
      const { reviewId, status } = event;
      articleEvents.add(unit, { ...(await placeOf(event)), event: "review.resolved", data: { reviewId, status } });
    },
  };
}
