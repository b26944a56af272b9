/**
 * Defines the requests and answers of topic operations, as the specification states them (Payload shapes). All schemas
 * refuse unknown fields.
 */
import { z } from "zod";
import { defaultLimits } from "../limits.ts";
import { flag, Line, nextToken, text, unixSeconds } from "./common.ts";
import { ArticleId, idText } from "./id.ts";
import { ContentTopic, editorialFields, PriorityScore, ScheduledDate, TopicStatus, TopicStatusCounts, WordCountRange } from "./topic.ts";
import { RankProximity, RecommendedAction } from "./topicResearch.ts";

const Title = Line(500).meta({ description: "Title, 1 to 500 characters.", example: "How a draft survives a power cut" });
const TargetAudience = z.string().trim().min(1).meta({ description: "Audience of the article.", example: "people who run servers" });
const EstimatedIntent = text(
  "Intent of a person who searches for this topic: `informational`, `commercial`, `navigational` or `transactional`. Any other text counts as `informational`.",
  "informational",
);
const PriorityRationale = text("Reason for the priority; `Created by <username>` by default.", "Asked for by three customers.");

/** `estimatedIntent` accepts any text. A value that is not in `SeoIntent` becomes informational (api decisions, §3). */
export const WorkspaceCreateTopicRequest = z
  .strictObject({
    title: Title,
    targetAudience: TargetAudience,
    ...editorialFields,
    estimatedIntent: EstimatedIntent.optional(),
    scheduledDate: ScheduledDate.optional(),
    contentProjectId: text(
      "Content project (a folder) of the topic; it cannot be changed later.",
      "fld_01KAHX0000050123456789ABCD",
    ).optional(),
    priorityScore: PriorityScore.describe("Priority of the topic, 0 to 100; 50 by default.").optional(),
    priorityRationale: PriorityRationale.optional(),
    wordCountRange: WordCountRange.optional(),
  })
  .meta({ id: "WorkspaceCreateTopicRequest", description: "The topic to create." });
export type WorkspaceCreateTopicRequest = z.infer<typeof WorkspaceCreateTopicRequest>;

/** `wordCountRange: null` removes the range. */
export const WorkspaceUpdateTopicRequest = z
  .strictObject({
    title: Title.optional(),
    targetAudience: TargetAudience.optional(),
    ...editorialFields,
    estimatedIntent: EstimatedIntent.optional(),
    scheduledDate: ScheduledDate.optional(),
    priorityScore: PriorityScore.optional(),
    priorityRationale: PriorityRationale.optional(),
    recommendedAction: RecommendedAction.optional(),
    rankProximity: RankProximity.optional(),
    wordCountRange: WordCountRange.nullable().describe("Length of the article in words; null removes the range.").optional(),
  })
  .meta({ id: "WorkspaceUpdateTopicRequest", description: "The fields to change. Fields that are left out do not change." });
export type WorkspaceUpdateTopicRequest = z.infer<typeof WorkspaceUpdateTopicRequest>;

export const WorkspaceListTopicsResponse = z
  .strictObject({
    topics: z.array(ContentTopic).describe("Topics in the requested order."),
    nextToken,
    statusCounts: TopicStatusCounts.optional(),
  })
  .meta({ id: "WorkspaceListTopicsResponse", description: "A page of topics." });

const topicId = idText("top", "Id of the topic.");
const articleId = idText("art", "Article of the topic.");
const runId = idText("run", "Run that was started.");
const workflowId = text("Workflow of the run.", "outline");
const message = text("Result of the operation, as text.", "The topic was changed.");
const queued = z.literal("queued").describe("State of the new run.");

export const WorkspaceCreateTopicResponse = z
  .strictObject({
    topicId,
    shortId: text("Short id, unique in the workspace.", "T-1"),
    slug: text("Short name, created from the title.", "how-a-draft-survives-a-power-cut"),
    status: TopicStatus,
    createdAt: unixSeconds("When the topic was created."),
  })
  .meta({ id: "WorkspaceCreateTopicResponse", description: "The new topic." });

export const WorkspaceTopicMessageResponse = z
  .strictObject({ message, topicId })
  .meta({ id: "WorkspaceTopicMessageResponse", description: "A confirmation." });

/**
 * Text for a run or an approval. The schema has no length limit, because the `LIMITS` setting can raise `body.prose`.
 */
export function prose(description: string, example: string) {
  return text(`${description} At most ${defaultLimits["body.prose"]} characters unless the server has another limit.`, example);
}

/** Name of a style profile in the settings of the workspace. */
export const StyleProfileId = z
  .string()
  .min(1)
  .max(200)
  .meta({ description: "Name of a style profile in the workspace's settings, at most 200 characters.", example: "house" });
const runOptions = {
  instructions: prose("Instructions for the run.", "For readers who have never lost a file.").optional(),
  styleProfileId: StyleProfileId.optional(),
} as const;
const Note = prose("Note, stored with the decision.", "Good. Keep the third section short.");

export const WorkspaceRunInstructionsRequest = z
  .strictObject(runOptions)
  .meta({ id: "WorkspaceRunInstructionsRequest", description: "Instructions for a research run. Without instructions no run starts." });
export const WorkspaceShortlistTopicResponse = z
  .strictObject({
    message,
    topicId,
    runId: runId.optional(),
    workflowId: workflowId.optional(),
    articleId: articleId.optional(),
  })
  .meta({ id: "WorkspaceShortlistTopicResponse", description: "The shortlisted topic, with its run if one was started." });

export const ArchiveTopicRequest = z
  .strictObject({
    reason: z.literal("manual").describe("The only reason that a caller can give.").optional(),
    note: prose("Reason for the archiving.", "Covered by another article.").optional(),
  })
  .meta({ id: "ArchiveTopicRequest", description: "Reason for the archiving." });

export const WorkspaceEnsureTopicArticleRequest = z
  .strictObject({ articleId: ArticleId.describe("Article to link; without it, a new article is created.").optional() })
  .meta({ id: "WorkspaceEnsureTopicArticleRequest", description: "The article for the topic." });
export const WorkspaceEnsureTopicArticleResponse = z
  .strictObject({
    articleId,
    created: flag("Whether a new article was created.", true),
    linked: flag("Whether this request linked the article to the topic.", true),
  })
  .meta({ id: "WorkspaceEnsureTopicArticleResponse", description: "The topic's article." });

export const RunPipeline = z.enum(["staged", "full"]).meta({
  id: "RunPipeline",
  description: "`staged`: a run for the outline, then one for the draft. `full`: one run for everything.",
});
export type RunPipeline = z.infer<typeof RunPipeline>;

export const WorkspaceStartWorkflowRequest = z
  .strictObject({
    ...runOptions,
    pipeline: RunPipeline.describe(
      "`staged` (default): a run for the outline, then one for the draft. `full`: one run for everything.",
    ).optional(),
  })
  .meta({ id: "WorkspaceStartWorkflowRequest", description: "The pipeline to start, with instructions for its runs." });
export const WorkspaceStartWorkflowResponse = z
  .strictObject({ runId, workflowId, articleId, topicId, status: queued })
  .meta({ id: "WorkspaceStartWorkflowResponse", description: "The run that was started." });

export const WorkspaceGenerateOutlineRequest = z
  .strictObject(runOptions)
  .meta({ id: "WorkspaceGenerateOutlineRequest", description: "Instructions for the run." });
export const WorkspaceGenerateOutlineResponse = z
  .strictObject({
    runId,
    articleId,
    status: queued,
    conversationId: text("Conversation of the run. This service never sets it.", "none").optional(),
  })
  .meta({ id: "WorkspaceGenerateOutlineResponse", description: "The run that was started." });

export const WorkspaceGetOutlineResponse = z
  .strictObject({ topicId, articleId, outline: text("Markdown of the committed outline.", "# Outline\n\n1. The failure\n") })
  .meta({ id: "WorkspaceGetOutlineResponse", description: "The topic's outline." });
export const WorkspaceApproveOutlineRequest = z
  .strictObject({ note: Note.optional(), ...runOptions })
  .meta({ id: "WorkspaceApproveOutlineRequest", description: "A note, and instructions for a draft run." });
export const WorkspaceApproveOutlineResponse = z
  .strictObject({
    message,
    topicId,
    draftRunId: idText("run", "Run that writes the draft, if one was started.").optional(),
    articleId: articleId.optional(),
    workflowId: workflowId.optional(),
  })
  .meta({ id: "WorkspaceApproveOutlineResponse", description: "The approval, with the draft's run if one was started." });

const changesRequest = {
  feedback: prose("Requested changes.", "The two sections say the same thing; merge them.").optional(),
  styleProfileId: StyleProfileId.optional(),
} as const;
export const WorkspaceOutlineRequestChangesRequest = z
  .strictObject(changesRequest)
  .meta({ id: "WorkspaceOutlineRequestChangesRequest", description: "Requested changes of the outline." });
export const WorkspaceDraftRequestChangesRequest = z
  .strictObject(changesRequest)
  .meta({ id: "WorkspaceDraftRequestChangesRequest", description: "Requested changes of the draft." });
export const ChangesRequestedResponse = z
  .strictObject({
    message,
    topicId,
    runId: idText("run", "Run that makes the changes.").optional(),
    articleId: articleId.optional(),
  })
  .meta({ id: "ChangesRequestedResponse", description: "The run that makes the changes." });

export const WorkspaceGetDraftResponse = z
  .strictObject({ topicId, articleId, draft: text("Markdown of the committed draft.", "# How a draft survives\n") })
  .meta({ id: "WorkspaceGetDraftResponse", description: "The topic's draft." });
export const WorkspaceApproveDraftRequest = z
  .strictObject({ note: Note.optional() })
  .meta({ id: "WorkspaceApproveDraftRequest", description: "A note on the approval." });

export const DraftAction = z.enum(["create", "update", "optimize", "rewrite"]).meta({
  id: "DraftAction",
  description: "Task of the run: write the draft, update it, improve it for search engines, or rewrite it.",
});
export const WorkspaceRunDraftActionRequest = z
  .strictObject({ action: DraftAction, ...runOptions })
  .meta({ id: "WorkspaceRunDraftActionRequest", description: "Task of the run." });
export const WorkspaceRunDraftActionResponse = z
  .strictObject({ runId, articleId, workflowId, action: DraftAction, status: queued })
  .meta({ id: "WorkspaceRunDraftActionResponse", description: "The run that was started." });

const operation = text("Operation, as the last part of its path.", "shortlist");

/** The operations that the machine allows on a topic now, and why the others are refused. */
export const TopicTransitions = z
  .strictObject({
    status: TopicStatus,
    allowed: z
      .array(
        z
          .strictObject({ operation, to: TopicStatus.describe("Status of the topic after the operation.") })
          .describe("An operation that is possible."),
      )
      .describe("Operations that are possible."),
    blocked: z
      .array(
        z
          .strictObject({
            operation,
            code: text("Error code of the refusal.", "invalid_transition"),
            detail: text("Reason for the refusal, as text.", "The topic is not archived."),
          })
          .describe("An operation that would be refused."),
      )
      .describe("Operations that would be refused."),
  })
  .meta({ id: "TopicTransitions", description: "Operations of the topic in its current state." });
