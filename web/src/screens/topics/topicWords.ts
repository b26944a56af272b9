/** The names of a topic's states and choices as people read them. */

import type { z } from "zod";
import type { ArticleFormat, ArticleType, ComparisonRecommendationMode, SeoIntent, TopicStatus } from "../../../../api/schema/topic.ts";
import type { ContentAuditEventType } from "../../../../api/schema/topicAudit.ts";
import type { Tone } from "../../ui/badge.tsx";

interface Word {
  readonly label: string;
  /** Several topics in this state. */
  readonly plural: string;
  readonly tone: Tone;
}

export const topicStates: Readonly<Record<TopicStatus, Word>> = {
  idea: { label: "Idea", plural: "Ideas", tone: "neutral" },
  shortlisted: { label: "Shortlisted", plural: "Shortlisted", tone: "warn" },
  outlined: { label: "Outlined", plural: "Outlined", tone: "accent" },
  drafted: { label: "Drafted", plural: "Drafted", tone: "ok" },
  archived: { label: "Archived", plural: "Archived", tone: "neutral" },
};

/** The states in the order in which a topic passes them. */
export const activeStatuses = ["idea", "shortlisted", "outlined", "drafted"] as const satisfies readonly TopicStatus[];
export const allStatuses = [...activeStatuses, "archived"] as const;

export const intents: Readonly<Record<SeoIntent, string>> = {
  informational: "Informational",
  commercial: "Commercial",
  navigational: "Navigational",
  transactional: "Transactional",
};

export const articleTypes: Readonly<Record<ArticleType, string>> = {
  explanation: "Explanation",
  tutorial: "Tutorial",
  how_to: "How-to",
  reference: "Reference",
  comparison: "Comparison",
};

export const articleFormats: Readonly<Record<z.infer<typeof ArticleFormat>, string>> = {
  default: "Running text",
  q_and_a: "Questions and answers",
  listicle: "List",
  checklist: "Checklist",
  cheatsheet: "Cheat sheet",
};

export const recommendations: Readonly<Record<z.infer<typeof ComparisonRecommendationMode>, string>> = {
  required: "Required",
  allowed: "Allowed",
  forbidden: "Forbidden",
};

/** What somebody did, after their name. */
export const auditVerbs: Readonly<Record<ContentAuditEventType, string>> = {
  topic_created: "created the topic",
  topic_updated: "changed",
  topic_shortlisted: "shortlisted the topic",
  topic_archived: "archived the topic",
  topic_restored: "restored the topic",
  outline_generated: "committed an outline",
  outline_approved: "approved the outline",
  outline_changes_requested: "requested changes to the outline",
  draft_generated: "committed a draft",
  draft_approved: "approved the draft",
  draft_changes_requested: "requested changes to the draft",
  pipeline_stage_completed: "completed a stage",
};

const days = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });

/** `day` is `YYYY-MM-DD`. */
export function toDay(day: string): string {
  return days.format(new Date(`${day}T00:00:00Z`));
}
