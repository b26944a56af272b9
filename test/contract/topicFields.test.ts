/** Tests the fields of a topic: how each is returned, what a legacy field means, and the brief derived from them. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ContentTopic } from "../../api/schema/topic.ts";
import type { WorkspaceCreateTopicRequest } from "../../api/schema/topicOperations.ts";
import type { TopicFields } from "../../machines/topic.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import type { ManualTime } from "../support/manualTime.ts";
import { domainStorages } from "../support/storages.ts";
import { addFolder, type OpenTopics, openTopics, partition, type TopicNode } from "./topicFixture.ts";

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

describe.each(domainStorages())("fields of topics on %s", (_name, open) => {
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
});
