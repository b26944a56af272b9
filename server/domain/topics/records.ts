/**
 * Defines the stored records of topics: the topic, its audit events and its SEO brief.
 *
 * A topic is an actor of `machines/topic.ts`. A list has one scope (a workspace, or a content project in it), one
 * status and one order. Its index rows are (scope, status, sort key, id), so the cost of a page does not depend on the
 * number of topics. A request for several statuses reads several lists, which the pager merges. This module reads and
 * writes nothing.
 */
import type { TopicSeoBrief } from "../../../api/schema/seo.ts";
import type { TopicStatus } from "../../../api/schema/topic.ts";
import type { ContentAuditEventType } from "../../../api/schema/topicAudit.ts";
import type { TopicContext } from "../../../machines/topic.ts";
import type { ActorRecord } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { IndexKey, Json } from "../../platform/storage/port.ts";
import { defineRecord } from "../../platform/storage/recordType.ts";
import { toTitlePrefixes } from "../call/titleWords.ts";

/** The actor's id is the topic id, and its state is the topic's status. */
export type TopicRecord = ActorRecord<TopicContext>;

export type TopicSort = "priorityScore" | "updatedAt" | "createdAt" | "scheduledDate";

/**
 * A complete workspace, or one content project in it. The workspace is part of the key, so a request never reaches
 * another one.
 */
export interface TopicScope {
  readonly workspaceId: string;
  readonly contentProjectId?: string | undefined;
}

/** Scope key of the whole workspace. No content project has this id. */
const wholeWorkspace = "";

function toScopeKey({ workspaceId, contentProjectId = wholeWorkspace }: TopicScope): readonly [string, string] {
  return [workspaceId, contentProjectId];
}

/** Each list ends in (sort key, topic id). */
export const topicLists = {
  sorted: (scope: TopicScope, status: TopicStatus, sort: TopicSort): IndexKey => [`topic.${sort}`, ...toScopeKey(scope), status],
  /** Topics without a scheduled date, by time of creation. They are not in the lists that are sorted by that date. */
  unscheduled: (scope: TopicScope, status: TopicStatus): IndexKey => ["topic.unscheduled", ...toScopeKey(scope), status],
  /** Topics of any status with this title prefix, by time of creation. `toTitlePrefixes` makes the valid prefixes. */
  titled: (workspaceId: string, prefix: string): IndexKey => ["topic.title", workspaceId, prefix],
  /** The topic with this number. */
  numbered: (workspaceId: string, number: number): IndexKey => ["topic.number", workspaceId, number],
};

/** Key of the number of topics in a scope with this status. */
export function topicCount(scope: TopicScope, status: TopicStatus): IndexKey {
  return ["topic.status", ...toScopeKey(scope), status];
}

/** Text that the search parameter `q` is matched against. */
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
  indexVersion: 2,
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
  /** Position of the event in the topic's history. It keeps the order of events even if the clock went back. */
  readonly place: readonly [step: number, fact: number, event: number];
}

/** A reverse scan returns the newest events first. */
export const auditLists = {
  topic: (topicId: string): IndexKey => ["audit.topic", topicId],
  /** By time, then by topic, then by position in the topic's history. */
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

/** SEO brief of a topic, keyed by the topic id. A topic may have none. */
export const seoBriefRecord = defineRecord<TopicSeoBrief>({
  name: "seoBrief",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (brief) => brief.topicId,
});

export const topicRecordTypes = [topicRecord, contentAuditRecord, seoBriefRecord] as const;
