/**
 * Checks an article against the topic's SEO brief: five checks by rules, without a model.
 *
 * Each check ends as pass, warning, fail or not_checked. Every warning and failure has a finding with its text and
 * location. The checks run in a worker thread, because they search the complete article for every term of the brief.
 */
import type { SeoCheckStatus, TopicSeoBrief, TopicSeoReviewFinding, TopicSeoReviewSnapshot } from "../../../../api/schema/seo.ts";
import { countWords } from "../../call/countWords.ts";
import { type ArticleStructure, readStructure } from "./readStructure.ts";

type Checks = TopicSeoReviewSnapshot["checks"];

interface Checked {
  readonly status: SeoCheckStatus;
  readonly findings: readonly TopicSeoReviewFinding[];
}

interface ReviewedArticle {
  readonly structure: ArticleStructure;
  /** Text of all passages. */
  readonly text: string;
  readonly words: number;
  readonly title: string;
}

const pass: Checked = { status: "pass", findings: [] };
const notChecked: Checked = { status: "not_checked", findings: [] };

function found(status: "warning" | "fail", code: string, message: string, location?: string): Checked {
  const severity = status === "fail" ? "high" : "medium";
  return { status, findings: [{ code, severity, message, ...(location === undefined ? {} : { location }) }] };
}

const ranks: Readonly<Record<SeoCheckStatus, number>> = { not_checked: 0, pass: 1, warning: 2, fail: 3 };

function worst(checks: readonly Checked[]): Checked {
  const status = checks.reduce<SeoCheckStatus>(
    (worse, check) => (ranks[check.status] > ranks[worse] ? check.status : worse),
    "not_checked",
  );
  return { status, findings: checks.flatMap(({ findings }) => findings) };
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** Number of occurrences of a term as whole words. Letter case and the amount of white space do not matter. */
export function countTerm(text: string, term: string): number {
  const words = term.trim().split(/\s+/).map(escapePattern).join("\\s+");
  if (words === "") return 0;
  return text.match(new RegExp(`(?<![\\p{L}\\p{N}])${words}(?![\\p{L}\\p{N}])`, "giu"))?.length ?? 0;
}

/**
 * Checks the keyword's share of all words: above 3 % it is a warning (needless repetition), above 5 % a failure (spam).
 * A keyword that does not occur is a warning too.
 */
function checkRepetition({ text, words }: ReviewedArticle, keyword: string): Checked {
  const times = countTerm(text, keyword);
  const share = words === 0 ? 0 : times / words;
  const percent = `${(share * 100).toFixed(1)} %`;
  if (times === 0) return found("warning", "keyword_absent", `“${keyword}” does not occur in the text.`);
  if (share > 0.05) return found("fail", "keyword_stuffing", `“${keyword}” is ${percent} of the words (${times} times).`);
  if (share > 0.03) return found("warning", "keyword_repetition", `“${keyword}” is ${percent} of the words (${times} times).`);
  return pass;
}

function checkHeadings({ structure: { headings }, words }: ReviewedArticle): Checked {
  const tops = headings.filter(({ depth }) => depth === 1);
  const skips = headings.filter(({ depth }, index) => depth > (headings[index - 1]?.depth ?? 1) + 1);
  const empty = headings.filter(({ text }) => text === "");
  const wordsOfSection = headings.filter(({ depth }) => depth === 2).length === 0 ? words : 0;
  return worst([
    tops.length > 1
      ? found("warning", "several_titles", `There are ${tops.length} first-level headings; one is the title.`, `line ${tops[1]?.line}`)
      : pass,
    ...skips.map(({ text, depth, line }) =>
      found("warning", "heading_level_skipped", `“${text}” jumps to level ${depth}.`, `line ${line}`),
    ),
    ...empty.map(({ line }) => found("fail", "heading_empty", "A heading has no text.", `line ${line}`)),
    wordsOfSection > 300 ? found("fail", "headings_missing", `${words} words follow without a second-level heading.`) : pass,
  ]);
}

function checkCoverage({ text }: ReviewedArticle, terms: readonly string[]): Checked {
  if (terms.length === 0) return notChecked;
  const missing = terms.filter((term) => countTerm(text, term) === 0);
  const share = 1 - missing.length / terms.length;
  if (share >= 0.7) return pass;
  const message = `${terms.length - missing.length} of ${terms.length} supporting terms are covered; missing: ${missing.slice(0, 10).join(", ")}.`;
  return share >= 0.4 ? found("warning", "supporting_terms_missing", message) : found("fail", "supporting_terms_missing", message);
}

function checkPlacement({ structure: { headings, passages }, title }: ReviewedArticle, keyword: string): Checked {
  const start = passages
    .filter(({ heading }) => !heading)
    .map(({ text }) => text)
    .join(" ")
    .split(/\s+/)
    .slice(0, 100)
    .join(" ");
  const top = headings.find(({ depth }) => depth === 1)?.text ?? title;
  // Search all headings in one text, because countTerm compiles a new pattern for each call. The separator prevents a
  // match across two headings.
  const below = headings.flatMap(({ depth, text }) => (depth > 1 ? [text] : [])).join(" · ");
  const places = [
    { name: "the title", has: countTerm(top, keyword) > 0 || countTerm(title, keyword) > 0 },
    { name: "the first 100 words", has: countTerm(start, keyword) > 0 },
    { name: "a heading", has: countTerm(below, keyword) > 0 },
  ];
  const missing = places.filter(({ has }) => !has).map(({ name }) => name);
  if (missing.length === 0) return pass;
  const message = `“${keyword}” is missing in ${missing.join(" and in ")}.`;
  return missing.length === places.length
    ? found("fail", "primary_target_placement", message)
    : found("warning", "primary_target_placement", message);
}

/** Checks that the article offers what readers with this search intent expect. */
function checkIntent({ structure, text }: ReviewedArticle, intent: TopicSeoBrief["intent"]): Checked {
  const { tables, lists, links, headings } = structure;
  const says = (pattern: RegExp) => pattern.test(text);
  if (intent === "informational") {
    const explains = lists > 0 || headings.some(({ text: heading }) => /\?|^(how|what|why|when|which|where)\b/i.test(heading));
    return explains ? pass : found("warning", "intent_informational", "No heading asks or answers a question, and there is no list.");
  }
  if (intent === "commercial") {
    const compares = tables > 0 || says(/\b(versus|vs\.?|compared? (?:to|with)|alternatives?|pros and cons|best for)\b/i);
    return compares ? pass : found("warning", "intent_commercial", "The text compares nothing: it has no table and names no alternatives.");
  }
  if (intent === "transactional") {
    return links.length > 0 ? pass : found("warning", "intent_transactional", "No link lets a reader act.");
  }
  return links.length > 0 ? pass : found("warning", "intent_navigational", "No link leads to the page that the reader looks for.");
}

export function reviewArticle(
  article: ReviewedArticle,
  brief: TopicSeoBrief,
): { readonly checks: Checks; readonly findings: readonly TopicSeoReviewFinding[] } {
  const keyword = brief.primaryTargets[0]?.keyword;
  const terms = [
    ...new Set([
      ...brief.primaryTargets.slice(1).map((target) => target.keyword),
      ...brief.supportingClusters.flatMap((cluster) => cluster.terms.map((term) => term.keyword)),
    ]),
  ];
  const results = {
    keywordRepetition: keyword === undefined ? notChecked : checkRepetition(article, keyword),
    headingStructure: checkHeadings(article),
    supportingCoverage: checkCoverage(article, terms),
    primaryTargetPlacement: keyword === undefined ? notChecked : checkPlacement(article, keyword),
    intentAlignment: checkIntent(article, brief.intent),
  };
  const checks = Object.fromEntries(Object.entries(results).map(([name, { status }]) => [name, status])) as Checks;
  return { checks, findings: Object.values(results).flatMap(({ findings }) => findings) };
}

export interface ArticleToReview {
  readonly markdown: string;
  readonly title: string;
  readonly brief: TopicSeoBrief;
}

const maxFindings = 100;

/** Reviews the article. This is the slow part of the step and runs in a worker thread. */
export function reviewMarkdown({ markdown, title, brief }: ArticleToReview): ReturnType<typeof reviewArticle> {
  const structure = readStructure(markdown);
  const text = structure.passages.map((passage) => passage.text).join("\n");
  const { checks, findings } = reviewArticle({ structure, text, words: countWords(text), title }, brief);
  return { checks, findings: findings.slice(0, maxFindings) };
}
