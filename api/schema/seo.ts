/**
 * The SEO brief of a topic, its reviews and the reports they carry, as the specification states them. All shapes are
 * closed; a report that could not be made has status `unavailable`, a reason, and empty rest (api decisions, §3).
 */
import { z } from "zod";
import { IsoTime, UnixSeconds } from "./common.ts";
import { GenerationQualityTier, SeoIntent } from "./topic.ts";

export const SeoDistributionGoal = z.enum(["traditional_search", "ai_search_visibility"]).meta({ id: "SeoDistributionGoal" });
export const SeoSerpPattern = z.enum(["comparison", "guide", "tutorial", "reference", "product", "mixed"]).meta({ id: "SeoSerpPattern" });
export const SeoKeywordRole = z.enum(["primary", "close_variant", "supporting"]).meta({ id: "SeoKeywordRole" });
export const KeywordMarketLocale = z.enum(["en-US", "en-GB", "en-CA", "en-AU"]).meta({ id: "KeywordMarketLocale" });
export const SeoCheckStatus = z.enum(["pass", "warning", "fail", "not_checked"]).meta({ id: "SeoCheckStatus" });
export type SeoCheckStatus = z.infer<typeof SeoCheckStatus>;

export const TopicSeoKeywordMetrics = z
  .strictObject({
    provider: z.string(),
    fetchedAt: UnixSeconds,
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

export const CodeVerificationBlock = z
  .strictObject({
    /** From 0, in document order. */
    index: z.int().min(0),
    /** Lower case; empty for an untagged fence. */
    lang: z.string(),
    rawLang: z.string().nullable(),
    /** From 1: where the block starts in the article. */
    line: z.int().min(1),
    charCount: z.int().min(0),
    status: z.enum(["parsed", "parse_failed", "skipped"]),
    skipReason: z.enum(["unsupported_language", "empty_block", "block_too_large", "article_block_limit", "parser_unavailable"]).optional(),
    detail: z.string().optional(),
    diagnostics: z
      .array(
        z.strictObject({
          message: z.string(),
          /** From 1, within the block. */
          line: z.int().min(1).optional(),
          column: z.int().optional(),
        }),
      )
      .optional(),
  })
  .meta({ id: "CodeVerificationBlock" });
export type CodeVerificationBlock = z.infer<typeof CodeVerificationBlock>;

export const CodeVerificationReport = z
  .strictObject({
    schemaVersion: z.literal(1),
    status: z.enum(["complete", "unavailable"]),
    generatedAt: IsoTime,
    /** SHA-256 (hex). */
    articleContentHash: z.string(),
    blockCount: z.int().min(0),
    blocksOmitted: z.int().min(0),
    counts: z.strictObject({ parsed: z.int(), parse_failed: z.int(), skipped: z.int() }),
    blocks: z.array(CodeVerificationBlock),
    reason: z.string().optional(),
  })
  .meta({ id: "CodeVerificationReport" });
export type CodeVerificationReport = z.infer<typeof CodeVerificationReport>;

export const TopicSeoReviewFinding = z
  .strictObject({ code: z.string(), severity: z.enum(["low", "medium", "high"]), message: z.string(), location: z.string().optional() })
  .meta({ id: "TopicSeoReviewFinding" });
export type TopicSeoReviewFinding = z.infer<typeof TopicSeoReviewFinding>;

/** The reports of other steps join it as those steps come to be. */
export const TopicSeoReviewSnapshot = z
  .strictObject({
    runId: z.string(),
    seoBriefRevision: z.number(),
    reviewedAt: UnixSeconds,
    checks: z.strictObject({
      keywordRepetition: SeoCheckStatus,
      headingStructure: SeoCheckStatus,
      supportingCoverage: SeoCheckStatus,
      primaryTargetPlacement: SeoCheckStatus,
      intentAlignment: SeoCheckStatus,
    }),
    findings: z.array(TopicSeoReviewFinding),
    articleUpdatedAt: UnixSeconds.optional(),
    codeVerification: CodeVerificationReport.optional(),
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
      fetchedAt: UnixSeconds.optional(),
    }),
    source: z.enum(["topic_research", "deep_topic_research", "manual", "legacy_projection"]),
    createdAt: UnixSeconds,
    updatedAt: UnixSeconds,
    /** Username. */
    updatedBy: z.string(),
    contentProjectId: z.string().optional(),
    latestReview: TopicSeoReviewSnapshot.optional(),
    sourceRunId: z.string().optional(),
    generationQualityTier: GenerationQualityTier.optional(),
  })
  .meta({ id: "TopicSeoBrief" });
export type TopicSeoBrief = z.infer<typeof TopicSeoBrief>;
