/**
 * What is kept of topics: the topic as an actor of `machines/topic.ts`, what happened to it, and its SEO brief.
 *
 * A list is one scope (a workspace, or a content project in it), one status and one order; its index rows are
 * (scope, status, sort key, id), so that a page of any of them costs the same however many topics there are. Several
 * statuses are several lists, which the pager merges. Nothing here reads or writes.
 */
import type { TopicSeoBrief } from "../../api/schema/seo.ts";
import type { ContentAuditEventType, TopicStatus } from "../../api/schema/topic.ts";
import type { TopicContext } from "../../machines/topic.ts";
import type { ActorRecord } from "../actors/port.ts";
import { toTitlePrefixes } from "../articles/titleWords.ts";
import { partitionOfId } from "../ids.ts";
import type { IndexKey, Json } from "../storage/port.ts";
import { defineRecord } from "../storage/recordType.ts";

/** Its id is the topic's; its state the topic's status. */
export type TopicRecord = ActorRecord<TopicContext>;

export type TopicSort = "priorityScore" | "updatedAt" | "createdAt" | "scheduledDate";

/** A whole workspace, or one content project in it: what a request names stays inside the workspace it is allowed for. */
export interface TopicScope {
  readonly workspaceId: string;
  readonly contentProjectId?: string | undefined;
}

/** No content project has this id. */
const wholeWorkspace = "";

function toScopeKey({ workspaceId, contentProjectId = wholeWorkspace }: TopicScope): readonly [string, string] {
  return [workspaceId, contentProjectId];
}

/** Each list ends in (sort key, topic id). */
export const topicLists = {
  sorted: (scope: TopicScope, status: TopicStatus, sort: TopicSort): IndexKey => [`topic.${sort}`, ...toScopeKey(scope), status],
  /** Topics without a scheduled date are in no list sorted by it; these are they, by time of creation. */
  unscheduled: (scope: TopicScope, status: TopicStatus): IndexKey => ["topic.unscheduled", ...toScopeKey(scope), status],
  /** `prefix` must be one that `toTitlePrefixes` makes. Any status, by time of creation. */
  titled: (workspaceId: string, prefix: string): IndexKey => ["topic.title", workspaceId, prefix],
  /** The one topic with that number. */
  numbered: (workspaceId: string, number: number): IndexKey => ["topic.number", workspaceId, number],
};

/** Key of the count of topics in a scope by status. */
export function topicCount(scope: TopicScope, status: TopicStatus): IndexKey {
  return ["topic.status", ...toScopeKey(scope), status];
}

/** Where `q` looks. */
export function toSearchText({ title, primaryKeyword = "", cluster = "" }: TopicContext["fields"]): string {
  return `${title} ${primaryKeyword} ${cluster}`;
}

export function statusOf(record: Pick<TopicRecord, "state">): TopicStatus {
  return record.state as TopicStatus;
}

function scopesOf({ workspaceId, contentProjectId }: TopicContext): readonly TopicScope[] {
  return contentProjectId === undefined ? [{ workspaceId }] : [{ workspaceId }, { workspaceId, contentProjectId }];
}

function toListRows(record: TopicRecord, scope: TopicScope): readonly IndexKey[] {
  const status = statusOf(record);
  const { id, context } = record;
  const { priorityScore, scheduledDate } = context.fields;
  return [
    [...topicLists.sorted(scope, status, "priorityScore"), priorityScore, id],
    [...topicLists.sorted(scope, status, "updatedAt"), context.updatedAtMs, id],
    [...topicLists.sorted(scope, status, "createdAt"), context.createdAtMs, id],
    scheduledDate === undefined
      ? [...topicLists.unscheduled(scope, status), context.createdAtMs, id]
      : [...topicLists.sorted(scope, status, "scheduledDate"), scheduledDate, id],
  ];
}

export const topicRecord = defineRecord<TopicRecord>({
  name: "topic",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (topic) => topic.id,
  indexes: (topic) => {
    const { workspaceId, number, createdAtMs, fields } = topic.context;
    return [
      [...topicLists.numbered(workspaceId, number), topic.id],
      ...scopesOf(topic.context).flatMap((scope) => toListRows(topic, scope)),
      ...toTitlePrefixes(toSearchText(fields)).map(
        (prefix): IndexKey => [...topicLists.titled(workspaceId, prefix), createdAtMs, topic.id],
      ),
    ];
  },
  counts: (topic) => scopesOf(topic.context).map((scope) => topicCount(scope, statusOf(topic))),
});

export interface ContentAuditRecord {
  readonly eventId: string;
  readonly workspaceId: string;
  readonly topicId: string;
  readonly eventAtMs: number;
  readonly eventType: ContentAuditEventType;
  /** Username. */
  readonly actorId: string;
  readonly articleId?: string;
  readonly metadata?: { readonly [key: string]: Json };
  /** Step of the topic, place in it: the order of what one topic went through, whatever the clock did. */
  readonly place: readonly [step: number, fact: number, event: number];
}

/** Read backwards: newest first. */
export const auditLists = {
  topic: (topicId: string): IndexKey => ["audit.topic", topicId],
  /** By time, then by topic and its own order. */
  workspace: (workspaceId: string): IndexKey => ["audit.workspace", workspaceId],
};

export const contentAuditRecord = defineRecord<ContentAuditRecord>({
  name: "contentAudit",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (event) => event.eventId,
  indexes: ({ workspaceId, topicId, eventAtMs, place }) => [
    [...auditLists.topic(topicId), ...place],
    [...auditLists.workspace(workspaceId), eventAtMs, topicId, ...place],
  ],
});

/** One for each topic that has a brief; its id is the topic's. */
export const seoBriefRecord = defineRecord<TopicSeoBrief>({
  name: "seoBrief",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (brief) => brief.topicId,
});

export const topicRecordTypes = [topicRecord, contentAuditRecord, seoBriefRecord] as const;
