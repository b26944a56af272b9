/** Tests open approvals of a run that ends: they expire with the run, and a retry creates new ones. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { StepContext, StepResult } from "../../server/domain/runs/executors/port.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import { workspaceId } from "../support/operationServer.ts";
import { createRunRig, noUsage, type RunRig } from "./runRig.ts";

interface ShownApproval {
  readonly approvalId: string;
  readonly stepName: string;
  readonly state: string;
  readonly resolvedAt?: number;
  readonly resolvedBy?: string;
}

let rig: RunRig;
/** If set, an outline step waits for it and then fails. */
let broken: Promise<void> | undefined;
beforeEach(async () => {
  broken = undefined;
  const outline = async ({ step }: StepContext): Promise<StepResult> => {
    await broken;
    if (broken !== undefined)
      return { kind: "failed", code: "provider_unavailable", message: "no answer", retryable: true, usage: noUsage };
    const text = `# outline ${step.attempt}\n`;
    return { kind: "completed", text, artifacts: [{ kind: "outline", contentType: "text/markdown", text }], usage: noUsage };
  };
  rig = await createRunRig({ storage: createMemoryStorage(), executors: { outline } });
});
afterEach(() => rig.close());

async function approvalsOf(runId: string): Promise<readonly ShownApproval[]> {
  return (await rig.expect(200, "GET", `/runs/${runId}/approvals`)).approvals;
}
const statesOf = async (runId: string) => (await approvalsOf(runId)).map(({ stepName, state }) => [stepName, state]);
const decide = (runId: string, approvalId: string, decision: string) =>
  rig.request("POST", `/runs/${runId}/approvals/${approvalId}`, { decision });

/** Starts a run with an outline to approve and, later, a draft. */
async function start(): Promise<{ readonly topicId: string; readonly runId: string }> {
  const topicId = await rig.makeTopic();
  const { runId } = await rig.expect(202, "POST", "/workflows/standard_article/runs", { workspaceId, topicId });
  return { topicId, runId };
}

const ends: Readonly<Record<string, (run: { readonly topicId: string; readonly runId: string }) => Promise<unknown>>> = {
  "was cancelled": ({ runId }) => rig.expect(202, "POST", `/runs/${runId}/cancel`, { reason: "the wrong topic" }),
  "was cancelled with its archived topic": ({ topicId }) => rig.expect(200, "POST", rig.topicPath(topicId, "/archive")),
  "was cancelled with its deleted article": async ({ topicId }) => {
    const { createCall } = await import("./articleFixture.ts");
    const call = createCall(rig.storage, workspaceId, 5, { username: "ana" });
    await rig.node.articles.delete((await rig.topic(topicId)).articleId, false, call);
  },
};

test.each(Object.keys(ends))("[RU94] a run that %s has no pending approval, and its timeline shows the expiry", async (how) => {
  const run = await start();
  const { lastSeq } = await rig.runIn(run.runId, "paused_for_approval");
  await ends[how]?.(run);
  const approvals = await approvalsOf(run.runId);
  expect(approvals).toMatchObject([
    { stepName: "outline", state: "expired", resolvedAt: expect.any(Number) },
    { stepName: "draft", state: "expired", resolvedAt: expect.any(Number) },
  ]);
  // No account decided.
  for (const approval of approvals) expect(approval.resolvedBy).toBeUndefined();
  const { events } = await rig.expect(200, "GET", `/runs/${run.runId}/events?afterSeq=${lastSeq}`);
  expect(events.map(({ event, data }: { event: string; data: object }) => [event, data])).toMatchObject([
    ["agent.approval_resolved", { approvalId: approvals[0]?.approvalId, decision: "expired", resolvedBy: "system" }],
    ["agent.approval_resolved", { approvalId: approvals[1]?.approvalId, decision: "expired", resolvedBy: "system" }],
    ["agent.run_cancelled", {}],
  ]);
  // All events come from one commit and have one time.
  expect(new Set(events.map(({ createdAt }: { createdAt: string }) => createdAt)).size).toBe(1);
});

test("[RU94] a rejected outline keeps its decision, and the approval of the missing draft expires", async () => {
  const { runId } = await start();
  const { pendingApproval } = await rig.runIn(runId, "paused_for_approval");
  expect((await decide(runId, pendingApproval.approvalId, "reject")).status).toBe(200);
  expect(await statesOf(runId)).toEqual([
    ["outline", "rejected"],
    ["draft", "expired"],
  ]);
  const { events } = await rig.expect(200, "GET", `/runs/${runId}/events`);
  expect(events.slice(-3).map(({ event, data }: { event: string; data: { decision?: string } }) => [event, data.decision])).toEqual([
    ["agent.approval_resolved", "reject"],
    ["agent.approval_resolved", "expired"],
    ["agent.run_cancelled", undefined],
  ]);
});

test("[RU94] a failed run has no pending approval, and an early decision is kept", async () => {
  let resolve = () => {};
  broken = new Promise<void>((done) => {
    resolve = done;
  });
  const topicId = await rig.makeTopic();
  const { runId } = await rig.expect(202, "POST", "/workflows/standard_article/runs", { workspaceId, topicId });
  const [, draft] = await approvalsOf(runId);
  expect((await decide(runId, draft?.approvalId ?? "", "approve")).status).toBe(200);
  resolve();
  await rig.runIn(runId, "failed");
  expect(await statesOf(runId)).toEqual([
    ["outline", "expired"],
    ["draft", "approved"],
  ]);
  broken = undefined;
  await rig.expect(202, "POST", `/runs/${runId}/retry`);
  await rig.runIn(runId, "paused_for_approval");
  expect(await statesOf(runId)).toEqual([
    ["outline", "expired"],
    ["draft", "approved"],
    ["outline", "pending"],
  ]);
});

test("[RU95] an expired approval accepts no decision; a retry asks again and reruns no finished step", async () => {
  const run = await start();
  await rig.runIn(run.runId, "paused_for_approval");
  await ends["was cancelled"]?.(run);
  const [old] = await approvalsOf(run.runId);
  const late = await decide(run.runId, old?.approvalId ?? "", "approve");
  expect(late).toMatchObject({ status: 410, body: { code: "approval_expired", currentState: "cancelled", allowed: ["runs.retry"] } });
  await rig.expect(202, "POST", `/runs/${run.runId}/retry`);
  const { steps, pendingApproval } = await rig.runIn(run.runId, "paused_for_approval");
  expect(steps.map(({ attempt }: { attempt: number }) => attempt)).toEqual([1, 1, 1, 0, 0]);
  expect(await statesOf(run.runId)).toEqual([
    ["outline", "expired"],
    ["draft", "expired"],
    ["outline", "pending"],
    ["draft", "pending"],
  ]);
  expect(await decide(run.runId, old?.approvalId ?? "", "approve")).toMatchObject({
    status: 410,
    body: { currentState: "paused_for_approval" },
  });
  expect((await decide(run.runId, pendingApproval.approvalId, "approve")).status).toBe(200);
  const draft = (await approvalsOf(run.runId)).at(-1);
  expect((await decide(run.runId, draft?.approvalId ?? "", "approve")).status).toBe(200);
  await rig.runIn(run.runId, "completed");
  expect((await statesOf(run.runId)).slice(2)).toEqual([
    ["outline", "approved"],
    ["draft", "approved"],
  ]);
});
