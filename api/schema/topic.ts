/**
 * Defines the schemas of content topics as the specification states them (Content topic). All schemas refuse unknown
 * fields.
 *
 * Number ranges of the specification are checked here, for requests and answers alike.
 */
import { z } from "zod";
import { int, number, text, unixSeconds, username } from "./common.ts";
import { idText } from "./id.ts";
import { ContentTopicPerformanceTarget, researchFields } from "./topicResearch.ts";

export const topicStatuses = ["idea", "shortlisted", "outlined", "drafted", "archived"] as const;
export const TopicStatus = z.enum(topicStatuses).meta({
  id: "TopicStatus",
  description:
    "`idea`: new. `shortlisted`: chosen. `outlined`: an outline is committed. `drafted`: a draft is committed. `archived`: put away.",
});
export type TopicStatus = z.infer<typeof TopicStatus>;

export const ArticleType = z.enum(["explanation", "tutorial", "how_to", "reference", "comparison"]).meta({
  id: "ArticleType",
  description:
    "`explanation` is for understanding, `tutorial` for learning, `how_to` for a task, `reference` for looking up, `comparison` for a decision.",
});
export type ArticleType = z.infer<typeof ArticleType>;
export const ArticleFormat = z
  .enum(["default", "q_and_a", "listicle", "checklist", "cheatsheet"])
  .meta({ id: "ArticleFormat", description: "The form of the article; `default` is running text." });
export type ArticleFormat = z.infer<typeof ArticleFormat>;
export const ComparisonRecommendationMode = z
  .enum(["required", "allowed", "forbidden"])
  .meta({ id: "ComparisonRecommendationMode", description: "Whether a comparison ends with a recommendation." });
/** Legacy field. Older records may have only this one and no `articleType` (see `withArticleType`). */
export const ContentType = z
  .enum(["tutorial", "guide", "comparison", "integration", "migration", "troubleshooting", "listicle"])
  .meta({ id: "ContentType", description: "The earlier kinds of article, still accepted. `articleType` is preferred." });
export type ContentType = z.infer<typeof ContentType>;
export const SeoIntent = z
  .enum(["informational", "commercial", "navigational", "transactional"])
  .meta({ id: "SeoIntent", description: "What a person who searches for this wants." });
export type SeoIntent = z.infer<typeof SeoIntent>;
export const ContentTopicArchiveReason = z
  .enum([
    "manual",
    "content_project_archived",
    "rerank_duplicate",
    "rerank_quality",
    "rerank_cap",
    "regenerate_replaced",
    "quality_tier_changed",
  ])
  .meta({
    id: "ContentTopicArchiveReason",
    description: "Why a topic was archived: by somebody (`manual`), with its content project, or by topic research.",
  });
export type ContentTopicArchiveReason = z.infer<typeof ContentTopicArchiveReason>;

/** Range in words. `min` must not be above `max`. */
export const WordCountRange = z
  .strictObject({
    min: z.number().min(0).meta({ description: "Fewest words.", example: 900 }),
    max: z.number().min(0).meta({ description: "Most words; not below `min`.", example: 1400 }),
  })
  .refine(({ min, max }) => min <= max, { error: "min must not be above max", path: ["min"] })
  .meta({ id: "WordCountRange", description: "How long the article is to be, in words." });
export type WordCountRange = z.infer<typeof WordCountRange>;

export const SuggestedSource = z
  .strictObject({
    url: text("Address of the source.", "https://docs.example/durability"),
    why: text("What it is good for.", "Explains what an fsync costs."),
  })
  .meta({ id: "SuggestedSource", description: "A source to use." });

export const TopicApproval = z
  .strictObject({
    approvedBy: username("Username of the account that approved."),
    approvedAt: unixSeconds("When it was approved."),
    note: text("Note of the one who approved.", "Keep the third section short.").optional(),
  })
  .meta({ id: "TopicApproval", description: "An approval of the newest committed text." });
export type TopicApproval = z.infer<typeof TopicApproval>;
export const ContentTopicApprovals = z
  .strictObject({
    outline: TopicApproval.describe("Approval of the outline.").optional(),
    draft: TopicApproval.describe("Approval of the draft.").optional(),
  })
  .meta({
    id: "ContentTopicApprovals",
    description: "What of the topic is approved. A later commit of that text takes the approval away.",
  });

const words = (description: string, example: readonly string[]) => z.array(z.string()).meta({ description, example });

/**
 * Fields that people and API keys may write. All are optional here; create and update state which ones they require.
 */
export const editorialFields = {
  seoTitle: text("Title for search results.", "Durable drafts: how text survives a power cut").optional(),
  cluster: text("Group of topics that belong together.", "Durability").optional(),
  primaryKeyword: text("Keyword that the article is written for.", "durable drafts").optional(),
  contentGap: text("What existing articles do not say.", "Nobody measures the cost of an fsync.").optional(),
  thesis: text("What the article claims.", "A draft is safe only once it is flushed.").optional(),
  readerPain: text("The reader's problem.", "Work is lost when the power fails.").optional(),
  productTieIn: text("How the product belongs to it.", "Every keystroke is written to disk.").optional(),
  originalityAngle: text("What is new about the article.", "It pulls the plug and shows what is left.").optional(),
  avoidAngle: text("What the article must not be.", "No list of vendors.").optional(),
  scheduleNote: text("Note on the date.", "After the release.").optional(),
  articleType: ArticleType.optional(),
  articleFormat: ArticleFormat.optional(),
  comparisonRecommendationMode: ComparisonRecommendationMode.optional(),
  contentType: ContentType.optional(),
  angles: words("Ways to look at the topic.", ["what the disk promises"]).optional(),
  mustInclude: words("What the article must mention.", ["fsync"]).optional(),
  secondaryKeywords: words("Further keywords.", ["crash safety", "fsync cost"]).optional(),
  evidencePlan: words("What has to be shown, and how.", ["Measure 1,000 flushes"]).optional(),
  suggestedSources: z.array(SuggestedSource).describe("Sources to use.").optional(),
} as const;

export const PriorityScore = z.number().min(0).max(100).meta({ description: "How urgent the topic is, 0 to 100.", example: 50 });
export const ScheduledDate = z.iso
  .date("must be a date of the form 2026-11-21")
  .meta({ description: "Day on which the article is planned, as `YYYY-MM-DD`.", example: "2026-12-01" });

const briefRevision = (description: string) => number(description, 1);

export const ContentTopic = z
  .strictObject({
    topicId: idText("top", "Id of the topic."),
    workspaceId: idText("ws", "Workspace that the topic belongs to."),
    ownerId: username("Username of the owner: the account that made the topic."),
    title: text("Title.", "How a draft survives a power cut"),
    targetAudience: text("Who the article is for.", "people who run servers"),
    estimatedIntent: SeoIntent,
    priorityScore: PriorityScore,
    priorityRationale: text("Why it is that urgent.", "Created by ana"),
    status: TopicStatus,
    createdAt: unixSeconds("When the topic was made."),
    updatedAt: unixSeconds("When the topic last changed."),
    shortId: text("Short id, unique in the workspace. Every path takes it in place of `topicId`.", "T-1").optional(),
    slug: text("Short name made from the title.", "how-a-draft-survives-a-power-cut").optional(),
    contentProjectId: text("Content project (a folder) that the topic belongs to.", "fld_01KAHX0000050123456789ABCD").optional(),
    articleId: idText("art", "Article of the topic.").optional(),
    agentRunId: idText("run", "Run that made the topic, or worked on it last.").optional(),
    outlineRunId: idText("run", "Last run that was to write the outline, also a finished one.").optional(),
    draftRunId: idText("run", "Last run that was to write the draft, also a finished one.").optional(),
    ...editorialFields,
    scheduledDate: ScheduledDate.optional(),
    wordCountRange: WordCountRange.optional(),
    ...researchFields,
    seoBriefRevision: briefRevision("Newest revision of the topic's SEO brief.").optional(),
    outlineSeoBriefRevision: briefRevision("Revision of the brief that the outline was written from.").optional(),
    draftSeoBriefRevision: briefRevision("Revision of the brief that the draft was written from.").optional(),
    seoReviewSeoBriefRevision: briefRevision("Revision of the brief that the last SEO review used.").optional(),
    editorialFieldsEditedAt: unixSeconds("When a person or a key last changed a field.").optional(),
    editorialFieldsEditedBy: username("Username of the account that last changed a field.").optional(),
    archivedAt: unixSeconds("When the topic was archived.").optional(),
    archivedBy: username("Username of the account that archived it.").optional(),
    archivedFromStatus: z
      .enum(["idea", "shortlisted", "outlined", "drafted"])
      .describe("Status before it was archived; restoring brings it back.")
      .optional(),
    archivedByContentProjectId: text("Content project that was archived with it.", "fld_01KAHX0000050123456789ABCD").optional(),
    archiveReason: ContentTopicArchiveReason.optional(),
    archiveNote: text("Note of the one who archived it.", "Covered by another article.").optional(),
    approvals: ContentTopicApprovals.optional(),
    performanceTarget: ContentTopicPerformanceTarget.optional(),
  })
  .meta({ id: "ContentTopic", description: "An idea for an article, on its way to a draft." });
export type ContentTopic = z.infer<typeof ContentTopic>;

const topicCount = (status: string) => int(`Topics that are ${status}.`, 4);

export const TopicStatusCounts = z
  .strictObject({
    idea: topicCount("ideas"),
    shortlisted: topicCount("shortlisted"),
    outlined: topicCount("outlined"),
    drafted: topicCount("drafted"),
    archived: topicCount("archived"),
  })
  .meta({ id: "TopicStatusCounts", description: "Number of topics by status." });
export type TopicStatusCounts = z.infer<typeof TopicStatusCounts>;
