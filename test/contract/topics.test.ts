/** Tests how a topic is created, and who can find it. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { folderRecord } from "../../server/domain/folders/records.ts";
import { workspaceCountersRecord } from "../../server/domain/identity/workspaces/records.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import type { ManualTime } from "../support/manualTime.ts";
import { domainStorages } from "../support/storages.ts";
import { addWorkspace } from "./articleFixture.ts";
import { addFolder, createTopicNode, type OpenTopics, openTopics, partition, type TopicNode } from "./topicFixture.ts";

describe.each(domainStorages())("topics on %s", (_name, open) => {
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
});
