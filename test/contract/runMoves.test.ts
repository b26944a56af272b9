/**
 * Tries every operation in every state of a run. The tables below name the accepted moves. Every other move is refused
 * with the state and the possible moves, over REST and tRPC alike, and changes nothing. The tables are written by hand
 * and must name all states and moves of the machine.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ErrorCode } from "../../api/schema/error.ts";
import { agentRunMachine, runCommands } from "../../machines/agentRun.ts";
import { stepsOfWorkspace } from "../../server/domain/runs/engine/runKind.ts";
import { workspaceId } from "../support/operationServer.ts";
import { expectRefused, type MoveRequest, openMoveRig, surfaceNames, surfaces } from "./moveFixture.ts";
import type { RunRig } from "./runRig.ts";

let rig: RunRig;
beforeEach(async () => {
  rig = await openMoveRig();
});
afterEach(() => rig.close());

describe("moves of runs", () => {
  interface RunMove {
    readonly event: (typeof runCommands)[number];
    readonly body: object;
  }
  const moves: readonly RunMove[] = [
    { event: "run.cancel", body: { reason: "Enough." } },
    { event: "run.retry", body: {} },
    { event: "run.retry", body: { fromStep: "research" } },
    { event: "approval.resolve", body: { decision: "approve" } },
    { event: "approval.resolve", body: { decision: "reject" } },
    { event: "approval.resolve", body: { decision: "request_changes" } },
  ];

  interface ReachedRun {
    readonly runId: string;
    readonly topicId: string;
    readonly approvalId: string;
  }
  interface RunState {
    readonly status: string;
    readonly reach: () => Promise<ReachedRun>;
    readonly taken: readonly (typeof runCommands)[number][];
    /** Error code for a decision on the approval. */
    readonly refusedDecision?: ErrorCode;
  }
  const active = ["run.cancel", "approval.resolve"] as const;
  const states: Readonly<Record<string, RunState>> = {
    queued: { status: "queued", reach: () => queue(), taken: active },
    running: { status: "running", reach: () => start("Holds", "running"), taken: active },
    "waiting for a decision": { status: "paused_for_approval", reach: () => start("Kites", "paused_for_approval"), taken: active },
    completed: {
      status: "completed",
      reach: () => then("POST approve", "completed"),
      taken: [],
      refusedDecision: "approval_already_resolved",
    },
    failed: { status: "failed", reach: () => start("Fails", "failed"), taken: ["run.retry"], refusedDecision: "approval_expired" },
    "cancelled while it waited": {
      status: "cancelled",
      reach: () => then("POST cancel", "cancelled"),
      taken: ["run.retry"],
      refusedDecision: "approval_expired",
    },
    "cancelled by a rejection": {
      status: "cancelled",
      reach: () => then("POST reject", "cancelled"),
      taken: ["run.retry"],
      refusedDecision: "approval_already_resolved",
    },
    "cancelled before it began": {
      status: "cancelled",
      async reach() {
        const queued = await queue();
        await rig.expect(202, "POST", `/runs/${queued.runId}/cancel`);
        return queued;
      },
      taken: ["run.retry"],
      refusedDecision: "approval_expired",
    },
  };

  async function begin(title: string): Promise<ReachedRun> {
    const topicId = await rig.makeTopic(title);
    const { runId } = await rig.expect(202, "POST", rig.topicPath(topicId, "/outline"), {});
    const { approvals } = await rig.expect(200, "GET", `/runs/${runId}/approvals`);
    return { runId, topicId, approvalId: approvals[0].approvalId };
  }

  async function start(title: string, status: string): Promise<ReachedRun> {
    const begun = await begin(title);
    await rig.runIn(begun.runId, status);
    return begun;
  }

  /** The workspace has no room for another run. */
  async function queue(): Promise<ReachedRun> {
    const { runs } = await rig.expect(200, "GET", `/workspaces/${workspaceId}/runs?status=running&limit=100`);
    for (let at = runs.length; at < stepsOfWorkspace; at += 1) await start(`Holds ${at}`, "running");
    return begin("Holds back");
  }

  async function then(what: "POST approve" | "POST reject" | "POST cancel", status: string): Promise<ReachedRun> {
    const paused = await start("Kites", "paused_for_approval");
    const { runId, approvalId } = paused;
    const decision = what.slice("POST ".length);
    if (decision === "cancel") await rig.expect(202, "POST", `/runs/${runId}/cancel`);
    else await rig.expect(200, "POST", `/runs/${runId}/approvals/${approvalId}`, { decision });
    await rig.runIn(runId, status);
    return paused;
  }

  function toRequest({ runId, approvalId }: ReachedRun, { event, body }: RunMove): MoveRequest {
    if (event === "approval.resolve") {
      const path = `/runs/${runId}/approvals/${approvalId}`;
      return { method: "POST", path, body, procedure: "runs.resolveApproval", input: { runId, approvalId, ...body } };
    }
    const name = event === "run.cancel" ? "cancel" : "retry";
    return { method: "POST", path: `/runs/${runId}/${name}`, body, procedure: `runs.${name}`, input: { runId, ...body } };
  }

  async function everythingOf({ runId, topicId }: ReachedRun): Promise<unknown> {
    const run = await rig.request("GET", `/runs/${runId}`);
    const { approvals } = await rig.expect(200, "GET", `/runs/${runId}/approvals`);
    const { events } = await rig.expect(200, "GET", `/runs/${runId}/events`);
    return [run.headers.get("etag"), run.body, approvals, events, await rig.topic(topicId), await rig.auditOf(topicId)];
  }

  const codeOf = ({ event }: RunMove, { refusedDecision = "invalid_transition" }: RunState): ErrorCode =>
    event === "approval.resolve" ? refusedDecision : "invalid_transition";

  test("[RU69] the tables contain every state and every move", () => {
    // The run only passes through this state.
    const statuses = Object.keys(agentRunMachine.states).filter((status) => status !== "deciding");
    expect([...new Set(Object.values(states).map(({ status }) => status))].sort()).toEqual(statuses.sort());
    expect([...new Set(moves.map(({ event }) => event))].sort()).toEqual([...runCommands].sort());
  });

  test.each(Object.entries(states))(
    "[RU69] [OP77] %s: a refusal names what was asked, the state and the possible operations, and changes nothing",
    async (_name, state) => {
      const run = await state.reach();
      // A step that is about to start would change the run by itself.
      if (state.status === "running") await expect.poll(async () => (await rig.run(run.runId)).steps[0].status).toBe("running");
      const before = await everythingOf(run);
      const refused = moves.filter(({ event }) => !state.taken.includes(event));
      for (const move of refused) {
        await expectRefused(rig, toRequest(run, move), {
          code: codeOf(move, state),
          currentState: state.status,
          refused: move.event,
          taken: state.taken,
        });
      }
      expect(refused.length).toBeGreaterThan(0);
      expect(await everythingOf(run)).toEqual(before);
    },
  );

  test.each(Object.entries(states).filter(([, { taken }]) => taken.length > 0))(
    "[RU69] %s: every other move is accepted",
    async (_name, state) => {
      for (const move of moves.filter(({ event }) => state.taken.includes(event))) {
        for (const surface of surfaceNames) {
          const run = await state.reach();
          expect((await rig.run(run.runId)).status).toBe(state.status);
          const { problem } = await surfaces[surface](rig, toRequest(run, move));
          expect(problem, `${move.event} ${JSON.stringify(move.body)} over ${surface}`).toBeUndefined();
          const { events } = await rig.expect(200, "GET", `/runs/${run.runId}/events`);
          if (move.event !== "run.retry") {
            const told = move.event === "run.cancel" ? "agent.run_cancelled" : "agent.approval_resolved";
            expect(events.filter(({ event }: { event: string }) => event === told)).toHaveLength(1);
          }
          await rig.request("POST", `/runs/${run.runId}/cancel`);
        }
      }
    },
  );
});
