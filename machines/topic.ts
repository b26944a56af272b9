/**
 * A content topic: idea, shortlisted, outlined, drafted, or archived from one of these.
 *
 * Status never moves back but by restoring. A committed outline or draft moves the topic on, passing through every
 * status between, so that each move of the specification's table is recorded. An approval belongs to one revision
 * of the outline or the draft: what comes after clears it. Every move that people want to look up later is an
 * `audit` fact, recorded in the same commit. The machine starts no run and reads no document: it is told.
 */
import { assign, setup } from "xstate";
import type { ContentAuditEventType, ContentTopic, ContentTopicArchiveReason } from "../api/schema/topic.ts";
import { fact } from "./effect.ts";

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
interface StartsRun {
  readonly startedRun?: { readonly runId: string; readonly stages: readonly RunStage[] } | undefined;
}

/** `advances` is false for what a checkpoint picked up: text in the making, which only clears an approval. */
interface StageCommitted extends By {
  readonly articleId: string;
  readonly commitId: string;
  readonly revision: number;
  readonly advances: boolean;
  /** The step of a run that made the commit, and with it completed its stage. */
  readonly step?: { readonly runId: string; readonly stepName: string } | undefined;
  /** Revision of the SEO brief that the run worked from. */
  readonly seoBriefRevision?: number | undefined;
}
interface StageApproved extends By, StartsRun {
  readonly note?: string | undefined;
}
interface ChangesRequested extends By, StartsRun {
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

type EventOf<Type extends TopicEvent["type"]> = Extract<TopicEvent, { readonly type: Type }>;
type StageName = "outline" | "draft";

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

type AuditPart = Omit<AuditFact, "actorId">;

/** The action that records audit events; `make` sees the context as it is when the action runs. */
function audits<Type extends TopicEvent["type"]>(make: (event: EventOf<Type>, context: TopicContext) => readonly AuditPart[]) {
  return {
    type: "audit",
    params: ({ context, event }: { context: TopicContext; event: TopicEvent }): readonly AuditFact[] => {
      const actorId = "by" in event ? event.by : context.ownerId;
      return make(event as EventOf<Type>, context).map((part) => ({ ...part, actorId }));
    },
  } as const;
}

function audit<Type extends TopicEvent["type"]>(
  eventType: ContentAuditEventType,
  make: (event: EventOf<Type>, context: TopicContext) => Omit<AuditPart, "eventType"> = () => ({}),
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

/** The revision that was decided on stands in the metadata. */
const ofDecision = (stage: StageName) => (event: StageApproved & ChangesRequested, context: TopicContext) => {
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

const shortlisted = audit("topic_shortlisted");
const outlineGenerated = audits<"outline.committed">(ofCommit("outline_generated", "outline"));
const draftGenerated = audits<"draft.committed">(ofCommit("draft_generated", "draft"));

/** What any topic that is not archived takes, whatever its status. */
const inEveryActiveStatus = {
  "topic.update": {
    actions: [
      "update",
      audit<"topic.update">("topic_updated", ({ changes, removed = [] }) => ({
        metadata: { fields: [...Object.keys(changes), ...removed] },
      })),
    ],
  },
  "article.link": { actions: "linkArticle" },
  "article.unlink": { actions: "unlinkArticle" },
  "run.start": { actions: "noteRun" },
  "stage.completed": {
    actions: [
      "touch",
      audit<"stage.completed">("pipeline_stage_completed", ({ runId, stage, stepName }) => ({ metadata: { runId, stage, stepName } })),
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
        audit<"outline.approve">("outline_approved", ofDecision("outline")),
      ],
    },
    "outline.requestChanges": {
      guard: { type: "has", params: { stage: "outline" } },
      actions: [
        audit<"outline.requestChanges">("outline_changes_requested", ofDecision("outline")),
        { type: "clearApproval", params: { stage: "outline" } },
        "noteRun",
      ],
    },
  },
  draft: {
    "draft.approve": {
      guard: { type: "isUnapproved", params: { stage: "draft" } },
      actions: [{ type: "approve", params: { stage: "draft" } }, audit<"draft.approve">("draft_approved", ofDecision("draft"))],
    },
    "draft.requestChanges": {
      guard: { type: "has", params: { stage: "draft" } },
      actions: [
        audit<"draft.requestChanges">("draft_changes_requested", ofDecision("draft")),
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
      audit<"topic.archive">("topic_archived", ({ reason, note }) => ({
        metadata: { fromStatus, reason, ...(note === undefined ? {} : { note }) },
      })),
    ],
  }) as const;

const restoring = (status: ActiveTopicStatus) =>
  ({
    guard: { type: "cameFrom", params: { status } },
    target: status,
    actions: ["restore", audit<"topic.restore">("topic_restored", () => ({ metadata: { status } }))],
  }) as const;

export const topicMachine = setup({
  types: { context: {} as TopicContext, events: {} as TopicEvent, input: {} as TopicInput },
  actions: {
    /** Each becomes a ContentAuditEvent. */
    audit: fact<readonly AuditFact[]>(),
    update: assign(({ context, event }) => {
      const { changes, removed = [], editorial, by, nowMs } = event as EventOf<"topic.update">;
      return {
        fields: { ...without(context.fields, removed), ...changes },
        updatedAtMs: nowMs,
        ...(editorial ? { editedAtMs: nowMs, editedBy: by } : {}),
      };
    }),
    linkArticle: assign(({ event }) => ({ articleId: (event as EventOf<"article.link">).articleId, updatedAtMs: event.nowMs })),
    unlinkArticle: assign(({ event }) => ({ articleId: undefined, outline: undefined, draft: undefined, updatedAtMs: event.nowMs })),
    noteRun: assign(({ context, event }) => {
      const { startedRun } = event as StartsRun;
      if (startedRun === undefined) return {};
      const { runId, stages } = startedRun;
      return { runs: { ...context.runs, ...Object.fromEntries(stages.map((stage) => [stage, runId])) }, updatedAtMs: event.nowMs };
    }),
    touch: assign(({ event }) => ({ updatedAtMs: event.nowMs })),
    archive: assign(({ event }, { fromStatus }: { fromStatus: ActiveTopicStatus }) => {
      const { by, reason, note, byContentProjectId, nowMs } = event as EventOf<"topic.archive">;
      return { archive: { atMs: nowMs, by, fromStatus, reason, note, byContentProjectId }, updatedAtMs: nowMs };
    }),
    restore: assign(({ event }) => ({ archive: undefined, updatedAtMs: event.nowMs })),
    noteOutline: assign(({ context, event }) => noteStage(context, "outline", event as EventOf<"outline.committed">)),
    noteDraft: assign(({ context, event }) => noteStage(context, "draft", event as EventOf<"draft.committed">)),
    approve: assign(({ context, event }, { stage }: { stage: StageName }) => {
      const { by, note, nowMs } = event as EventOf<"outline.approve" | "draft.approve">;
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
    advances: ({ event }) => (event as EventOf<"outline.committed" | "draft.committed">).advances,
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
    new: { always: { target: "idea", actions: audit("topic_created") } },
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
        // A draft without an outline passes the outlined status in the same moment.
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
    // The article of an archived topic lives on; what is committed to it is noted, and moves nothing.
    archived: {
      on: {
        "topic.restore": [restoring("drafted"), restoring("outlined"), restoring("shortlisted"), restoring("idea")],
        "outline.committed": { actions: "noteOutline" },
        "draft.committed": { actions: "noteDraft" },
        "article.unlink": { actions: "unlinkArticle" },
      },
    },
  },
});
