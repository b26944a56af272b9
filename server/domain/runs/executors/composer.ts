/**
 * Composes research, thesis, outline and draft without a language model.
 *
 * The sources are the topic's own fields, its brief and the word-count range. The composer writes known facts, marks
 * missing ones and invents nothing. Every text says that rules composed it. It runs in a worker thread, because
 * people's outlines and drafts may be very long or unusual.
 */
import { type ArticlePlan, type PlannedSection, sentence, toPlan } from "./articlePlan.ts";
import type { StepContext } from "./port.ts";

/** Part of the step context that the composer uses. It is plain data, so that it can be sent to a worker thread. */
export interface Composable extends Pick<StepContext, "topic" | "brief" | "wordCountRange" | "title" | "texts"> {
  readonly run: Pick<StepContext["run"], "instructions" | "action">;
  readonly step: Pick<StepContext["step"], "feedback">;
  /** Output of the outline step, used if the outline file is blank. */
  readonly outline?: string;
}

/** Note in every composed text. The article validation searches for it. */
export const composerNote =
  "*Composed by rules from the topic's own fields, without a language model: a frame to write in, not a finished text.*";

const bullets = (items: readonly string[]) => items.map((item) => `- ${item}`).join("\n");
const blocks = (parts: readonly (string | undefined)[]) => `${parts.filter((part) => part !== undefined && part !== "").join("\n\n")}\n`;

function section(heading: string, items: readonly string[]): string | undefined {
  return items.length === 0 ? undefined : `## ${heading}\n\n${bullets(items)}`;
}

export function composeResearch(context: Composable): string {
  const { topic, run, brief } = context;
  const plan = toPlan(context);
  const missing = [
    ...(topic?.primaryKeyword === undefined ? ["a primary keyword"] : []),
    ...(topic?.readerPain === undefined ? ["the reader's problem"] : []),
    ...(topic?.contentGap === undefined ? ["what others leave out"] : []),
    ...(plan.sources.length === 0 ? ["sources"] : []),
    ...(plan.evidence.length === 0 ? ["an evidence plan"] : []),
  ];
  return blocks([
    `# Research: ${plan.title}`,
    composerNote,
    section("Who it is for", [plan.audience, ...(topic === undefined ? [] : [`Search intent: ${topic.estimatedIntent}`])]),
    section("What they ask", [...(topic?.readerPain === undefined ? [] : [topic.readerPain]), ...(topic?.angles ?? [])]),
    section("Terms", [
      ...(brief?.primaryTargets ?? []).map(({ keyword }) => `${keyword} (primary)`),
      ...plan.sections.flatMap(({ terms }) => terms),
    ]),
    section("Seen on the results page", topic?.serpSummary?.topTitles ?? []),
    section(
      "Sources to read",
      plan.sources.map(({ url, why }) => `<${url}>: ${why}`),
    ),
    section("Evidence to find", plan.evidence),
    section("Instructions", run.instructions === undefined ? [] : [run.instructions]),
    section("Not known yet", missing),
  ]);
}

export function composeThesis(context: Composable): string {
  const { topic } = context;
  const plan = toPlan(context);
  return blocks([
    `# Thesis: ${plan.title}`,
    composerNote,
    sentence(plan.thesis),
    section("Supported by", [...plan.evidence, ...plan.sources.map(({ url, why }) => `<${url}>: ${why}`)]),
    section("What is new in it", topic?.originalityAngle === undefined ? [] : [topic.originalityAngle]),
    section("Not this", plan.avoid === undefined ? [] : [plan.avoid]),
  ]);
}

function outlineSection({ heading, purpose, points, terms, words }: PlannedSection): string {
  return blocks([
    `## ${heading}`,
    `${purpose} (about ${words} words)`,
    bullets([...points, ...(terms.length === 0 ? [] : [`Terms: ${terms.join(", ")}`])]),
  ]).trimEnd();
}

export function composeOutline(context: Composable): string {
  const plan = toPlan(context);
  return blocks([
    `# ${plan.title}`,
    composerNote,
    `**For** ${plan.audience}. **Type** ${plan.articleType.replaceAll("_", " ")}. **Length** ${plan.words.min} to ${plan.words.max} words.`,
    `**Thesis.** ${sentence(plan.thesis)}`,
    ...plan.sections.map(outlineSection),
    section(
      "Sources",
      plan.sources.map(({ url, why }) => `<${url}>: ${why}`),
    ),
    section("Asked for in review", context.step.feedback),
    section("Instructions", context.run.instructions === undefined ? [] : [context.run.instructions]),
  ]);
}

/** Parses a Markdown heading and removes its closing hashes. It takes linear time for every line. */
function toHeading(line: string): { readonly depth: number; readonly text: string } | undefined {
  const depth = /^#{1,6}(?=\s)/.exec(line)?.[0].length;
  if (depth === undefined) return undefined;
  const rest = line.slice(depth).trim();
  let end = rest.length;
  while (rest[end - 1] === "#") end -= 1;
  const closes = end < rest.length && /\s/.test(rest[end - 1] ?? " ");
  const text = closes ? rest.slice(0, end).trimEnd() : rest;
  return text === "" ? undefined : { depth, text };
}

interface OutlinedSection {
  readonly heading: string;
  readonly lines: readonly string[];
}

/** Sections of an outline: its second-level headings and the lines below each. People may have edited the outline. */
function toSections(outline: string): readonly OutlinedSection[] {
  const sections: { heading: string; lines: string[] }[] = [];
  for (const line of outline.split("\n")) {
    const heading = toHeading(line);
    if (heading?.depth === 2) sections.push({ heading: heading.text, lines: [] });
    else if (line.trim() !== "") sections.at(-1)?.lines.push(line.trim());
  }
  return sections.filter(({ heading }) => !notOfTheArticle.has(heading));
}

/** Outline sections for writers. They are not sections of the article. */
const notOfTheArticle: ReadonlySet<string> = new Set(["Sources", "Asked for in review", "Instructions", "Not known yet"]);

function listItem(plan: ArticlePlan, item: string): string {
  return plan.articleFormat === "checklist" ? `- [ ] ${item}` : `- ${item}`;
}

function draftSection(plan: ArticlePlan, { heading, lines }: OutlinedSection, index: number): string {
  const purpose = lines.find((line) => !line.startsWith("-"));
  const items = lines.filter((line) => line.startsWith("-")).map((line) => line.replace(/^-\s*/, ""));
  const number = plan.articleFormat === "listicle" ? `${index + 1}. ` : "";
  const lead = index === 0 ? `${sentence(plan.thesis)}\n\n` : "";
  const table =
    plan.articleType === "comparison" && /side by side/i.test(heading)
      ? "| Criterion | First | Second |\n|---|---|---|\n| … | … | … |"
      : undefined;
  return blocks([
    `## ${number}${heading}`,
    `${lead}${purpose === undefined ? "" : `> To write: ${purpose}`}`.trim(),
    items.map((item) => listItem(plan, item)).join("\n"),
    table,
  ]).trimEnd();
}

/** Composes a draft from the current outline, which people may have edited. Without an outline, it uses the plan. */
export function composeDraft(context: Composable): string {
  const plan = toPlan(context);
  const outline = context.texts["outline.md"].trim() || context.outline || composeOutline(context);
  const existing = context.texts["content.md"];
  const sections = toSections(outline);
  const { action } = context.run;
  if ((action === "update" || action === "optimize") && existing.trim() !== "") return extendDraft(context, plan, existing, sections);
  return blocks([
    `# ${plan.title}`,
    composerNote,
    plan.primaryKeyword === undefined ? undefined : `For ${plan.audience}: ${plan.primaryKeyword}.`,
    ...sections.map((entry, index) => draftSection(plan, entry, index)),
    section("Asked for in review", context.step.feedback),
    section(
      "Sources",
      plan.sources.map(({ url, why }) => `<${url}>: ${why}`),
    ),
  ]);
}

/** Keeps the existing text and adds missing sections and terms of the outline at the end. */
function extendDraft(context: Composable, plan: ArticlePlan, existing: string, sections: readonly OutlinedSection[]): string {
  const lower = existing.toLowerCase();
  const headings = new Set(lower.split("\n").flatMap((line) => toHeading(line)?.text.replace(/^\d+\.\s*/, "") ?? []));
  const missing = [...sections.entries()].filter(([, { heading }]) => !headings.has(heading.toLowerCase()));
  const terms = plan.sections.flatMap((entry) => entry.terms).filter((term) => !lower.includes(term.toLowerCase()));
  const added = [
    ...missing.map(([index, entry]) => draftSection(plan, entry, index)),
    section("Terms not covered yet", terms),
    section("Asked for in review", context.step.feedback),
  ].filter((part) => part !== undefined);
  return added.length === 0 ? existing : `${existing.trimEnd()}\n\n${blocks([composerNote, ...added])}`;
}

/** Composer functions by step type. */
export const composers = { research: composeResearch, thesis: composeThesis, outline: composeOutline, draft: composeDraft } as const;
