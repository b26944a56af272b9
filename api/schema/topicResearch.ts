/**
 * Defines what runs and providers find out about a topic, as the specification states it.
 *
 * This includes search results, keyword metrics, sources, scores, and the performance of the published page. All
 * schemas refuse unknown fields.
 */
import { z } from "zod";
import { number, text, unixSeconds, username } from "./common.ts";

export const SourceEvidenceType = z
  .enum(["own_site", "competitor", "third_party", "community", "docs", "workspace", "serp", "manual"])
  .meta({ id: "SourceEvidenceType", description: "Where a source comes from. `serp` is a page of search results." });
export const EvidenceQuality = z
  .enum(["strong", "adequate", "weak"])
  .meta({ id: "EvidenceQuality", description: "How well the sources support the topic." });
export const GenerationQualityTier = z
  .enum(["fast", "deep"])
  .meta({ id: "GenerationQualityTier", description: "How thorough the research was that made the topic. It never changes." });
export const ContentPerformanceTrackingStatus = z
  .enum(["untracked", "tracking_pending", "tracking_active", "needs_attention"])
  .meta({ id: "ContentPerformanceTrackingStatus", description: "Whether search performance of the topic's page is tracked." });
export const ContentPerformanceTargetSource = z
  .enum(["manual_url", "primary_external_publication"])
  .meta({ id: "ContentPerformanceTargetSource", description: "Where the address of the tracked page comes from." });
export const ContentPerformanceSyncStatus = z
  .enum(["synced", "untracked", "needs_connection", "needs_resource", "failed"])
  .meta({ id: "ContentPerformanceSyncStatus", description: "How the last fetch of performance figures ended." });
export const RecommendedAction = z
  .enum(["CREATE", "UPDATE", "REWRITE", "OPTIMISE"])
  .meta({ id: "RecommendedAction", description: "What to do about the topic: write something new, or work on what exists." });
export const RankProximity = z
  .enum(["page-1", "striking-distance", "not-ranking"])
  .meta({ id: "RankProximity", description: "How close the site is to the first page of search results." });

export const ContentTopicSerpSummary = z
  .strictObject({
    topDomains: z.array(z.string()).meta({ description: "Domains of the first results, best first.", example: ["docs.example"] }),
    topTitles: z.array(z.string()).meta({ description: "Titles of the first results, best first.", example: ["Durable drafts explained"] }),
    provider: text("Who gave the results.", "none"),
    queriedAt: unixSeconds("When the search was made."),
  })
  .meta({ id: "ContentTopicSerpSummary", description: "The first page of search results, in short." });

export const ContentTopicKeywordMetrics = z
  .strictObject({
    fetchedAt: unixSeconds("When the figures were fetched."),
    provider: text("Who gave the figures.", "none"),
    volume: number("Searches a month in the market.", 880).optional(),
    globalVolume: number("Searches a month worldwide.", 4400).optional(),
    difficulty: z.number().min(0).max(100).meta({ description: "How hard it is to rank, 0 to 100.", example: 37 }).optional(),
    cpc: number("Price of a click on an advertisement, in US dollars.", 1.4).optional(),
    trend: z
      .array(z.number())
      .length(12)
      .meta({
        description: "Searches in each of the last 12 months, oldest first.",
        example: [720, 720, 880, 880, 880, 720, 590, 720, 880, 880, 1000, 880],
      })
      .optional(),
    locale: text("Market as a BCP 47 tag.", "en-US").optional(),
  })
  .meta({ id: "ContentTopicKeywordMetrics", description: "How often the primary keyword is searched for." });

export const ContentTopicSourceEvidence = z
  .strictObject({
    url: text("Address of the source.", "https://docs.example/durability"),
    sourceType: SourceEvidenceType,
    relevance: text("What the source says about the topic.", "Measures the cost of an fsync."),
    capturedAt: text("When the source was read. ISO 8601 text.", "2026-11-21T00:00:00.125Z"),
    title: text("Title of the page.", "Durability").optional(),
    snippet: text("Words quoted from the page.", "A write is durable once it is flushed.").optional(),
    query: text("Search that found it.", "durable drafts").optional(),
    statusCode: number("HTTP status of the page.", 200).optional(),
  })
  .meta({ id: "ContentTopicSourceEvidence", description: "A source that supports the topic." });

export const ContentTopicPerformanceTarget = z
  .strictObject({
    status: ContentPerformanceTrackingStatus,
    source: ContentPerformanceTargetSource.optional(),
    url: text("Address as it was given.", "https://blog.example/durable-drafts").optional(),
    canonicalUrl: text("Address that the page names as its own.", "https://blog.example/durable-drafts").optional(),
    domain: text("Domain of the page.", "blog.example").optional(),
    path: text("Path of the page.", "/durable-drafts").optional(),
    externalPublicationId: text("Id of the publication elsewhere.", "post-71").optional(),
    externalPublicationStatus: text("State of the publication elsewhere.", "published").optional(),
    title: text("Title of the page.", "Durable drafts").optional(),
    submittedBy: username("Username of the account that set the page.").optional(),
    lastVerificationError: text("Why the last verification failed.", "The page answers 404.").optional(),
    firstMetricDate: text("First day with figures, as `YYYY-MM-DD`.", "2026-10-01").optional(),
    lastMetricDate: text("Last day with figures, as `YYYY-MM-DD`.", "2026-11-20").optional(),
    lastSyncError: text("Why the last fetch of figures failed.", "The provider refused the credential.").optional(),
    submittedAt: unixSeconds("When the page was set.").optional(),
    lastVerifiedAt: unixSeconds("When the page was last verified.").optional(),
    lastSyncedAt: unixSeconds("When figures were last asked for.").optional(),
    lastSuccessfulSyncAt: unixSeconds("When figures last arrived.").optional(),
    lastSyncStatus: ContentPerformanceSyncStatus.optional(),
  })
  .meta({ id: "ContentTopicPerformanceTarget", description: "The published page whose search performance is tracked." });

const score = (description: string) => number(`${description}; higher is more.`, 72);

/** Fields of a topic that runs and providers write. */
export const researchFields = {
  serpSummary: ContentTopicSerpSummary.optional(),
  keywordMetrics: ContentTopicKeywordMetrics.optional(),
  sourceEvidence: z.array(ContentTopicSourceEvidence).describe("Sources that support the topic.").optional(),
  evidenceQuality: EvidenceQuality.optional(),
  generatedQualityTier: GenerationQualityTier.optional(),
  briefQualityScore: score("How complete the topic's brief is").optional(),
  productRelevanceScore: score("How well the topic fits the product").optional(),
  evidenceScore: score("How well the sources support the topic").optional(),
  originalityScore: score("How much the topic says that others do not").optional(),
  keywordCoverageScore: score("How well the keywords are covered").optional(),
  duplicateRiskScore: score("How likely the topic repeats an existing one").optional(),
  critiqueSummary: text("What a review of the topic found.", "The angle is clear; one source is weak.").optional(),
  recommendedAction: RecommendedAction.optional(),
  rankProximity: RankProximity.optional(),
  searchedQueries: z
    .array(z.string())
    .meta({ description: "Searches that the research made.", example: ["durable drafts"] })
    .optional(),
} as const;
