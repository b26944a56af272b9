/** Tests changes of topics: what each one stores and records, which are refused, and the audit that shows them. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ContentAuditEvent } from "../../api/schema/topicAudit.ts";
import { workspaceCountersRecord } from "../../server/domain/identity/workspaces/records.ts";
import { contentAuditRecord, topicRecord } from "../../server/domain/topics/records.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import type { ManualTime } from "../support/manualTime.ts";
import { domainStorages } from "../support/storages.ts";
import { type OpenTopics, openTopics, partition, type TopicNode } from "./topicFixture.ts";

describe.each(domainStorages())("changes of topics on %s", (_name, open) => {
  let time: ManualTime;
  let storage: Storage;
  let node: TopicNode;
  let workspaceId: string;
  let update: OpenTopics["update"];
  let close: () => Promise<void>;

  beforeEach(async () => {
    ({ time, storage, node, workspaceId, update, close } = await openTopics(open));
  });
  afterEach(() => close());

  const countOf = async (type: typeof contentAuditRecord | typeof topicRecord) => {
    let count = 0;
    for await (const _stored of storage.records.scan<never>(type as never, partition)) count += 1;
    return count;
  };

  test("[TO26] a change stores its fields with actor and time, and records the names of the fields", async () => {
    const topicId = await node.create(workspaceId, { thesis: "old", wordCountRange: { min: 1, max: 2 }, angles: ["a"] });
    await time.advance(5000);
    const reply = await update(
      topicId,
      { title: "New", angles: ["a"], wordCountRange: null, recommendedAction: "UPDATE" },
      { username: "ben" },
    );
    expect(reply).toEqual({ message: expect.any(String), topicId });
    const topic = await node.get(workspaceId, topicId);
    expect(topic).toMatchObject({
      title: "New",
      thesis: "old",
      angles: ["a"],
      recommendedAction: "UPDATE",
      updatedAt: time.now() / 1000,
      editorialFieldsEditedAt: time.now() / 1000,
      editorialFieldsEditedBy: "ben",
    });
    expect(topic).not.toHaveProperty("wordCountRange");
    const [newest] = (await node.topics.audit({ workspaceId, topicId }, {})).items;
    expect(newest).toMatchObject({ eventType: "topic_updated", actorId: "ben" });
    expect(newest?.metadata).toEqual({ fields: ["title", "recommendedAction", "wordCountRange"] });
  });

  test("[TO26] a change that changes nothing writes nothing", async () => {
    const topicId = await node.create(workspaceId, { title: "Same", angles: ["a", "b"] });
    const { revision } = await node.topics.get({ workspaceId, topicId });
    await time.advance(1000);
    await update(topicId, { title: "Same", angles: ["a", "b"], wordCountRange: null, estimatedIntent: "INFORMATIONAL" });
    await update(topicId, {});
    expect((await node.topics.get({ workspaceId, topicId })).revision).toBe(revision);
    expect(await node.get(workspaceId, topicId)).not.toHaveProperty("editorialFieldsEditedAt");
    expect(await node.audit(workspaceId, topicId)).toEqual(["topic_created"]);
  });

  test("[TO26] fields that a run writes do not count as an editorial change", async () => {
    const topicId = await node.create(workspaceId);
    await node.send(workspaceId, topicId, { type: "topic.update", changes: { thesis: "found" }, editorial: false, by: "ada" });
    expect(await node.get(workspaceId, topicId)).toMatchObject({ thesis: "found" });
    expect(await node.get(workspaceId, topicId)).not.toHaveProperty("editorialFieldsEditedBy");
  });

  test("[TO27] a change under If-Match requires the revision that was read", async () => {
    const topicId = await node.create(workspaceId);
    const { revision } = await node.topics.get({ workspaceId, topicId });
    await update(topicId, { title: "First" }, { ifMatch: [`"r${revision}"`] });
    await expect(update(topicId, { title: "Second" }, { ifMatch: [`"r${revision}"`] })).rejects.toMatchObject({
      code: "precondition_failed",
    });
    expect((await node.get(workspaceId, topicId)).title).toBe("First");
    await update(topicId, { title: "Third" }, { ifMatch: [`"r${revision + 1}"`] });
    expect((await node.get(workspaceId, topicId)).title).toBe("Third");
  });

  test("[TO28] an archived topic accepts no change, and its restore returns it as it was", async () => {
    const topicId = await node.create(workspaceId);
    await node.send(workspaceId, topicId, { type: "topic.shortlist", by: "ada" });
    await node.send(workspaceId, topicId, { type: "topic.archive", reason: "manual", note: "later", by: "ada" });
    for (const body of [{ title: "No" }, {}]) {
      await expect(update(topicId, body)).rejects.toMatchObject({ code: "invalid_transition", facts: { currentState: "archived" } });
    }
    await expect(node.topics.ensure(node.call(workspaceId), workspaceId, topicId, undefined)).rejects.toMatchObject({
      code: "invalid_transition",
      facts: { currentState: "archived", allowed: ["topics.restore"] },
    });
    const before = await node.get(workspaceId, topicId);
    expect(before).toMatchObject({ archivedFromStatus: "shortlisted", archiveReason: "manual", archiveNote: "later" });
    await node.topics.restore(node.call(workspaceId), { workspaceId, topicId });
    const topic = await node.get(workspaceId, topicId);
    expect(topic.status).toBe("shortlisted");
    expect(Object.keys(topic).filter((name) => name.startsWith("archive"))).toEqual([]);
    await expect(node.topics.restore(node.call(workspaceId), { workspaceId, topicId })).rejects.toMatchObject({
      code: "invalid_transition",
    });
    expect(await node.audit(workspaceId, topicId)).toEqual(["topic_created", "topic_shortlisted", "topic_archived", "topic_restored"]);
  });

  test("[TO29] a topic's move and its audit event are stored together or not at all", async () => {
    const topicId = await node.create(workspaceId);
    const before = await node.get(workspaceId, topicId);
    const refusing = { ...node.call(workspaceId), commit: async () => Promise.reject(new Error("the store is full")) };
    await expect(node.topics.update(refusing, { workspaceId, topicId }, { title: "Lost" } as never)).rejects.toThrow("the store is full");
    await expect(node.topics.create(refusing, workspaceId, { title: "Lost", targetAudience: "nobody" })).rejects.toThrow(
      "the store is full",
    );
    expect(await node.get(workspaceId, topicId)).toEqual(before);
    expect([await countOf(topicRecord), await countOf(contentAuditRecord)]).toEqual([1, 1]);
    expect((await storage.records.get(workspaceCountersRecord, workspaceId))?.value.counters.brief).toBe(1);

    // Another commit comes between the decision and its commit, so the decision and its audit event are made again.
    let meanwhile: (() => Promise<unknown>) | undefined = () => update(topicId, { thesis: "by another" }, { username: "ben" });
    const call = node.call(workspaceId);
    const racing = {
      ...call,
      async commit(...given: Parameters<typeof call.commit>) {
        const first = meanwhile;
        meanwhile = undefined;
        await first?.();
        return call.commit(...given);
      },
    };
    await node.topics.update(racing, { workspaceId, topicId }, { title: "Mine" } as never);
    expect(await node.get(workspaceId, topicId)).toMatchObject({ title: "Mine", thesis: "by another" });
    const events = (await node.topics.audit({ workspaceId, topicId }, {})).items;
    expect(events.map(({ actorId, metadata }) => [actorId, metadata?.fields])).toEqual([
      ["ada", ["title"]],
      ["ben", ["thesis"]],
      ["ada", undefined],
    ]);
  });

  test("[TO30] a topic's audit shows every event in order, also of one moment, in pages", async () => {
    const topicId = await node.create(workspaceId);
    const { articleId } = await node.topics.ensure(node.call(workspaceId), workspaceId, topicId, undefined);
    const step = { runId: "run_1", stepName: "draft" };
    const commit = { articleId, commitId: "cmt_1", revision: 1, advances: true, by: "ada" } as const;
    await node.send(workspaceId, topicId, { type: "outline.committed", ...commit });
    await node.send(workspaceId, topicId, { type: "outline.requestChanges", by: "ben", feedback: "shorter" });
    await node.send(workspaceId, topicId, { type: "outline.approve", by: "ben" });
    await node.send(workspaceId, topicId, { type: "draft.committed", ...commit, step });
    await node.send(workspaceId, topicId, { type: "draft.requestChanges", by: "ben" });
    await node.send(workspaceId, topicId, { type: "draft.approve", by: "ben" });
    await node.send(workspaceId, topicId, { type: "topic.archive", reason: "manual", by: "ben" });
    await node.topics.restore(node.call(workspaceId), { workspaceId, topicId });
    await update(topicId, { title: "T" });
    const expected = [
      "topic_created",
      "topic_shortlisted",
      "outline_generated",
      "outline_changes_requested",
      "outline_approved",
      "draft_generated",
      "pipeline_stage_completed",
      "draft_changes_requested",
      "draft_approved",
      "topic_archived",
      "topic_restored",
      "topic_updated",
    ];
    expect(await node.audit(workspaceId, topicId)).toEqual(expected);
    const walked: ContentAuditEvent[] = [];
    let nextToken: string | undefined;
    do {
      const page: { items: ContentAuditEvent[]; nextToken?: string } = await node.topics.audit(
        { workspaceId, topicId },
        { limit: 5, nextToken },
      );
      walked.push(...page.items);
      nextToken = page.nextToken;
    } while (nextToken !== undefined);
    expect(walked.map(({ eventType }) => eventType)).toEqual([...expected].reverse());
    expect(new Set(walked.map(({ eventId }) => eventId)).size).toBe(expected.length);
    for (const event of walked) {
      expect(ContentAuditEvent.parse(event)).toEqual(event);
      const isOfArticle = event.eventType.startsWith("outline_") || event.eventType.startsWith("draft_");
      if (isOfArticle) expect(event.articleId).toBe(articleId);
    }
    expect(walked.find(({ eventType }) => eventType === "outline_changes_requested")).toMatchObject({
      actorId: "ben",
      metadata: { note: "shorter", revision: 1, commitId: "cmt_1" },
    });
  });

  test("[TO31] the audit of a workspace is filtered by event, actor, topic and inclusive times", async () => {
    const start = time.now();
    const topics: string[] = [];
    for (let at = 0; at < 4; at += 1) {
      topics.push(await node.create(workspaceId, { title: `T${at}` }, { username: at % 2 === 0 ? "ada" : "ben" }));
      await time.advance(1000);
    }
    await node.send(workspaceId, topics[1] as string, { type: "topic.shortlist", by: "ada" });
    const list = async (filter = {}) =>
      (await node.topics.workspaceAudit(workspaceId, filter)).items.map(
        ({ topicId, eventType }) => `${topics.indexOf(topicId)} ${eventType}`,
      );
    expect(await list()).toEqual(["1 topic_shortlisted", "3 topic_created", "2 topic_created", "1 topic_created", "0 topic_created"]);
    expect(await list({ eventType: ["topic_shortlisted", "draft_approved"] })).toEqual(["1 topic_shortlisted"]);
    expect(await list({ actorId: "BEN" })).toEqual(["3 topic_created", "1 topic_created"]);
    expect(await list({ topicId: "T-2" })).toEqual(["1 topic_shortlisted", "1 topic_created"]);
    expect(await list({ topicId: "T-2", to: start / 1000 + 2 })).toEqual(["1 topic_created"]);
    expect(await list({ from: start / 1000 + 1, to: start / 1000 + 2 })).toEqual(["2 topic_created", "1 topic_created"]);
    expect(await list({ from: start / 1000 + 3.5 })).toEqual(["1 topic_shortlisted"]);
    expect(await list({ topicId: "T-9" })).toEqual([]);
    const first = await node.topics.workspaceAudit(workspaceId, { limit: 2 });
    const second = await node.topics.workspaceAudit(workspaceId, { limit: 2, nextToken: first.nextToken });
    expect([...first.items, ...second.items].map(({ topicId }) => topics.indexOf(topicId))).toEqual([1, 3, 2, 1]);
  });

  test("[TO34] transitions list the allowed moves and the reasons against the others", async () => {
    const topicId = await node.create(workspaceId);
    const look = async () => {
      const { status, allowed, blocked } = await node.readTransitions({ workspaceId, topicId });
      expect(allowed.length + blocked.length).toBe(12);
      return {
        status,
        allowed: Object.fromEntries(allowed.map(({ operation, to }) => [operation, to])),
        blocked: Object.fromEntries(blocked.map(({ operation, code }) => [operation, code])),
      };
    };
    const decisions = ["approve_outline", "request_outline_changes", "approve_draft", "request_draft_changes"];
    const starts = ["update", "ensure_article", "start_workflow", "generate_outline", "run_draft_action"];
    const all = <Value>(names: readonly string[], value: Value) => Object.fromEntries(names.map((name) => [name, value]));
    expect(await look()).toEqual({
      status: "idea",
      allowed: { ...all(starts, "idea"), shortlist: "shortlisted", archive: "archived" },
      blocked: all([...decisions, "restore"], "invalid_transition"),
    });
    await node.send(workspaceId, topicId, { type: "topic.shortlist", by: "ada" });
    expect((await look()).blocked).toHaveProperty("shortlist", "invalid_transition");
    const { articleId } = await node.topics.ensure(node.call(workspaceId), workspaceId, topicId, undefined);
    const commit = { articleId, commitId: "cmt_1", revision: 1, advances: true, by: "ada" } as const;
    await node.send(workspaceId, topicId, { type: "outline.committed", ...commit });
    expect((await look()).allowed).toMatchObject({ approve_outline: "outlined", request_outline_changes: "outlined" });
    await node.send(workspaceId, topicId, { type: "outline.approve", by: "ben" });
    const { blocked } = await node.readTransitions({ workspaceId, topicId });
    expect(blocked.find(({ operation }) => operation === "approve_outline")).toEqual({
      operation: "approve_outline",
      code: "approval_already_resolved",
      detail: "The outline was already approved by ben.",
    });
    await node.node.articles.delete(articleId, false, node.call(workspaceId));
    expect((await look()).blocked).toMatchObject({ start_workflow: "invalid_transition", ensure_article: "invalid_transition" });
    await node.node.articles.undelete(articleId, node.call(workspaceId));
    await node.send(workspaceId, topicId, { type: "topic.archive", reason: "manual", by: "ada" });
    expect(await look()).toEqual({
      status: "archived",
      allowed: { restore: "outlined" },
      blocked: all([...decisions, ...starts, "shortlist", "archive"], "invalid_transition"),
    });
  });
});
