/**
 * Defines the schemas of reviews: comments and suggestions, the place in the text to which they belong, and replies (api
 * decisions: content shapes, Handles). All schemas refuse unknown fields.
 */
import { z } from "zod";
import { defaultLimits } from "../limits.ts";
import { ArticleFile, Author } from "./article.ts";
import { int, text, unixSeconds, username } from "./common.ts";
import { idText } from "./id.ts";
import { prose } from "./topicOperations.ts";

/** Characters of the text before and after a quote that are stored with it. */
export const anchorContextLength = 32;

export const ReviewKind = z.enum(["comment", "suggestion"]).meta({
  id: "ReviewKind",
  description: "`comment`: a remark. `suggestion`: a remark with a replacement for the quoted text.",
});
export type ReviewKind = z.infer<typeof ReviewKind>;

export const ReviewStatus = z.enum(["open", "resolved", "accepted", "rejected"]).meta({
  id: "ReviewStatus",
  description: "State of a review. Comments are `open` or `resolved`; suggestions are `open`, `accepted` or `rejected`.",
});
export type ReviewStatus = z.infer<typeof ReviewStatus>;

export const AnchorState = z.enum(["anchored", "moved", "orphaned"]).meta({
  id: "AnchorState",
  description:
    "`anchored`: the quote is at `start` to `end`, at the place that was chosen. `moved`: the quote was found by its surroundings at another place. `orphaned`: the quote is no longer in the text, or its place is ambiguous.",
});
export type AnchorState = z.infer<typeof AnchorState>;

/** Without an id of its own: the OpenAPI document cannot refer to a schema that may be null. */
const ReviewAnchor = z
  .strictObject({
    quote: text("The quoted text.", "teh draft"),
    prefix: text(`Up to ${anchorContextLength} characters before the quote.`, "Then "),
    suffix: text(`Up to ${anchorContextLength} characters after the quote.`, " is written."),
    start: int("Offset of the first character of the quote, in UTF-16 code units, at `revision`.", 120),
    end: int("Offset after the last character of the quote, at `revision`.", 129),
    revision: int("Revision of the article to which the offsets belong.", 42),
    state: AnchorState,
  })
  .describe("The place in a file to which a review belongs.");

const mentions = z.array(z.string()).meta({ description: "Mentioned accounts that can read the article.", example: ["bo"] });
const unresolvedMentions = z.array(z.string()).meta({ description: "Mentioned accounts that cannot read the article.", example: [] });

export const ReviewReply = z
  .strictObject({
    replyId: idText("rpl", "Id of the reply."),
    reviewId: idText("rev", "Review that the reply belongs to."),
    body: text("Markdown.", "Fixed, thank you."),
    author: Author,
    mentions,
    unresolvedMentions,
    createdAt: unixSeconds("When the reply was written."),
    updatedAt: unixSeconds("When the reply was last edited."),
  })
  .meta({ id: "ReviewReply", description: "A reply in a review." });
export type ReviewReply = z.infer<typeof ReviewReply>;

export const Review = z
  .strictObject({
    reviewId: idText("rev", "Id of the review."),
    articleId: idText("art", "Article that the review belongs to."),
    workspaceId: idText("ws", "Workspace of the article."),
    kind: ReviewKind,
    status: ReviewStatus,
    file: ArticleFile,
    anchor: ReviewAnchor.nullable().describe("Place in the file; null for a review of the whole file."),
    body: text("Markdown.", "@bo is this a typo?"),
    author: Author,
    mentions,
    unresolvedMentions,
    replies: z.array(ReviewReply).describe("Replies, oldest first."),
    createdAt: unixSeconds("When the review was written."),
    updatedAt: unixSeconds("When the review, its status or a reply last changed."),
    replacement: text("Suggestions only: the text that replaces the quote.", "the draft").optional(),
    resolvedBy: username("Account that resolved, accepted or rejected the review. Absent while the review is open.").optional(),
    resolvedAt: unixSeconds("When the review was resolved, accepted or rejected. Absent while the review is open.").optional(),
  })
  .meta({ id: "Review", description: "A comment or a suggestion, with its replies." });
export type Review = z.infer<typeof Review>;

const Body = z
  .string()
  .regex(/\S/, "must not be blank")
  .meta({
    description: `Markdown. \`@\` and a username mention an account. At most ${defaultLimits["body.prose"]} characters unless the server has another limit.`,
    example: "@bo is this a typo?",
  });

const quoteAnchor = z.strictObject({
  quote: z
    .string()
    .min(1)
    .meta({
      description: `Text to find in the live file, compared exactly; at most ${defaultLimits["body.prose"]} characters unless the server has another limit.`,
      example: "teh draft",
    }),
  prefix: text("Text directly before the quote.", "Then ").optional(),
  suffix: text("Text directly after the quote.", " is").optional(),
  occurrence: z
    .union([z.literal("first"), z.int().min(1)])
    .meta({ description: "Which match: `first`, or its number from 1. By default the text must occur only once.", example: "first" })
    .optional(),
});
const rangeAnchor = z.strictObject({
  start: z.int().min(0).meta({ description: "Offset of the first character, in UTF-16 code units.", example: 120 }),
  end: z.int().min(1).meta({ description: "Offset after the last character.", example: 129 }),
  revision: z.int().min(0).meta({ description: "Revision to which the offsets belong. It must be kept or committed.", example: 42 }),
});

/** A place in the text: as a quote of the live text, or as a range of a known revision. */
export const AnchorRequest = z
  .union([quoteAnchor, rangeAnchor], "must have quote, or start, end and revision")
  .meta({ id: "AnchorRequest", description: "A place in the file: a quote, or a range of characters at a revision." });
export type AnchorRequest = z.infer<typeof AnchorRequest>;

export const CreateReviewRequest = z
  .strictObject({
    body: Body,
    kind: ReviewKind.describe("`comment` by default. A suggestion needs `anchor` and `replacement`.").optional(),
    file: ArticleFile.describe("File that the review is about; `content.md` by default.").optional(),
    anchor: AnchorRequest.describe("Place in the file. Without it the review is about the whole file.").optional(),
    replacement: prose("Suggestions only: the text that replaces the quote; empty to remove it.", "the draft").optional(),
  })
  .meta({ id: "CreateReviewRequest", description: "The review to create." });
export type CreateReviewRequest = z.infer<typeof CreateReviewRequest>;

export const UpdateReviewRequest = z
  .strictObject({
    body: Body.optional(),
    status: z.enum(["open", "resolved"]).describe("`resolved` resolves a comment, `open` opens it again.").optional(),
  })
  .meta({ id: "UpdateReviewRequest", description: "The fields to change. Fields that are left out do not change." });
export type UpdateReviewRequest = z.infer<typeof UpdateReviewRequest>;

/** Body of a new reply, and of the edit of a reply. */
export const ReplyRequest = z.strictObject({ body: Body }).meta({ id: "ReplyRequest", description: "The text of a reply." });
