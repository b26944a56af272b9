/** Tests races of approvals in every order, over runs and topics, and every refused move over REST and tRPC. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runRecord } from "../../server/domain/runs/model/records.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import { type Answer, workspaceId } from "../support/operationServer.ts";
import { readTimeline } from "./runEngineFixture.ts";
import { createRunRig, type RunRig } from "./runRig.ts";

let rig: RunRig;
beforeEach(async () => {
  rig = await createRunRig({ storage: createMemoryStorage() });
});
afterEach(() => rig.close());

interface Paused {
  readonly topicId: string;
  readonly runId: string;
  readonly approvalId: string;
}

async function pause(title = "Kites"): Promise<Paused> {
  const topicId = await rig.makeTopic(title);
  const { runId } = await rig.startStaged(topicId);
  const { pendingApproval } = await rig.runIn(runId, "paused_for_approval");
  return { topicId, runId, approvalId: pendingApproval.approvalId };
}

type Move = (paused: Paused) => Promise<Answer>;
const moves: Readonly<Record<string, Move>> = {
  approve: ({ runId, approvalId }) => rig.request("POST", `/runs/${runId}/approvals/${approvalId}`, { decision: "approve" }),
  reject: ({ runId, approvalId }) => rig.request("POST", `/runs/${runId}/approvals/${approvalId}`, { decision: "reject" }),
  request_changes: ({ runId, approvalId }) =>
    rig.request("POST", `/runs/${runId}/approvals/${approvalId}`, { decision: "request_changes" }),
  approveAtTopic: ({ topicId }) => rig.request("POST", rig.topicPath(topicId, "/outline/approve"), {}),
  changeAtTopic: ({ topicId }) => rig.request("POST", rig.topicPath(topicId, "/outline/request-changes"), {}),
  cancel: ({ runId }) => rig.request("POST", `/runs/${runId}/cancel`),
  archive: ({ topicId }) => rig.request("POST", rig.topicPath(topicId, "/archive")),
};
const names = Object.keys(moves);
const pairs = names.flatMap((first, index) => names.slice(index).map((second) => [first, second] as const));

/** Checks what must hold for every order. */
async function expectOnce({ topicId, runId }: Paused, what: string): Promise<void> {
  const { value: run } = (await rig.storage.records.get(runRecord, runId)) ?? {};
  const told = await readTimeline(rig.storage, runId);
  const resolved = told
    .filter(({ event }) => event === "agent.approval_resolved")
    .map(({ data }) => (data as { approvalId: string }).approvalId);
  expect(new Set(resolved).size, what).toBe(resolved.length);
  const ends = told.filter(({ event }) => /run_(completed|failed|cancelled)$/.test(event));
  expect(ends.length, what).toBeLessThanOrEqual(1);
  const { runs } = await rig.expect(200, "GET", `/workspaces/${workspaceId}/runs?topicId=${topicId}`);
  const drafts = runs.filter(({ workflowId }: { workflowId: string }) => workflowId === "draft");
  expect(drafts.length, what).toBeLessThanOrEqual(1);
  if (drafts.length === 1 && run?.context.chainedRunId !== undefined) expect(drafts[0].runId).toBe(run.context.chainedRunId);
  const active = runs.filter(({ status }: { status: string }) => ["queued", "running", "paused_for_approval"].includes(status));
  expect(active.length, what).toBeLessThanOrEqual(1);
  const approvals = (await rig.auditOf(topicId)).filter((eventType) => eventType === "outline_approved");
  expect(approvals.length, what).toBeLessThanOrEqual(1);
}

describe("races", () => {
  test.each(pairs)("[RU50] %s and %s at once: each takes effect once, and the second gets a clear refusal", async (first, second) => {
    for (const order of [
      [first, second],
      [second, first],
    ]) {
      const paused = await pause();
      const answers = await Promise.all(order.map((name) => (moves[name] as Move)(paused)));
      for (const [index, { status, body }] of answers.entries()) {
        if (status < 400) continue;
        const codes = { 409: ["invalid_transition", "approval_already_resolved", "run_in_progress"], 410: ["approval_expired"] };
        expect(codes[status as keyof typeof codes], `${order[index]}: ${JSON.stringify(body)}`).toContain(body.code);
        expect(body).toMatchObject({ currentState: expect.any(String), allowed: expect.any(Array) });
      }
      expect(answers.some(({ status }) => status < 400)).toBe(true);
      await expectOnce(paused, order.join(" then "));
    }
  });

  test("[RU50] all decisions at once, twice: one takes effect, and nothing happens twice", async () => {
    for (let round = 0; round < 5; round += 1) {
      const paused = await pause(`Kites ${round}`);
      const answers = await Promise.all([...names, ...names].map((name) => (moves[name] as Move)(paused)));
      expect(answers.every(({ status }) => [200, 202, 409, 410].includes(status))).toBe(true);
      await expectOnce(paused, `round ${round}`);
    }
  });
});

describe("late decisions", () => {
  test("[RU51] a late decision is refused with the decision that was made and the allowed moves", async () => {
    const paused = await pause();
    const path = `/runs/${paused.runId}/approvals/${paused.approvalId}`;
    await rig.expect(200, "POST", path, { decision: "approve" }, { as: "ben" });
    for (const decision of ["approve", "reject", "request_changes"]) {
      const refused = await rig.request("POST", path, { decision });
      expect(refused).toMatchObject({ status: 409, body: { code: "approval_already_resolved", currentState: "completed", allowed: [] } });
      expect(refused.body.detail).toContain("ben");
    }
    const atTopic = await rig.request("POST", rig.topicPath(paused.topicId, "/outline/approve"), {});
    expect(atTopic).toMatchObject({ status: 409, body: { code: "approval_already_resolved", currentState: expect.any(String) } });
    expect(atTopic.body.allowed).toContain("topics.requestOutlineChanges");
  });

  test("[RU51] an optional approval that expired without a decision is 410", async () => {
    await rig.close();
    rig = await createRunRig({ storage: createMemoryStorage(), limits: { "run.optionalApproval": 50 } });
    const topicId = await rig.makeTopic();
    const { runId } = await rig.expect(202, "POST", "/workflows/standard_article/runs", { workspaceId, topicId });
    const { pendingApproval } = await rig.runIn(runId, "paused_for_approval");
    await rig.expect(200, "POST", `/runs/${runId}/approvals/${pendingApproval.approvalId}`, { decision: "approve" });
    await rig.runIn(runId, "completed");
    const { approvals } = await rig.expect(200, "GET", `/runs/${runId}/approvals`);
    expect(approvals).toMatchObject([
      { stepName: "outline", policy: "required", state: "approved" },
      { stepName: "draft", policy: "optional", state: "expired", expiresAt: expect.any(Number) },
    ]);
    const late = await rig.request("POST", `/runs/${runId}/approvals/${approvals[1].approvalId}`, { decision: "approve" });
    expect(late).toMatchObject({ status: 410, body: { code: "approval_expired" } });
  });

  test("[RU52] a refused move of a run or topic is 409 with state and allowed, over REST and tRPC", async () => {
    const paused = await pause();
    const { runId, topicId, approvalId } = paused;
    const inTopic = { workspaceId, topicId };
    const refused = async (method: string, path: string, body: object, procedure: string, input: object, expected: object) => {
      const rest = await rig.request(method, path, body);
      expect(rest, path).toMatchObject({ status: 409, body: expected });
      expect(rest.body.allowed, path).toEqual(expect.any(Array));
      const { problem } = await rig.trpc(procedure, input);
      expect(problem, procedure).toMatchObject({ status: 409, ...expected, allowed: rest.body.allowed });
    };
    const invalid = (currentState: string, allowed?: readonly string[]) => ({
      code: "invalid_transition",
      currentState,
      ...(allowed === undefined ? {} : { allowed }),
    });
    // A waiting run cannot be retried, a topic after that state cannot be shortlisted, and there is no draft to decide on.
    const waiting = invalid("paused_for_approval", ["runs.resolveApproval", "runs.cancel"]);
    await refused("POST", `/runs/${runId}/retry`, {}, "runs.retry", { runId }, waiting);
    const outlined = invalid("outlined");
    await refused("POST", rig.topicPath(topicId, "/shortlist"), {}, "topics.shortlist", inTopic, outlined);
    await refused("POST", rig.topicPath(topicId, "/draft/approve"), {}, "topics.approveDraft", inTopic, outlined);
    await refused("POST", rig.topicPath(topicId, "/draft/request-changes"), {}, "topics.requestDraftChanges", inTopic, outlined);
    await refused("POST", rig.topicPath(topicId, "/restore"), {}, "topics.restore", inTopic, outlined);
    // An idea has no outline.
    const idea = await rig.makeTopic("Another");
    const inIdea = { workspaceId, topicId: idea };
    await refused("POST", rig.topicPath(idea, "/outline/approve"), {}, "topics.approveOutline", inIdea, invalid("idea"));
    await refused("POST", rig.topicPath(idea, "/outline/request-changes"), {}, "topics.requestOutlineChanges", inIdea, invalid("idea"));
    // The run has ended.
    await rig.expect(202, "POST", `/runs/${runId}/cancel`);
    const cancelled = invalid("cancelled", ["runs.retry"]);
    await refused("POST", `/runs/${runId}/cancel`, {}, "runs.cancel", { runId }, cancelled);
    const decide = { decision: "approve" };
    const path = `/runs/${runId}/approvals/${approvalId}`;
    expect(await rig.request("POST", path, decide)).toMatchObject({
      status: 410,
      body: { currentState: "cancelled", allowed: ["runs.retry"] },
    });
    // The topic is archived.
    await rig.expect(200, "POST", rig.topicPath(topicId, "/archive"));
    const archived = invalid("archived", ["topics.restore"]);
    const all = [
      ["/archive", "archive", {}],
      ["/shortlist", "shortlist", {}],
      ["/workflow-runs", "startWorkflow", {}],
      ["/outline", "generateOutline", {}],
      ["/outline/approve", "approveOutline", {}],
      ["/outline/request-changes", "requestOutlineChanges", {}],
      ["/draft/approve", "approveDraft", {}],
      ["/draft/request-changes", "requestDraftChanges", {}],
      ["/draft/actions", "runDraftAction", { action: "create" }],
    ] as const;
    for (const [rest, procedure, body] of all) {
      await refused("POST", rig.topicPath(topicId, rest), body, `topics.${procedure}`, { ...inTopic, ...body }, archived);
    }
    await refused("POST", `/runs/${runId}/retry`, {}, "runs.retry", { runId }, archived);
  });
});

describe("edits with a decision", () => {
  test("[RU53] edits are applied and committed with the decision, and the approval covers their text", async () => {
    const { runId, approvalId, topicId } = await pause();
    const edits = { mode: "patch", edits: [{ find: "outline 1", replace: "outline one, by ana" }] };
    await rig.expect(200, "POST", `/runs/${runId}/approvals/${approvalId}`, { decision: "approve", edits });
    expect((await rig.expect(200, "GET", rig.topicPath(topicId, "/outline"))).outline).toBe("# outline one, by ana\n");
    const topic = await rig.topic(topicId);
    expect(topic.approvals.outline).toMatchObject({ approvedBy: "ana" });
    expect((await rig.node.commits.list(topic.articleId, { kind: "commit" })).items).toHaveLength(1);
  });

  test("[RU53] edits require articles:write and no dry run, and a late decision writes nothing", async () => {
    const { runId, approvalId, topicId } = await pause();
    const path = `/runs/${runId}/approvals/${approvalId}`;
    const edits = { mode: "append", content: "late\n" };
    const key = "ana|workspaces:write";
    const scope = await rig.request("POST", path, { decision: "reject", edits }, { key });
    expect(scope).toMatchObject({ status: 403, body: { code: "insufficient_scope", missingScopes: ["articles:write"] } });
    const dry = await rig.request("POST", path, { decision: "approve", edits: { ...edits, dryRun: true } });
    expect(dry).toMatchObject({ status: 422, body: { errors: [{ pointer: "/edits" }] } });
    expect((await rig.request("POST", path, { decision: "approve", edits: { mode: "replace", content: "x" } })).status).toBe(428);
    await rig.expect(200, "POST", path, { decision: "reject" }, { key });
    expect((await rig.request("POST", path, { decision: "approve", edits })).status).toBe(409);
    const { articleId } = await rig.topic(topicId);
    expect((await rig.node.documents.read(articleId)).texts["outline.md"]).toBe("# outline 1\n");
  });
});
