/** TopicFacts defines the actions that record the audit events of a topic. */
import type { ContentAuditEventType } from "../api/schema/topicAudit.ts";
import type {
  AuditFact,
  ChangesRequested,
  StageApproved,
  StageCommitted,
  StageName,
  TopicContext,
  TopicEvent,
  TopicEventOf,
} from "./topicContext.ts";

type AuditPart = Omit<AuditFact, "actorId">;

/** Returns an action that records audit events. `make` gets the context at the time the action runs. */
export function audits<Type extends TopicEvent["type"]>(make: (event: TopicEventOf<Type>, context: TopicContext) => readonly AuditPart[]) {
  return {
    type: "audit",
    params: ({ context, event }: { context: TopicContext; event: TopicEvent }): readonly AuditFact[] => {
      const actorId = "by" in event ? event.by : context.ownerId;
      return make(event as TopicEventOf<Type>, context).map((part) => ({ ...part, actorId }));
    },
  } as const;
}

export function audit<Type extends TopicEvent["type"]>(
  eventType: ContentAuditEventType,
  make: (event: TopicEventOf<Type>, context: TopicContext) => Omit<AuditPart, "eventType"> = () => ({}),
) {
  return audits<Type>((event, context) => [{ eventType, ...make(event, context) }]);
}

const ofCommit =
  (eventType: ContentAuditEventType, stage: StageName) =>
  ({ articleId, commitId, revision, step }: StageCommitted): readonly AuditPart[] => {
    const metadata = { commitId, revision, ...step };
    const generated: AuditPart = { eventType, articleId, metadata };
    return step === undefined
      ? [generated]
      : [generated, { eventType: "pipeline_stage_completed", articleId, metadata: { ...step, stage } }];
  };

/** Builds the audit event of a decision. Its metadata names the revision that the decision is about. */
export const ofDecision = (stage: StageName) => (event: StageApproved & ChangesRequested, context: TopicContext) => {
  const { note = event.feedback } = event;
  const committed = context[stage];
  return {
    articleId: context.articleId,
    metadata: {
      ...(committed === undefined ? {} : { revision: committed.revision, commitId: committed.commitId }),
      ...(note === undefined ? {} : { note }),
    },
  };
};

export const shortlisted = audit("topic_shortlisted");
export const outlineGenerated = audits<"outline.committed">(ofCommit("outline_generated", "outline"));
export const draftGenerated = audits<"draft.committed">(ofCommit("draft_generated", "draft"));
