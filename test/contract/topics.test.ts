/** Tests topics as records: which fields are kept, who can find a topic, and what each change records. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ContentTopic } from "../../api/schema/topic.ts";
import { ContentAuditEvent } from "../../api/schema/topicAudit.ts";
import type { WorkspaceCreateTopicRequest } from "../../api/schema/topicOperations.ts";
import type { TopicFields } from "../../machines/topic.ts";
import { folderRecord } from "../../server/domain/folders/records.ts";
import { workspaceCountersRecord } from "../../server/domain/identity/workspaces/records.ts";
import { contentAuditRecord, topicRecord } from "../../server/domain/topics/records.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { createManualTime, type ManualTime } from "../support/manualTime.ts";
import { domainStorages, type OpenedStorage } from "../support/storages.ts";
import { addWorkspace } from "./articleFixture.ts";
import { addFolder, createTopicNode, partition, type TopicNode } from "./topicFixture.ts";

/** Every field that a request can have. */
const everyField = {
  title: "Rollback strategies for blue-green deploys",
  targetAudience: "platform engineers",
  seoTitle: "Blue-green rollback",
  estimatedIntent: "commercial",
  scheduledDate: "2026-12-24",
  scheduleNote: "before the freeze",
  cluster: "deployments",
  primaryKeyword: "blue-green rollback",
  contentGap: "nobody shows the database",
  thesis: "Roll forward the schema, back the code.",
  readerPain: "fear of the button",
  productTieIn: "one command",
  originalityAngle: "measured",
  avoidAngle: "vendor comparison",
  articleType: "how_to",
  articleFormat: "checklist",
  comparisonRecommendationMode: "forbidden",
  contentType: "tutorial",
  priorityScore: 73.5,
  priorityRationale: "asked for thrice",
  angles: ["cost", "risk"],
  mustInclude: ["a diagram"],
  secondaryKeywords: ["canary", "feature flags"],
  evidencePlan: ["run it"],
  suggestedSources: [{ url: "https://example.org/a", why: "primary" }],
  wordCountRange: { min: 900, max: 1500 },
} as const satisfies Omit<WorkspaceCreateTopicRequest, "contentProjectId" | "angles" | "mustInclude"> & Record<string, unknown>;

/** Fields that runs and providers write. */
const everyFinding: Partial<TopicFields> = {
  serpSummary: { topDomains: ["a.example"], topTitles: ["A"], provider: "p", queriedAt: 1.5 },
  keywordMetrics: {
    fetchedAt: 2,
    provider: "p",
    volume: 10,
    globalVolume: 20,
    difficulty: 33,
    cpc: 0.5,
    trend: Array.from({ length: 12 }, (_, month) => month),
    locale: "en-US",
  },
  sourceEvidence: [
    {
      url: "https://example.org/b",
      sourceType: "docs",
      relevance: "high",
      capturedAt: "2026-11-21",
      title: "B",
      snippet: "…",
      query: "q",
      statusCode: 200,
    },
  ],
  evidenceQuality: "adequate",
  generatedQualityTier: "deep",
  briefQualityScore: 1,
  productRelevanceScore: 2,
  evidenceScore: 3,
  originalityScore: 4,
  keywordCoverageScore: 5,
  duplicateRiskScore: 6,
  critiqueSummary: "fine",
  recommendedAction: "OPTIMISE",
  rankProximity: "striking-distance",
  searchedQueries: ["one", "two"],
  seoBriefRevision: 4,
  outlineSeoBriefRevision: 3,
  draftSeoBriefRevision: 3,
  seoReviewSeoBriefRevision: 2,
  performanceTarget: { status: "tracking_active", url: "https://example.org/c", lastSyncStatus: "synced", submittedAt: 5 },
};

describe.each(domainStorages())("topics on %s", (_name, open) => {
  let time: ManualTime;
  let opened: OpenedStorage;
  let storage: Storage;
  let node: TopicNode;
  let workspaceId: string;

  beforeEach(async () => {
    time = createManualTime();
    opened = await open(time);
    storage = opened.storage;
    node = createTopicNode(storage, time);
    workspaceId = await addWorkspace(storage, partition);
  });
  afterEach(async () => {
    await node.node.pump.drain(AbortSignal.timeout(1000));
    await node.node.close();
    await opened.close();
  });

  const update = (topicId: string, body: object, options = {}) =>
    node.topics.update(node.call(workspaceId, options), { workspaceId, topicId }, body as never);
  const countOf = async (type: typeof contentAuditRecord | typeof topicRecord) => {
    let count = 0;
    for await (const _stored of storage.records.scan<never>(type as never, partition)) count += 1;
    return count;
  };

  test("[TO20] a new topic is a numbered idea of its creator, with defaults for omitted fields", async () => {
    const call = node.call(workspaceId, { username: "ben" });
    const { response } = await node.topics.create(call, workspaceId, { title: "Éclairs & cream?", targetAudience: "bakers" });
    expect(response).toEqual({
      topicId: expect.stringMatching(/^top_/),
      shortId: "T-1",
      slug: "eclairs-cream",
      status: "idea",
      createdAt: time.now() / 1000,
    });
    expect(await node.get(workspaceId, response.topicId)).toEqual({
      topicId: response.topicId,
      workspaceId,
      ownerId: "ben",
      title: "Éclairs & cream?",
      targetAudience: "bakers",
      estimatedIntent: "informational",
      priorityScore: 50,
      priorityRationale: "Created by ben",
      status: "idea",
      createdAt: time.now() / 1000,
      updatedAt: time.now() / 1000,
      shortId: "T-1",
      slug: "eclairs-cream",
    });
    expect((await storage.records.get(workspaceCountersRecord, workspaceId))?.value.counters.brief).toBe(1);
    const other = await node.create(workspaceId, { title: "???" });
    expect(await node.get(workspaceId, other)).toMatchObject({ shortId: "T-2", slug: "topic-2" });
  });

  test("[TO21] every field of a topic is returned as a request or a run wrote it", async () => {
    const contentProjectId = await addFolder(storage, workspaceId);
    const topicId = await node.create(workspaceId, { ...(everyField as unknown as WorkspaceCreateTopicRequest), contentProjectId });
    expect(await node.get(workspaceId, topicId)).toMatchObject({ ...everyField, contentProjectId });
    await node.send(workspaceId, topicId, { type: "topic.update", changes: everyFinding, editorial: false, by: "ada" });
    const articleId = (await node.topics.ensure(node.call(workspaceId), workspaceId, topicId, undefined)).articleId;
    for (const stage of ["research", "outline", "draft"] as const) {
      const startedRun = { runId: `run_${stage}`, stages: [stage] };
      await node.send(workspaceId, topicId, { type: "run.start", startedRun, by: "ada" });
    }
    const commit = { articleId, commitId: "cmt_1", revision: 3, advances: true, by: "ada" } as const;
    await node.send(workspaceId, topicId, { type: "outline.committed", ...commit });
    await node.send(workspaceId, topicId, { type: "outline.approve", by: "ada", note: "good" });
    await node.send(workspaceId, topicId, { type: "draft.committed", ...commit });
    await node.send(workspaceId, topicId, { type: "draft.approve", by: "ben" });
    await update(topicId, { readerPain: "another" });
    const note = { reason: "content_project_archived", note: "enough", byContentProjectId: contentProjectId, by: "ada" } as const;
    await node.send(workspaceId, topicId, { type: "topic.archive", ...note });
    const topic = await node.get(workspaceId, topicId);
    const at = time.now() / 1000;
    expect(topic).toEqual({
      ...everyField,
      ...everyFinding,
      readerPain: "another",
      topicId,
      workspaceId,
      ownerId: "ada",
      shortId: "T-1",
      slug: "rollback-strategies-for-blue-green-deploys",
      status: "archived",
      createdAt: at,
      updatedAt: at,
      contentProjectId,
      articleId,
      agentRunId: "run_research",
      outlineRunId: "run_outline",
      draftRunId: "run_draft",
      editorialFieldsEditedAt: at,
      editorialFieldsEditedBy: "ada",
      archivedAt: at,
      archivedBy: "ada",
      archivedFromStatus: "drafted",
      archivedByContentProjectId: contentProjectId,
      archiveReason: "content_project_archived",
      archiveNote: "enough",
      approvals: { outline: { approvedBy: "ada", approvedAt: at, note: "good" }, draft: { approvedBy: "ben", approvedAt: at } },
    });
    expect(Object.keys(topic).sort()).toEqual(Object.keys(ContentTopic.shape).sort());
    expect(ContentTopic.parse(topic)).toEqual(topic);
  });

  test("[TO22] an intent is one of four in any case, and informational for any other text", async () => {
    const intents = [" Commercial ", "NAVIGATIONAL", "transactional", "buy now", ""];
    const found = await Promise.all(
      intents.map(async (estimatedIntent) => {
        const topicId = await node.create(workspaceId, { estimatedIntent });
        return (await node.get(workspaceId, topicId)).estimatedIntent;
      }),
    );
    expect(found).toEqual(["commercial", "navigational", "transactional", "informational", "informational"]);
    const topicId = await node.create(workspaceId, { estimatedIntent: "commercial" });
    await update(topicId, { estimatedIntent: "whatever" });
    expect((await node.get(workspaceId, topicId)).estimatedIntent).toBe("informational");
  });

  test("[TO23] a legacy content type is kept, and read as its article type if there is none", async () => {
    const wanted = {
      tutorial: ["tutorial"],
      guide: ["how_to"],
      comparison: ["comparison"],
      integration: ["how_to"],
      migration: ["how_to"],
      troubleshooting: ["how_to"],
      listicle: ["explanation", "listicle"],
    } as const;
    for (const [contentType, [articleType, articleFormat]] of Object.entries(wanted)) {
      const topicId = await node.create(workspaceId, { contentType: contentType as keyof typeof wanted });
      expect(await node.get(workspaceId, topicId)).toMatchObject({ contentType, articleType });
      expect((await node.get(workspaceId, topicId)).articleFormat).toBe(articleFormat);
    }
    const both = await node.create(workspaceId, { contentType: "listicle", articleType: "reference" });
    expect(await node.get(workspaceId, both)).toMatchObject({ articleType: "reference", contentType: "listicle" });
    expect(await node.get(workspaceId, both)).not.toHaveProperty("articleFormat");
    await update(both, { contentType: "guide" });
    expect(await node.get(workspaceId, both)).toMatchObject({ articleType: "reference", contentType: "guide" });
    const { items } = await node.topics.list({ workspaceId, articleType: "how_to" });
    expect(items.map(({ contentType }) => contentType).sort()).toEqual(["guide", "integration", "migration", "troubleshooting"].sort());
  });

  test("[TO24] a topic is found by its id and short id in its own workspace only", async () => {
    const otherId = await addWorkspace(storage, partition);
    const topicId = await node.create(workspaceId);
    const foreignId = await node.create(otherId);
    expect((await node.get(workspaceId, "T-1")).topicId).toBe(topicId);
    expect((await node.get(otherId, "T-1")).topicId).toBe(foreignId);
    const missing = topicId.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    for (const reference of [foreignId, missing, "T-2", "T-0", "t-1", "T-01", "T-999999999999999"]) {
      await expect(node.get(workspaceId, reference), reference).rejects.toMatchObject({ code: "not_found" });
      await expect(update(reference, { title: "Mine" }), reference).rejects.toMatchObject({ code: "not_found" });
      await expect(node.topics.restore(node.call(workspaceId), { workspaceId, topicId: reference })).rejects.toMatchObject({
        code: "not_found",
      });
      await expect(node.topics.audit({ workspaceId, topicId: reference }, {})).rejects.toMatchObject({ code: "not_found" });
      await expect(node.readTransitions({ workspaceId, topicId: reference })).rejects.toMatchObject({ code: "not_found" });
      await expect(node.topics.ensure(node.call(workspaceId), workspaceId, reference, undefined)).rejects.toMatchObject({
        code: "not_found",
      });
      await expect(node.topics.read(workspaceId, reference, "outline.md")).rejects.toMatchObject({ code: "not_found" });
    }
    const { items, statusCounts } = await node.topics.list({ workspaceId });
    expect([items.map((topic) => topic.topicId), statusCounts.idea]).toEqual([[topicId], 1]);
    const events = (await node.topics.workspaceAudit(workspaceId, {})).items;
    expect(events.map((event) => event.topicId)).toEqual([topicId]);
    expect((await node.topics.workspaceAudit(workspaceId, { topicId: foreignId })).items).toEqual([]);
    expect((await node.get(otherId, foreignId)).title).toBe("Kites in high wind");
    // Another workspace and its content project are not valid content projects here.
    const foreignProject = await addFolder(storage, otherId);
    await node.create(otherId, { contentProjectId: foreignProject });
    for (const contentProjectId of [otherId, foreignProject]) {
      const list = await node.topics.list({ workspaceId, contentProjectId });
      expect([list.items, list.statusCounts.idea]).toEqual([[], 0]);
      expect((await node.topics.list({ workspaceId, contentProjectId, q: "kites" })).items).toEqual([]);
    }
  });

  test("[TO25] topics created at once on two nodes are numbered without gaps or duplicates", async () => {
    const second = createTopicNode(storage, time);
    const made = await Promise.all(
      Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? node : second).create(workspaceId, { title: `Topic ${at}` })),
    );
    const numbers = await Promise.all(made.map(async (topicId) => Number((await node.get(workspaceId, topicId)).shortId?.slice(2))));
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, at) => at + 1));
    expect((await storage.records.get(workspaceCountersRecord, workspaceId))?.value.counters.brief).toBe(40);
    await second.node.close();
  });

  test("[TO25] a repeat after a crash creates the same topic, once", async () => {
    const attempt = { seed: "one key", nowMs: time.now() };
    const first = await node.create(workspaceId, {}, { attempt });
    expect(await node.create(workspaceId, {}, { attempt })).toBe(first);
    expect((await node.topics.list({ workspaceId })).items).toHaveLength(1);
    expect((await storage.records.get(workspaceCountersRecord, workspaceId))?.value.counters.brief).toBe(1);
    expect(await node.audit(workspaceId, first)).toEqual(["topic_created"]);
  });

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

  test("[TO32] a topic is created in an active content project of its workspace, or in none", async () => {
    const otherId = await addWorkspace(storage, partition);
    const refused = [
      "fld_nonsense",
      workspaceId,
      "fld_01KAHX0000050123456789ABCD",
      await addFolder(storage, otherId),
      await addFolder(storage, workspaceId, { contentProject: undefined } as never),
      await addFolder(storage, workspaceId, { archivedAtMs: 5 }),
    ];
    for (const contentProjectId of refused) {
      await expect(node.create(workspaceId, { contentProjectId }), contentProjectId).rejects.toMatchObject({
        code: "validation_failed",
        facts: { errors: [{ pointer: "/contentProjectId" }] },
      });
    }
    expect(await storage.records.get(workspaceCountersRecord, workspaceId)).toBeUndefined();
    const project = {
      requireOutlineApproval: false,
      requireDraftApproval: true,
      wordCountRange: { min: 1, max: 9 },
      styleProfileId: "house",
    };
    const contentProjectId = await addFolder(storage, workspaceId, { contentProject: project });
    const topicId = await node.create(workspaceId, { contentProjectId });
    const found = await node.port.find(workspaceId, topicId);
    expect(found === undefined ? undefined : await node.port.contentProject(found.value)).toEqual(project);

    // The project is archived between its check and the commit.
    const folder = await storage.records.get(folderRecord, contentProjectId);
    if (folder === undefined) throw new Error("no folder");
    let late = true;
    const call = node.call(workspaceId);
    const racing = {
      ...call,
      async commit(...given: Parameters<typeof call.commit>) {
        if (late) {
          late = false;
          const value = { ...folder.value, archivedAtMs: 5 };
          await storage.commit({ partition, records: [{ op: "put", type: folderRecord, value, replacing: folder }] });
        }
        return call.commit(...given);
      },
    };
    const request = { title: "Late", targetAudience: "nobody", contentProjectId };
    await expect(node.topics.create(racing, workspaceId, request)).rejects.toMatchObject({ code: "validation_failed" });
  });

  test("[TO33] a brief derived from a topic has the topic's fields, no metrics, and its own revisions", async () => {
    const topicId = await node.create(workspaceId, {
      title: "Kites",
      readerPain: "they fall",
      primaryKeyword: "kite",
      secondaryKeywords: ["stunt kite", "kite line"],
      estimatedIntent: "commercial",
    });
    const topic = await node.get(workspaceId, topicId);
    const brief = node.port.projectBrief(topic, { username: "ben", runId: "run_1", nowMs: 5000 });
    expect(brief).toEqual({
      topicId,
      workspaceId,
      schemaVersion: 1,
      revision: 1,
      searchObjective: "Kites",
      distributionGoals: ["traditional_search"],
      intent: "commercial",
      readerTask: "they fall",
      serpPattern: "mixed",
      primaryTargets: [{ keyword: "kite", role: "primary", intent: "commercial" }],
      supportingClusters: [
        {
          clusterId: "secondary",
          label: "kite",
          readerNeed: "they fall",
          intent: "commercial",
          terms: [
            { keyword: "stunt kite", role: "supporting", intent: "commercial" },
            { keyword: "kite line", role: "supporting", intent: "commercial" },
          ],
        },
      ],
      usageGuidance: [],
      metricsContext: { status: "unavailable", provider: "none", includeGlobalVolume: false, marketLocale: "en-US" },
      source: "legacy_projection",
      createdAt: 5,
      updatedAt: 5,
      updatedBy: "ben",
      sourceRunId: "run_1",
    });
    const bare = node.port.projectBrief(await node.get(workspaceId, await node.create(workspaceId)), { username: "ada", nowMs: 1 });
    expect(bare).toMatchObject({ readerTask: "Kites in high wind", primaryTargets: [], supportingClusters: [] });
    expect(await node.port.brief(topicId)).toBeUndefined();
    const write = async (value: typeof brief, replacing: Parameters<typeof node.port.writeBrief>[2]) => {
      const unit = node.actors.openUnit(partition);
      node.port.writeBrief(unit, value, replacing);
      return (await unit.commit((batch) => storage.commit(batch))).ok;
    };
    expect(await write(brief, null)).toBe(true);
    const stored = await node.port.brief(topicId);
    expect(stored?.value).toEqual(brief);
    const next = { ...brief, revision: 2 };
    expect(await write(next, stored ?? null)).toBe(true);
    expect(await write(next, stored ?? null)).toBe(false);
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
