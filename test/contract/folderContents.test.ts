/** Tests folders with their contents over REST: deletion and archiving, and the jobs that change what is in a folder. */
import { describe, expect, test } from "vitest";
import { runRecord } from "../../server/domain/runs/model/records.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { workspaceId } from "../support/operationServer.ts";
import { createCall } from "./articleFixture.ts";
import { useFolders } from "./folderFixture.ts";

const partition = partitionOfId(workspaceId);
const folders = useFolders();
const { create, get, list, untilEnded, addArticle, moveArticle, articleOf } = folders;

const project = { contentProject: {} };

describe("deletion", () => {
  test("[FO8] an empty folder is deleted; one with an article, a topic or a folder is not", async () => {
    const { storage, rig } = folders;
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
    const { storage, rig } = folders;
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
    const { rig } = folders;
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
    const { rig } = folders;
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
    const { storage, rig } = folders;
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
    const { storage, rig } = folders;
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
    const { rig } = folders;
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
