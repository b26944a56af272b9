/**
 * Content topics as the specification states them (Content topic, Payload shapes). All shapes are closed.
 *
 * Numbers that the specification bounds are bounded here, for requests and answers alike. `UnixSeconds` on this side.
 */
import { z } from "zod";
import { defaultLimits } from "../limits.ts";
import { Line, UnixSeconds } from "./common.ts";
import { ArticleId } from "./id.ts";

export const topicStatuses = ["idea", "shortlisted", "outlined", "drafted", "archived"] as const;
export const TopicStatus = z.enum(topicStatuses).meta({ id: "TopicStatus" });
export type TopicStatus = z.infer<typeof TopicStatus>;

export const ArticleType = z.enum(["explanation", "tutorial", "how_to", "reference", "comparison"]).meta({ id: "ArticleType" });
export type ArticleType = z.infer<typeof ArticleType>;
export const ArticleFormat = z.enum(["default", "q_and_a", "listicle", "checklist", "cheatsheet"]).meta({ id: "ArticleFormat" });
export type ArticleFormat = z.infer<typeof ArticleFormat>;
export const ComparisonRecommendationMode = z.enum(["required", "allowed", "forbidden"]).meta({ id: "ComparisonRecommendationMode" });
/** Legacy; older records may carry only this (see `withArticleType`). */
export const ContentType = z
  .enum(["tutorial", "guide", "comparison", "integration", "migration", "troubleshooting", "listicle"])
  .meta({ id: "ContentType" });
export type ContentType = z.infer<typeof ContentType>;
export const SeoIntent = z.enum(["informational", "commercial", "navigational", "transactional"]).meta({ id: "SeoIntent" });
export type SeoIntent = z.infer<typeof SeoIntent>;
export const SourceEvidenceType = z
  .enum(["own_site", "competitor", "third_party", "community", "docs", "workspace", "serp", "manual"])
  .meta({ id: "SourceEvidenceType" });
export const EvidenceQuality = z.enum(["strong", "adequate", "weak"]).meta({ id: "EvidenceQuality" });
export const GenerationQualityTier = z.enum(["fast", "deep"]).meta({ id: "GenerationQualityTier" });
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
  .meta({ id: "ContentTopicArchiveReason" });
export type ContentTopicArchiveReason = z.infer<typeof ContentTopicArchiveReason>;
export const ContentPerformanceTrackingStatus = z
  .enum(["untracked", "tracking_pending", "tracking_active", "needs_attention"])
  .meta({ id: "ContentPerformanceTrackingStatus" });
export const ContentPerformanceTargetSource = z
  .enum(["manual_url", "primary_external_publication"])
  .meta({ id: "ContentPerformanceTargetSource" });
export const ContentPerformanceSyncStatus = z
  .enum(["synced", "untracked", "needs_connection", "needs_resource", "failed"])
  .meta({ id: "ContentPerformanceSyncStatus" });
export const RecommendedAction = z.enum(["CREATE", "UPDATE", "REWRITE", "OPTIMISE"]).meta({ id: "RecommendedAction" });
export const RankProximity = z.enum(["page-1", "striking-distance", "not-ranking"]).meta({ id: "RankProximity" });

/** Words. `min` must not be above `max`. */
export const WordCountRange = z
  .strictObject({ min: z.number().min(0), max: z.number().min(0) })
  .refine(({ min, max }) => min <= max, { error: "min must not be above max", path: ["min"] })
  .meta({ id: "WordCountRange" });
export type WordCountRange = z.infer<typeof WordCountRange>;

export const SuggestedSource = z.strictObject({ url: z.string(), why: z.string() }).meta({ id: "SuggestedSource" });

export const ContentTopicSerpSummary = z
  .strictObject({ topDomains: z.array(z.string()), topTitles: z.array(z.string()), provider: z.string(), queriedAt: UnixSeconds })
  .meta({ id: "ContentTopicSerpSummary" });

export const ContentTopicKeywordMetrics = z
  .strictObject({
    fetchedAt: UnixSeconds,
    provider: z.string(),
    volume: z.number().optional(),
    globalVolume: z.number().optional(),
    difficulty: z.number().min(0).max(100).optional(),
    cpc: z.number().optional(),
    /** Monthly volume, oldest first. */
    trend: z.array(z.number()).length(12).optional(),
    locale: z.string().optional(),
  })
  .meta({ id: "ContentTopicKeywordMetrics" });

export const ContentTopicSourceEvidence = z
  .strictObject({
    url: z.string(),
    sourceType: SourceEvidenceType,
    relevance: z.string(),
    capturedAt: z.string(),
    title: z.string().optional(),
    snippet: z.string().optional(),
    query: z.string().optional(),
    statusCode: z.number().optional(),
  })
  .meta({ id: "ContentTopicSourceEvidence" });

export const TopicApproval = z
  .strictObject({ approvedBy: z.string(), approvedAt: UnixSeconds, note: z.string().optional() })
  .meta({ id: "TopicApproval" });
export type TopicApproval = z.infer<typeof TopicApproval>;
export const ContentTopicApprovals = z
  .strictObject({ outline: TopicApproval.optional(), draft: TopicApproval.optional() })
  .meta({ id: "ContentTopicApprovals" });

export const ContentTopicPerformanceTarget = z
  .strictObject({
    status: ContentPerformanceTrackingStatus,
    source: ContentPerformanceTargetSource.optional(),
    url: z.string().optional(),
    canonicalUrl: z.string().optional(),
    domain: z.string().optional(),
    path: z.string().optional(),
    externalPublicationId: z.string().optional(),
    externalPublicationStatus: z.string().optional(),
    title: z.string().optional(),
    submittedBy: z.string().optional(),
    lastVerificationError: z.string().optional(),
    firstMetricDate: z.string().optional(),
    lastMetricDate: z.string().optional(),
    lastSyncError: z.string().optional(),
    submittedAt: UnixSeconds.optional(),
    lastVerifiedAt: UnixSeconds.optional(),
    lastSyncedAt: UnixSeconds.optional(),
    lastSuccessfulSyncAt: UnixSeconds.optional(),
    lastSyncStatus: ContentPerformanceSyncStatus.optional(),
  })
  .meta({ id: "ContentTopicPerformanceTarget" });

/** What people and keys may write; every field optional (create and update demand their own). */
const editorial = {
  seoTitle: z.string().optional(),
  cluster: z.string().optional(),
  primaryKeyword: z.string().optional(),
  contentGap: z.string().optional(),
  thesis: z.string().optional(),
  readerPain: z.string().optional(),
  productTieIn: z.string().optional(),
  originalityAngle: z.string().optional(),
  avoidAngle: z.string().optional(),
  scheduleNote: z.string().optional(),
  articleType: ArticleType.optional(),
  articleFormat: ArticleFormat.optional(),
  comparisonRecommendationMode: ComparisonRecommendationMode.optional(),
  contentType: ContentType.optional(),
  angles: z.array(z.string()).optional(),
  mustInclude: z.array(z.string()).optional(),
  secondaryKeywords: z.array(z.string()).optional(),
  evidencePlan: z.array(z.string()).optional(),
  suggestedSources: z.array(SuggestedSource).optional(),
} as const;

const PriorityScore = z.number().min(0).max(100);
const ScheduledDate = z.iso.date("must be a date of the form 2026-11-21");

/** What runs and providers write. */
const research = {
  serpSummary: ContentTopicSerpSummary.optional(),
  keywordMetrics: ContentTopicKeywordMetrics.optional(),
  sourceEvidence: z.array(ContentTopicSourceEvidence).optional(),
  evidenceQuality: EvidenceQuality.optional(),
  generatedQualityTier: GenerationQualityTier.optional(),
  briefQualityScore: z.number().optional(),
  productRelevanceScore: z.number().optional(),
  evidenceScore: z.number().optional(),
  originalityScore: z.number().optional(),
  keywordCoverageScore: z.number().optional(),
  duplicateRiskScore: z.number().optional(),
  critiqueSummary: z.string().optional(),
  recommendedAction: RecommendedAction.optional(),
  rankProximity: RankProximity.optional(),
  searchedQueries: z.array(z.string()).optional(),
} as const;

export const ContentTopic = z
  .strictObject({
    topicId: z.string(),
    workspaceId: z.string(),
    /** Username. */
    ownerId: z.string(),
    title: z.string(),
    targetAudience: z.string(),
    estimatedIntent: SeoIntent,
    priorityScore: PriorityScore,
    priorityRationale: z.string(),
    status: TopicStatus,
    createdAt: UnixSeconds,
    updatedAt: UnixSeconds,
    /** `T-<n>`, unique in the workspace. */
    shortId: z.string().optional(),
    slug: z.string().optional(),
    contentProjectId: z.string().optional(),
    articleId: z.string().optional(),
    agentRunId: z.string().optional(),
    outlineRunId: z.string().optional(),
    draftRunId: z.string().optional(),
    ...editorial,
    scheduledDate: ScheduledDate.optional(),
    wordCountRange: WordCountRange.optional(),
    ...research,
    seoBriefRevision: z.number().optional(),
    outlineSeoBriefRevision: z.number().optional(),
    draftSeoBriefRevision: z.number().optional(),
    seoReviewSeoBriefRevision: z.number().optional(),
    editorialFieldsEditedAt: UnixSeconds.optional(),
    editorialFieldsEditedBy: z.string().optional(),
    archivedAt: UnixSeconds.optional(),
    archivedBy: z.string().optional(),
    archivedFromStatus: z.enum(["idea", "shortlisted", "outlined", "drafted"]).optional(),
    archivedByContentProjectId: z.string().optional(),
    archiveReason: ContentTopicArchiveReason.optional(),
    archiveNote: z.string().optional(),
    approvals: ContentTopicApprovals.optional(),
    performanceTarget: ContentTopicPerformanceTarget.optional(),
  })
  .meta({ id: "ContentTopic" });
export type ContentTopic = z.infer<typeof ContentTopic>;

const Title = Line(500);
const TargetAudience = z.string().trim().min(1);

/** `estimatedIntent` is any text; what is none of `SeoIntent` becomes informational (api decisions, §3). */
export const WorkspaceCreateTopicRequest = z
  .strictObject({
    title: Title,
    targetAudience: TargetAudience,
    ...editorial,
    estimatedIntent: z.string().optional(),
    scheduledDate: ScheduledDate.optional(),
    contentProjectId: z.string().optional(),
    priorityScore: PriorityScore.optional(),
    priorityRationale: z.string().optional(),
    wordCountRange: WordCountRange.optional(),
  })
  .meta({ id: "WorkspaceCreateTopicRequest" });
export type WorkspaceCreateTopicRequest = z.infer<typeof WorkspaceCreateTopicRequest>;

/** `wordCountRange: null` removes the range. */
export const WorkspaceUpdateTopicRequest = z
  .strictObject({
    title: Title.optional(),
    targetAudience: TargetAudience.optional(),
    ...editorial,
    estimatedIntent: z.string().optional(),
    scheduledDate: ScheduledDate.optional(),
    priorityScore: PriorityScore.optional(),
    priorityRationale: z.string().optional(),
    recommendedAction: RecommendedAction.optional(),
    rankProximity: RankProximity.optional(),
    wordCountRange: WordCountRange.nullable().optional(),
  })
  .meta({ id: "WorkspaceUpdateTopicRequest" });
export type WorkspaceUpdateTopicRequest = z.infer<typeof WorkspaceUpdateTopicRequest>;

export const TopicStatusCounts = z
  .strictObject({ idea: z.int(), shortlisted: z.int(), outlined: z.int(), drafted: z.int(), archived: z.int() })
  .meta({ id: "TopicStatusCounts" });
export type TopicStatusCounts = z.infer<typeof TopicStatusCounts>;

export const WorkspaceListTopicsResponse = z
  .strictObject({ topics: z.array(ContentTopic), nextToken: z.string().optional(), statusCounts: TopicStatusCounts.optional() })
  .meta({ id: "WorkspaceListTopicsResponse" });

export const WorkspaceCreateTopicResponse = z
  .strictObject({ topicId: z.string(), shortId: z.string(), slug: z.string(), status: TopicStatus, createdAt: UnixSeconds })
  .meta({ id: "WorkspaceCreateTopicResponse" });

export const WorkspaceTopicMessageResponse = z
  .strictObject({ message: z.string(), topicId: z.string() })
  .meta({ id: "WorkspaceTopicMessageResponse" });

/** Text for a run or an approval. The bound is the server's `body.prose`, which its limits may raise. */
export const Prose = z
  .string()
  .meta({ description: `At most ${defaultLimits["body.prose"]} characters unless the server is set otherwise` });

/** Names a style kept in the workspace's settings. */
const StyleProfileId = z.string().min(1).max(200);
const runOptions = { instructions: Prose.optional(), styleProfileId: StyleProfileId.optional() } as const;

export const WorkspaceRunInstructionsRequest = z.strictObject(runOptions).meta({ id: "WorkspaceRunInstructionsRequest" });
export const WorkspaceShortlistTopicResponse = z
  .strictObject({
    message: z.string(),
    topicId: z.string(),
    runId: z.string().optional(),
    workflowId: z.string().optional(),
    articleId: z.string().optional(),
  })
  .meta({ id: "WorkspaceShortlistTopicResponse" });

export const ArchiveTopicRequest = z
  .strictObject({ reason: z.literal("manual").optional(), note: Prose.optional() })
  .meta({ id: "ArchiveTopicRequest" });

export const WorkspaceEnsureTopicArticleRequest = z
  .strictObject({ articleId: ArticleId.optional() })
  .meta({ id: "WorkspaceEnsureTopicArticleRequest" });
export const WorkspaceEnsureTopicArticleResponse = z
  .strictObject({ articleId: z.string(), created: z.boolean(), linked: z.boolean() })
  .meta({ id: "WorkspaceEnsureTopicArticleResponse" });

export const RunPipeline = z.enum(["staged", "full"]).meta({ id: "RunPipeline" });
export type RunPipeline = z.infer<typeof RunPipeline>;

export const WorkspaceStartWorkflowRequest = z
  .strictObject({ ...runOptions, pipeline: RunPipeline.optional() })
  .meta({ id: "WorkspaceStartWorkflowRequest" });
export const WorkspaceStartWorkflowResponse = z
  .strictObject({
    runId: z.string(),
    workflowId: z.string(),
    articleId: z.string(),
    topicId: z.string(),
    status: z.literal("queued"),
  })
  .meta({ id: "WorkspaceStartWorkflowResponse" });

export const WorkspaceGenerateOutlineRequest = z.strictObject(runOptions).meta({ id: "WorkspaceGenerateOutlineRequest" });
export const WorkspaceGenerateOutlineResponse = z
  .strictObject({
    runId: z.string(),
    articleId: z.string(),
    status: z.literal("queued"),
    conversationId: z.string().optional(),
  })
  .meta({ id: "WorkspaceGenerateOutlineResponse" });

export const WorkspaceGetOutlineResponse = z
  .strictObject({ topicId: z.string(), articleId: z.string(), outline: z.string() })
  .meta({ id: "WorkspaceGetOutlineResponse" });
export const WorkspaceApproveOutlineRequest = z
  .strictObject({ note: Prose.optional(), ...runOptions })
  .meta({ id: "WorkspaceApproveOutlineRequest" });
export const WorkspaceApproveOutlineResponse = z
  .strictObject({
    message: z.string(),
    topicId: z.string(),
    draftRunId: z.string().optional(),
    articleId: z.string().optional(),
    workflowId: z.string().optional(),
  })
  .meta({ id: "WorkspaceApproveOutlineResponse" });

const changesRequest = { feedback: Prose.optional(), styleProfileId: StyleProfileId.optional() } as const;
export const WorkspaceOutlineRequestChangesRequest = z.strictObject(changesRequest).meta({ id: "WorkspaceOutlineRequestChangesRequest" });
export const WorkspaceDraftRequestChangesRequest = z.strictObject(changesRequest).meta({ id: "WorkspaceDraftRequestChangesRequest" });
export const ChangesRequestedResponse = z
  .strictObject({ message: z.string(), topicId: z.string(), runId: z.string().optional(), articleId: z.string().optional() })
  .meta({ id: "ChangesRequestedResponse" });

export const WorkspaceGetDraftResponse = z
  .strictObject({ topicId: z.string(), articleId: z.string(), draft: z.string() })
  .meta({ id: "WorkspaceGetDraftResponse" });
export const WorkspaceApproveDraftRequest = z.strictObject({ note: Prose.optional() }).meta({ id: "WorkspaceApproveDraftRequest" });

export const DraftAction = z.enum(["create", "update", "optimize", "rewrite"]).meta({ id: "DraftAction" });
export const WorkspaceRunDraftActionRequest = z
  .strictObject({ action: DraftAction, ...runOptions })
  .meta({ id: "WorkspaceRunDraftActionRequest" });
export const WorkspaceRunDraftActionResponse = z
  .strictObject({
    runId: z.string(),
    articleId: z.string(),
    workflowId: z.string(),
    action: DraftAction,
    status: z.literal("queued"),
  })
  .meta({ id: "WorkspaceRunDraftActionResponse" });

/** What may happen to a topic now, and why the rest may not; from the machine. */
export const TopicTransitions = z
  .strictObject({
    status: TopicStatus,
    allowed: z.array(z.strictObject({ operation: z.string(), to: TopicStatus })),
    blocked: z.array(z.strictObject({ operation: z.string(), code: z.string(), detail: z.string() })),
  })
  .meta({ id: "TopicTransitions" });

export const auditEventTypes = [
  "topic_created",
  "topic_updated",
  "topic_shortlisted",
  "topic_archived",
  "topic_restored",
  "outline_generated",
  "outline_approved",
  "outline_changes_requested",
  "draft_generated",
  "draft_approved",
  "draft_changes_requested",
  "pipeline_stage_completed",
] as const;
export const ContentAuditEventType = z.enum(auditEventTypes).meta({ id: "ContentAuditEventType" });
export type ContentAuditEventType = z.infer<typeof ContentAuditEventType>;

/** Append-only; `eventId` makes its write idempotent. */
export const ContentAuditEvent = z
  .strictObject({
    topicId: z.string(),
    eventAt: UnixSeconds,
    eventId: z.string(),
    eventType: ContentAuditEventType,
    actorId: z.string(),
    articleId: z.string().optional(),
    metadata: z.record(z.string(), z.json()).optional(),
  })
  .meta({ id: "ContentAuditEvent" });
export type ContentAuditEvent = z.infer<typeof ContentAuditEvent>;
