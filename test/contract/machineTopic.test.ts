/** Tests the topic over all its paths: every state and move of the specification, each restored from its record. */
import { expect, test } from "vitest";
import type { AuditFact, TopicContext, TopicEvent, TopicInput } from "../../machines/topic.ts";
import { topicCommands, topicMachine } from "../../machines/topic.ts";
import { decideCreation, decideEvent } from "../../server/platform/actors/decide.ts";
import type { ActorKind, ActorRecord } from "../../server/platform/actors/port.ts";
import { defineRecord } from "../../server/platform/storage/recordType.ts";
import { walkMachine } from "../support/walkMachine.ts";

const nowMs = 1_900_000_000_000;

const kind: ActorKind<TopicContext, TopicEvent> = {
  name: "topic",
  machine: topicMachine,
  machineVersion: 1,
  record: defineRecord<ActorRecord<TopicContext>>({ name: "topic", version: 1, partitionOf: () => 0, keyOf: ({ id }) => id }),
  effects: [],
  facts: { audit: () => {} },
  commands: topicCommands,
};

const input: TopicInput = {
  nowMs,
  workspaceId: "ws_1",
  number: 1,
  slug: "wells",
  ownerId: "ada",
  fields: {
    title: "Wells",
    targetAudience: "councils",
    estimatedIntent: "informational",
    priorityScore: 50,
    priorityRationale: "Created by ada",
  },
};

const by = { by: "ada", nowMs: nowMs + 1000 };
const commit = { articleId: "art_1", commitId: "cmt_1", revision: 7, ...by };
const all = (): readonly TopicEvent[] => [
  { type: "topic.update", changes: { thesis: "Dig." }, editorial: true, ...by },
  { type: "topic.update", changes: {}, removed: ["thesis"], editorial: false, ...by },
  { type: "topic.shortlist", ...by },
  { type: "topic.shortlist", startedRun: { runId: "run_0", stages: ["research"] }, ...by },
  { type: "topic.archive", reason: "manual", ...by },
  { type: "topic.restore", ...by },
  { type: "article.link", articleId: "art_1", ...by },
  { type: "article.unlink", ...by },
  { type: "project.removed", ...by },
  { type: "run.start", startedRun: { runId: "run_1", stages: ["outline", "draft"] }, ...by },
  { type: "stage.completed", runId: "run_1", stage: "research", stepName: "research", ...by },
  { type: "outline.committed", advances: true, ...commit },
  { type: "outline.committed", advances: false, ...commit },
  { type: "draft.committed", advances: true, step: { runId: "run_1", stepName: "draft" }, ...commit },
  { type: "draft.committed", advances: false, ...commit },
  { type: "outline.approve", note: "good", ...by },
  { type: "draft.approve", ...by },
  { type: "outline.requestChanges", feedback: "shorter", ...by },
  { type: "draft.requestChanges", ...by },
];

function toFacts({ archive, outline, draft, articleId, runs, editedBy, fields }: TopicContext) {
  const stage = (name: typeof outline) => (name === undefined ? "none" : name.approval === undefined ? "open" : "approved");
  return [archive?.fromStatus, stage(outline), stage(draft), articleId, Object.keys(runs).length, editedBy, fields.thesis];
}

test("[TO1] a topic moves only as the specification states, on every path and from every state", () => {
  const statusOf = ({ state }: ActorRecord<TopicContext>) => state as string;
  const moves = new Set<string>();
  const walk = walkMachine<TopicContext, TopicEvent>({
    kind,
    inputs: [{ ...input }, { ...input, agentRunId: "run_9" }],
    events: all,
    facts: toFacts,
    check({ before, event, after }) {
      if (statusOf(before) !== statusOf(after)) moves.add(`${statusOf(before)} ${event.type} ${statusOf(after)}`);
    },
  });
  expect(walk.untakenTransitions).toEqual([]);
  expect(walk.unreachedStates).toEqual(["new"]);
  expect([...moves].toSorted()).toEqual(
    [
      "idea topic.shortlist shortlisted",
      "idea outline.committed outlined",
      "idea draft.committed drafted",
      "shortlisted outline.committed outlined",
      "shortlisted draft.committed drafted",
      "outlined draft.committed drafted",
      ...["idea", "shortlisted", "outlined", "drafted"].flatMap((status) => [
        `${status} topic.archive archived`,
        `archived topic.restore ${status}`,
      ]),
    ].toSorted(),
  );
  expect(walk.refusals).toContain("archived topic.update");
  expect(walk.refusals).toContain("shortlisted topic.shortlist");
  expect(walk.refusals).toContain("idea topic.restore");
  expect(walk.refusals).toContain("shortlisted outline.approve");
});

/** Returns the record after the events, and the audit events that they wrote. */
function take(...events: readonly TopicEvent[]): { record: ActorRecord<TopicContext>; audit: readonly AuditFact[] } {
  let next = decideCreation<TopicContext>(kind, "top_1", input, { nowMs, leaseMs: 1 });
  const facts = [...next.facts];
  for (const event of events) {
    const record = JSON.parse(JSON.stringify(next.next));
    const decided = decideEvent<TopicContext>(kind, record, event, undefined, { nowMs: event.nowMs, leaseMs: 1 });
    if (decided === undefined) throw new Error(`${event.type} was refused`);
    facts.push(...decided.facts);
    next = decided;
  }
  return { record: next.next, audit: facts.flatMap(({ params }) => params as unknown as readonly AuditFact[]) };
}

const outlined: TopicEvent = { type: "outline.committed", advances: true, step: { runId: "run_1", stepName: "outline" }, ...commit };
const drafted: TopicEvent = { type: "draft.committed", advances: true, ...commit };

test("[TO2] every move, also one passed through, leaves an audit event with actor, data, revision", () => {
  const { audit } = take(outlined, { type: "outline.approve", note: "good", ...by }, drafted, {
    type: "draft.requestChanges",
    feedback: "shorter",
    ...by,
  });
  expect(audit.map(({ eventType }) => eventType)).toEqual([
    "topic_created",
    "topic_shortlisted",
    "outline_generated",
    "pipeline_stage_completed",
    "outline_approved",
    "draft_generated",
    "draft_changes_requested",
  ]);
  expect(audit[2]).toEqual({
    eventType: "outline_generated",
    actorId: "ada",
    articleId: "art_1",
    metadata: { commitId: "cmt_1", revision: 7, runId: "run_1", stepName: "outline" },
  });
  expect(audit[4]).toMatchObject({ actorId: "ada", metadata: { revision: 7, commitId: "cmt_1", note: "good" } });
  const archived = take({ type: "topic.archive", reason: "manual", note: "old", ...by }, { type: "topic.restore", ...by });
  expect(archived.audit.slice(1)).toEqual([
    { eventType: "topic_archived", actorId: "ada", metadata: { fromStatus: "idea", reason: "manual", note: "old" } },
    { eventType: "topic_restored", actorId: "ada", metadata: { status: "idea" } },
  ]);
  expect(archived.record.context.archive).toBeUndefined();
});

test("[TO3] an approval is given once to one revision, and a later commit or change request clears it", () => {
  const approved = take(outlined, { type: "outline.approve", ...by });
  expect(approved.record.context.outline?.approval).toEqual({ approvedBy: "ada", approvedAtMs: by.nowMs });
  expect(() => take(outlined, { type: "outline.approve", ...by }, { type: "outline.approve", ...by })).toThrow("refused");
  for (const clears of [
    { ...outlined, revision: 8 } as TopicEvent,
    { ...outlined, revision: 8, advances: false } as TopicEvent,
    { type: "outline.requestChanges", ...by } as TopicEvent,
  ]) {
    const { record } = take(outlined, { type: "outline.approve", ...by }, clears);
    expect(record.context.outline?.approval).toBeUndefined();
    expect(record.state).toBe("outlined");
  }
});

test("[TO4] text that only a checkpoint committed changes no status", () => {
  const { record } = take({ ...outlined, advances: false } as TopicEvent, { ...drafted, advances: false } as TopicEvent);
  expect(record.state).toBe("idea");
});
