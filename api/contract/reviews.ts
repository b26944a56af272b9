import { z } from "zod";
import { ArticleFile } from "../schema/article.ts";
import { pageQuery, Username } from "../schema/common.ts";
import { ReplyId, ReviewId, WorkspaceId } from "../schema/id.ts";
import { CreateReviewRequest, ReplyRequest, Review, ReviewReply, ReviewStatus, UpdateReviewRequest } from "../schema/review.ts";
import { operation } from "./operation.ts";
import { articleParams, inWorkspace, ofArticle, pageOf } from "./resource.ts";

const byId = { kind: "review", in: "params", name: "reviewId" } as const;
const read = { credential: "any", scopes: ["reviews:read"], role: "read" } as const;
const write = { credential: "any", scopes: ["reviews:write"], role: "write" } as const;
/** A decision about a suggestion is a decision about the text. */
const decide = { ...write, scopes: ["reviews:write", "articles:write"] } as const;

const params = z.strictObject({ reviewId: ReviewId });
const replyParams = z.strictObject({ reviewId: ReviewId, replyId: ReplyId });
const replyHeaders = {
  etag: 'Entity tag `"r<revision>-<record revision>"`. The first part is the revision of the anchor; `If-Match` compares only the second part.',
} as const;

const replyTag = {
  etag: 'Entity tag `"r<record revision>"` of the review to which the reply belongs. The review and its replies change together.',
} as const;

const statuses = z
  .array(ReviewStatus)
  .min(1)
  .max(20)
  .describe("Only reviews in one of these states; repeat the parameter for several.")
  .optional();

const page = pageOf("reviews", Review, { id: "ReviewList", description: "A page of reviews.", items: "Reviews, newest first." });

export const reviews = {
  create: operation({
    method: "POST",
    path: "/articles/{articleId}/reviews",
    params: articleParams,
    bodies: { "application/json": CreateReviewRequest },
    replies: { 201: Review },
    replyHeaders,
    location: "/reviews/{reviewId}",
    ...write,
    resource: ofArticle,
    errors: ["anchor_not_found", "anchor_ambiguous", "content_not_accepted", "revision_conflict", "limit_reached"],
    summary: "Comment on a place of an article, or suggest other text for it",
    description:
      "The place is a quote of the live text, or a range of characters at a revision. A quote that occurs more than once answers 422 and lists its matches in `errors`; add `prefix` and `suffix`, or `occurrence`. Without `anchor` the comment is about the whole file. An article has at most 2,000 reviews.",
    example: { body: "@bo is this a typo?", kind: "suggestion", anchor: { quote: "teh draft" }, replacement: "the draft" },
  }),
  list: operation({
    method: "GET",
    path: "/articles/{articleId}/reviews",
    params: articleParams,
    query: z.strictObject({
      ...pageQuery,
      status: statuses,
      file: ArticleFile.describe("Only reviews of this file.").optional(),
      mentions: Username.describe("Only reviews in which this account is mentioned, in the text or in a reply.").optional(),
    }),
    replies: { 200: page },
    ...read,
    resource: ofArticle,
    summary: "List the reviews of an article, newest first",
    description: "Each anchor shows where the quote is in the live text.",
  }),
  listInWorkspace: operation({
    method: "GET",
    path: "/workspaces/{workspaceId}/reviews",
    params: z.strictObject({ workspaceId: WorkspaceId }),
    query: z.strictObject({
      ...pageQuery,
      status: statuses,
      mentionsMe: z.boolean().describe("`true`: only reviews in which the caller is mentioned, in the text or in a reply.").optional(),
    }),
    replies: { 200: page },
    ...read,
    resource: inWorkspace,
    summary: "List the reviews of a workspace, newest first",
    description:
      "Reviews of articles in the trash are not listed. To avoid opening every article, the anchors are those of the last time that the server stored them; their offsets belong to their `revision`. Get a review for its place in the live text.",
  }),
  get: operation({
    method: "GET",
    path: "/reviews/{reviewId}",
    params,
    replies: { 200: Review },
    replyHeaders,
    ...read,
    resource: byId,
    summary: "Get a review with its replies",
    description: "The anchor shows where the quote is in the live text.",
  }),
  update: operation({
    method: "PATCH",
    path: "/reviews/{reviewId}",
    params,
    bodies: { "application/json": UpdateReviewRequest },
    replies: { 200: Review },
    replyHeaders,
    ...write,
    resource: byId,
    ifMatch: true,
    errors: ["insufficient_permission", "invalid_transition", "limit_reached"],
    summary: "Edit the text of a review, resolve a comment, or open it again",
    description:
      "Only the author and administrators may change the text; every member who may write may change the status. Suggestions are accepted or rejected, not resolved. Edits call no webhook.",
    example: { status: "resolved" },
  }),
  delete: operation({
    method: "DELETE",
    path: "/reviews/{reviewId}",
    params,
    replies: { 204: null },
    ...write,
    resource: byId,
    ifMatch: true,
    errors: ["insufficient_permission"],
    summary: "Delete a review with its replies",
    description: "Only the author and administrators may delete a review. The text of the article stays as it is.",
  }),
  accept: operation({
    method: "POST",
    path: "/reviews/{reviewId}/accept",
    params,
    replies: { 200: Review },
    replyHeaders,
    ...decide,
    resource: byId,
    errors: ["invalid_transition", "anchor_orphaned", "content_too_large"],
    summary: "Accept a suggestion: replace its quote in the live text, and commit",
    description:
      "The caller is the author of the change, which is merged with the edits of others like any edit. A commit named after the author of the suggestion follows. If the quote cannot be found, nothing changes and the answer is 409.",
  }),
  reject: operation({
    method: "POST",
    path: "/reviews/{reviewId}/reject",
    params,
    replies: { 200: Review },
    replyHeaders,
    ...decide,
    resource: byId,
    errors: ["invalid_transition"],
    summary: "Reject a suggestion",
    description: "The text stays as it is.",
  }),
  reply: operation({
    method: "POST",
    path: "/reviews/{reviewId}/replies",
    params,
    bodies: { "application/json": ReplyRequest },
    replies: { 201: ReviewReply },
    replyHeaders: replyTag,
    location: "/reviews/{reviewId}",
    ...write,
    resource: byId,
    errors: ["limit_reached"],
    summary: "Reply to a review",
    description: "Each reply sends `review.replied` to webhooks. A review has at most 200 replies.",
    example: { body: "Fixed, thank you." },
  }),
  updateReply: operation({
    method: "PATCH",
    path: "/reviews/{reviewId}/replies/{replyId}",
    params: replyParams,
    bodies: { "application/json": ReplyRequest },
    replies: { 200: ReviewReply },
    replyHeaders: replyTag,
    ...write,
    resource: byId,
    ifMatch: true,
    errors: ["insufficient_permission", "limit_reached"],
    summary: "Edit a reply",
    description:
      "Only the author may edit a reply. `If-Match` compares the entity tag of the review, which changes with each of its replies. Edits call no webhook.",
    example: { body: "Fixed in both places." },
  }),
  deleteReply: operation({
    method: "DELETE",
    path: "/reviews/{reviewId}/replies/{replyId}",
    params: replyParams,
    replies: { 204: null },
    ...write,
    resource: byId,
    ifMatch: true,
    errors: ["insufficient_permission"],
    summary: "Delete a reply",
    description: "Only the author and administrators may delete a reply. `If-Match` compares the entity tag of the review.",
  }),
} as const;
