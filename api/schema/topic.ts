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
    "`idea`: new. `shortlisted`: chosen. `outlined`: an outline is committed. `drafted`: a draft is committed. `archived`: no longer in use.",
});
export type TopicStatus = z.infer<typeof TopicStatus>;

export const ArticleType = z.enum(["explanation", "tutorial", "how_to", "reference", "comparison"]).meta({
  id: "ArticleType",
  description:
    "`explanation` helps to understand, `tutorial` to learn, `how_to` to do a task, `reference` to look something up, `comparison` to decide.",
});
export type ArticleType = z.infer<typeof ArticleType>;
export const ArticleFormat = z
  .enum(["default", "q_and_a", "listicle", "checklist", "cheatsheet"])
  .meta({ id: "ArticleFormat", description: "Form of the article; `default` is running text." });
export type ArticleFormat = z.infer<typeof ArticleFormat>;
export const ComparisonRecommendationMode = z
  .enum(["required", "allowed", "forbidden"])
  .meta({ id: "ComparisonRecommendationMode", description: "Whether a comparison ends with a recommendation." });
/** Legacy field. Older records may have only this one and no `articleType` (see `withArticleType`). */
export const ContentType = z
  .enum(["tutorial", "guide", "comparison", "integration", "migration", "troubleshooting", "listicle"])
  .meta({ id: "ContentType", description: "Older names of article types, still accepted. Use `articleType` instead." });
export type ContentType = z.infer<typeof ContentType>;
export const SeoIntent = z
  .enum(["informational", "commercial", "navigational", "transactional"])
  .meta({ id: "SeoIntent", description: "Intent of a person who searches for this topic." });
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
    description: "Why a topic was archived: by a person (`manual`), with its content project, or by topic research.",
  });
export type ContentTopicArchiveReason = z.infer<typeof ContentTopicArchiveReason>;

/** Range in words. `min` must not be above `max`. */
export const WordCountRange = z
  .strictObject({
    min: z.number().min(0).meta({ description: "Minimum number of words.", example: 900 }),
    max: z.number().min(0).meta({ description: "Maximum number of words; not below `min`.", example: 1400 }),
  })
  .refine(({ min, max }) => min <= max, { error: "must not be above max", path: ["min"] })
  .meta({ id: "WordCountRange", description: "Length of the article in words." });
export type WordCountRange = z.infer<typeof WordCountRange>;

export const SuggestedSource = z
  .strictObject({
    url: text("Address of the source.", "https://docs.example/durability"),
    why: text("Why the source is useful.", "Explains what an fsync costs."),
  })
  .meta({ id: "SuggestedSource", description: "A source to use." });

export const TopicApproval = z
  .strictObject({
    approvedBy: username("Username of the account that approved."),
    approvedAt: unixSeconds("When it was approved."),
    note: text("Note of the account that approved.", "Keep the third section short.").optional(),
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
    description: "Approvals of the topic. A later commit of the text removes its approval.",
  });

const words = (description: string, example: readonly string[]) => z.array(z.string()).meta({ description, example });

/**
 * Fields that people and API keys may write. All are optional here; create and update state which ones they require.
 */
export const editorialFields = {
  seoTitle: text("Title for search results.", "Durable drafts: how text survives a power cut").optional(),
  cluster: text("Group of topics that belong together.", "Durability").optional(),
  primaryKeyword: text("Main keyword of the article.", "durable drafts").optional(),
  contentGap: text("What existing articles leave out.", "Nobody measures the cost of an fsync.").optional(),
  thesis: text("Main claim of the article.", "A draft is safe only once it is flushed.").optional(),
  readerPain: text("Problem of the reader.", "Work is lost when the power fails.").optional(),
  productTieIn: text("How the product relates to the topic.", "Every keystroke is written to disk.").optional(),
  originalityAngle: text("What is new in the article.", "It cuts the power and shows which text remains.").optional(),
  avoidAngle: text("Angle that the article must avoid.", "No list of vendors.").optional(),
  scheduleNote: text("Note on the planned date.", "After the release.").optional(),
  articleType: ArticleType.optional(),
  articleFormat: ArticleFormat.optional(),
  comparisonRecommendationMode: ComparisonRecommendationMode.optional(),
  contentType: ContentType.optional(),
  angles: words("Possible angles on the topic.", ["what the disk promises"]).optional(),
  mustInclude: words("Items that the article must mention.", ["fsync"]).optional(),
  secondaryKeywords: words("Further keywords.", ["crash safety", "fsync cost"]).optional(),
  evidencePlan: words("Evidence to find, and how.", ["Measure 1,000 flushes"]).optional(),
  suggestedSources: z.array(SuggestedSource).describe("Sources to use.").optional(),
} as const;

export const PriorityScore = z.number().min(0).max(100).meta({ description: "Priority of the topic, 0 to 100.", example: 50 });
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
    targetAudience: text("Audience of the article.", "people who run servers"),
    estimatedIntent: SeoIntent,
    priorityScore: PriorityScore,
    priorityRationale: text("Reason for the priority.", "Created by ana"),
    status: TopicStatus,
    createdAt: unixSeconds("When the topic was created."),
    updatedAt: unixSeconds("When the topic last changed."),
    shortId: text("Short id, unique in the workspace. Every path accepts it instead of `topicId`.", "T-1").optional(),
    slug: text("Short name, created from the title.", "how-a-draft-survives-a-power-cut").optional(),
    contentProjectId: text("Content project (a folder) that the topic belongs to.", "fld_01KAHX0000050123456789ABCD").optional(),
    articleId: idText("art", "Article of the topic.").optional(),
    agentRunId: idText("run", "Run that created the topic or last worked on it.").optional(),
    outlineRunId: idText("run", "Last run that writes or wrote the outline.").optional(),
    draftRunId: idText("run", "Last run that writes or wrote the draft.").optional(),
    ...editorialFields,
    scheduledDate: ScheduledDate.optional(),
    wordCountRange: WordCountRange.optional(),
    ...researchFields,
    seoBriefRevision: briefRevision("Newest revision of the topic's SEO brief.").optional(),
    outlineSeoBriefRevision: briefRevision("Revision of the brief on which the outline is based.").optional(),
    draftSeoBriefRevision: briefRevision("Revision of the brief on which the draft is based.").optional(),
    seoReviewSeoBriefRevision: briefRevision("Revision of the brief that the last SEO review used.").optional(),
    editorialFieldsEditedAt: unixSeconds("When a person or a key last changed a field.").optional(),
    editorialFieldsEditedBy: username("Username of the account that last changed a field.").optional(),
    archivedAt: unixSeconds("When the topic was archived.").optional(),
    archivedBy: username("Username of the account that archived it.").optional(),
    archivedFromStatus: z
      .enum(["idea", "shortlisted", "outlined", "drafted"])
      .describe("Status before the topic was archived, which a restore sets again.")
      .optional(),
    archivedByContentProjectId: text(
      "Content project whose archiving also archived the topic.",
      "fld_01KAHX0000050123456789ABCD",
    ).optional(),
    archiveReason: ContentTopicArchiveReason.optional(),
    archiveNote: text("Note of the account that archived the topic.", "Covered by another article.").optional(),
    approvals: ContentTopicApprovals.optional(),
    performanceTarget: ContentTopicPerformanceTarget.optional(),
  })
  .meta({ id: "ContentTopic", description: "An idea for an article, and its progress to a draft." });
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
