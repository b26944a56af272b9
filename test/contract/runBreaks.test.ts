/**
 * Tries to break the engine: cancels at every moment of a step, races of retries and decisions, and ends that cannot be
 * committed.
 */
import { afterEach, describe, expect, test } from "vitest";
import { AppError } from "../../api/schema/error.ts";
import { workspaceRecord } from "../../server/domain/identity/workspaces/records.ts";
import { stepsOfWorkspace } from "../../server/domain/runs/engine/runKind.ts";
import type { Executors } from "../../server/domain/runs/executors/port.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { createCall } from "./articleFixture.ts";
import { createGate, draftOf, draftRun, openEngine, partition, written } from "./runBreaksFixture.ts";
import { finished, readRun, readTimeline, toInput } from "./runEngineFixture.ts";
import { createRunRig, noUsage, type RunRig, workspaceId } from "./runRig.ts";

let rig: RunRig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});

async function openRig(executors: Executors = {}, storage: Storage = createMemoryStorage()): Promise<RunRig> {
  rig = await createRunRig({ storage, executors });
  return rig;
}

describe("cancel", () => {
  test("[RU70][AC23] after a cancel the step writes nothing, its row is gone, and a retry starts at once", async () => {
    const gate = createGate();
    const current = await openRig({ draft: gate.run });
    const { runId, articleId } = await draftRun(current);
    await expect.poll(() => gate.open.length).toBe(1);
    const [first] = gate.open;
    await first?.write("before the cancel. ");
    await expect.poll(() => draftOf(current, articleId)).toBe("before the cancel. ");
    await current.expect(202, "POST", `/runs/${runId}/cancel`);
    await first?.write("after the cancel. ").catch(() => {});
    expect((await readRun(current.storage, runId)).pending).toEqual([]);
    first?.end(written("before the cancel. after the cancel. all of it"));
    // The retry starts while the earlier attempt may still be ending.
    await current.expect(202, "POST", `/runs/${runId}/retry`);
    await expect.poll(() => gate.open.length).toBe(2);
    expect(await draftOf(current, articleId)).toBe("");
    gate.open[1]?.end(written("the draft"));
    await current.runIn(runId, "completed");
    expect(await draftOf(current, articleId)).toBe("the draft");
    const { items } = await current.node.commits.list(articleId, { kind: "agent" });
    expect(items).toHaveLength(1);
  });

  test("[RU70] a step's result that arrives during a cancel is neither merged nor committed", async () => {
    const gate = createGate();
    const current = await openRig({ draft: gate.run });
    const { topicId, articleId, runId } = await draftRun(current);
    await expect.poll(() => gate.open.length).toBe(1);
    gate.open[0]?.end(written("one"));
    await current.runIn(runId, "completed");
    // The file has text now, so nothing is written before the end of the step.
    const { runId: again } = await current.expect(202, "POST", current.topicPath(topicId, "/draft/actions"), { action: "rewrite" });
    await expect.poll(() => gate.open.length).toBe(2);
    const cancelled = current.expect(202, "POST", `/runs/${again}/cancel`);
    await expect.poll(async () => (await readRun(current.storage, again)).state).toBe("cancelled");
    gate.open[1]?.end(written("two"));
    await cancelled;
    await expect.poll(() => current.node.rooms.presence(articleId)).toEqual([]);
    expect(await draftOf(current, articleId)).toBe("one");
  });

  test("[RU70] a cancel right after the start of a step aborts it", async () => {
    const gate = createGate();
    let cancel: (() => Promise<unknown>) | undefined;
    const engine = openEngine({ draft: gate.run }, (storage) => ({
      ...storage,
      records: {
        ...storage.records,
        // The engine reads this record after the step was told to start and before it watches the run.
        async get(type, key) {
          const found = await storage.records.get(type, key);
          if ((type as { name: string }).name === workspaceRecord.name && cancel !== undefined) {
            const once = cancel;
            cancel = undefined;
            await once();
          }
          return found;
        },
      },
    }));
    cancel = () => engine.actors.send(engine.kind, engine.runId, { type: "run.cancel", by: "ben" });
    await engine.actors.create(engine.kind, engine.runId, toInput([{ name: "draft", type: "draft" }]));
    await engine.time.until(() => gate.open[0]?.signal.aborted === true, { stepMs: 10, withinMs: 1000 });
    expect((await readRun(engine.storage, engine.runId)).state).toBe("cancelled");
  });

  test("[RU70][AC23] a retry does not wait for the pause of a failed step that was cancelled", async () => {
    const failures: string[] = [];
    const engine = openEngine({
      draft: async ({ step }) => {
        if (failures.length < 3) {
          failures.push(`attempt ${step.attempt}`);
          throw new Error("a bug");
        }
        return finished("done");
      },
    });
    await engine.actors.create(engine.kind, engine.runId, toInput([{ name: "draft", type: "draft" }]));
    await engine.time.until(() => failures.length === 3);
    await engine.time.advance(100);
    await engine.actors.send(engine.kind, engine.runId, { type: "run.cancel", by: "ben" });
    await engine.actors.send(engine.kind, engine.runId, { type: "run.retry", by: "ben", approvalIds: {} });
    await engine.until("completed", 1000);
    expect((await readRun(engine.storage, engine.runId)).pending).toEqual([]);
  });

  test("[RU70] the end of a cancelled attempt does not fail the retry", async () => {
    const gate = createGate();
    const engine = openEngine({ draft: gate.run });
    await engine.actors.create(engine.kind, engine.runId, toInput([{ name: "draft", type: "draft" }]));
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await engine.time.until(() => gate.open.length === attempt);
      gate.open.at(-1)?.fail(new Error("a bug"));
    }
    await engine.time.until(() => gate.open.length === 4);
    // The last attempt fails while the run is cancelled and retried.
    gate.open[3]?.fail(new Error("a bug"));
    await Promise.all([
      engine.actors.send(engine.kind, engine.runId, { type: "run.cancel", by: "ben" }),
      engine.actors.send(engine.kind, engine.runId, { type: "run.retry", by: "ben", approvalIds: {} }),
    ]);
    await engine.time.until(() => gate.open.length === 5, { withinMs: 5000 });
    gate.open[4]?.end(finished("done"));
    await engine.until("completed");
  });

  test("[RU71] a run that was cancelled before its start is queued by a retry and shows its start", async () => {
    const gate = createGate();
    const engine = openEngine({ research: gate.run, draft: async () => finished("done") });
    const { actors, kind, runId, storage, ids } = engine;
    // Start as many steps as one workspace may execute at once.
    for (let n = 0; n < stepsOfWorkspace; n += 1)
      await actors.create(kind, ids.next("run", partition), toInput([{ name: "research", type: "research" }]));
    await engine.time.until(() => gate.open.length === stepsOfWorkspace);
    await actors.create(kind, runId, toInput([{ name: "draft", type: "draft" }]));
    await actors.send(kind, runId, { type: "run.cancel", by: "ben" });
    expect((await readRun(storage, runId)).pending).toEqual([]);
    const retried = await actors.send(kind, runId, { type: "run.retry", by: "ben", approvalIds: {} });
    expect(retried.value.state).toBe("queued");
    for (const { end } of gate.open) end(finished("found"));
    await engine.until("completed");
    expect((await readRun(storage, runId)).context.startedAtMs).toEqual(expect.any(Number));
    expect((await readTimeline(storage, runId)).map(({ event }) => event)).toEqual([
      "agent.run_cancelled",
      "agent.run_started",
      "agent.step_started",
      "agent.artifact_created",
      "agent.step_completed",
      "agent.run_completed",
    ]);
  });

  test("[RU72] the working time of a cancelled step counts towards the budget of the retry", async () => {
    const gate = createGate();
    const engine = openEngine({ draft: gate.run });
    const input = toInput([{ name: "draft", type: "draft" }], [], { budget: { maxSeconds: 60 } });
    await engine.actors.create(engine.kind, engine.runId, input);
    await engine.time.until(() => gate.open.length === 1);
    await engine.time.advance(50_000);
    await engine.actors.send(engine.kind, engine.runId, { type: "run.cancel", by: "ben" });
    await engine.time.advance(600_000);
    await engine.actors.send(engine.kind, engine.runId, { type: "run.retry", by: "ben", approvalIds: {} });
    await engine.time.until(() => gate.open.length === 2);
    await engine.until("failed", 15_000);
    expect((await readRun(engine.storage, engine.runId)).context.failure).toMatchObject({ code: "budget_exhausted" });
  });
});

describe("retry", () => {
  test("[RU73] text that another run has changed since is not reverted, and the retry continues from it", async () => {
    const gate = createGate();
    const current = await openRig({ draft: gate.run });
    const { topicId, runId, articleId } = await draftRun(current);
    await expect.poll(() => gate.open.length).toBe(1);
    await gate.open[0]?.write("Half a draft.");
    await expect.poll(() => draftOf(current, articleId)).toBe("Half a draft.");
    await current.expect(202, "POST", `/runs/${runId}/cancel`);
    const { runId: other } = await current.expect(202, "POST", current.topicPath(topicId, "/draft/actions"), { action: "update" });
    await expect.poll(() => gate.open.length).toBe(2);
    gate.open[1]?.end(written("Half a draft. And the other half."));
    await current.runIn(other, "completed");
    await current.expect(200, "POST", current.topicPath(topicId, "/draft/approve"), {});
    await current.expect(202, "POST", `/runs/${runId}/retry`);
    await expect.poll(() => gate.open.length).toBe(3);
    expect(await draftOf(current, articleId)).toBe("Half a draft. And the other half.");
    expect(gate.open[2]?.texts["content.md"]).toBe("Half a draft. And the other half.");
    gate.open[2]?.end(written("Half a draft. And the other half. And more."));
    await current.runIn(runId, "completed");
    expect(await draftOf(current, articleId)).toBe("Half a draft. And the other half. And more.");
  });

  test("[RU73] if the other run wrote another file, the interrupted text is reverted", async () => {
    const gate = createGate();
    const current = await openRig({ draft: gate.run });
    const { topicId, runId, articleId } = await draftRun(current);
    await expect.poll(() => gate.open.length).toBe(1);
    await gate.open[0]?.write("Half a dra");
    await expect.poll(() => draftOf(current, articleId)).toBe("Half a dra");
    await current.expect(202, "POST", `/runs/${runId}/cancel`);
    const { runId: other } = await current.expect(202, "POST", current.topicPath(topicId, "/shortlist"), { instructions: "look further" });
    await current.runIn(other, "completed");
    await current.expect(202, "POST", `/runs/${runId}/retry`);
    await expect.poll(() => gate.open.length).toBe(2);
    expect(await draftOf(current, articleId)).toBe("");
    gate.open[1]?.end(written("A draft."));
    await current.runIn(runId, "completed");
    expect(await draftOf(current, articleId)).toBe("A draft.");
  });

  test("[RU64] a run whose article was deleted for good cannot be retried and has no allowed move", async () => {
    const current = await openRig();
    const topicId = await current.makeTopic();
    const { runId, articleId } = await current.expect(202, "POST", current.topicPath(topicId, "/outline"), {});
    await current.runIn(runId, "paused_for_approval");
    const call = createCall(current.storage, workspaceId, partition, { username: "ana", role: "owner" });
    await current.node.articles.delete(articleId, true, call);
    expect(await current.request("POST", `/runs/${runId}/retry`)).toMatchObject({
      status: 409,
      body: { code: "invalid_transition", currentState: "article_deleted", allowed: [] },
    });
  });

  test("[RU74] an early decision about a later step is kept through a failure and its retry", async () => {
    const gate = createGate();
    const current = await openRig({ research: gate.run });
    const topicId = await current.makeTopic();
    const { runId } = await current.expect(202, "POST", "/workflows/standard_article/runs", { workspaceId, topicId });
    await expect.poll(() => gate.open.length).toBe(1);
    const [{ approvalId }] = (await current.expect(200, "GET", `/runs/${runId}/approvals`)).approvals;
    await current.expect(200, "POST", `/runs/${runId}/approvals/${approvalId}`, { decision: "approve", note: "as planned" });
    gate.open[0]?.end({ kind: "failed", code: "step_failed", message: "not today", retryable: true, usage: noUsage });
    await current.runIn(runId, "failed");
    await current.expect(202, "POST", `/runs/${runId}/retry`);
    await expect.poll(() => gate.open.length).toBe(2);
    gate.open[1]?.end({ kind: "completed", text: "found", artifacts: [], usage: noUsage });
    expect(await current.runIn(runId, "paused_for_approval")).toMatchObject({ currentStep: "draft" });
    const { approvals } = await current.expect(200, "GET", `/runs/${runId}/approvals`);
    expect(approvals).toMatchObject([
      { approvalId, state: "approved", note: "as planned" },
      { stepName: "draft", state: "expired" },
      { stepName: "draft", state: "pending" },
    ]);
    expect((await current.topic(topicId)).approvals.outline).toMatchObject({ approvedBy: "ana" });
  });
});

describe("results that cannot be taken in", () => {
  test("[RU78][AC24] a step whose end cannot be committed fails like one that threw, and does not loop", async () => {
    let runs = 0;
    const engine = openEngine(
      {
        draft: async () => {
          runs += 1;
          return finished("done");
        },
      },
      (storage) => ({
        ...storage,
        async commit(batch) {
          if (batch.records?.some(({ type }) => type.name === "artifact") === true) throw new Error("a bug in what goes along");
          return storage.commit(batch);
        },
      }),
    );
    await engine.actors.create(engine.kind, engine.runId, toInput([{ name: "draft", type: "draft" }]));
    await engine.until("failed");
    expect(runs).toBe(4);
    const { failure } = (await readRun(engine.storage, engine.runId)).context;
    expect(failure).toMatchObject({ code: "step_failed", retryable: true, message: expect.stringContaining("a bug in what goes along") });
  });

  test("[RU78] a result that meets too many conflicts is stored later, without running the step twice", async () => {
    let runs = 0;
    let refusals = 3;
    const engine = openEngine(
      {
        draft: async () => {
          runs += 1;
          return finished("done");
        },
      },
      (storage) => ({
        ...storage,
        async commit(batch) {
          if (batch.records?.some(({ type }) => type.name === "artifact") === true && refusals > 0) {
            refusals -= 1;
            throw new AppError("unavailable", "Changing too often.");
          }
          return storage.commit(batch);
        },
      }),
    );
    await engine.actors.create(engine.kind, engine.runId, toInput([{ name: "draft", type: "draft" }]));
    await engine.until("completed");
    expect([runs, refusals]).toEqual([1, 0]);
  });
});
