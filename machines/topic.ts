/**
 * Topic is the state machine of a content topic: idea, shortlisted, outlined, drafted, or archived from one of these.
 *
 * The status moves only forward, except that an archived topic is restored to its earlier status. A committed outline or
 * draft advances the topic, if needed over several statuses; an idea is then also recorded as shortlisted. An approval
 * belongs to one revision of the outline or the draft: a later commit or a request for changes clears it. Changes for
 * the audit log are `audit` facts, recorded in the same commit.
 * The machine must not start runs or read documents: events report both.
 */
import { assertEvent, assign, setup } from "xstate";
import { fact } from "./effect.ts";
import type {
  ActiveTopicStatus,
  AuditFact,
  StageCommitted,
  StageName,
  TopicContext,
  TopicEvent,
  TopicFields,
  TopicInput,
} from "./topicContext.ts";
import { audit, auditPlain, draftGenerated, ofDecision, outlineGenerated, shortlisted } from "./topicFacts.ts";

export * from "./topicContext.ts";

function without(fields: TopicFields, names: readonly (keyof TopicFields)[]): TopicFields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name as keyof TopicFields))) as TopicFields;
}

function noteStage(context: TopicContext, name: StageName, event: StageCommitted): Partial<TopicContext> {
  const { seoBriefRevision } = event;
  const brief = name === "outline" ? "outlineSeoBriefRevision" : "draftSeoBriefRevision";
  return {
    [name]: { revision: event.revision, commitId: event.commitId },
    articleId: event.articleId,
    updatedAtMs: event.nowMs,
    fields: seoBriefRevision === undefined ? context.fields : { ...context.fields, [brief]: seoBriefRevision },
  };
}

/** The topic becomes standalone. Every status accepts it. */
const leavingProject = {
  actions: ["leaveProject", audit("topic_updated", "project.removed", () => ({ metadata: { fields: ["contentProjectId"] } }))],
} as const;

/** Events that every status except archived accepts. */
const inEveryActiveStatus = {
  "topic.update": {
    actions: [
      "update",
      audit("topic_updated", "topic.update", ({ changes, removed = [] }) => ({
        metadata: { fields: [...Object.keys(changes), ...removed] },
      })),
    ],
  },
  "article.link": { actions: "linkArticle" },
  "article.unlink": { actions: "unlinkArticle" },
  "project.removed": leavingProject,
  "run.start": { actions: "noteRun" },
  "stage.completed": {
    actions: [
      "touch",
      audit("pipeline_stage_completed", "stage.completed", ({ runId, stage, stepName }) => ({ metadata: { runId, stage, stepName } })),
    ],
  },
} as const;

const decisions = {
  outline: {
    "outline.approve": {
      guard: { type: "isUnapproved", params: { stage: "outline" } },
      actions: [
        { type: "approve", params: { stage: "outline" } },
        "noteRun",
        audit("outline_approved", "outline.approve", ofDecision("outline")),
      ],
    },
    "outline.requestChanges": {
      guard: { type: "has", params: { stage: "outline" } },
      actions: [
        audit("outline_changes_requested", "outline.requestChanges", ofDecision("outline")),
        { type: "clearApproval", params: { stage: "outline" } },
        "noteRun",
      ],
    },
  },
  draft: {
    "draft.approve": {
      guard: { type: "isUnapproved", params: { stage: "draft" } },
      actions: [{ type: "approve", params: { stage: "draft" } }, audit("draft_approved", "draft.approve", ofDecision("draft"))],
    },
    "draft.requestChanges": {
      guard: { type: "has", params: { stage: "draft" } },
      actions: [
        audit("draft_changes_requested", "draft.requestChanges", ofDecision("draft")),
        { type: "clearApproval", params: { stage: "draft" } },
        "noteRun",
      ],
    },
  },
} as const;

const archiving = (fromStatus: ActiveTopicStatus) =>
  ({
    target: "archived",
    actions: [
      { type: "archive", params: { fromStatus } },
      audit("topic_archived", "topic.archive", ({ reason, note }) => ({
        metadata: { fromStatus, reason, ...(note === undefined ? {} : { note }) },
      })),
    ],
  }) as const;

const restoring = (status: ActiveTopicStatus) =>
  ({
    guard: { type: "cameFrom", params: { status } },
    target: status,
    actions: ["restore", audit("topic_restored", "topic.restore", () => ({ metadata: { status } }))],
  }) as const;
export const topicMachine = setup({
  types: { context: {} as TopicContext, events: {} as TopicEvent, input: {} as TopicInput },
  actions: {
    /** Records audit events. Each fact becomes one ContentAuditEvent. */
    audit: fact<readonly AuditFact[]>(),
    update: assign(({ context, event }) => {
      assertEvent(event, "topic.update");
      const { changes, removed = [], editorial, by, nowMs } = event;
      return {
        fields: { ...without(context.fields, removed), ...changes },
        updatedAtMs: nowMs,
        ...(editorial ? { editedAtMs: nowMs, editedBy: by } : {}),
      };
    }),
    linkArticle: assign(({ event }) => {
      assertEvent(event, "article.link");
      return { articleId: event.articleId, updatedAtMs: event.nowMs };
    }),
    unlinkArticle: assign(({ event }) => ({ articleId: undefined, outline: undefined, draft: undefined, updatedAtMs: event.nowMs })),
    leaveProject: assign(({ event }) => ({ contentProjectId: undefined, updatedAtMs: event.nowMs })),
    noteRun: assign(({ context, event }) => {
      if (!("startedRun" in event) || event.startedRun === undefined) return {};
      const { runId, stages } = event.startedRun;
      return { runs: { ...context.runs, ...Object.fromEntries(stages.map((stage) => [stage, runId])) }, updatedAtMs: event.nowMs };
    }),
    touch: assign(({ event }) => ({ updatedAtMs: event.nowMs })),
    archive: assign(({ event }, { fromStatus }: { fromStatus: ActiveTopicStatus }) => {
      assertEvent(event, "topic.archive");
      const { by, reason, note, byContentProjectId, nowMs } = event;
      return { archive: { atMs: nowMs, by, fromStatus, reason, note, byContentProjectId }, updatedAtMs: nowMs };
    }),
    restore: assign(({ event }) => ({ archive: undefined, updatedAtMs: event.nowMs })),
    noteOutline: assign(({ context, event }) => {
      assertEvent(event, "outline.committed");
      return noteStage(context, "outline", event);
    }),
    noteDraft: assign(({ context, event }) => {
      assertEvent(event, "draft.committed");
      return noteStage(context, "draft", event);
    }),
    approve: assign(({ context, event }, { stage }: { stage: StageName }) => {
      assertEvent(event, ["outline.approve", "draft.approve"]);
      const { by, note, nowMs } = event;
      const current = context[stage];
      return current === undefined
        ? {}
        : {
            [stage]: { ...current, approval: { approvedBy: by, approvedAtMs: nowMs, ...(note === undefined ? {} : { note }) } },
            updatedAtMs: nowMs,
          };
    }),
    clearApproval: assign(({ context, event }, { stage }: { stage: StageName }) => {
      const current = context[stage];
      if (current === undefined) return { updatedAtMs: event.nowMs };
      return { [stage]: { revision: current.revision, commitId: current.commitId }, updatedAtMs: event.nowMs };
    }),
  },
  guards: {
    advances: ({ event }) => {
      assertEvent(event, ["outline.committed", "draft.committed"]);
      return event.advances;
    },
    isUnapproved: ({ context }, { stage }: { stage: StageName }) => context[stage] !== undefined && context[stage].approval === undefined,
    has: ({ context }, { stage }: { stage: StageName }) => context[stage] !== undefined,
    cameFrom: ({ context }, { status }: { status: ActiveTopicStatus }) => context.archive?.fromStatus === status,
  },
}).createMachine({
  id: "topic",
  context: ({ input }) => ({
    workspaceId: input.workspaceId,
    number: input.number,
    slug: input.slug,
    ownerId: input.ownerId,
    createdAtMs: input.nowMs,
    updatedAtMs: input.nowMs,
    ...(input.contentProjectId === undefined ? {} : { contentProjectId: input.contentProjectId }),
    fields: input.fields,
    runs: input.agentRunId === undefined ? {} : { research: input.agentRunId },
  }),
  initial: "new",
  states: {
    new: { always: { target: "idea", actions: auditPlain("topic_created") } },
    idea: {
      on: {
        ...inEveryActiveStatus,
        "topic.shortlist": { target: "shortlisted", actions: ["touch", "noteRun", shortlisted] },
        "outline.committed": [
          { guard: "advances", target: "outlined", actions: [shortlisted, "noteOutline", outlineGenerated] },
          { actions: "noteOutline" },
        ],
        "draft.committed": [
          { guard: "advances", target: "drafted", actions: [shortlisted, "noteDraft", draftGenerated] },
          { actions: "noteDraft" },
        ],
        "topic.archive": archiving("idea"),
      },
    },
    shortlisted: {
      on: {
        ...inEveryActiveStatus,
        "outline.committed": [
          { guard: "advances", target: "outlined", actions: ["noteOutline", outlineGenerated] },
          { actions: "noteOutline" },
        ],
        // A draft without an outline skips the status outlined.
        "draft.committed": [{ guard: "advances", target: "drafted", actions: ["noteDraft", draftGenerated] }, { actions: "noteDraft" }],
        "topic.archive": archiving("shortlisted"),
      },
    },
    outlined: {
      on: {
        ...inEveryActiveStatus,
        ...decisions.outline,
        "outline.committed": [{ guard: "advances", actions: ["noteOutline", outlineGenerated] }, { actions: "noteOutline" }],
        "draft.committed": [{ guard: "advances", target: "drafted", actions: ["noteDraft", draftGenerated] }, { actions: "noteDraft" }],
        "topic.archive": archiving("outlined"),
      },
    },
    drafted: {
      on: {
        ...inEveryActiveStatus,
        ...decisions.outline,
        ...decisions.draft,
        "outline.committed": [{ guard: "advances", actions: ["noteOutline", outlineGenerated] }, { actions: "noteOutline" }],
        "draft.committed": [{ guard: "advances", actions: ["noteDraft", draftGenerated] }, { actions: "noteDraft" }],
        "topic.archive": archiving("drafted"),
      },
    },
    // The article of an archived topic can still change. Its commits are stored but do not change the status.
    archived: {
      on: {
        "topic.restore": [restoring("drafted"), restoring("outlined"), restoring("shortlisted"), restoring("idea")],
        "outline.committed": { actions: "noteOutline" },
        "draft.committed": { actions: "noteDraft" },
        "article.unlink": { actions: "unlinkArticle" },
        "project.removed": leavingProject,
      },
    },
  },
});
