/** Defines the topic as an actor kind: its machine, its record, and the audit events that its transitions write. */
import { createHash } from "node:crypto";
import { type AuditFact, type TopicContext, type TopicEvent, topicCommands, topicMachine } from "../../../machines/topic.ts";
import type { ActorKind, RecordedFact } from "../../platform/actors/port.ts";
import { createSeededIds, type IdSource, partitionOfId } from "../../platform/storage/ids.ts";
import type { Json, RecordWrite } from "../../platform/storage/port.ts";
import { type ContentAuditRecord, contentAuditRecord, topicRecord } from "./records.ts";

export type TopicKind = ActorKind<TopicContext, TopicEvent, never>;

/** Derives the event ids from the fact, so that a transition that is decided again writes the same events. */
function idsOf({ id, nowMs }: RecordedFact<TopicContext>): IdSource {
  return createSeededIds(createHash("sha256").update(id).digest(), nowMs);
}

function toAuditWrites(fact: RecordedFact<TopicContext>): readonly RecordWrite<ContentAuditRecord>[] {
  const { id, nowMs, next } = fact;
  const ids = idsOf(fact);
  const at = Number(id.slice(id.lastIndexOf(":") + 1));
  return (fact.params as unknown as readonly AuditFact[]).map(({ eventType, actorId, articleId, metadata }, index) => {
    const value: ContentAuditRecord = {
      eventId: ids.next("evt", partitionOfId(next.id)),
      workspaceId: next.context.workspaceId,
      topicId: next.id,
      eventAtMs: nowMs,
      eventType,
      actorId,
      ...(articleId === undefined ? {} : { articleId }),
      ...(metadata === undefined ? {} : { metadata: metadata as { readonly [key: string]: Json } }),
      place: [next.step, at, index],
    };
    return { op: "put", type: contentAuditRecord, value, replacing: null };
  });
}

export const topicKind: TopicKind = {
  name: "topic",
  machine: topicMachine,
  machineVersion: 1,
  record: topicRecord,
  commands: topicCommands,
  effects: [],
  facts: {
    audit(unit, fact) {
      for (const write of toAuditWrites(fact)) unit.record(write);
    },
  },
};
