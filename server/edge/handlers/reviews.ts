/**
 * `createReviewHandlers` connects the operations of `api/contract/reviews.ts` to their services.
 *
 * The contract says how results become replies; `reply` is only
 * where it cannot. Rules of the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { CallReply, Handlers } from "../../domain/call/call.ts";
import { liveEtag } from "../../domain/call/precondition.ts";
import type { ReviewService, ReviewView } from "../../domain/reviews/service.ts";

function toReply({ review, revision, metaRevision }: ReviewView): CallReply {
  return { status: 200, headers: { etag: liveEtag(revision, metaRevision) }, body: review };
}

export function createReviewHandlers({ reviews, replies, suggestions, list }: Omit<ReviewService, "manifest">) {
  return {
    create: {
      serve: ({ params, body }, call) => reviews.create(params.articleId, body, call),
      reply: (view: ReviewView) => {
        const { headers, body } = toReply(view);
        return { status: 201, headers: { ...headers, location: `/reviews/${view.review.reviewId}` }, body };
      },
    },
    list: ({ params, query }, call) => list.ofArticle(params.articleId, query, call),
    listInWorkspace: ({ params, query }, call) => list.ofWorkspace(params.workspaceId, query, call),
    get: { serve: ({ params }) => reviews.get(params.reviewId), reply: toReply },
    update: { serve: ({ params, body }, call) => reviews.update(params.reviewId, body, call), reply: toReply },
    delete: ({ params }, call) => reviews.delete(params.reviewId, call),
    accept: { serve: ({ params }, call) => suggestions.accept(params.reviewId, call), reply: toReply },
    reject: { serve: ({ params }, call) => reviews.reject(params.reviewId, call), reply: toReply },
    reply: ({ params, body }, call) => replies.add(params.reviewId, body.body, call),
    updateReply: ({ params, body }, call) => replies.edit(params.reviewId, params.replyId, body.body, call),
    deleteReply: ({ params }, call) => replies.delete(params.reviewId, params.replyId, call),
  } satisfies Handlers<AppContract>["reviews"];
}
