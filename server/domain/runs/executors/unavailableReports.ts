/**
 * Provides reports with status `unavailable` for the report steps that have no executor on this server.
 *
 * Later steps and readers then find a report of the documented shape, and the step's error says why it is empty. Facts
 * that identify a report (run, step, time, hash of the text) are real. All findings are `none`, 0 or empty (api
 * decisions, §3). An SEO review has no such status, so each of its checks is `not_checked`.
 */
import { createHash } from "node:crypto";
import type {
  ArticleScorecard,
  ClaimsLedgerSummary,
  CodeVerificationReport,
  SerpContentBenchmarkReport,
} from "../../../../api/schema/report.ts";
import type { ArtifactKind, RunStepError } from "../../../../api/schema/run.ts";
import type { TopicSeoReviewSnapshot } from "../../../../api/schema/seo.ts";
import type { WorkflowStepType } from "../../../../api/schema/workflow.ts";
import { noUsage } from "../../../../machines/agentRunContext.ts";
import type { Executor, Executors, StepContext, StepResult } from "./port.ts";

type Subject = Pick<StepContext, "run" | "step" | "texts" | "brief" | "now">;

/** SHA-256 of the text, in hex. */
export function hashText(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function toIsoTime({ now }: Pick<Subject, "now">): string {
  return new Date(now()).toISOString();
}

function toBenchmark(subject: Subject, reason: string): SerpContentBenchmarkReport {
  return {
    schemaVersion: 1,
    query: "none",
    status: "unavailable",
    generatedAt: toIsoTime(subject),
    provider: "none",
    sourceCount: 0,
    minimumSourcesForGrade: 0,
    sources: [],
    terms: [],
    entities: [],
    headings: [],
    wordCount: { article: 0 },
    statusReason: reason,
  };
}

function toScorecard(subject: Subject, reason: string): ArticleScorecard {
  return {
    schemaVersion: 1,
    rubricVersion: "none",
    status: "unavailable",
    runId: subject.run.runId,
    stepName: subject.step.name,
    model: "none",
    generatedAt: toIsoTime(subject),
    articleContentHash: hashText(subject.texts["content.md"]),
    scoreMax: 10,
    dimensions: [],
    topImprovements: [],
    reason,
    coverage: null,
  };
}

/** The shape has no member for the reason. The step's `error` contains it. */
function toClaims(): ClaimsLedgerSummary {
  return {
    status: "unavailable",
    claimsStatus: "unavailable",
    similarityStatus: "unavailable",
    total: 0,
    verified: 0,
    unverified: 0,
    corrected: 0,
    unanchored: 0,
    unverifiedAnchored: 0,
    similarityFindings: 0,
    similaritySourcesOmitted: 0,
  };
}

export function toUnavailableCodeReport(subject: Pick<Subject, "texts" | "now">, reason: string): CodeVerificationReport {
  return {
    schemaVersion: 1,
    status: "unavailable",
    generatedAt: toIsoTime(subject),
    articleContentHash: hashText(subject.texts["content.md"]),
    blockCount: 0,
    blocksOmitted: 0,
    counts: { parsed: 0, parse_failed: 0, skipped: 0 },
    blocks: [],
    reason,
  };
}

function toUncheckedReview({ run, brief, now }: Subject, { code, message }: RunStepError): TopicSeoReviewSnapshot {
  return {
    runId: run.runId,
    seoBriefRevision: brief?.revision ?? 0,
    reviewedAt: now() / 1000,
    checks: {
      keywordRepetition: "not_checked",
      headingStructure: "not_checked",
      supportingCoverage: "not_checked",
      primaryTargetPlacement: "not_checked",
      intentAlignment: "not_checked",
    },
    findings: [{ code, severity: "high", message }],
  };
}

/** Result of a step whose report could not be made: it completes with an "unavailable" report. */
export function toUnavailable(kind: ArtifactKind, report: object, unavailable: RunStepError): StepResult {
  return {
    kind: "completed",
    artifacts: [{ kind, contentType: "application/json", text: JSON.stringify(report) }],
    summary: `Unavailable: ${unavailable.message}`,
    unavailable,
    usage: noUsage,
  };
}

/**
 * Result of an SEO review that could not be made. The review is not stored in the brief, because it says nothing about
 * the article.
 */
export function toUnreviewed(subject: Subject, reason: RunStepError): StepResult {
  return toUnavailable("json", toUncheckedReview(subject, reason), reason);
}

/** Error of a step whose type has no executor on this server. */
export function toMissingExecutor(type: WorkflowStepType): RunStepError {
  return { code: "provider_unavailable", message: `This server has no executor for steps of type ${type}.` };
}

function reporting(kind: ArtifactKind, toReport: (subject: Subject, reason: string) => object): Executor {
  return async (context) => {
    const missing = toMissingExecutor(context.step.type);
    return toUnavailable(kind, toReport(context, missing.message), missing);
  };
}

/** Reports by step type. A real executor of the same type takes precedence. */
export const unavailableReports: Executors = {
  serp_benchmark: reporting("benchmark", toBenchmark),
  article_scorecard: reporting("scorecard", toScorecard),
  claims_audit: reporting("claims", toClaims),
  code_verification: reporting("code_report", toUnavailableCodeReport),
  seo_review: async (context) => toUnreviewed(context, toMissingExecutor(context.step.type)),
};
