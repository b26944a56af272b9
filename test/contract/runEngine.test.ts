/** Tests the engine alone, with scripted steps: their retries, budgets, limits, approvals and leases. */
import { describe, expect, test } from "vitest";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import { createManualTime } from "../support/manualTime.ts";
import { createEngineNode, finished, readRun, readTimeline, toInput, workspaceId } from "./runEngineFixture.ts";

const partition = partitionOfId(workspaceId);

function createNode(executors: Parameters<typeof createEngineNode>[2], limits: Parameters<typeof createEngineNode>[3] = {}) {
  const time = createManualTime();
  const storage = time.watch(createMemoryStorage({ now: time.now }));
  const node = createEngineNode(storage, time, executors, limits);
  const runId = node.ids.next("run", partition);
  const state = async () => (await readRun(storage, runId)).state;
  return { ...node, time, storage, runId, state, until: (wanted: string) => time.until(async () => (await state()) === wanted) };
}

describe("steps", () => {
  test("[RU21] an illustration step without an executor is skipped with the reason", async () => {
    const node = createNode({ draft: async () => finished("a draft") });
    await node.actors.create(
      node.kind,
      node.runId,
      toInput([
        { name: "pictures", type: "illustrate" },
        { name: "draft", type: "draft" },
      ]),
    );
    await node.until("completed");
    const { steps } = (await readRun(node.storage, node.runId)).context;
    expect(steps[0]).toMatchObject({
      status: "skipped",
      attempt: 0,
      error: { code: "provider_unavailable", message: "This server has no executor for steps of type illustrate." },
    });
    expect(steps[1]?.status).toBe("completed");
  });

  test("[RU22] a step that throws is retried with pauses, then the run fails and can be retried", async () => {
    let tries = 0;
    let isBroken = true;
    const node = createNode({
      draft: async () => {
        tries += 1;
        if (isBroken) throw new Error("the pipe is broken");
        return finished("a draft");
      },
    });
    await node.actors.create(node.kind, node.runId, toInput([{ name: "draft", type: "draft" }]));
    await node.until("failed");
    expect(tries).toBe(4);
    const { context } = await readRun(node.storage, node.runId);
    expect(context.failure).toMatchObject({ code: "step_failed", retryable: true, stepName: "draft" });
    expect(context.failure?.message).toContain("the pipe is broken");
    isBroken = false;
    await node.actors.send(node.kind, node.runId, { type: "run.retry", by: "ada", approvalIds: {} });
    await node.until("completed");
    expect((await readRun(node.storage, node.runId)).context.steps[0]?.artifactKeys).toEqual(["draft-5"]);
  });

  test("[RU23] maxSeconds limits the time worked over all steps, without the wait for a person", async () => {
    const signals: AbortSignal[] = [];
    const node = createNode({
      research: (context) => new Promise((resolve) => void node.time.after(4000, () => resolve(finished(`found ${context.step.name}`)))),
      draft: (context) =>
        new Promise((_resolve, reject) => {
          signals.push(context.signal);
          context.signal.addEventListener("abort", () => reject(context.signal.reason));
        }),
    });
    const approvalId = node.ids.next("apr", partition);
    const steps = [{ name: "research", type: "research", approval: "required" } as const, { name: "draft", type: "draft" } as const];
    await node.actors.create(node.kind, node.runId, toInput(steps, [approvalId], { budget: { maxSeconds: 10 } }));
    await node.until("paused_for_approval");
    await node.time.advance(3_600_000);
    await node.actors.send(node.kind, node.runId, { type: "approval.resolve", approvalId, decision: "approve", by: "ben" });
    await node.time.advance(5000);
    expect(await node.state()).toBe("running");
    await node.time.until(async () => (await node.state()) === "failed", { withinMs: 3000 });
    expect(signals[0]?.aborted).toBe(true);
    const { failure } = (await readRun(node.storage, node.runId)).context;
    expect(failure).toMatchObject({ code: "budget_exhausted", retryable: true, stepName: "draft" });
    await node.actors.send(node.kind, node.runId, { type: "run.retry", by: "ada", approvalIds: {}, budget: { maxSeconds: 60 } });
    await node.time.advance(15_000);
    expect(await node.state()).toBe("running");
  });

  test("[RU23] a step gets the tokens and dollars that are left, and none starts over the budget", async () => {
    const left: object[] = [];
    const node = createNode({
      research: async (context) => {
        left.push(context.budget);
        return finished("found", { inputTokens: 700, outputTokens: 200, usd: 0.25, toolCalls: 0 });
      },
      thesis: async (context) => {
        left.push(context.budget);
        return finished("thesis", { inputTokens: 300, outputTokens: 0, usd: 0.5, toolCalls: 0 });
      },
      draft: async () => finished("never"),
    });
    const steps = (["research", "thesis", "draft"] as const).map((type) => ({ name: type, type }));
    await node.actors.create(node.kind, node.runId, toInput(steps, [], { budget: { maxTokens: 1000, maxUsd: 5 } }));
    await node.until("failed");
    expect(left).toEqual([
      { tokens: 1000, usd: 5 },
      { tokens: 100, usd: 4.75 },
    ]);
    const { failure, usage, steps: after } = (await readRun(node.storage, node.runId)).context;
    expect(failure).toMatchObject({ code: "budget_exhausted", stepName: "draft" });
    expect(usage).toMatchObject({ inputTokens: 1000, outputTokens: 200, usd: 0.75 });
    expect(after.map(({ status }) => status)).toEqual(["completed", "completed", "failed"]);
  });

  test("[RU24] outputs over run.stepOutput or run.state, or a journal over run.journal, fail the run", async () => {
    const limits = { "run.stepOutput": 1000, "run.state": 1500, "run.journal": 2 };
    const run = async (sizes: readonly number[]) => {
      const left = [...sizes];
      const node = createNode({ research: async () => finished("x".repeat(left.shift() ?? 1)) }, { limits });
      const steps = sizes.map((_size, index) => ({ name: `step ${index}`, type: "research" as const }));
      await node.actors.create(node.kind, node.runId, toInput(steps));
      await node.until("failed");
      return (await readRun(node.storage, node.runId)).context;
    };
    const single = await run([1001]);
    expect(single.failure).toMatchObject({ code: "payload_too_large", retryable: false });
    expect(single.failure?.message).toContain("run.stepOutput");
    expect((await run([1000, 501])).failure?.message).toContain("run.state");
    const journal = await run([1, 1, 1]);
    expect(journal.failure).toMatchObject({ code: "limit_reached", stepName: "step 2" });
    expect(journal.steps[0]?.artifactKeys[0]).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/);
  });

  test("[RU25] a cancelled run aborts its running step, whose result changes nothing", async () => {
    const signals: AbortSignal[] = [];
    let finish: (() => void) | undefined;
    const node = createNode({
      draft: (context) =>
        new Promise((resolve) => {
          signals.push(context.signal);
          finish = () => resolve(finished("too late"));
        }),
    });
    await node.actors.create(node.kind, node.runId, toInput([{ name: "draft", type: "draft" }]));
    await node.time.until(() => signals.length === 1);
    await node.actors.send(node.kind, node.runId, { type: "run.cancel", by: "ben", reason: "another plan" });
    await node.time.until(() => signals[0]?.aborted === true);
    finish?.();
    await node.time.until(async () => (await readRun(node.storage, node.runId)).pending.length === 0);
    const { context, state } = await readRun(node.storage, node.runId);
    expect(state).toBe("cancelled");
    expect(context.steps[0]).toMatchObject({ status: "cancelled", artifactKeys: [] });
    const told = await readTimeline(node.storage, node.runId);
    expect(told.map(({ event }) => event)).toEqual(["agent.run_started", "agent.step_started", "agent.run_cancelled"]);
    expect(told.at(-1)).toMatchObject({ actor: "ben", data: { by: "ben", reason: "another plan", stepName: "draft" } });
  });

  test("[RU26] after request_changes the step runs again with the note and asks for a new approval", async () => {
    const heard: (readonly string[])[] = [];
    const node = createNode({
      outline: async ({ step }) => {
        heard.push(step.feedback);
        return finished(`outline ${step.attempt}`);
      },
    });
    const [approvalId, nextApprovalId] = [node.ids.next("apr", partition), node.ids.next("apr", partition)];
    await node.actors.create(node.kind, node.runId, toInput([{ name: "outline", type: "outline", approval: "required" }], [approvalId]));
    await node.until("paused_for_approval");
    const change = {
      type: "approval.resolve",
      approvalId,
      decision: "request_changes",
      by: "ben",
      note: "shorter",
      nextApprovalId,
    } as const;
    await node.actors.send(node.kind, node.runId, change);
    await node.until("paused_for_approval");
    const { approvals, steps } = (await readRun(node.storage, node.runId)).context;
    expect(heard).toEqual([[], ["shorter"]]);
    expect(approvals.map(({ approvalId: id, state }) => [id, state])).toEqual([
      [approvalId, "changes_requested"],
      [nextApprovalId, "pending"],
    ]);
    expect(steps[0]?.artifactKeys).toEqual(["outline-1", "outline-2"]);
    expect(approvals[1]?.artifactKeys).toEqual(["outline-1", "outline-2"]);
  });

  test("[RU27] an optional approval proceeds by itself, and an early decision counts at the wait", async () => {
    let research: ((text: string) => void) | undefined;
    const node = createNode({
      research: () =>
        new Promise((resolve) => {
          research = (text) => resolve(finished(text));
        }),
      draft: async () => finished("a draft"),
    });
    const [early, optional] = [node.ids.next("apr", partition), node.ids.next("apr", partition)];
    const steps = [
      { name: "research", type: "research", approval: "required" } as const,
      { name: "draft", type: "draft", approval: "optional" } as const,
    ];
    await node.actors.create(node.kind, node.runId, toInput(steps, [early, optional]));
    await node.time.until(() => research !== undefined);
    await node.actors.send(node.kind, node.runId, { type: "approval.resolve", approvalId: early, decision: "approve", by: "ben" });
    research?.("found");
    await node.until("paused_for_approval");
    const paused = (await readRun(node.storage, node.runId)).context;
    expect(paused.steps[0]?.status).toBe("completed");
    expect(paused.approvals[1]).toMatchObject({ approvalId: optional, state: "pending" });
    await node.time.advance(899_000);
    expect(await node.state()).toBe("paused_for_approval");
    await node.time.advance(2000);
    await node.until("completed");
    expect((await readRun(node.storage, node.runId)).context.approvals[1]?.state).toBe("expired");
  });

  test("[RU28] a result under a lost lease is refused, and the new holder of the lease runs the step", async () => {
    const time = createManualTime();
    const storage = time.watch(createMemoryStorage({ now: time.now }));
    const ends: ((text: string) => void)[] = [];
    const slow = { draft: () => new Promise<ReturnType<typeof finished>>((resolve) => void ends.push((text) => resolve(finished(text)))) };
    let isFrozen = false;
    // A node that does not renew its lease, like a stopped process whose clock stands still.
    const frozen = {
      ...storage,
      due: {
        ...storage.due,
        renew: async (...args: Parameters<typeof storage.due.renew>) =>
          isFrozen ? new Promise<never>(() => {}) : storage.due.renew(...args),
      },
    };
    const first = createEngineNode(frozen, time, slow);
    const runId = first.ids.next("run", partition);
    await first.actors.create(first.kind, runId, toInput([{ name: "draft", type: "draft" }]));
    await time.until(() => ends.length === 1);
    isFrozen = true;
    const second = createEngineNode(storage, time, slow);
    await time.until(() => ends.length >= 2, { withinMs: 60_000 });
    ends[0]?.("from the old owner");
    await time.advance(100);
    expect((await readRun(storage, runId)).state).toBe("running");
    ends.at(-1)?.("from the new owner");
    await time.until(async () => (await readRun(storage, runId)).state === "completed");
    const told = await readTimeline(storage, runId);
    expect(told.filter(({ event }) => event === "agent.step_completed")).toHaveLength(1);
    const { output = "" } = (await readRun(storage, runId)).context.steps[0] ?? {};
    const artifact = await second.artifacts.find(runId, output);
    expect(artifact === undefined ? "" : Buffer.from(await second.artifacts.bytes(artifact)).toString()).toBe("from the new owner");
  });
});
