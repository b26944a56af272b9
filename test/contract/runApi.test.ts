/** Tests the API of workflows and runs: lists, targets, scopes, artifacts, retries, and isolation of other workspaces. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StepResult } from "../../server/domain/runs/executors/port.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import { otherWorkspaceId, workspaceId } from "../support/operationServer.ts";
import { createRunRig, noUsage, type RunRig } from "./runRig.ts";

let rig: RunRig;
beforeEach(async () => {
  rig = await createRunRig({ storage: createMemoryStorage() });
});
afterEach(() => rig.close());

describe("workflows", () => {
  test("[RU60] the built-in workflows are listed with their steps, one is the default, and each is shown", async () => {
    const { workflows } = await rig.expect(200, "GET", `/workflows?workspaceId=${workspaceId}`);
    expect(
      workflows.map(({ id, costClass, isDefault, userVisible }: Record<string, unknown>) => [id, costClass, isDefault, userVisible]),
    ).toEqual([
      ["standard_article", "expensive", true, true],
      ["research", "cheap", false, true],
      ["outline", "cheap", false, true],
      ["draft", "expensive", false, true],
      ["full_editorial_article", "expensive", false, true],
      ["topic_research", "cheap", false, false],
      ["deep_topic_research", "expensive", false, false],
      ["seo_review", "cheap", false, false],
    ]);
    const picked = await rig.expect(200, "GET", `/workflows?workspaceId=${workspaceId}&userVisible=true`);
    expect(picked.workflows).toHaveLength(5);
    const standard = await rig.expect(200, "GET", `/workflows/standard_article?workspaceId=${workspaceId}`);
    expect(standard).toMatchObject({ id: "standard_article", version: "1", source: "system" });
    expect(
      standard.steps.map(({ name, approval, persistToArticle }: Record<string, unknown>) => [name, approval, persistToArticle]),
    ).toEqual([
      ["research", "none", { file: "research.md" }],
      ["thesis", "none", undefined],
      ["outline", "required", { file: "outline.md", createAutoVersion: true }],
      ["draft", "optional", { file: "content.md", createAutoVersion: true }],
      ["review", "none", undefined],
    ]);
    expect((await rig.request("GET", `/workflows/none?workspaceId=${workspaceId}`)).status).toBe(404);
  });

  test("[RU61] a target that does not fit is refused with 422, and nothing is created", async () => {
    const topicId = await rig.makeTopic();
    const start = (workflowId: string, body: object) => rig.request("POST", `/workflows/${workflowId}/runs`, { workspaceId, ...body });
    const foreign = "art_01KAHX0000070123456789ABCD";
    for (const [workflowId, body, pointer] of [
      ["draft", {}, ""],
      ["draft", { folderId: "fld_01KAHX0000050123456789ABCD" }, "/folderId"],
      ["draft", { topicId, articleId: foreign }, "/articleId"],
      ["draft", { articleId: foreign }, "/articleId"],
      ["draft", { topicId: "T-99" }, "/topicId"],
      ["topic_research", { topicId }, "/topicId"],
      ["seo_review", { topicId }, "/topicId"],
      ["draft", { topicId, styleProfileId: "none" }, "/styleProfileId"],
    ] as const) {
      const refused = await start(workflowId, body);
      expect(refused, JSON.stringify(body)).toMatchObject({ status: 422, body: { code: "validation_failed", errors: [{ pointer }] } });
    }
    expect((await rig.request("POST", "/workflows/none/runs", { workspaceId, topicId })).status).toBe(404);
    expect((await rig.expect(200, "GET", `/workspaces/${workspaceId}/runs`)).runs).toEqual([]);
    expect((await rig.node.articles.list({ workspaceId })).items).toEqual([]);
  });

  test("[RU61] a run for an article writes it, one at a time, and a topic's article counts as the topic", async () => {
    await rig.close();
    const draft = ({ signal }: { signal: AbortSignal }) =>
      new Promise<StepResult>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    rig = await createRunRig({ storage: createMemoryStorage(), executors: { draft } });
    const { createCall } = await import("./articleFixture.ts");
    const call = createCall(rig.storage, workspaceId, 5, { username: "ana" });
    const { article } = await rig.node.articles.create({ workspaceId, title: "Alone" }, call);
    const started = await rig.request("POST", "/workflows/draft/runs", { workspaceId, articleId: article.articleId });
    expect(started).toMatchObject({ status: 202, body: { articleId: article.articleId, approvalMode: "none", lastSeq: 0 } });
    expect(started.headers.get("location")).toBe(`/runs/${started.body.runId}`);
    expect(started.body.topicId).toBeUndefined();
    const second = await rig.request("POST", "/workflows/draft/runs", { workspaceId, articleId: article.articleId });
    expect(second).toMatchObject({ status: 409, body: { code: "run_in_progress", activeRunId: started.body.runId } });
    // The refusal names the state and the operations that are possible in it.
    expect(second.body).toMatchObject({ currentState: expect.stringMatching(/^(queued|running)$/), allowed: ["runs.cancel"] });
    const topicId = await rig.makeTopic();
    const ofTopic = await rig.expect(202, "POST", rig.topicPath(topicId, "/draft/actions"), { action: "create" });
    const byArticle = await rig.request("POST", "/workflows/draft/runs", { workspaceId, articleId: ofTopic.articleId });
    expect(byArticle).toMatchObject({ status: 409, body: { activeRunId: ofTopic.runId } });
  });
});

describe("runs", () => {
  test("[RU62] lists by status, topic, article and workflow, newest first, page by page", async () => {
    const topics = [await rig.makeTopic("One"), await rig.makeTopic("Two"), await rig.makeTopic("Three")];
    const runIds: string[] = [];
    for (const topicId of topics) {
      const { runId } = await rig.startStaged(topicId);
      await rig.runIn(runId, "paused_for_approval");
      runIds.push(runId);
    }
    await rig.expect(202, "POST", `/runs/${runIds[0]}/cancel`);
    const list = async (query: string) => {
      const { runs } = await rig.expect(200, "GET", `/workspaces/${workspaceId}/runs${query}`);
      return runs.map(({ runId }: { runId: string }) => runId);
    };
    const [first, second, third] = runIds as [string, string, string];
    expect(await list("")).toEqual([third, second, first]);
    expect(await list("?status=cancelled")).toEqual([first]);
    expect(await list("?status=cancelled&status=paused_for_approval")).toEqual([third, second, first]);
    expect(await list("?status=completed")).toEqual([]);
    expect(await list("?topicId=T-2")).toEqual([second]);
    expect(await list("?topicId=T-2&status=cancelled")).toEqual([]);
    expect(await list("?topicId=T-9")).toEqual([]);
    expect(await list("?workflowId=outline")).toEqual([third, second, first]);
    expect(await list("?workflowId=draft")).toEqual([]);
    const { articleId } = await rig.topic(topics[1] as string);
    expect(await list(`?articleId=${articleId}`)).toEqual([second]);
    const { runs, nextToken } = await rig.expect(200, "GET", `/workspaces/${workspaceId}/runs?limit=2`);
    expect(runs).toHaveLength(2);
    expect(await list(`?limit=2&nextToken=${nextToken}`)).toEqual([first]);
    expect((await rig.request("GET", `/workspaces/${workspaceId}/runs?limit=2&status=cancelled&nextToken=${nextToken}`)).status).toBe(400);
  });

  test("[RU63] artifacts are listed newest first and read in their types, and approvals page by page", async () => {
    const topicId = await rig.makeTopic();
    const { runId } = await rig.startStaged(topicId);
    await rig.runIn(runId, "paused_for_approval");
    const { artifacts } = await rig.expect(200, "GET", `/runs/${runId}/artifacts`);
    expect(artifacts.map(({ artifactKey }: { artifactKey: string }) => artifactKey)).toEqual(["outline-1", "research-1"]);
    expect(artifacts[0]).toMatchObject({ runId, stepName: "outline", kind: "outline", contentType: "text/markdown" });
    expect(await rig.expect(200, "GET", `/runs/${runId}/artifacts/outline-1`)).toBe("# outline 1\n");
    expect((await rig.request("GET", `/runs/${runId}/artifacts/none-1`)).status).toBe(404);
    const page = await rig.expect(200, "GET", `/runs/${runId}/approvals?limit=1`);
    expect(page.approvals).toHaveLength(1);
    expect(page.nextToken).toBeUndefined();
    const { events, lastSeq } = await rig.expect(200, "GET", `/runs/${runId}/events`);
    expect(events.map(({ seq }: { seq: number }) => seq)).toEqual(events.map((_: unknown, index: number) => index + 1));
    expect(lastSeq).toBe(events.length);
    expect((await rig.run(runId)).lastSeq).toBe(lastSeq);
    const rest = await rig.expect(200, "GET", `/runs/${runId}/events?afterSeq=${lastSeq - 1}`);
    expect(rest.events).toMatchObject([{ event: "agent.paused_for_approval", seq: lastSeq }]);
  });

  test("[RU64] a retry continues at the failed step, or earlier, and keeps finished steps", async () => {
    await rig.close();
    let isBroken = true;
    const outline = async (): Promise<StepResult> =>
      isBroken
        ? { kind: "failed", code: "provider_unavailable", message: "nobody answers", retryable: true, usage: noUsage }
        : { kind: "completed", text: "fine", artifacts: [{ kind: "outline", contentType: "text/markdown", text: "fine" }], usage: noUsage };
    rig = await createRunRig({ storage: createMemoryStorage(), executors: { outline } });
    const topicId = await rig.makeTopic();
    const { runId } = await rig.expect(202, "POST", rig.topicPath(topicId, "/outline"), {});
    const failed = await rig.runIn(runId, "failed");
    expect(failed.failure).toEqual({ code: "provider_unavailable", message: "nobody answers", retryable: true, stepName: "outline" });
    expect(failed.steps[2]).toMatchObject({ status: "failed", error: { code: "provider_unavailable" } });
    const unknown = await rig.request("POST", `/runs/${runId}/retry`, { fromStep: "none" });
    expect(unknown).toMatchObject({ status: 422, body: { errors: [{ pointer: "/fromStep" }] } });
    isBroken = false;
    await rig.expect(202, "POST", `/runs/${runId}/retry`);
    const paused = await rig.runIn(runId, "paused_for_approval");
    expect(paused.steps.map(({ attempt }: { attempt: number }) => attempt)).toEqual([1, 1, 2]);
    expect(paused.failure).toBeUndefined();
    await rig.expect(202, "POST", `/runs/${runId}/cancel`);
    await rig.expect(202, "POST", `/runs/${runId}/retry`, { fromStep: "thesis", budget: { maxSeconds: 60 } });
    const again = await rig.runIn(runId, "paused_for_approval");
    expect(again.steps.map(({ attempt }: { attempt: number }) => attempt)).toEqual([1, 2, 3]);
    expect(again.budget).toEqual({ maxSeconds: 60 });
    // A run that was cancelled while it waited waits again after a plain retry, and no step is executed again.
    await rig.expect(202, "POST", `/runs/${runId}/cancel`);
    await rig.expect(202, "POST", `/runs/${runId}/retry`);
    expect((await rig.runIn(runId, "paused_for_approval")).steps.map(({ attempt }: { attempt: number }) => attempt)).toEqual([1, 2, 3]);
  });

  test("[RU64] a retry is refused while another run of the topic is active", async () => {
    const topicId = await rig.makeTopic();
    const { runId: first } = await rig.expect(202, "POST", rig.topicPath(topicId, "/outline"), {});
    await rig.expect(202, "POST", `/runs/${first}/cancel`);
    const { runId: second } = await rig.expect(202, "POST", rig.topicPath(topicId, "/outline"), {});
    await rig.runIn(second, "paused_for_approval");
    expect(await rig.request("POST", `/runs/${first}/retry`)).toMatchObject({
      status: 409,
      body: { code: "run_in_progress", activeRunId: second },
    });
  });

  test("[RU65] runs of a foreign workspace look missing, and a reader may not decide", async () => {
    const topicId = await rig.makeTopic();
    const { runId } = await rig.startStaged(topicId);
    const { pendingApproval } = await rig.runIn(runId, "paused_for_approval");
    for (const [method, path, body] of [
      ["GET", `/runs/${runId}`, undefined],
      ["GET", `/runs/${runId}/approvals`, undefined],
      ["GET", `/runs/${runId}/artifacts`, undefined],
      ["GET", `/runs/${runId}/artifacts/outline-1`, undefined],
      ["GET", `/runs/${runId}/events`, undefined],
      ["POST", `/runs/${runId}/cancel`, {}],
      ["POST", `/runs/${runId}/retry`, {}],
      ["POST", `/runs/${runId}/approvals/${pendingApproval.approvalId}`, { decision: "approve" }],
    ] as const) {
      expect((await rig.request(method, path, body, { as: "dan" })).status, path).toBe(404);
      const missing = path.replace(runId, "run_01KAHX0000050123456789ABCD");
      expect((await rig.request(method, missing, body)).status, missing).toBe(404);
    }
    const elsewhere = await rig.request("POST", "/workflows/draft/runs", { workspaceId: otherWorkspaceId, topicId });
    expect(elsewhere).toMatchObject({ status: 422, body: { errors: [{ pointer: "/topicId" }] } });
    const key = "ana|workspaces:read";
    expect((await rig.request("POST", `/runs/${runId}/cancel`, {}, { key })).body.code).toBe("insufficient_scope");
    expect((await rig.request("GET", `/runs/${runId}/artifacts`, undefined, { key })).body.missingScopes).toEqual(["articles:read"]);
  });

  test("[RU66] starting a run requires articles:write, even if the operation itself does not", async () => {
    const key = "ana|workspaces:write";
    const topicId = await rig.makeTopic();
    const refusal = {
      status: 403,
      body: { code: "insufficient_scope", requiredScopes: ["workspaces:write", "articles:write"], missingScopes: ["articles:write"] },
    };
    expect(await rig.request("POST", rig.topicPath(topicId, "/shortlist"), { instructions: "go" }, { key })).toMatchObject(refusal);
    expect((await rig.topic(topicId)).status).toBe("idea");
    await rig.expect(200, "POST", rig.topicPath(topicId, "/shortlist"), {}, { key });
    const { runId } = await rig.startStaged(topicId);
    await rig.runIn(runId, "paused_for_approval");
    expect(await rig.request("POST", rig.topicPath(topicId, "/outline/approve"), {}, { key })).toMatchObject(refusal);
    expect((await rig.run(runId)).status).toBe("paused_for_approval");
    const long = await rig.request("POST", rig.topicPath(topicId, "/outline/request-changes"), { feedback: "x".repeat(10_001) });
    expect(long).toMatchObject({ status: 422, body: { errors: [{ pointer: "/feedback" }] } });
  });

  test("[RU66] the scope that a body requires is checked before its content and before the state", async () => {
    const key = "ana|workspaces:write";
    const topicId = await rig.makeTopic();
    const refusal = { status: 403, body: { code: "insufficient_scope", missingScopes: ["articles:write"] } };
    expect(await rig.request("POST", rig.topicPath(topicId, "/shortlist"), { styleProfileId: "none" }, { key })).toMatchObject(refusal);
    const { runId } = await rig.startStaged(topicId);
    const { pendingApproval } = await rig.runIn(runId, "paused_for_approval");
    const path = `/runs/${runId}/approvals/${pendingApproval.approvalId}`;
    await rig.expect(200, "POST", path, { decision: "reject" }, { key });
    const edits = { mode: "append", content: "late" };
    for (const note of ["short", "x".repeat(10_001)]) {
      expect(await rig.request("POST", path, { decision: "approve", note, edits }, { key })).toMatchObject(refusal);
    }
    expect(await rig.request("POST", path, { decision: "approve", edits })).toMatchObject({ status: 409 });
  });

  test("[RU67] every request for a run counts in rate.runs, but a decision that leads to one does not", async () => {
    await rig.close();
    rig = await createRunRig({ storage: createMemoryStorage(), limits: { "rate.runs": { count: 1, seconds: 3600, burst: 3 } } });
    const topics = await Promise.all(Array.from({ length: 6 }, (_, at) => rig.makeTopic(`Topic ${at}`)));
    const { runId } = await rig.expect(202, "POST", rig.topicPath(topics[5] as string, "/workflow-runs"), {});
    await rig.runIn(runId, "paused_for_approval");
    const shortlist = async (at: number, body: object) => rig.request("POST", rig.topicPath(topics[at] as string, "/shortlist"), body);
    expect((await shortlist(0, {})).status).toBe(200);
    expect((await shortlist(1, { instructions: "go" })).status).toBe(202);
    expect((await shortlist(2, { styleProfileId: "house" })).status).toBe(202);
    const refused = await shortlist(3, { instructions: "go" });
    expect(refused).toMatchObject({ status: 429, body: { code: "rate_limited" } });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await rig.trpc("topics.shortlist", { workspaceId, topicId: topics[3], instructions: "go" })).problem.code).toBe("rate_limited");
    expect((await rig.request("POST", rig.topicPath(topics[3] as string, "/outline"), {})).status).toBe(429);
    expect((await shortlist(4, {})).status).toBe(200);
    expect((await rig.topic(topics[3] as string)).status).toBe("idea");
    await rig.expect(202, "POST", rig.topicPath(topics[5] as string, "/outline/approve"), {});
  });
});
