/** Tests folders over REST: the rules of the tree, the refusals of an archived folder, and the jobs that change contents. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { articleRecord } from "../../server/domain/articles/records.ts";
import { createFolders } from "../../server/domain/folders/service.ts";
import { runRecord } from "../../server/domain/runs/model/records.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { otherWorkspaceId, workspaceId } from "../support/operationServer.ts";
import { untilReturns } from "../support/untilReturns.ts";
import { createCall } from "./articleFixture.ts";
import { createRunRig, type RunRig } from "./runRig.ts";

const partition = partitionOfId(workspaceId);
const missingId = "fld_01KAHX0000050123456789ABCD";

let storage: Storage;
let rig: RunRig;
beforeEach(async () => {
  storage = createMemoryStorage();
  rig = await createRunRig({ storage, limits: { "folder.depth": 4, "folder.perWorkspace": 12, "job.records": 12 } });
});
afterEach(() => rig.close());

const create = async (name: string, more: object = {}): Promise<string> =>
  (await rig.expect(201, "POST", "/folders", { workspaceId, name, ...more })).folderId;
const patch = (status: number, folderId: string, body: object) => rig.expect(status, "PATCH", `/folders/${folderId}`, body);
const get = (folderId: string) => rig.expect(200, "GET", `/folders/${folderId}`);

/** Returns the names of the listed folders in alphabetical order, because two may be created at the same time. */
async function list(query: string): Promise<readonly string[]> {
  const { folders } = await rig.expect(200, "GET", `/folders?workspaceId=${workspaceId}${query}`);
  const times = folders.map(({ createdAt }: { createdAt: number }) => createdAt);
  expect(times).toEqual(times.toSorted((a: number, b: number) => b - a));
  return folders.map(({ name }: { name: string }) => name).toSorted();
}

async function untilEnded(jobId: string) {
  return untilReturns(async () => {
    const job = await rig.expect(200, "GET", `/jobs/${jobId}`);
    if (job.finishedAt === undefined) throw new Error(`the job is ${JSON.stringify(job)}`);
    return job;
  }, 20_000);
}

/** Creates an article and puts it into the folder, as a request that moves it does. */
async function addArticle(folderId: string, title = "Kites"): Promise<string> {
  const { article } = await rig.node.articles.create({ workspaceId, title }, createCall(storage, workspaceId, partition));
  await moveArticle(article.articleId, folderId);
  return article.articleId;
}

async function moveArticle(articleId: string, folderId: string, node: RunRig = rig): Promise<void> {
  const folders = createFolders({ storage });
  await node.actors.commitUnit({ operation: "test", partition, committer: storage }, async (unit) => {
    const stored = await storage.records.get(articleRecord, articleId);
    if (stored === undefined) throw new Error("no article");
    await folders.requireOpen(unit, workspaceId, folderId);
    unit.record({ op: "put", type: articleRecord, value: { ...stored.value, folderId }, replacing: stored });
  });
}

const articleOf = async (articleId: string) => (await storage.records.get(articleRecord, articleId))?.value;
const project = { contentProject: {} };

describe("the tree", () => {
  test("[FO1] a folder has its name, place, own slug and settings, and only its own workspace sees it", async () => {
    const created = await rig.request("POST", "/folders", {
      workspaceId,
      name: " Field Guides ",
      contentProject: { styleProfileId: "house" },
    });
    expect(created.status).toBe(201);
    const { folderId } = created.body;
    expect(created.headers.get("location")).toBe(`/folders/${folderId}`);
    expect(created.body).toEqual({
      folderId,
      workspaceId,
      parentFolderId: null,
      name: "Field Guides",
      slug: "field-guides",
      createdAt: expect.any(Number),
      updatedAt: expect.any(Number),
      contentProject: { requireOutlineApproval: true, requireDraftApproval: true, styleProfileId: "house" },
    });
    expect(await get(folderId)).toEqual(created.body);
    const inside = await create("field guides", { parentFolderId: folderId });
    expect((await get(inside)).slug).toMatch(/^field-guides-[0-9a-z]{6}$/);
    expect((await rig.request("GET", `/folders/${folderId}`, undefined, { as: "dan" })).status).toBe(404);
    const foreign = await rig.expect(201, "POST", "/folders", { workspaceId: otherWorkspaceId, name: "Foreign" });
    for (const parentFolderId of [missingId, foreign.folderId]) {
      const refused = await rig.expect(422, "POST", "/folders", { workspaceId, name: "Lost", parentFolderId });
      expect(refused).toMatchObject({ code: "validation_failed", errors: [{ pointer: "/parentFolderId", code: "not_found" }] });
    }
  });

  test("[FO2] two folders of one parent never have the same name, in any case; folders of two parents may", async () => {
    const guides = await create("Guides");
    expect((await rig.expect(409, "POST", "/folders", { workspaceId, name: "gUIDES" })).code).toBe("name_taken");
    const inside = await create("guides", { parentFolderId: guides });
    expect((await patch(409, inside, { parentFolderId: null })).code).toBe("name_taken");
    await patch(200, inside, { parentFolderId: null, name: "Other guides" });
    await patch(200, guides, { name: "GUIDES" });
    const both = await Promise.all([1, 2].map(() => rig.request("POST", "/folders", { workspaceId, name: "Twice" })));
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409]);
  });

  test("[FO3] lists have the folders of one parent, of the top level or of all levels, archived or not", async () => {
    const guides = await create("Guides");
    await create("Archived", { parentFolderId: guides }).then((id) => rig.expect(202, "POST", `/folders/${id}/archive`));
    await create("Inside", { parentFolderId: guides });
    await create("News");
    expect(await list("")).toEqual(["Archived", "Guides", "Inside", "News"]);
    expect(await list("&parentFolderId=null")).toEqual(["Guides", "News"]);
    expect(await list(`&parentFolderId=${guides}`)).toEqual(["Archived", "Inside"]);
    expect(await list("&archived=true")).toEqual(["Archived"]);
    expect(await list(`&parentFolderId=${guides}&archived=false`)).toEqual(["Inside"]);
    expect(await list(`&parentFolderId=${missingId}`)).toEqual([]);
    const page = await rig.expect(200, "GET", `/folders?workspaceId=${workspaceId}&limit=3`);
    const rest = await rig.expect(200, "GET", `/folders?workspaceId=${workspaceId}&limit=3&nextToken=${page.nextToken}`);
    expect([page.folders.length, rest.folders.length, rest.nextToken]).toEqual([3, 1, undefined]);
  });

  test("[FO4] a change sets only the given fields, null removes a content project, and the slug stays", async () => {
    const folderId = await create("Guides", { contentProject: { requireDraftApproval: false, marketLocale: "en-GB" } });
    const before = await get(folderId);
    expect(await patch(200, folderId, { name: "Handbooks" })).toEqual({ ...before, name: "Handbooks", updatedAt: expect.any(Number) });
    const { contentProject } = await patch(200, folderId, { contentProject: { wordCountRange: { min: 1, max: 2 } } });
    expect(contentProject).toEqual({ requireOutlineApproval: true, requireDraftApproval: true, wordCountRange: { min: 1, max: 2 } });
    const ordinary = await patch(200, folderId, { contentProject: null });
    expect(ordinary).toMatchObject({ name: "Handbooks", slug: "guides" });
    expect(ordinary).not.toHaveProperty("contentProject");
    const late = await rig.request("PATCH", `/folders/${folderId}`, { name: "Late" }, { headers: { "if-match": '"r1"' } });
    expect([late.status, late.body.code]).toEqual([412, "precondition_failed"]);
    const topic = await rig.request("POST", `/workspaces/${workspaceId}/topics`, {
      title: "Kites",
      targetAudience: "builders",
      contentProjectId: folderId,
    });
    expect(topic.status).toBe(422);
  });

  test("[FO7] the project counter is the highest number given to a folder that is a content project", async () => {
    const counter = async () => (await rig.projectCounter()) ?? 0;
    const plain = await create("Plain");
    expect(await counter()).toBe(0);
    const first = await create("First", project);
    await patch(200, plain, project);
    expect(await counter()).toBe(2);
    await patch(200, first, { contentProject: null });
    await patch(200, first, project);
    await rig.expect(204, "DELETE", `/folders/${plain}`);
    expect(await counter()).toBe(2);
    await create("Third", project);
    expect(await counter()).toBe(3);
  });

  test("[FO5] a folder cannot be moved into itself or below itself", async () => {
    const a = await create("A");
    const b = await create("B", { parentFolderId: a });
    const c = await create("C", { parentFolderId: b });
    for (const parentFolderId of [a, b, c]) expect((await patch(409, a, { parentFolderId })).code).toBe("cycle");
    await patch(200, c, { parentFolderId: null });
    await patch(200, a, { parentFolderId: c });
    expect((await get(a)).parentFolderId).toBe(c);
  });

  test("[FO5] moves on two nodes at once never put folders inside each other", async () => {
    const second = await createRunRig({ storage, limits: { "folder.depth": 4 } });
    for (let round = 0; round < 10; round += 1) {
      const [a, b] = [await create(`A ${round}`), await create(`B ${round}`)];
      const [one, two] = await Promise.all([
        rig.request("PATCH", `/folders/${a}`, { parentFolderId: b }),
        second.request("PATCH", `/folders/${b}`, { parentFolderId: a }),
      ]);
      expect([one.status, two.status].toSorted()).toEqual([200, 409]);
      expect((one.status === 409 ? one : two).body.code).toBe("cycle");
      for (const id of one.status === 200 ? [a, b] : [b, a]) await rig.expect(204, "DELETE", `/folders/${id}`);
    }
    await second.stop();
  });

  test("[FO6] the levels and the number of folders are limited, exactly and for moves as well", async () => {
    const chain: string[] = [];
    for (let level = 1; level <= 4; level += 1) chain.push(await create(`Level ${level}`, { parentFolderId: chain.at(-1) ?? null }));
    expect((await rig.expect(409, "POST", "/folders", { workspaceId, name: "Level 5", parentFolderId: chain[3] })).code).toBe(
      "limit_reached",
    );
    const tall = await create("Tall");
    await create("Below", { parentFolderId: tall });
    expect((await patch(409, tall, { parentFolderId: chain[2] as string })).code).toBe("limit_reached");
    await patch(200, tall, { parentFolderId: chain[1] as string });
    const many = await Promise.all(
      Array.from({ length: 9 }, (_, at) => rig.request("POST", "/folders", { workspaceId, name: `Folder ${at}` })),
    );
    expect(many.filter(({ status }) => status === 201)).toHaveLength(6);
    expect(many.filter(({ body }) => body.code === "limit_reached")).toHaveLength(3);
    expect(await list("")).toHaveLength(12);
  });
});

describe("deletion", () => {
  test("[FO8] an empty folder is deleted; one with an article, a topic or a folder is not", async () => {
    const folderId = await create("Guides", project);
    const refused = async () => (await rig.expect(409, "DELETE", `/folders/${folderId}`)).code;
    const inside = await create("Inside", { parentFolderId: folderId });
    expect(await refused()).toBe("folder_not_empty");
    await rig.expect(204, "DELETE", `/folders/${inside}`);
    const articleId = await addArticle(folderId);
    expect(await refused()).toBe("folder_not_empty");
    await rig.node.articles.delete(articleId, false, createCall(storage, workspaceId, partition));
    await rig.expect(204, "DELETE", `/folders/${folderId}`);
    expect((await rig.request("GET", `/folders/${folderId}`)).status).toBe(404);
    const withTopic = await create("Guides", project);
    await rig.makeTopic("Kites", { contentProjectId: withTopic });
    expect((await rig.expect(409, "DELETE", `/folders/${withTopic}`)).code).toBe("folder_not_empty");
  });

  test("[FO8] no article or topic is left in a folder that another request deletes at the same time", async () => {
    for (let round = 0; round < 12; round += 1) {
      const folderId = await create(`Guides ${round}`, project);
      const { article } = await rig.node.articles.create({ workspaceId, title: "Kites" }, createCall(storage, workspaceId, partition));
      const [deleted, moved, topic] = await Promise.all([
        rig.request("DELETE", `/folders/${folderId}`),
        moveArticle(article.articleId, folderId).then(
          () => true,
          () => false,
        ),
        rig.request("POST", `/workspaces/${workspaceId}/topics`, { title: "Kites", targetAudience: "all", contentProjectId: folderId }),
      ]);
      const hasEntered = moved || topic.status === 201;
      expect(deleted.status, JSON.stringify([moved, topic.status])).toBe(hasEntered ? 409 : 204);
      if (hasEntered) await untilEnded((await rig.expect(202, "DELETE", `/folders/${folderId}?recursive=true`)).jobId);
    }
  });

  test("[FO9] [JB3] a recursive deletion hides a folder at once; its job trashes articles, frees topics", async () => {
    const root = await create("Guides", project);
    const inner = await create("Inner", { parentFolderId: root });
    const deep = await create("Deep", { parentFolderId: inner });
    const articles = await Promise.all(Array.from({ length: 7 }, (_, at) => addArticle(at < 4 ? root : deep, `Kites ${at}`)));
    const topicId = await rig.makeTopic("Kites", { contentProjectId: root });
    const archived = await rig.makeTopic("Wells", { contentProjectId: root });
    await rig.expect(200, "POST", rig.topicPath(archived, "/archive"), {});
    const kept = await addArticle(await create("News"));

    const started = await rig.request("DELETE", `/folders/${root}?recursive=true`);
    expect([started.status, started.headers.get("location")]).toEqual([202, `/jobs/${started.body.jobId}`]);
    for (const folderId of [root, inner, deep]) expect((await rig.request("GET", `/folders/${folderId}`)).status).toBe(404);
    expect(await list("")).toEqual(["News"]);
    expect((await rig.request("DELETE", `/folders/${root}?recursive=true`)).status).toBe(404);
    await create("Guides");
    await expect(moveArticle(kept, deep)).rejects.toMatchObject({
      code: "validation_failed",
      facts: { errors: [{ pointer: "/folderId" }] },
    });

    const job = await untilEnded(started.body.jobId);
    expect(job).toMatchObject({
      kind: "folder.delete",
      status: "succeeded",
      progress: { done: 12, of: 12 },
      result: { folders: 3, articles: 7, topics: 2 },
    });
    const { headers } = await rig.request("GET", `/jobs/${started.body.jobId}`);
    const unchanged = { "if-none-match": headers.get("etag") ?? "" };
    expect((await rig.request("GET", `/jobs/${started.body.jobId}`, undefined, { headers: unchanged })).status).toBe(304);
    for (const articleId of articles) expect((await articleOf(articleId))?.deletedAtMs).toBeGreaterThan(0);
    expect((await articleOf(kept))?.deletedAtMs).toBeUndefined();
    for (const id of [topicId, archived]) expect(await rig.topic(id)).not.toHaveProperty("contentProjectId");
    expect((await rig.topic(archived)).status).toBe("archived");
    expect((await rig.auditOf(topicId)).at(-1)).toBe("topic_updated");
    expect((await rig.request("GET", `/jobs/${started.body.jobId}`, undefined, { as: "dan" })).status).toBe(404);
    expect((await rig.request("GET", "/jobs/job_01KAHX0000050123456789ABCD")).status).toBe(404);
  });

  test("[JB7] no commit of a job changes more than job.records records", async () => {
    const root = await create("Guides", project);
    for (let at = 0; at < 5; at += 1) await addArticle(root, `Kites ${at}`);
    for (let at = 0; at < 5; at += 1) await rig.makeTopic(`Kites ${at}`, { contentProjectId: root });
    rig.committed.length = 0;
    await untilEnded((await rig.expect(202, "DELETE", `/folders/${root}?recursive=true`)).jobId);
    const sizes = rig.committed.filter(({ types }) => types.includes("job")).map(({ types }) => types.length);
    expect(sizes.length).toBeGreaterThan(4);
    // The job's own record is not one of those that the job changes.
    expect(Math.max(...sizes) - 1).toBeLessThanOrEqual(12);
  });

  test("[FO12] an article from the trash returns to its folder, or to the top level if the folder is gone", async () => {
    const call = () => createCall(storage, workspaceId, partition);
    const folderId = await create("Guides");
    const articleId = await addArticle(folderId);
    await rig.node.articles.delete(articleId, false, call());
    expect((await rig.node.articles.undelete(articleId, call())).article.folderId).toBe(folderId);
    await untilEnded((await rig.expect(202, "DELETE", `/folders/${folderId}?recursive=true`)).jobId);
    expect((await articleOf(articleId))?.deletedAtMs).toBeGreaterThan(0);
    const { article } = await rig.node.articles.undelete(articleId, call());
    expect(article).not.toHaveProperty("folderId");
  });
});

describe("archiving", () => {
  test("[FO10] a folder is archived and restored with its topics, and their runs are cancelled", async () => {
    const folderId = await create("Guides", project);
    const topics: string[] = [];
    for (let at = 0; at < 5; at += 1) topics.push(await rig.makeTopic(`Kites ${at}`, { contentProjectId: folderId }));
    const [shortlisted = "", running = "", manual = ""] = topics;
    await rig.expect(200, "POST", rig.topicPath(shortlisted, "/shortlist"), {});
    const { runId } = await rig.startStaged(running);
    await rig.runIn(runId, "paused_for_approval");
    await rig.expect(200, "POST", rig.topicPath(manual, "/archive"), {});
    const outside = await rig.makeTopic("Elsewhere");

    const answer = await rig.request("POST", `/folders/${folderId}/archive`, { note: "The campaign is over." });
    expect([answer.status, answer.headers.get("location")]).toEqual([202, `/jobs/${answer.body.jobId}`]);
    expect(answer.body.folder).toEqual(await get(folderId));
    expect(answer.body.folder.archivedAt).toBeGreaterThan(0);
    expect(await untilEnded(answer.body.jobId)).toMatchObject({ progress: { done: 4, of: 4 }, result: { topics: 4 } });
    const archived = {
      archivedByContentProjectId: folderId,
      archiveReason: "content_project_archived",
      archiveNote: "The campaign is over.",
    };
    expect(await rig.topic(shortlisted)).toMatchObject({
      status: "archived",
      archivedFromStatus: "shortlisted",
      archivedBy: "ana",
      ...archived,
    });
    expect(await rig.topic(running)).toMatchObject({ archivedFromStatus: "outlined", ...archived });
    expect((await storage.records.get(runRecord, runId))?.value.state).toBe("cancelled");
    expect(await rig.topic(manual)).toMatchObject({ archiveReason: "manual" });
    expect((await rig.topic(outside)).status).toBe("idea");
    expect((await rig.auditOf(shortlisted)).at(-1)).toBe("topic_archived");

    const again = await rig.expect(409, "POST", `/folders/${folderId}/archive`);
    expect(again).toMatchObject({ code: "invalid_transition", currentState: "archived", allowed: ["folders.restore"] });
    for (const body of [{ parentFolderId: folderId, workspaceId, name: "Inside" }]) {
      expect((await rig.expect(422, "POST", "/folders", body)).errors[0].pointer).toBe("/parentFolderId");
    }
    await expect(addArticle(folderId)).rejects.toMatchObject({ code: "validation_failed" });
    const refused = { title: "Late", targetAudience: "all", contentProjectId: folderId };
    expect((await rig.request("POST", `/workspaces/${workspaceId}/topics`, refused)).status).toBe(422);

    const restored = await rig.expect(202, "POST", `/folders/${folderId}/restore`);
    expect(restored.folder).not.toHaveProperty("archivedAt");
    expect(await untilEnded(restored.jobId)).toMatchObject({ kind: "folder.restore", result: { topics: 4 }, progress: { done: 5, of: 5 } });
    const statuses = await Promise.all(topics.map(async (topicId) => (await rig.topic(topicId)).status));
    expect(statuses).toEqual(["shortlisted", "outlined", "archived", "idea", "idea"]);
    expect(await rig.topic(shortlisted)).not.toHaveProperty("archivedByContentProjectId");
    expect((await rig.auditOf(shortlisted)).at(-1)).toBe("topic_restored");
    expect((await rig.expect(409, "POST", `/folders/${folderId}/restore`)).currentState).toBe("active");
  });

  test("[FO11] after archiving and restoring at once, the topics are as the last request says", async () => {
    const folderId = await create("Guides", project);
    const topics: string[] = [];
    for (let at = 0; at < 12; at += 1) topics.push(await rig.makeTopic(`Kites ${at}`, { contentProjectId: folderId }));
    const jobs: string[] = [];
    for (const action of ["archive", "restore", "archive", "restore"]) {
      jobs.push((await rig.expect(202, "POST", `/folders/${folderId}/${action}`)).jobId);
    }
    for (const jobId of jobs) expect((await untilEnded(jobId)).status).toBe("succeeded");
    for (const topicId of topics) expect((await rig.topic(topicId)).status).toBe("idea");
    const last = await rig.expect(202, "POST", `/folders/${folderId}/archive`);
    await untilEnded(last.jobId);
    for (const topicId of topics) expect((await rig.topic(topicId)).status).toBe("archived");
  });
});
