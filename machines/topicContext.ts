/** What a topic is made of, and what happens to it. The order in which events may come is the machine's (`topic.ts`). */
import type { ContentAuditEventType, ContentTopic, ContentTopicArchiveReason } from "../api/schema/topic.ts";

/** What people, keys and runs write about a topic; all of it JSON as in the API. */
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

/** The committed text of a stage that was last seen, and who approved it. */
export interface TopicStage {
  /** Article revision of the commit. */
  readonly revision: number;
  readonly commitId: string;
  readonly approval?: { readonly approvedBy: string; readonly approvedAtMs: number; readonly note?: string | undefined };
}

export type ActiveTopicStatus = "idea" | "shortlisted" | "outlined" | "drafted";
/** What of a topic's life a run belongs to; `research` before there is an outline. */
export type RunStage = "research" | "outline" | "draft";

export interface TopicContext {
  readonly workspaceId: string;
  /** `n` of `T-<n>`. */
  readonly number: number;
  readonly slug: string;
  /** Usernames. */
  readonly ownerId: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly contentProjectId?: string;
  readonly fields: TopicFields;
  readonly articleId?: string | undefined;
  /** The latest run of each stage, finished or not. */
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
  /** A research run that found the topic. */
  readonly agentRunId?: string;
}

interface By {
  /** Username. */
  readonly by: string;
  readonly nowMs: number;
}

/** A run that starts in the same commit. */
export interface StartsRun {
  readonly startedRun?: { readonly runId: string; readonly stages: readonly RunStage[] } | undefined;
}

/** `advances` is false for what a checkpoint picked up: text in the making, which only clears an approval. */
export interface StageCommitted extends By {
  readonly articleId: string;
  readonly commitId: string;
  readonly revision: number;
  readonly advances: boolean;
  /** The step of a run that made the commit, and with it completed its stage. */
  readonly step?: { readonly runId: string; readonly stepName: string } | undefined;
  /** Revision of the SEO brief that the run worked from. */
  readonly seoBriefRevision?: number | undefined;
}
export interface StageApproved extends By, StartsRun {
  readonly note?: string | undefined;
}
export interface ChangesRequested extends By, StartsRun {
  readonly feedback?: string | undefined;
}

export type TopicEvent =
  /** `removed` names optional fields to take away. `editorial`: by a person or a key, not by a run. */
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
export type TopicEventOf<Type extends TopicEvent["type"]> = Extract<TopicEvent, { readonly type: Type }>;
export type StageName = "outline" | "draft";
