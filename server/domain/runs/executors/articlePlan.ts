/**
 * Plans an article from the topic's own fields and its brief.
 *
 * The built-in composer writes this plan as text, and prompts show it to the model. The article's type (explanation,
 * tutorial, how-to, reference, comparison) decides its sections; the format decides their shape. The plan invents
 * nothing: it asks for missing facts.
 */
import type { ArticleFormat, ArticleType, ContentTopic } from "../../../../api/schema/topic.ts";
import type { StepContext } from "./port.ts";
import { shareWords, toWordCountRange } from "./wordCounts.ts";

export interface PlannedSection {
  readonly heading: string;
  /** What the section must do for the reader. */
  readonly purpose: string;
  readonly points: readonly string[];
  /** Terms of the brief that the section must contain. */
  readonly terms: readonly string[];
  readonly words: number;
}

export interface ArticlePlan {
  readonly title: string;
  readonly articleType: ArticleType;
  readonly articleFormat: ArticleFormat;
  readonly audience: string;
  readonly thesis: string;
  readonly words: { readonly min: number; readonly max: number };
  readonly primaryKeyword: string | undefined;
  readonly sections: readonly PlannedSection[];
  readonly sources: readonly { readonly url: string; readonly why: string }[];
  readonly evidence: readonly string[];
  readonly avoid: string | undefined;
}

interface Frame {
  readonly heading: (subject: string) => string;
  readonly question: (subject: string) => string;
  readonly purpose: string;
  readonly weight: number;
}

function frame(heading: string, question: string, purpose: string, weight: number): Frame {
  const fill = (text: string) => (subject: string) => text.replaceAll("{subject}", subject);
  return { heading: fill(heading), question: fill(question), purpose, weight };
}

const frames: Readonly<Record<ArticleType, readonly Frame[]>> = {
  explanation: [
    frame("What {subject} is", "What is {subject}?", "Define it in two sentences, then by what it is not.", 2),
    frame("Why it matters", "Why does {subject} matter?", "The reader's problem, and what changes once this is understood.", 2),
    frame("How it works", "How does {subject} work?", "The parts and how they act on each other, from the outside in.", 4),
    frame("Limits and trade-offs", "Where are the limits of {subject}?", "When it does not hold, and what it costs.", 2),
    frame("What to take from it", "What follows from it?", "What the reader can now decide or do.", 1),
  ],
  tutorial: [
    frame("What you will have at the end", "What will you have at the end?", "Show the result first.", 1),
    frame("Before you start", "What do you need before you start?", "Versions, accounts, files: everything, and how to check it.", 1),
    frame("First working version", "How do you get to a first working version?", "The shortest path to something that runs.", 4),
    frame("Making it complete", "How do you make it complete?", "One addition at a time, each with a check.", 4),
    frame("When something goes wrong", "What if something goes wrong?", "The usual mistakes, listed by symptom.", 2),
    frame("Where to go next", "Where do you go next?", "Two or three next steps.", 1),
  ],
  how_to: [
    frame("When this is the way to do it", "When is this the way to do it?", "Who this is for, and who should do something else.", 1),
    frame("What you need", "What do you need?", "Everything, and how to check it.", 1),
    frame("Steps", "What are the steps?", "One action per step, with the result that the reader should see.", 5),
    frame("Check the result", "How do you check the result?", "How to know that it worked.", 1),
    frame("If it does not work", "What if it does not work?", "Symptom, cause, cure.", 2),
  ],
  reference: [
    frame("In short", "What is {subject}, in short?", "One paragraph for readers who only need a reminder.", 1),
    frame("All entries, in order", "What belongs to {subject}?", "Every entry in one form: name, meaning, values, default.", 6),
    frame("Examples", "What do examples look like?", "The smallest example that works for each usual case.", 3),
    frame("Related", "What is related?", "Where to find related facts.", 1),
  ],
  comparison: [
    frame("The answer in one paragraph", "Which one, in one paragraph?", "For whom which choice is right.", 1),
    frame("What is compared, and by what", "What is compared, and by what?", "The candidates and the criteria, and why these.", 2),
    frame("Side by side", "How do they compare side by side?", "A table: one row per criterion, with a source for each cell.", 3),
    frame("Where they really differ", "Where do they really differ?", "The two or three differences that decide.", 4),
    frame("How to choose", "How do you choose?", "Situations and the choice that fits each.", 2),
  ],
};

/** Type of articles whose topic has no type. */
const defaultType: ArticleType = "explanation";

export function toPlan({
  topic,
  brief,
  wordCountRange,
  title,
}: Pick<StepContext, "topic" | "brief" | "wordCountRange" | "title">): ArticlePlan {
  const articleType = topic?.articleType ?? defaultType;
  const articleFormat = topic?.articleFormat ?? "default";
  const words = toWordCountRange(wordCountRange, articleType);
  const primaryKeyword = brief?.primaryTargets[0]?.keyword ?? topic?.primaryKeyword;
  // A title is often a complete sentence, so headings do not repeat it: without a keyword they say "it".
  const subject = primaryKeyword ?? "it";
  const chosen = frames[articleType];
  const shares = shareWords(
    words,
    chosen.map(({ weight }) => weight),
  );
  const points = distribute(toPoints(topic), chosen);
  const terms = distribute(toTerms(topic, brief, primaryKeyword), chosen);
  return {
    title,
    articleType,
    articleFormat,
    audience: topic?.targetAudience ?? "readers of this workspace",
    thesis: topic?.thesis ?? toThesis(title, topic),
    words,
    primaryKeyword,
    sections: chosen.map(({ heading, question, purpose }, index) => ({
      heading: articleFormat === "q_and_a" ? question(subject) : heading(subject),
      purpose,
      points: points[index] ?? [],
      terms: terms[index] ?? [],
      words: shares[index] ?? 0,
    })),
    sources: topic?.suggestedSources ?? [],
    evidence: topic?.evidencePlan ?? [],
    avoid: topic?.avoidAngle,
  };
}

function toThesis(title: string, topic: ContentTopic | undefined): string {
  const gap = topic?.contentGap;
  const pain = topic?.readerPain;
  if (pain !== undefined && gap !== undefined) return `${sentence(pain)} What others leave out: ${sentence(gap)}`;
  if (pain !== undefined) return `${sentence(pain)} This article answers that.`;
  if (gap !== undefined) return `What others leave out: ${sentence(gap)}`;
  return `After reading, ${topic?.targetAudience ?? "the reader"} can act on “${title}”. (The topic names no thesis yet.)`;
}

/** Adds a full stop unless the text already ends with sentence punctuation. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  return /[.!?…:][)”"]?$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

function toPoints(topic: ContentTopic | undefined): readonly string[] {
  if (topic === undefined) return [];
  const { readerPain, contentGap, angles = [], mustInclude = [], originalityAngle, productTieIn } = topic;
  return [
    ...(readerPain === undefined ? [] : [`Reader's problem: ${readerPain}`]),
    ...angles.map((angle) => `Angle: ${angle}`),
    ...(contentGap === undefined ? [] : [`What others leave out: ${contentGap}`]),
    ...mustInclude.map((item) => `Must include: ${item}`),
    ...(originalityAngle === undefined ? [] : [`What is new here: ${originalityAngle}`]),
    ...(productTieIn === undefined ? [] : [`Tie to the product: ${productTieIn}`]),
  ];
}

function toTerms(topic: ContentTopic | undefined, brief: StepContext["brief"], primary: string | undefined): readonly string[] {
  const ofBrief = brief?.supportingClusters.flatMap(({ terms }) => terms.map(({ keyword }) => keyword)) ?? [];
  return [...new Set([...ofBrief, ...(topic?.secondaryKeywords ?? [])])].filter((term) => term !== primary);
}

/** Distributes the items over the sections in order. Sections with more weight get more items. */
function distribute(items: readonly string[], sections: readonly Frame[]): readonly (readonly string[])[] {
  const slots = sections.flatMap(({ weight }, index) => Array.from({ length: weight }, () => index));
  const distributed: string[][] = sections.map(() => []);
  for (const [at, item] of items.entries()) distributed[slots[Math.floor((at * slots.length) / items.length)] ?? 0]?.push(item);
  return distributed;
}
