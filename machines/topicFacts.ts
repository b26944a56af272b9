/** TopicFacts defines the actions that record the audit events of a topic. */
import { assertEvent, type ExtractEvent } from "xstate";
import type { ContentAuditEventType } from "../api/schema/topicAudit.ts";
import type { AuditFact, ChangesRequested, StageApproved, StageCommitted, StageName, TopicContext, TopicEvent } from "./topicContext.ts";

type AuditPart = Omit<AuditFact, "actorId">;

interface ActionArgs {
  readonly context: TopicContext;
  readonly event: TopicEvent;
}

function toFact({ context, event }: ActionArgs, part: AuditPart): AuditFact {
  return { ...part, actorId: "by" in event ? event.by : context.ownerId };
}

/** Returns an action that records audit events of the topic event `type`. `make` gets the context at the time the action runs. */
export function audits<Type extends TopicEvent["type"]>(
  type: Type,
  make: (event: ExtractEvent<TopicEvent, Type>, context: TopicContext) => readonly AuditPart[],
) {
  return {
    type: "audit",
    params: (args: ActionArgs): readonly AuditFact[] => {
      const { context, event } = args;
      assertEvent(event, type);
      return make(event, context).map((part) => toFact(args, part));
    },
  } as const;
}

/** Like `audits`, for one audit event of the given type. */
export function audit<Type extends TopicEvent["type"]>(
  eventType: ContentAuditEventType,
  type: Type,
  make: (event: ExtractEvent<TopicEvent, Type>, context: TopicContext) => Omit<AuditPart, "eventType">,
) {
  return audits(type, (event, context) => [{ eventType, ...make(event, context) }]);
}

/** Returns an action that records an audit event without details, for any event of the topic. */
export function auditPlain(eventType: ContentAuditEventType) {
  return { type: "audit", params: (args: ActionArgs): readonly AuditFact[] => [toFact(args, { eventType })] } as const;
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

export const shortlisted = auditPlain("topic_shortlisted");
export const outlineGenerated = audits("outline.committed", ofCommit("outline_generated", "outline"));
export const draftGenerated = audits("draft.committed", ofCommit("draft_generated", "draft"));
