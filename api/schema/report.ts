/**
 * Defines the reports that steps of a run make about an article, as the specification states them. All schemas refuse
 * unknown fields.
 *
 * A report that could not be made has the status `unavailable`: its required strings are `none`, its numbers 0 and its
 * arrays empty. It contains the reason if its schema has a field for it (api decisions, §3).
 */
import { z } from "zod";
import { isoTime } from "./common.ts";

const lexicalCoverage = z.enum(["complete", "partial"]);
const count = z.int().min(0);

export const SerpContentBenchmarkReport = z
  .strictObject({
    schemaVersion: z.literal(1),
    query: z.string(),
    status: z.enum(["live", "cached", "stale", "partial", "unavailable"]),
    generatedAt: isoTime("When the report was made."),
    provider: z.string(),
    sourceCount: count,
    minimumSourcesForGrade: count,
    sources: z.array(
      z.strictObject({
        url: z.string(),
        title: z.string(),
        position: z.number(),
        fetchedAt: isoTime("When the source was fetched."),
        wordCount: count,
        headings: z.array(z.string()),
        lexicalCoverage: lexicalCoverage.optional(),
      }),
    ),
    terms: z.array(z.strictObject({ term: z.string(), competitorPageCount: count, articleOccurrences: count, covered: z.boolean() })),
    entities: z.array(z.strictObject({ entity: z.string(), competitorPageCount: count, articleOccurrences: count, covered: z.boolean() })),
    headings: z.array(
      z.strictObject({ heading: z.string(), competitorPageCount: count, sourceUrls: z.array(z.string()), covered: z.boolean() }),
    ),
    wordCount: z.strictObject({
      article: count,
      competitorMin: z.number().optional(),
      competitorMedian: z.number().optional(),
      competitorMax: z.number().optional(),
    }),
    competitiveScore: z.number().optional(),
    grade: z.enum(["A", "B", "C", "D", "F"]).optional(),
    statusReason: z.string().optional(),
    /** Completeness over all sources together. */
    lexicalCoverage: lexicalCoverage.optional(),
    /** Absent for providers that do not return questions. */
    questions: z.array(z.strictObject({ question: z.string(), snippet: z.string().optional() })).optional(),
    /** A limited sample. Present only in reports built from a live fetch. */
    failedSources: z.array(z.strictObject({ url: z.string(), reason: z.string() })).optional(),
  })
  .meta({ id: "SerpContentBenchmarkReport" });
export type SerpContentBenchmarkReport = z.infer<typeof SerpContentBenchmarkReport>;

/** 0 to 10, one decimal. */
const score = z.number().min(0).max(10);

export const ArticleScorecard = z
  .strictObject({
    schemaVersion: z.number(),
    /** Changes whenever the dimensions or the scoring guidance change. */
    rubricVersion: z.string(),
    status: z.enum(["complete", "unavailable"]),
    runId: z.string(),
    stepName: z.string(),
    model: z.string(),
    generatedAt: isoTime("When the report was made."),
    /** SHA-256 (hex) of the graded article. */
    articleContentHash: z.string(),
    scoreMax: z.literal(10),
    dimensions: z.array(
      z.strictObject({
        key: z.string(),
        label: z.string(),
        score,
        rationale: z.string(),
        /** Omitted in compact copies. */
        evidence: z.array(z.strictObject({ quote: z.string(), location: z.string().optional() })).optional(),
      }),
    ),
    topImprovements: z.array(z.string()).max(3),
    /** Present only if the status is `unavailable`. */
    reason: z.string().optional(),
    /** Mean of the dimension scores. Absent if the status is `unavailable`. */
    overallScore: score.optional(),
    /** `null` if no benchmark was available. */
    coverage: z
      .strictObject({
        status: z.string(),
        query: z.string(),
        sourceCount: count,
        grade: z.string().optional(),
        competitiveScore: z.number().optional(),
      })
      .nullable()
      .optional(),
  })
  .meta({ id: "ArticleScorecard" });
export type ArticleScorecard = z.infer<typeof ArticleScorecard>;

export const CodeVerificationBlock = z
  .strictObject({
    /** Index in document order, from 0. */
    index: z.int().min(0),
    /** In lower case. Empty for a fence without a language tag. */
    lang: z.string(),
    rawLang: z.string().nullable(),
    /** Line of the article where the block starts, from 1. */
    line: z.int().min(1),
    charCount: z.int().min(0),
    status: z.enum(["parsed", "parse_failed", "skipped"]),
    skipReason: z.enum(["unsupported_language", "empty_block", "block_too_large", "article_block_limit", "parser_unavailable"]).optional(),
    detail: z.string().optional(),
    diagnostics: z
      .array(
        z.strictObject({
          message: z.string(),
          /** Line within the block, from 1. */
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
    generatedAt: isoTime("When the report was made."),
    /** SHA-256 (hex) of the article. */
    articleContentHash: z.string(),
    blockCount: z.int().min(0),
    blocksOmitted: z.int().min(0),
    counts: z.strictObject({ parsed: z.int(), parse_failed: z.int(), skipped: z.int() }),
    blocks: z.array(CodeVerificationBlock),
    reason: z.string().optional(),
  })
  .meta({ id: "CodeVerificationReport" });
export type CodeVerificationReport = z.infer<typeof CodeVerificationReport>;

const completeness = z.enum(["complete", "unavailable"]);

export const ClaimsLedgerSummary = z
  .strictObject({
    status: completeness,
    claimsStatus: completeness,
    similarityStatus: completeness,
    total: count,
    verified: count,
    unverified: count,
    corrected: count,
    unanchored: count,
    /** Number of unverified claims that were located in the text. */
    unverifiedAnchored: count,
    similarityFindings: count,
    similaritySourcesOmitted: count,
    artifactKey: z.string().optional(),
    /** Verified claims divided by anchored claims. Absent if no claim was anchored. */
    verifiedCoverage: z.number().min(0).max(1).optional(),
  })
  .meta({ id: "ClaimsLedgerSummary" });
export type ClaimsLedgerSummary = z.infer<typeof ClaimsLedgerSummary>;
