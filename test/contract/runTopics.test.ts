/** Tests the way from a topic to its draft over REST: which runs follow, and what each move records. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { folderRecord } from "../../server/domain/folders/records.ts";
import type { StepContext, StepResult } from "../../server/domain/runs/executors/port.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import { workspaceId } from "../support/operationServer.ts";
import { createRunRig, noUsage, type RunRig } from "./runRig.ts";

let rig: RunRig;
beforeEach(async () => {
  rig = await createRunRig({ storage: createMemoryStorage() });
});
afterEach(() => rig.close());

describe("the staged pipeline", () => {
  test("[RU40] an outline waits for approval, then its draft follows; each move is recorded once", async () => {
    const topicId = await rig.makeTopic();
    const started = await rig.expect(202, "POST", rig.topicPath(topicId, "/workflow-runs"), { instructions: "be brief" });
    expect(started).toEqual({
      runId: expect.any(String),
      workflowId: "outline",
      articleId: expect.any(String),
      topicId,
      status: "queued",
    });
    const { runId, articleId } = started;
    const paused = await rig.runIn(runId, "paused_for_approval");
    expect(paused).toMatchObject({
      pipeline: "staged",
      topicId,
      articleId,
      approvalMode: "required",
      currentStep: "outline",
      startedBy: "ana",
      pendingApproval: { stepName: "outline", policy: "required", state: "pending", artifactKeys: ["outline-1"] },
    });
    expect(await rig.topic(topicId)).toMatchObject({
      status: "outlined",
      articleId,
      outlineRunId: runId,
      seoBriefRevision: 1,
      outlineSeoBriefRevision: 1,
    });
    const article = await rig.node.articles.get(articleId);
    expect(article.article).toMatchObject({ title: "Kites in high wind", topicId });

    const approved = await rig.expect(202, "POST", rig.topicPath(topicId, "/outline/approve"), { note: "good" });
    expect(approved).toMatchObject({ topicId, articleId, workflowId: "draft", draftRunId: expect.any(String) });
    const outline = await rig.runIn(runId, "completed");
    expect(outline.chainedRunId).toBe(approved.draftRunId);
    const draft = await rig.runIn(approved.draftRunId, "completed");
    expect(draft).toMatchObject({ workflowId: "draft", pipeline: "staged", parentRunId: runId, approvalMode: "none", topicId, articleId });

    const topic = await rig.topic(topicId);
    expect(topic).toMatchObject({ status: "drafted", draftRunId: approved.draftRunId, draftSeoBriefRevision: 1 });
    expect(topic.approvals.outline).toMatchObject({ approvedBy: "ana", note: "good" });
    expect(await rig.expect(200, "GET", rig.topicPath(topicId, "/outline"))).toEqual({ topicId, articleId, outline: "# outline 1\n" });
    expect(await rig.expect(200, "GET", rig.topicPath(topicId, "/draft"))).toEqual({ topicId, articleId, draft: "# draft 1\n" });
    const audit = await rig.auditOf(topicId);
    for (const once of ["topic_created", "topic_shortlisted", "outline_generated", "outline_approved", "draft_generated"]) {
      expect(
        audit.filter((eventType) => eventType === once),
        once,
      ).toHaveLength(1);
    }
    expect(audit.filter((eventType) => eventType === "pipeline_stage_completed")).toHaveLength(3);
    // The author of the commits is the agent, and each commit names its run.
    const commits = await rig.node.commits.list(articleId, {});
    expect(commits.items.map(({ kind, runId: of }) => [kind, of])).toEqual([
      ["agent", approved.draftRunId],
      ["agent", runId],
    ]);
  });

  test("[RU40] an approval at the run also approves the topic's outline, and the draft follows", async () => {
    const topicId = await rig.makeTopic();
    const { runId } = await rig.startStaged(topicId);
    const { pendingApproval } = await rig.runIn(runId, "paused_for_approval");
    const approval = await rig.expect(
      200,
      "POST",
      `/runs/${runId}/approvals/${pendingApproval.approvalId}`,
      { decision: "approve" },
      { as: "ben" },
    );
    expect(approval).toMatchObject({ state: "approved", resolvedBy: "ben", runId });
    const { chainedRunId } = await rig.run(runId);
    await rig.runIn(chainedRunId, "completed");
    expect((await rig.topic(topicId)).approvals.outline).toMatchObject({ approvedBy: "ben" });
  });

  test("[RU41] the draft reads the results of the outline run", async () => {
    await rig.close();
    let read: string | undefined;
    const draft = async (context: StepContext): Promise<StepResult> => {
      read = await context.output("outline");
      return {
        kind: "completed",
        text: "a draft",
        artifacts: [{ kind: "draft", contentType: "text/markdown", text: "a draft" }],
        usage: noUsage,
      };
    };
    rig = await createRunRig({ storage: createMemoryStorage(), executors: { draft } });
    const topicId = await rig.makeTopic();
    const { runId } = await rig.startStaged(topicId);
    await rig.runIn(runId, "paused_for_approval");
    const { draftRunId } = await rig.expect(202, "POST", rig.topicPath(topicId, "/outline/approve"), {});
    await rig.runIn(draftRunId, "completed");
    expect(read).toBe("# outline 1\n");
  });

  test("[RU42] a decision made before an outline exists counts for the run and for the topic", async () => {
    await rig.close();
    let go: (() => void) | undefined;
    const thesis = () =>
      new Promise<StepResult>((resolve) => {
        go = () => resolve({ kind: "completed", artifacts: [], usage: noUsage });
      });
    rig = await createRunRig({ storage: createMemoryStorage(), executors: { thesis } });
    const topicId = await rig.makeTopic();
    const { runId } = await rig.startStaged(topicId);
    await rig.runIn(runId, "running");
    const { approvals } = await rig.expect(200, "GET", `/runs/${runId}/approvals`);
    expect(approvals).toMatchObject([{ stepName: "outline", state: "pending" }]);
    await rig.expect(
      200,
      "POST",
      `/runs/${runId}/approvals/${approvals[0].approvalId}`,
      { decision: "approve", note: "go" },
      { as: "ben" },
    );
    await expect.poll(() => go).toBeTypeOf("function");
    go?.();
    const { chainedRunId } = await rig.runIn(runId, "completed");
    await rig.runIn(chainedRunId, "completed");
    expect((await rig.topic(topicId)).approvals.outline).toMatchObject({ approvedBy: "ben", note: "go" });
    expect((await rig.auditOf(topicId)).filter((eventType) => eventType === "outline_approved")).toHaveLength(1);
  });

  test("[RU43] a change request at the topic runs the outline again with the feedback, in the same run", async () => {
    const topicId = await rig.makeTopic();
    const { runId, articleId } = await rig.startStaged(topicId);
    await rig.runIn(runId, "paused_for_approval");
    const asked = await rig.expect(202, "POST", rig.topicPath(topicId, "/outline/request-changes"), { feedback: "shorter" });
    expect(asked).toMatchObject({ topicId, runId, articleId });
    await expect.poll(async () => (await rig.run(runId)).pendingApproval?.artifactKeys).toEqual(["outline-1", "outline-2"]);
    expect((await rig.expect(200, "GET", rig.topicPath(topicId, "/outline"))).outline).toBe("# outline 2, shorter\n");
    expect(await rig.auditOf(topicId)).toContain("outline_changes_requested");
  });

  test("[RU43] a change request after the run starts a new run with the feedback", async () => {
    const topicId = await rig.makeTopic();
    const { runId } = await rig.startStaged(topicId);
    await rig.runIn(runId, "paused_for_approval");
    await rig.expect(202, "POST", `/runs/${runId}/cancel`, { reason: "later" });
    const { runId: second } = await rig.expect(202, "POST", rig.topicPath(topicId, "/outline/request-changes"), { feedback: "warmer" });
    expect(second).not.toBe(runId);
    const paused = await rig.runIn(second, "paused_for_approval");
    expect(paused.pipeline).toBe("staged");
    const { draftRunId } = await rig.expect(202, "POST", rig.topicPath(topicId, "/outline/approve"), {});
    await rig.runIn(draftRunId, "completed");
    expect((await rig.expect(200, "GET", rig.topicPath(topicId, "/outline"))).outline).toContain("warmer");
    const changed = await rig.expect(202, "POST", rig.topicPath(topicId, "/draft/request-changes"), { feedback: "more wind" });
    await rig.runIn(changed.runId, "completed");
    expect((await rig.expect(200, "GET", rig.topicPath(topicId, "/draft"))).draft).toContain("more wind");
  });

  test("[RU44] a rejected outline ends the run, and a later approval still starts the draft from it", async () => {
    const topicId = await rig.makeTopic();
    const { runId } = await rig.startStaged(topicId);
    const { pendingApproval } = await rig.runIn(runId, "paused_for_approval");
    await rig.expect(200, "POST", `/runs/${runId}/approvals/${pendingApproval.approvalId}`, { decision: "reject", note: "no" });
    expect(await rig.run(runId)).toMatchObject({
      status: "cancelled",
      failure: { code: "approval_rejected", message: "no", stepName: "outline" },
    });
    expect((await rig.topic(topicId)).status).toBe("outlined");
    const { draftRunId } = await rig.expect(202, "POST", rig.topicPath(topicId, "/outline/approve"), {});
    expect(await rig.runIn(draftRunId, "completed")).toMatchObject({ parentRunId: runId });
  });
});

describe("approvals of a content project", () => {
  async function inProject(contentProject: { requireOutlineApproval: boolean; requireDraftApproval: boolean }): Promise<string> {
    const folderId = rig.node.ids.next("fld", partitionOfId(workspaceId));
    const value = {
      folderId,
      workspaceId,
      parentFolderId: null,
      name: "Project",
      slug: "project",
      createdAtMs: 1,
      updatedAtMs: 1,
      contentProject,
    };
    const put = { op: "put", type: folderRecord, value, replacing: null } as const;
    await rig.storage.commit({ partition: partitionOfId(workspaceId), records: [put] });
    return rig.makeTopic("In a project", { contentProjectId: folderId });
  }

  test("[RU49] without outline approval, a staged run does not wait and the draft follows at once", async () => {
    const topicId = await inProject({ requireOutlineApproval: false, requireDraftApproval: true });
    const { runId } = await rig.startStaged(topicId);
    const outline = await rig.runIn(runId, "completed");
    expect(outline.approvalMode).toBe("none");
    await rig.runIn(outline.chainedRunId, "completed");
    expect(await rig.topic(topicId)).toMatchObject({ status: "drafted", draftRunId: outline.chainedRunId });
    // The draft already exists, so approving the outline later starts no other draft run.
    expect((await rig.expect(200, "POST", rig.topicPath(topicId, "/outline/approve"), {})).draftRunId).toBeUndefined();
  });

  test("[RU49] without draft approval, any approved outline starts a draft and no draft waits", async () => {
    const topicId = await inProject({ requireOutlineApproval: true, requireDraftApproval: false });
    const { runId } = await rig.expect(202, "POST", rig.topicPath(topicId, "/outline"), {});
    await rig.runIn(runId, "paused_for_approval");
    const { draftRunId } = await rig.expect(202, "POST", rig.topicPath(topicId, "/outline/approve"), {});
    expect(await rig.runIn(draftRunId, "completed")).toMatchObject({ parentRunId: runId });
    const standard = await rig.expect(202, "POST", "/workflows/standard_article/runs", { workspaceId, topicId });
    expect(standard.steps.map(({ approval }: { approval: string }) => approval)).toEqual(["none", "none", "required", "none", "none"]);
  });
});

test("[RU68] a review is stored with the topic's brief and names its revision", async () => {
  await rig.close();
  const review = (runId: string) =>
    ({
      runId,
      seoBriefRevision: 1,
      reviewedAt: 1,
      checks: {
        keywordRepetition: "pass",
        headingStructure: "pass",
        supportingCoverage: "warning",
        primaryTargetPlacement: "pass",
        intentAlignment: "not_checked",
      },
      findings: [],
    }) as const;
  const seo_review = async ({ run, brief }: StepContext): Promise<StepResult> => {
    expect(brief?.revision).toBe(1);
    return { kind: "completed", artifacts: [], usage: noUsage, review: { ...review(run.runId), findings: [] } };
  };
  rig = await createRunRig({ storage: createMemoryStorage(), executors: { seo_review } });
  const topicId = await rig.makeTopic();
  const { runId } = await rig.expect(202, "POST", rig.topicPath(topicId, "/draft/actions"), { action: "create" });
  await rig.runIn(runId, "completed");
  expect(await rig.topic(topicId)).toMatchObject({ seoBriefRevision: 1, draftSeoBriefRevision: 1, seoReviewSeoBriefRevision: 1 });
  const brief = await rig.topicService.port.brief(topicId);
  expect(brief?.value).toMatchObject({ revision: 1, source: "legacy_projection", sourceRunId: runId, latestReview: review(runId) });
});
