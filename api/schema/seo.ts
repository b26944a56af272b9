/**
 * Defines the SEO brief of a topic and its reviews, as the specification states them. All schemas refuse unknown
 * fields.
 */
import { z } from "zod";
import { unixSeconds } from "./common.ts";
import { ArticleScorecard, ClaimsLedgerSummary, CodeVerificationReport, SerpContentBenchmarkReport } from "./report.ts";
import { SeoIntent } from "./topic.ts";
import { GenerationQualityTier } from "./topicResearch.ts";

export const SeoDistributionGoal = z.enum(["traditional_search", "ai_search_visibility"]).meta({ id: "SeoDistributionGoal" });
export const SeoSerpPattern = z.enum(["comparison", "guide", "tutorial", "reference", "product", "mixed"]).meta({ id: "SeoSerpPattern" });
export const SeoKeywordRole = z.enum(["primary", "close_variant", "supporting"]).meta({ id: "SeoKeywordRole" });
export const KeywordMarketLocale = z
  .enum(["en-US", "en-GB", "en-CA", "en-AU"])
  .meta({ id: "KeywordMarketLocale", description: "Market of keywords, as language and region." });
export const SeoCheckStatus = z.enum(["pass", "warning", "fail", "not_checked"]).meta({ id: "SeoCheckStatus" });
export type SeoCheckStatus = z.infer<typeof SeoCheckStatus>;

export const TopicSeoKeywordMetrics = z
  .strictObject({
    provider: z.string(),
    fetchedAt: unixSeconds("When the figures were fetched."),
    marketVolume: z.number().optional(),
    globalVolume: z.number().optional(),
    difficulty: z.number().min(0).max(100).optional(),
    cpc: z.number().optional(),
    trend: z.array(z.number()).optional(),
  })
  .meta({ id: "TopicSeoKeywordMetrics" });

export const TopicSeoKeywordTarget = z
  .strictObject({ keyword: z.string(), role: SeoKeywordRole, intent: SeoIntent, metrics: TopicSeoKeywordMetrics.optional() })
  .meta({ id: "TopicSeoKeywordTarget" });
export type TopicSeoKeywordTarget = z.infer<typeof TopicSeoKeywordTarget>;

export const TopicSeoKeywordCluster = z
  .strictObject({
    clusterId: z.string(),
    label: z.string(),
    readerNeed: z.string(),
    intent: SeoIntent,
    terms: z.array(TopicSeoKeywordTarget),
    combinedMarketVolume: z.number().optional(),
    combinedGlobalVolume: z.number().optional(),
  })
  .meta({ id: "TopicSeoKeywordCluster" });

export const TopicSeoReviewFinding = z
  .strictObject({ code: z.string(), severity: z.enum(["low", "medium", "high"]), message: z.string(), location: z.string().optional() })
  .meta({ id: "TopicSeoReviewFinding" });
export type TopicSeoReviewFinding = z.infer<typeof TopicSeoReviewFinding>;

export const TopicSeoReviewSnapshot = z
  .strictObject({
    runId: z.string(),
    seoBriefRevision: z.number(),
    reviewedAt: unixSeconds("When the review was made."),
    checks: z.strictObject({
      keywordRepetition: SeoCheckStatus,
      headingStructure: SeoCheckStatus,
      supportingCoverage: SeoCheckStatus,
      primaryTargetPlacement: SeoCheckStatus,
      intentAlignment: SeoCheckStatus,
    }),
    findings: z.array(TopicSeoReviewFinding),
    articleUpdatedAt: unixSeconds("When the reviewed article had last changed.").optional(),
    coverageBenchmark: SerpContentBenchmarkReport.optional(),
    articleScorecard: ArticleScorecard.optional(),
    codeVerification: CodeVerificationReport.optional(),
    claimsLedger: ClaimsLedgerSummary.optional(),
  })
  .meta({ id: "TopicSeoReviewSnapshot" });
export type TopicSeoReviewSnapshot = z.infer<typeof TopicSeoReviewSnapshot>;

export const TopicSeoBrief = z
  .strictObject({
    topicId: z.string(),
    workspaceId: z.string(),
    schemaVersion: z.literal(1),
    revision: z.number(),
    searchObjective: z.string(),
    distributionGoals: z.array(SeoDistributionGoal),
    intent: SeoIntent,
    readerTask: z.string(),
    serpPattern: SeoSerpPattern,
    primaryTargets: z.array(TopicSeoKeywordTarget),
    supportingClusters: z.array(TopicSeoKeywordCluster),
    usageGuidance: z.array(z.string()),
    metricsContext: z.strictObject({
      status: z.enum(["complete", "partial", "pending", "unavailable"]),
      provider: z.string(),
      includeGlobalVolume: z.boolean(),
      marketLocale: KeywordMarketLocale,
      fetchedAt: unixSeconds("When the figures were fetched.").optional(),
    }),
    source: z.enum(["topic_research", "deep_topic_research", "manual", "legacy_projection"]),
    createdAt: unixSeconds("When the brief was made."),
    updatedAt: unixSeconds("When the brief last changed."),
    /** Username of the account that made the last change. */
    updatedBy: z.string(),
    contentProjectId: z.string().optional(),
    latestReview: TopicSeoReviewSnapshot.optional(),
    sourceRunId: z.string().optional(),
    generationQualityTier: GenerationQualityTier.optional(),
  })
  .meta({ id: "TopicSeoBrief" });
export type TopicSeoBrief = z.infer<typeof TopicSeoBrief>;
