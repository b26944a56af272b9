/** Tests which requests start a run of a topic over REST, and which actions end it. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runRecord } from "../../server/domain/runs/model/records.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import { workspaceId } from "../support/operationServer.ts";
import { createRunRig, type RunRig } from "./runRig.ts";

let rig: RunRig;
beforeEach(async () => {
  rig = await createRunRig({ storage: createMemoryStorage() });
});
afterEach(() => rig.close());

describe("other ways to start", () => {
  test("[RU45] full is one run, which continues from the outline to the draft by itself", async () => {
    const topicId = await rig.makeTopic();
    const { runId, workflowId } = await rig.expect(202, "POST", rig.topicPath(topicId, "/workflow-runs"), { pipeline: "full" });
    expect(workflowId).toBe("full_editorial_article");
    await rig.runIn(runId, "paused_for_approval");
    // The same run continues to the draft: no other run starts.
    const approved = await rig.expect(200, "POST", rig.topicPath(topicId, "/outline/approve"), {});
    expect(approved.draftRunId).toBeUndefined();
    const run = await rig.runIn(runId, "failed");
    expect(run.steps.map(({ name, status }: { name: string; status: string }) => [name, status]).slice(0, 7)).toEqual([
      ["serp_benchmark", "completed"],
      ["research", "completed"],
      ["thesis", "completed"],
      ["outline", "completed"],
      ["draft", "completed"],
      ["citation_enrichment", "failed"],
      ["tech_review", "pending"],
    ]);
    expect((await rig.topic(topicId)).status).toBe("drafted");
  });

  test("[RU45] shortlisting starts research only with instructions or a style profile", async () => {
    const [quiet, loud] = [await rig.makeTopic("One"), await rig.makeTopic("Two")];
    expect(await rig.expect(200, "POST", rig.topicPath(quiet, "/shortlist"))).toEqual({ message: expect.any(String), topicId: quiet });
    const started = await rig.expect(202, "POST", rig.topicPath(loud, "/shortlist"), { instructions: "look at the coast" });
    expect(started).toMatchObject({ workflowId: "research", runId: expect.any(String), articleId: expect.any(String) });
    await rig.runIn(started.runId, "completed");
    expect(await rig.topic(loud)).toMatchObject({ status: "shortlisted", agentRunId: started.runId, articleId: started.articleId });
    const { texts } = await rig.node.documents.read(started.articleId);
    expect(texts["research.md"]).toBe("# research 1\n");
    expect(await rig.auditOf(loud)).toContain("pipeline_stage_completed");
  });

  test("[RU45] an outline or a draft can run alone, and approving such an outline starts no draft", async () => {
    const topicId = await rig.makeTopic();
    const { runId, ...rest } = await rig.expect(202, "POST", rig.topicPath(topicId, "/outline"), { styleProfileId: "house" });
    expect(rest).toEqual({ articleId: expect.any(String), status: "queued" });
    await rig.runIn(runId, "paused_for_approval");
    const approved = await rig.expect(200, "POST", rig.topicPath(topicId, "/outline/approve"), {});
    expect(approved).toEqual({ message: expect.any(String), topicId, articleId: rest.articleId });
    await rig.runIn(runId, "completed");
    const acted = await rig.expect(202, "POST", rig.topicPath(topicId, "/draft/actions"), { action: "create" });
    expect(acted).toMatchObject({ workflowId: "draft", action: "create", status: "queued" });
    await rig.runIn(acted.runId, "completed");
    const message = await rig.expect(200, "POST", rig.topicPath(topicId, "/draft/approve"), { note: "print it" });
    expect(message).toEqual({ message: expect.any(String), topicId });
    expect((await rig.topic(topicId)).approvals.draft).toMatchObject({ approvedBy: "ana", note: "print it" });
  });

  test("[RU46] one Idempotency-Key starts one run, and a second run is refused with the first one's id", async () => {
    const topicId = await rig.makeTopic();
    const headers = { "idempotency-key": "once" };
    const answers = await Promise.all([1, 2, 3].map(() => rig.request("POST", rig.topicPath(topicId, "/workflow-runs"), {}, { headers })));
    const first = answers.find(({ status }) => status === 202)?.body;
    for (const { status, body } of answers)
      expect(status === 202 ? body.runId : body.code).toBe(status === 202 ? first.runId : "idempotency_in_progress");
    const again = await rig.request("POST", rig.topicPath(topicId, "/workflow-runs"), {}, { headers });
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.body).toEqual(first);
    for (const [path, body] of [
      ["/workflow-runs", {}],
      ["/outline", {}],
      ["/draft/actions", { action: "create" }],
    ] as const) {
      const refused = await rig.request("POST", rig.topicPath(topicId, path), body);
      expect(refused).toMatchObject({ status: 409, body: { code: "run_in_progress", activeRunId: first.runId } });
    }
    const { runs } = await rig.expect(200, "GET", `/workspaces/${workspaceId}/runs?topicId=${topicId}`);
    expect(runs).toHaveLength(1);
  });

  test("[RU46] of many concurrent starts, one run and one article are created", async () => {
    const topicId = await rig.makeTopic();
    const answers = await Promise.all(Array.from({ length: 8 }, () => rig.request("POST", rig.topicPath(topicId, "/workflow-runs"), {})));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, ...Array(7).fill(409)]);
    expect((await rig.node.articles.list({ workspaceId })).items).toHaveLength(1);
  });
});

describe("actions that end a run", () => {
  test("[RU47] archiving a topic cancels its active run in the same commit, and no retry is possible", async () => {
    const topicId = await rig.makeTopic();
    const { runId } = await rig.startStaged(topicId);
    await rig.runIn(runId, "paused_for_approval");
    await rig.expect(200, "POST", rig.topicPath(topicId, "/archive"), { note: "not now" });
    expect(await rig.run(runId)).toMatchObject({ status: "cancelled" });
    expect(await rig.topic(topicId)).toMatchObject({ status: "archived", archiveNote: "not now", archivedFromStatus: "outlined" });
    for (const [path, body] of [
      ["/workflow-runs", {}],
      ["/outline/approve", {}],
      ["/outline/request-changes", {}],
      ["/draft/actions", { action: "create" }],
      ["/archive", {}],
    ] as const) {
      const refused = await rig.request("POST", rig.topicPath(topicId, path), body);
      expect(refused, path).toMatchObject({
        status: 409,
        body: { code: "invalid_transition", currentState: "archived", allowed: ["topics.restore"] },
      });
    }
    expect(await rig.request("POST", `/runs/${runId}/retry`)).toMatchObject({
      status: 409,
      body: { code: "invalid_transition", currentState: "archived" },
    });
    await rig.expect(200, "POST", rig.topicPath(topicId, "/restore"));
    await rig.expect(202, "POST", `/runs/${runId}/retry`);
    expect((await rig.runIn(runId, "paused_for_approval")).steps.map(({ attempt }: { attempt: number }) => attempt)).toEqual([1, 1, 1]);
  });

  test("[RU48] moving an article to the trash cancels the run that writes it, and no run starts then", async () => {
    const topicId = await rig.makeTopic();
    const { runId, articleId } = await rig.startStaged(topicId);
    await rig.runIn(runId, "paused_for_approval");
    const { createCall } = await import("./articleFixture.ts");
    const call = createCall(rig.storage, workspaceId, 5, { username: "ana", role: "owner" });
    await rig.node.articles.delete(articleId, false, call);
    expect(await rig.run(runId)).toMatchObject({ status: "cancelled" });
    for (const path of ["/workflow-runs", "/outline"]) {
      const refused = await rig.request("POST", rig.topicPath(topicId, path), {});
      expect(refused).toMatchObject({ status: 409, body: { code: "invalid_transition", currentState: "article_deleted" } });
    }
    expect((await rig.request("POST", `/runs/${runId}/retry`)).status).toBe(409);
    await rig.node.articles.undelete(articleId, call);
    await rig.expect(202, "POST", `/runs/${runId}/retry`);
  });

  test("[RU110] deleting an article cancels every active run that writes it, however many there are", async () => {
    const topicId = await rig.makeTopic();
    const { runId, articleId } = await rig.startStaged(topicId);
    await rig.runIn(runId, "paused_for_approval");
    const stored = await rig.storage.records.get(runRecord, runId);
    if (stored === undefined) throw new Error("no run");
    const { value } = stored;
    // More than two pages of the index. Each run has a topic of its own, because a topic has at most one active run.
    const copies = Array.from({ length: 205 }, (_, at) => {
      const numbered = (id: string) => `${id.slice(0, -6)}${String(at).padStart(6, "0")}`;
      return { ...value, id: numbered(runId), context: { ...value.context, topicId: numbered(topicId) } };
    });
    const records = copies.map((copy) => ({ op: "put", type: runRecord, value: copy, replacing: null }) as const);
    expect((await rig.storage.commit({ partition: partitionOfId(runId), records })).ok).toBe(true);
    const { createCall } = await import("./articleFixture.ts");
    await rig.node.articles.delete(articleId, false, createCall(rig.storage, workspaceId, 5, { username: "ana", role: "owner" }));
    const after = await rig.storage.records.getMany(runRecord, [runId, ...copies.map(({ id }) => id)]);
    expect(new Set(after.map((run) => run?.value.state))).toEqual(new Set(["cancelled"]));
  });
});
