/**
 * Lists the API operations that a topic allows now, and for every other operation the reason that blocks it.
 *
 * The topic machine gives the allowed events. This module adds the conditions outside the machine: an active run, or an
 * article in the trash.
 */
import type { z } from "zod";
import { type ErrorCode, notFound } from "../../../../api/schema/error.ts";
import type { TopicStatus } from "../../../../api/schema/topic.ts";
import type { TopicTransitions } from "../../../../api/schema/topicOperations.ts";
import { currentStep } from "../../../../machines/agentRun.ts";
import type { TopicEvent } from "../../../../machines/topic.ts";
import type { Storage } from "../../../platform/storage/port.ts";
import { articleRecord } from "../../articles/records.ts";
import type { Topics } from "../../topics/port.ts";
import { statusOf, type TopicRecord } from "../../topics/records.ts";
import type { FindActiveRun } from "../model/activeRun.ts";
import { type RunRecord, statusOf as runStatusOf } from "../model/records.ts";
import type { DecidedStage } from "../model/topicStage.ts";

interface Operation {
  readonly event: TopicEvent["type"];
  readonly to?: (topic: TopicRecord) => TopicStatus;
  /** The operation starts a run. */
  readonly starts?: boolean;
  /** The operation decides about this stage. It is also allowed if the active run waits for that decision. */
  readonly decides?: DecidedStage;
  readonly needsArticle?: boolean;
}

const operations: Readonly<Record<string, Operation>> = {
  update: { event: "topic.update" },
  shortlist: { event: "topic.shortlist", to: () => "shortlisted" },
  archive: { event: "topic.archive", to: () => "archived" },
  restore: { event: "topic.restore", to: ({ context }) => context.archive?.fromStatus ?? "idea" },
  ensure_article: { event: "article.link", needsArticle: true },
  start_workflow: { event: "run.start", starts: true, needsArticle: true },
  generate_outline: { event: "run.start", starts: true, needsArticle: true },
  approve_outline: { event: "outline.approve", decides: "outline" },
  request_outline_changes: { event: "outline.requestChanges", decides: "outline", starts: true, needsArticle: true },
  run_draft_action: { event: "run.start", starts: true, needsArticle: true },
  approve_draft: { event: "draft.approve", decides: "draft" },
  request_draft_changes: { event: "draft.requestChanges", decides: "draft", starts: true, needsArticle: true },
};

interface Blocked {
  readonly code: ErrorCode;
  readonly detail: string;
}

interface Surroundings {
  readonly allowed: readonly string[];
  readonly run: RunRecord | undefined;
  readonly articleIsGone: boolean;
}

/** Reads the transitions of a topic, named by its id or short id. Throws `not_found`. */
export type ReadTransitions = (topic: {
  readonly workspaceId: string;
  readonly topicId: string;
}) => Promise<z.output<typeof TopicTransitions>>;

export interface TransitionsOptions {
  readonly storage: Pick<Storage, "records">;
  readonly topics: Pick<Topics, "find" | "allowed">;
  readonly findActiveRun: FindActiveRun;
}

export function createTopicTransitions({ storage, topics, findActiveRun }: TransitionsOptions): ReadTransitions {
  async function articleIsGone({ context: { articleId } }: TopicRecord): Promise<boolean> {
    if (articleId === undefined) return false;
    return (await storage.records.get(articleRecord, articleId))?.value.deletedAtMs !== undefined;
  }

  return async ({ workspaceId, topicId }) => {
    const stored = await topics.find(workspaceId, topicId);
    if (stored === undefined) throw notFound();
    const topic = stored.value;
    const [run, isGone] = await Promise.all([findActiveRun(topic.id), articleIsGone(topic)]);
    const around: Surroundings = { allowed: topics.allowed(topic), run: run?.value, articleIsGone: isGone };
    const status = statusOf(topic);
    const allowed: { operation: string; to: TopicStatus }[] = [];
    const blocked: (Blocked & { operation: string })[] = [];
    for (const [name, operation] of Object.entries(operations)) {
      const against = toBlocked(topic, operation, around);
      if (against === undefined) allowed.push({ operation: name, to: operation.to?.(topic) ?? status });
      else blocked.push({ operation: name, ...against });
    }
    return { status, allowed, blocked };
  };
}

function toBlocked(topic: TopicRecord, operation: Operation, { allowed, run, articleIsGone }: Surroundings): Blocked | undefined {
  const { event, decides, starts, needsArticle } = operation;
  if (decides !== undefined && run !== undefined && isWaitingFor(run, decides)) return undefined;
  if (!allowed.includes(event)) return explainRefusal(topic, operation);
  if (starts === true && run !== undefined) {
    return { code: "run_in_progress", detail: `The run ${run.id} has not ended yet.` };
  }
  if (needsArticle === true && articleIsGone) {
    return { code: "invalid_transition", detail: "The topic's article is in the trash." };
  }
  return undefined;
}

function isWaitingFor(run: RunRecord, stage: DecidedStage): boolean {
  return runStatusOf(run) === "paused_for_approval" && currentStep(run.context).type === stage;
}

function explainRefusal(topic: TopicRecord, { event, decides }: Operation): Blocked {
  const status = statusOf(topic);
  const refuse = (detail: string): Blocked => ({ code: "invalid_transition", detail });
  if (event === "topic.restore") return refuse("The topic is not archived.");
  if (status === "archived") return refuse("The topic is archived; restore it first.");
  if (event === "topic.shortlist") return refuse(`The topic is already ${status}.`);
  const stage = decides === undefined ? undefined : topic.context[decides];
  const approval = event.endsWith(".approve") ? stage?.approval : undefined;
  if (approval !== undefined) {
    return { code: "approval_already_resolved", detail: `The ${decides} was already approved by ${approval.approvedBy}.` };
  }
  return refuse(`The topic has no committed ${decides ?? "text"} yet.`);
}
