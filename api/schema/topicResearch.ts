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
  .meta({ id: "SourceEvidenceType", description: "Origin of a source. `serp` is a page of search results." });
export const EvidenceQuality = z
  .enum(["strong", "adequate", "weak"])
  .meta({ id: "EvidenceQuality", description: "How well the sources support the topic." });
export const GenerationQualityTier = z
  .enum(["fast", "deep"])
  .meta({ id: "GenerationQualityTier", description: "Depth of the research that created the topic. It never changes." });
export const ContentPerformanceTrackingStatus = z
  .enum(["untracked", "tracking_pending", "tracking_active", "needs_attention"])
  .meta({ id: "ContentPerformanceTrackingStatus", description: "Whether the search performance of the topic's page is tracked." });
export const ContentPerformanceTargetSource = z
  .enum(["manual_url", "primary_external_publication"])
  .meta({ id: "ContentPerformanceTargetSource", description: "Origin of the tracked page's address." });
export const ContentPerformanceSyncStatus = z
  .enum(["synced", "untracked", "needs_connection", "needs_resource", "failed"])
  .meta({ id: "ContentPerformanceSyncStatus", description: "Result of the last fetch of performance figures." });
export const RecommendedAction = z
  .enum(["CREATE", "UPDATE", "REWRITE", "OPTIMISE"])
  .meta({ id: "RecommendedAction", description: "Recommended work: write a new article, or improve an existing one." });
export const RankProximity = z
  .enum(["page-1", "striking-distance", "not-ranking"])
  .meta({ id: "RankProximity", description: "How close the site is to the first page of search results." });

export const ContentTopicSerpSummary = z
  .strictObject({
    topDomains: z.array(z.string()).meta({ description: "Domains of the first results, in order.", example: ["docs.example"] }),
    topTitles: z.array(z.string()).meta({ description: "Titles of the first results, best first.", example: ["Durable drafts explained"] }),
    provider: text("Provider of the results.", "none"),
    queriedAt: unixSeconds("When the search was made."),
  })
  .meta({ id: "ContentTopicSerpSummary", description: "Summary of the first page of search results." });

export const ContentTopicKeywordMetrics = z
  .strictObject({
    fetchedAt: unixSeconds("When the figures were fetched."),
    provider: text("Provider of the figures.", "none"),
    volume: number("Searches per month in the market.", 880).optional(),
    globalVolume: number("Searches per month worldwide.", 4400).optional(),
    difficulty: z
      .number()
      .min(0)
      .max(100)
      .meta({ description: "Difficulty of ranking for the keyword, 0 to 100.", example: 37 })
      .optional(),
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
  .meta({ id: "ContentTopicKeywordMetrics", description: "Search volume of the primary keyword." });

export const ContentTopicSourceEvidence = z
  .strictObject({
    url: text("Address of the source.", "https://docs.example/durability"),
    sourceType: SourceEvidenceType,
    relevance: text("Statement of the source about the topic.", "Measures the cost of an fsync."),
    capturedAt: text("When the source was read, as ISO 8601 text.", "2026-11-21T00:00:00.125Z"),
    title: text("Title of the page.", "Durability").optional(),
    snippet: text("Quote from the page.", "A write is durable once it is flushed.").optional(),
    query: text("Search that found the source.", "durable drafts").optional(),
    statusCode: number("HTTP status of the page.", 200).optional(),
  })
  .meta({ id: "ContentTopicSourceEvidence", description: "A source that supports the topic." });

export const ContentTopicPerformanceTarget = z
  .strictObject({
    status: ContentPerformanceTrackingStatus,
    source: ContentPerformanceTargetSource.optional(),
    url: text("Address as it was set.", "https://blog.example/durable-drafts").optional(),
    canonicalUrl: text("Canonical address that the page declares.", "https://blog.example/durable-drafts").optional(),
    domain: text("Domain of the page.", "blog.example").optional(),
    path: text("Path of the page.", "/durable-drafts").optional(),
    externalPublicationId: text("Id of the publication in the external system.", "post-71").optional(),
    externalPublicationStatus: text("State of the publication in the external system.", "published").optional(),
    title: text("Title of the page.", "Durable drafts").optional(),
    submittedBy: username("Username of the account that set the page.").optional(),
    lastVerificationError: text("Why the last verification failed.", "The page answers 404.").optional(),
    firstMetricDate: text("First day with figures, as `YYYY-MM-DD`.", "2026-10-01").optional(),
    lastMetricDate: text("Last day with figures, as `YYYY-MM-DD`.", "2026-11-20").optional(),
    lastSyncError: text("Why the last fetch of figures failed.", "The provider refused the credential.").optional(),
    submittedAt: unixSeconds("When the page was set.").optional(),
    lastVerifiedAt: unixSeconds("When the page was last verified.").optional(),
    lastSyncedAt: unixSeconds("When figures were last requested.").optional(),
    lastSuccessfulSyncAt: unixSeconds("When figures last arrived.").optional(),
    lastSyncStatus: ContentPerformanceSyncStatus.optional(),
  })
  .meta({ id: "ContentTopicPerformanceTarget", description: "The published page whose search performance is tracked." });

const score = (description: string) => number(`${description}. A higher number means more.`, 72);

/** Fields of a topic that runs and providers write. */
export const researchFields = {
  serpSummary: ContentTopicSerpSummary.optional(),
  keywordMetrics: ContentTopicKeywordMetrics.optional(),
  sourceEvidence: z.array(ContentTopicSourceEvidence).describe("Sources that support the topic.").optional(),
  evidenceQuality: EvidenceQuality.optional(),
  generatedQualityTier: GenerationQualityTier.optional(),
  briefQualityScore: score("Completeness of the topic's brief").optional(),
  productRelevanceScore: score("Fit of the topic to the product").optional(),
  evidenceScore: score("Support of the topic by its sources").optional(),
  originalityScore: score("How much new information the topic adds").optional(),
  keywordCoverageScore: score("Coverage of the keywords").optional(),
  duplicateRiskScore: score("Likelihood that the topic repeats an existing one").optional(),
  critiqueSummary: text("Result of a review of the topic.", "The angle is clear; one source is weak.").optional(),
  recommendedAction: RecommendedAction.optional(),
  rankProximity: RankProximity.optional(),
  searchedQueries: z
    .array(z.string())
    .meta({ description: "Searches that the research made.", example: ["durable drafts"] })
    .optional(),
} as const;
