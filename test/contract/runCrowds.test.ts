/**
 * Tests many requests and runs at once: races of decisions over both surfaces, repeated keys, a crowd of runs, and a
 * node that dies with runs in every state.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { stepsOfWorkspace } from "../../server/domain/runs/engine/runKind.ts";
import type { Executors, StepContext, StepResult } from "../../server/domain/runs/executors/port.ts";
import { statusOf } from "../../server/domain/runs/model/records.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { createLmdbStorage } from "../../server/platform/storage/lmdb/lmdbStorage.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import { partitionCount, type Storage } from "../../server/platform/storage/port.ts";
import { createManualTime, type ManualTime } from "../support/manualTime.ts";
import { type Answer, otherWorkspaceId } from "../support/operationServer.ts";
import { eventsOf, partition } from "./runBreaksFixture.ts";
import { createEngineNode, finished, readRun, readTimeline, toInput, workspaceId } from "./runEngineFixture.ts";
import { createRunRig, noUsage, type RunRig } from "./runRig.ts";

let rig: RunRig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});

describe("decisions", () => {
  type Outcome = { readonly status: number; readonly body: Answer["body"] };
  const moves = ["approve", "request_changes", "cancel"] as const;
  type Move = (typeof moves)[number];
  const orders: readonly (readonly Move[])[] = moves.flatMap((first) =>
    moves.filter((name) => name !== first).map((second) => [first, second, moves.find((name) => ![first, second].includes(name)) as Move]),
  );

  async function ask(current: RunRig, move: Move, surface: "rest" | "trpc", runId: string, approvalId: string): Promise<Outcome> {
    const decision = { decision: move };
    if (surface === "rest") {
      return move === "cancel"
        ? current.request("POST", `/runs/${runId}/cancel`, {})
        : current.request("POST", `/runs/${runId}/approvals/${approvalId}`, decision);
    }
    const { problem, result } = await (move === "cancel"
      ? current.trpc("runs.cancel", { runId })
      : current.trpc("runs.resolveApproval", { runId, approvalId, ...decision }));
    return problem === undefined ? { status: 200, body: result } : { status: problem.status, body: problem };
  }

  test("[RU50] decisions in any order over REST and tRPC happen once, and every loser gets the state", async () => {
    rig = await createRunRig({ storage: createMemoryStorage() });
    for (const [at, order] of orders.entries()) {
      // Three of the eight choices of a surface for each decision. All eight occur.
      for (const surfaces of [0, 1, 2].map((next) => (3 * at + next) % 8)) {
        const topicId = await rig.makeTopic();
        const { runId } = await rig.startStaged(topicId);
        const { pendingApproval } = await rig.runIn(runId, "paused_for_approval");
        const current = rig;
        const raced = order.map((move, at) =>
          ask(current, move, surfaces & (1 << at) ? "trpc" : "rest", runId, pendingApproval.approvalId),
        );
        const answers = await Promise.all(raced);
        const what = `${order.join(", ")} over ${surfaces}: ${JSON.stringify(answers.map(({ body }) => body.code ?? body.state ?? body.status))}`;
        const won = order.filter((_move, at) => (answers[at]?.status ?? 500) < 400);
        for (const { status, body } of answers.filter((answer) => answer.status >= 400)) {
          expect(["409 invalid_transition", "409 approval_already_resolved", "410 approval_expired"], what).toContain(
            `${status} ${body.code}`,
          );
          expect(body, what).toMatchObject({ currentState: expect.any(String), allowed: expect.any(Array) });
        }
        // A run that executes a step again can still be cancelled. No other two decisions can succeed together.
        expect([["approve"], ["request_changes"], ["cancel"], ["request_changes", "cancel"]], what).toContainEqual(
          won.toSorted((left, right) => moves.indexOf(left) - moves.indexOf(right)),
        );
        // One event for each decision, and one for the approval that a cancel leaves without a decision.
        expect(await eventsOf(rig.storage, runId, "agent.approval_resolved"), what).toHaveLength(won.length);
        expect(await eventsOf(rig.storage, runId, "agent.run_cancelled"), what).toHaveLength(won.includes("cancel") ? 1 : 0);
        expect(await eventsOf(rig.storage, runId, "agent.run_completed"), what).toHaveLength(won.includes("approve") ? 1 : 0);
        const { runs } = await rig.expect(200, "GET", `/workspaces/${workspaceId}/runs?topicId=${topicId}`);
        expect(runs, what).toHaveLength(won.includes("approve") ? 2 : 1);
        expect(
          (await rig.auditOf(topicId)).filter((type) => type === "outline_approved"),
          what,
        ).toHaveLength(won.includes("approve") ? 1 : 0);
      }
    }
  });

  test("[RU79] five concurrent starts, decisions, cancels or retries under one key happen once", async () => {
    rig = await createRunRig({ storage: createMemoryStorage() });
    const current = rig;
    const topicId = await current.makeTopic();
    async function five(key: string, path: string, body: object): Promise<Answer["body"]> {
      const headers = { "idempotency-key": key };
      const answers = await Promise.all(Array.from({ length: 5 }, () => current.request("POST", path, body, { headers })));
      for (const { status, body: problem } of answers) {
        if (status >= 300) expect([status, problem.code], path).toEqual([409, "idempotency_in_progress"]);
      }
      const made = answers.filter(({ status }) => status < 300);
      expect(made.length).toBeGreaterThanOrEqual(1);
      const again = await current.request("POST", path, body, { headers });
      for (const { body: same } of made) expect(again.body).toEqual(same);
      return again.body;
    }
    const { runId } = await five("start", current.topicPath(topicId, "/workflow-runs"), {});
    const { pendingApproval } = await current.runIn(runId, "paused_for_approval");
    expect(await five("cancel", `/runs/${runId}/cancel`, {})).toMatchObject({ status: "cancelled" });
    await five("retry", `/runs/${runId}/retry`, {});
    const { pendingApproval: anew } = await current.runIn(runId, "paused_for_approval");
    expect(anew.approvalId).not.toBe(pendingApproval.approvalId);
    await five("change", `/runs/${runId}/approvals/${anew.approvalId}`, { decision: "request_changes", note: "again" });
    await expect.poll(async () => (await current.run(runId)).steps[2].attempt).toBe(2);
    const { pendingApproval: next } = await current.runIn(runId, "paused_for_approval");
    await five("approve", `/runs/${runId}/approvals/${next.approvalId}`, { decision: "approve" });
    const { chainedRunId } = await current.runIn(runId, "completed");
    await current.runIn(chainedRunId, "completed");
    const events = (await readTimeline(current.storage, runId)).map(({ event }) => event.replace("agent.", ""));
    const count = (name: string) => events.filter((event) => event === name).length;
    expect(["run_started", "run_cancelled", "approval_resolved", "paused_for_approval", "run_completed"].map(count)).toEqual([
      1, 1, 3, 3, 1,
    ]);
    const { runs } = await current.expect(200, "GET", `/workspaces/${workspaceId}/runs?topicId=${topicId}`);
    expect(runs).toHaveLength(2);
  });

  test("[RU79] five concurrent decisions with edits under one Idempotency-Key make the edits once", async () => {
    rig = await createRunRig({ storage: createMemoryStorage() });
    const current = rig;
    const topicId = await current.makeTopic();
    const { runId, articleId } = await current.expect(202, "POST", current.topicPath(topicId, "/outline"), {});
    const { pendingApproval } = await current.runIn(runId, "paused_for_approval");
    const path = `/runs/${runId}/approvals/${pendingApproval.approvalId}`;
    const decision = { decision: "approve", edits: { mode: "append", content: "one line more\n" } };
    const headers = { "idempotency-key": "with edits" };
    const answers = await Promise.all(Array.from({ length: 5 }, () => current.request("POST", path, decision, { headers })));
    expect(answers.filter(({ status }) => status !== 200).every(({ body }) => body.code === "idempotency_in_progress")).toBe(true);
    await current.expect(200, "POST", path, decision, { headers });
    expect((await current.node.documents.read(articleId)).texts["outline.md"]).toBe("# outline 1\none line more\n");
    expect((await current.node.commits.list(articleId, { kind: "commit" })).items).toHaveLength(1);
  });
});

/** Returns an executor that ends its step after this time of the manual clock. */
const worksFor =
  (time: ManualTime, ms: number) =>
  (_context: StepContext): Promise<StepResult> =>
    new Promise((resolve) => void time.after(ms, () => resolve(finished("done"))));

/** Returns the kinds of all due rows of actors. */
async function rowsLeft(storage: Storage, time: ManualTime): Promise<readonly string[]> {
  await time.leap(365 * 24 * 3_600_000);
  const partitions = Array.from({ length: partitionCount }, (_, at) => at);
  const rows = await storage.due.claim({ partitions, limit: 100_000, leaseMs: 1 });
  return rows.map(({ kind }) => kind).filter((kind) => kind.startsWith("actor."));
}

describe("crowds", () => {
  test("[RU80] 200 queued runs end within the workspace's share, and other workspaces do not wait", async () => {
    const time = createManualTime();
    const storage = time.watch(createMemoryStorage({ now: time.now }));
    const ended: string[] = [];
    let [atOnce, most] = [0, 0];
    const node = createEngineNode(storage, time, {
      async draft(context) {
        atOnce += 1;
        most = Math.max(most, atOnce);
        const result = await worksFor(time, 100)(context);
        atOnce -= 1;
        ended.push(context.run.workspaceId);
        return result;
      },
    });
    const start = (inWorkspace: string) =>
      node.actors.create(
        node.kind,
        node.ids.next("run", partitionOfId(inWorkspace)),
        toInput([{ name: "draft", type: "draft" }], [], { workspaceId: inWorkspace }),
      );
    const crowd = await Promise.all(Array.from({ length: 200 }, () => start(workspaceId)));
    const few = await Promise.all(Array.from({ length: 5 }, () => start(otherWorkspaceId)));
    const states = async () => Promise.all([...crowd, ...few].map(async ({ value: { id } }) => statusOf(await readRun(storage, id))));
    await time.until(async () => (await states()).every((state) => state === "completed"), { stepMs: 500 });
    // At most the share of one workspace for the crowd, and 5 of the others.
    expect(most).toBeLessThanOrEqual(stepsOfWorkspace + 5);
    expect(most).toBeGreaterThanOrEqual(stepsOfWorkspace);
    expect(ended.lastIndexOf(otherWorkspaceId)).toBeLessThan(2 * (stepsOfWorkspace + 5));
    expect(await Promise.all(crowd.map(async ({ value: { id } }) => (await eventsOf(storage, id, "agent.step_started")).length))).toEqual(
      Array(200).fill(1),
    );
    await node.pump.drain(AbortSignal.abort());
    expect(await rowsLeft(storage, time)).toEqual([]);
  });

  test("[RU81] when a node dies, the next one ends runs of every state, and no row remains", async () => {
    const directory = await mkdtemp(join(tmpdir(), "runs-"));
    const time = createManualTime();
    const open = async () => time.watch(await createLmdbStorage({ directory, now: time.now }));
    const first = await open();
    let failing = true;
    const begun: string[] = [];
    const executors: Executors = {
      research: async ({ run }) => {
        begun.push(run.runId);
        return finished("found");
      },
      thesis: async () => {
        if (failing) throw new Error("a bug");
        return finished("said");
      },
      review: async () =>
        failing ? { kind: "failed", code: "step_failed", message: "no", retryable: true, usage: noUsage } : finished("reviewed"),
      draft: (context) => (failing ? new Promise(() => {}) : worksFor(time, 50)(context)),
      outline: async () => finished("outlined"),
    };
    const dead = { now: false };
    const gone = () => new Promise<never>(() => {});
    const dying: Storage = {
      ...first,
      commit: (batch) => (dead.now ? gone() : first.commit(batch)),
      due: {
        ...first.due,
        claim: (wish) => (dead.now ? gone() : first.due.claim(wish)),
        renew: (row, ms) => (dead.now ? gone() : first.due.renew(row, ms)),
      },
    };
    const before = createEngineNode(dying, time, executors);
    const { ids } = before;
    const make = async (steps: Parameters<typeof toInput>[0]) => {
      const runId = ids.next("run", partition);
      const approvalId = ids.next("apr", partition);
      await before.actors.create(before.kind, runId, toInput(steps, [approvalId]));
      return { runId, approvalId };
    };
    const of = (n: number, steps: Parameters<typeof toInput>[0]) => Promise.all(Array.from({ length: n }, () => make(steps)));
    const research = { name: "research", type: "research" } as const;
    const paused = await of(20, [research, { name: "outline", type: "outline", approval: "required" }]);
    const optional = await of(10, [research, { name: "outline", type: "outline", approval: "optional" }]);
    const completed = await of(10, [research]);
    const failed = await of(20, [research, { name: "review", type: "review" }]);
    await time.until(async () =>
      (await Promise.all(failed.map(({ runId }) => readRun(first, runId)))).every(({ state }) => state === "failed"),
    );
    const cancelled = paused.splice(0, 10);
    for (const { runId } of cancelled) await before.actors.send(before.kind, runId, { type: "run.cancel", by: "ben" });
    const throwing = await of(5, [research, { name: "thesis", type: "thesis" }]);
    await time.advance(1500);
    const running = await of(20, [research, { name: "draft", type: "draft" }]);
    await time.advance(1000);
    const queued = await of(15, [{ name: "draft", type: "draft" }]);
    const all = [...paused, ...optional, ...completed, ...failed, ...cancelled, ...throwing, ...running, ...queued];
    const seen = new Set(await Promise.all(all.map(async ({ runId }) => statusOf(await readRun(first, runId)))));
    expect(seen).toEqual(new Set(["queued", "running", "paused_for_approval", "completed", "failed", "cancelled"]));
    const firstBegun = begun.length;
    dead.now = true;
    await first.close();

    failing = false;
    const storage = await open();
    const after = createEngineNode(storage, time, executors);
    const { actors, kind } = after;
    for (const { runId, approvalId } of paused)
      await actors.send(kind, runId, { type: "approval.resolve", approvalId, decision: "approve", by: "ben" });
    const retry = { type: "run.retry", by: "ben" } as const;
    for (const { runId } of failed) await actors.send(kind, runId, { ...retry, approvalIds: {} });
    for (const { runId } of cancelled) {
      const approvalId = ids.next("apr", partition);
      await actors.send(kind, runId, { ...retry, approvalIds: { outline: approvalId } });
      await actors.send(kind, runId, { type: "approval.resolve", approvalId, decision: "approve", by: "ben" });
    }
    await time.until(
      async () => (await Promise.all(all.map(({ runId }) => readRun(storage, runId)))).every(({ state }) => state === "completed"),
      {
        stepMs: 1000,
        withinMs: 1_200_000,
      },
    );
    expect(all).toHaveLength(100);
    // Steps that had finished before did not run again.
    expect(begun.length - firstBegun).toBeLessThanOrEqual(20);
    for (const { runId } of all) {
      const told = (await readTimeline(storage, runId)).filter(({ event }) => event === "agent.step_completed");
      const steps = told.map(({ data }) => data as { stepName: string; status: string }).filter(({ status }) => status === "completed");
      expect(new Set(steps.map(({ stepName }) => stepName)).size).toBe(steps.length);
      expect((await readRun(storage, runId)).pending).toEqual([]);
    }
    await after.pump.drain(AbortSignal.abort());
    expect(await rowsLeft(storage, time)).toEqual([]);
    await storage.close();
    await rm(directory, { recursive: true, force: true });
  }, 60_000);

  test("[RU82] a clock jump of an hour during a step: it runs again under a new lease and ends once", async () => {
    const time = createManualTime();
    const storage = time.watch(createMemoryStorage({ now: time.now }));
    const ends: ((text: string) => void)[] = [];
    const node = createEngineNode(storage, time, {
      draft: () => new Promise((resolve) => void ends.push((text) => resolve(finished(text)))),
    });
    const runId = node.ids.next("run", partition);
    const optional = node.ids.next("apr", partition);
    await node.actors.create(node.kind, runId, toInput([{ name: "draft", type: "draft", approval: "optional" }], [optional]));
    await time.until(() => ends.length === 1);
    await time.leap(3_600_000);
    await time.until(() => ends.length === 2, { withinMs: 30_000 });
    ends[0]?.("before the leap");
    await time.advance(100);
    expect((await readRun(storage, runId)).state).toBe("running");
    ends[1]?.("after the leap");
    await time.until(async () => (await readRun(storage, runId)).state === "paused_for_approval");
    await time.leap(3_600_000);
    await time.until(async () => (await readRun(storage, runId)).state === "completed");
    expect((await eventsOf(storage, runId, "agent.step_completed")).length).toBe(1);
    expect((await eventsOf(storage, runId, "agent.approval_resolved")).map(({ data }) => data)).toMatchObject([{ decision: "expired" }]);
  });
});
