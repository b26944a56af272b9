/**
 * TopicContext defines the context and the events of a content topic.
 *
 * It must not decide which event is allowed in which status: the machine does that (`topic.ts`).
 */

import type { ContentTopic, ContentTopicArchiveReason } from "../api/schema/topic.ts";
import type { ContentAuditEventType } from "../api/schema/topicAudit.ts";

/** Fields of a topic that people, API keys and runs may set. They have the JSON shape of the API. */
export type TopicFields = Omit<
  ContentTopic,
  | "topicId"
  | "workspaceId"
  | "ownerId"
  | "status"
  | "createdAt"
  | "updatedAt"
  | "shortId"
  | "slug"
  | "contentProjectId"
  | "articleId"
  | "agentRunId"
  | "outlineRunId"
  | "draftRunId"
  | "editorialFieldsEditedAt"
  | "editorialFieldsEditedBy"
  | "archivedAt"
  | "archivedBy"
  | "archivedFromStatus"
  | "archivedByContentProjectId"
  | "archiveReason"
  | "archiveNote"
  | "approvals"
>;

/** The latest known commit of a stage, and its approval. */
export interface TopicStage {
  /** Article revision of the commit. */
  readonly revision: number;
  readonly commitId: string;
  readonly approval?: { readonly approvedBy: string; readonly approvedAtMs: number; readonly note?: string | undefined };
}

export type ActiveTopicStatus = "idea" | "shortlisted" | "outlined" | "drafted";
/** Part of the topic that a run works on. `research` is the part before the outline. */
export type RunStage = "research" | "outline" | "draft";

export interface TopicContext {
  readonly workspaceId: string;
  /** The number n of the short id `T-<n>`. */
  readonly number: number;
  readonly slug: string;
  /** Username. */
  readonly ownerId: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly contentProjectId?: string | undefined;
  readonly fields: TopicFields;
  readonly articleId?: string | undefined;
  /** Stage → id of its latest run, running or ended. */
  readonly runs: Readonly<Partial<Record<RunStage, string>>>;
  readonly editedAtMs?: number;
  readonly editedBy?: string;
  readonly archive?:
    | {
        readonly atMs: number;
        readonly by: string;
        readonly fromStatus: ActiveTopicStatus;
        readonly reason: ContentTopicArchiveReason;
        readonly note?: string | undefined;
        readonly byContentProjectId?: string | undefined;
      }
    | undefined;
  readonly outline?: TopicStage | undefined;
  readonly draft?: TopicStage | undefined;
}

export interface TopicInput {
  readonly nowMs: number;
  readonly workspaceId: string;
  readonly number: number;
  readonly slug: string;
  readonly ownerId: string;
  readonly contentProjectId?: string;
  readonly fields: TopicFields;
  /** Id of the research run that found the topic. */
  readonly agentRunId?: string;
}

interface By {
  /** Username. */
  readonly by: string;
  readonly nowMs: number;
}

/** Part of an event whose commit also starts a run. */
export interface StartsRun {
  readonly startedRun?: { readonly runId: string; readonly stages: readonly RunStage[] } | undefined;
}

/** A stage was committed. `advances` is false for a checkpoint of unfinished text, which only clears the approval. */
export interface StageCommitted extends By {
  readonly articleId: string;
  readonly commitId: string;
  readonly revision: number;
  readonly advances: boolean;
  /** Run step that made the commit and thereby completed the stage. */
  readonly step?: { readonly runId: string; readonly stepName: string } | undefined;
  /** Revision of the SEO brief that the run used. */
  readonly seoBriefRevision?: number | undefined;
}
export interface StageApproved extends By, StartsRun {
  readonly note?: string | undefined;
}
export interface ChangesRequested extends By, StartsRun {
  readonly feedback?: string | undefined;
}

export type TopicEvent =
  /** `removed` lists optional fields to delete. `editorial` is true for a change by a person or an API key, not a run. */
  | ({
      readonly type: "topic.update";
      readonly changes: Partial<TopicFields>;
      readonly removed?: readonly (keyof TopicFields)[];
      readonly editorial: boolean;
    } & By)
  | ({ readonly type: "topic.shortlist" } & By & StartsRun)
  | ({
      readonly type: "topic.archive";
      readonly reason: ContentTopicArchiveReason;
      readonly note?: string | undefined;
      readonly byContentProjectId?: string | undefined;
    } & By)
  | ({ readonly type: "topic.restore" } & By)
  | ({ readonly type: "article.link"; readonly articleId: string } & By)
  | ({ readonly type: "article.unlink" } & By)
  /** The folder that was the content project of the topic is deleted. */
  | ({ readonly type: "project.removed" } & By)
  | ({ readonly type: "run.start" } & By & Required<StartsRun>)
  | ({ readonly type: "stage.completed"; readonly runId: string; readonly stage: RunStage; readonly stepName: string } & By)
  | ({ readonly type: "outline.committed" } & StageCommitted)
  | ({ readonly type: "draft.committed" } & StageCommitted)
  | ({ readonly type: "outline.approve" } & StageApproved)
  | ({ readonly type: "draft.approve" } & StageApproved)
  | ({ readonly type: "outline.requestChanges" } & ChangesRequested)
  | ({ readonly type: "draft.requestChanges" } & ChangesRequested);

export const topicCommands = [
  "topic.update",
  "topic.shortlist",
  "topic.archive",
  "topic.restore",
  "article.link",
  "run.start",
  "outline.approve",
  "outline.requestChanges",
  "draft.approve",
  "draft.requestChanges",
] as const;

export interface AuditFact {
  readonly eventType: ContentAuditEventType;
  /** Username. */
  readonly actorId: string;
  readonly articleId?: string | undefined;
  readonly metadata?: Readonly<Record<string, string | number | readonly string[]>>;
}
export type StageName = "outline" | "draft";
