/** Defines the topic as an actor kind: its machine, its record, and the audit events that its transitions write. */
import { createHash } from "node:crypto";
import type { OperationKey } from "../../../api/contract/contract.ts";
import { type AuditFact, type TopicContext, type TopicEvent, topicCommands, topicMachine } from "../../../machines/topic.ts";
import type { ActorKind, CommandWords, RecordedFact } from "../../platform/actors/port.ts";
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

const runStarts = ["topics.startWorkflow", "topics.generateOutline", "topics.runDraftAction", "workflows.run"] as const;

const words: Readonly<Record<(typeof topicCommands)[number], CommandWords<OperationKey>>> = {
  "topic.update": { asked: "change the topic", operations: ["topics.update"] },
  "topic.shortlist": { asked: "shortlist the topic", operations: ["topics.shortlist"] },
  "topic.archive": { asked: "archive the topic", operations: ["topics.archive"] },
  "topic.restore": { asked: "restore the topic", operations: ["topics.restore"] },
  "article.link": { asked: "link an article to the topic", operations: ["topics.ensureArticle"] },
  "run.start": { asked: "start a run of the topic", operations: runStarts },
  "outline.approve": { asked: "approve the outline", operations: ["topics.approveOutline"] },
  "outline.requestChanges": { asked: "request changes of the outline", operations: ["topics.requestOutlineChanges"] },
  "draft.approve": { asked: "approve the draft", operations: ["topics.approveDraft"] },
  "draft.requestChanges": { asked: "request changes of the draft", operations: ["topics.requestDraftChanges"] },
};

export const topicKind: TopicKind = {
  name: "topic",
  machine: topicMachine,
  machineVersion: 1,
  record: topicRecord,
  commands: topicCommands,
  words,
  effects: [],
  facts: {
    audit(unit, fact) {
      for (const write of toAuditWrites(fact)) unit.record(write);
    },
  },
};
