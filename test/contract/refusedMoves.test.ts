/**
 * Tries every operation in every state of a topic and of a run. The tables below name the accepted moves. Every other
 * move is refused with the state and the possible moves, over REST and tRPC alike, and changes nothing. The tables are
 * written by hand and must name all states and moves of the machines.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ArticleFile } from "../../api/schema/article.ts";
import { type ErrorCode, errorRow } from "../../api/schema/error.ts";
import { agentRunMachine, runCommands } from "../../machines/agentRun.ts";
import { topicCommands, topicMachine } from "../../machines/topic.ts";
import { defineRunKind, stepsOfWorkspace } from "../../server/domain/runs/engine/runKind.ts";
import type { Executor } from "../../server/domain/runs/executors/port.ts";
import { topicKind } from "../../server/domain/topics/topicKind.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import { type Answer, workspaceId } from "../support/operationServer.ts";
import { createCall } from "./articleFixture.ts";
import { createRunRig, noUsage, type RunRig, toExecutors } from "./runRig.ts";

type Json = Answer["body"];

let rig: RunRig;
beforeEach(async () => {
  rig = await createRunRig({ storage: createMemoryStorage(), executors: { research: scripted("research"), draft: scripted("draft") } });
});
afterEach(() => rig.close());

/** The title of the topic decides the result of the first step of its run. */
function scripted(type: "research" | "draft"): Executor {
  return async (context) => {
    const { topic, signal } = context;
    if (topic?.title.startsWith("Fails") === true) {
      return { kind: "failed", code: "step_failed", message: "It was to fail.", retryable: true, usage: noUsage };
    }
    if (topic?.title.startsWith("Holds") === true) {
      await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    }
    return (toExecutors()[type] as Executor)(context);
  };
}

/** The same request on both surfaces. */
interface Request {
  readonly method: "POST" | "PATCH";
  readonly path: string;
  readonly body: object;
  readonly procedure: string;
  readonly input: object;
}

const surfaces = {
  async rest({ method, path, body }: Request): Promise<{ readonly problem?: Json; readonly result?: Json }> {
    const { status, body: answered, headers } = await rig.request(method, path, body);
    if (status < 300) return { result: answered };
    expect(headers.get("content-type"), path).toBe("application/problem+json");
    expect(answered.status, path).toBe(status);
    return { problem: answered };
  },
  trpc: ({ procedure, input }: Request) => rig.trpc(procedure, input),
} as const;
const surfaceNames = Object.keys(surfaces) as (keyof typeof surfaces)[];

const words = { ...topicKind.words, ...defineRunKind({ keepEventsMs: 0 }).words };
type Event = keyof typeof words;

const operationsOf = (events: readonly Event[]) => [...new Set(events.flatMap((event) => words[event]?.operations ?? []))].sort();

interface ExpectedRefusal {
  readonly code: ErrorCode;
  readonly currentState: string;
  /** The event that is refused, and those that the state accepts. */
  readonly refused: Event;
  readonly taken: readonly Event[];
}

async function expectRefused(request: Request, { code, currentState, refused, taken }: ExpectedRefusal) {
  const told = `${request.procedure} in ${currentState}`;
  const allowed = operationsOf(taken);
  const problems = [];
  for (const surface of surfaceNames) {
    const { problem, result } = await surfaces[surface](request);
    expect(result, `${told} over ${surface}`).toBeUndefined();
    const { instance: _instance, requestId: _requestId, ...rest } = problem;
    expect({ ...rest, allowed: [...rest.allowed].sort() }, told).toMatchObject({
      status: errorRow(code).status,
      code,
      currentState,
      allowed,
    });
    for (const event of Object.keys(words)) expect(rest.detail, told).not.toContain(event);
    if (code === "invalid_transition") {
      const parts = [words[refused]?.asked, currentState, ...rest.allowed];
      for (const part of parts) expect(rest.detail, told).toContain(part);
    }
    problems.push(rest);
  }
  expect(problems[0], told).toEqual(problems[1]);
}

describe("topics", () => {
  interface TopicMove {
    /** Name of the operation in the topic's transitions. */
    readonly operation: string;
    readonly event: (typeof topicCommands)[number];
    readonly procedure: string;
    readonly path: string;
    readonly method?: "PATCH";
    readonly body?: object;
  }
  const moves: readonly TopicMove[] = [
    { operation: "update", event: "topic.update", procedure: "update", path: "", method: "PATCH", body: { title: "Renamed" } },
    { operation: "shortlist", event: "topic.shortlist", procedure: "shortlist", path: "/shortlist" },
    { operation: "archive", event: "topic.archive", procedure: "archive", path: "/archive" },
    { operation: "restore", event: "topic.restore", procedure: "restore", path: "/restore" },
    { operation: "ensure_article", event: "article.link", procedure: "ensureArticle", path: "/article" },
    { operation: "start_workflow", event: "run.start", procedure: "startWorkflow", path: "/workflow-runs" },
    { operation: "generate_outline", event: "run.start", procedure: "generateOutline", path: "/outline" },
    { operation: "approve_outline", event: "outline.approve", procedure: "approveOutline", path: "/outline/approve" },
    {
      operation: "request_outline_changes",
      event: "outline.requestChanges",
      procedure: "requestOutlineChanges",
      path: "/outline/request-changes",
    },
    { operation: "run_draft_action", event: "run.start", procedure: "runDraftAction", path: "/draft/actions", body: { action: "create" } },
    { operation: "approve_draft", event: "draft.approve", procedure: "approveDraft", path: "/draft/approve" },
    { operation: "request_draft_changes", event: "draft.requestChanges", procedure: "requestDraftChanges", path: "/draft/request-changes" },
  ];

  const events = {
    idea: ["topic.update", "topic.shortlist", "topic.archive", "article.link", "run.start"],
    begun: ["topic.update", "topic.archive", "article.link", "run.start"],
    archived: ["topic.restore"],
    outline: ["outline.approve", "outline.requestChanges"],
    draft: ["draft.approve", "draft.requestChanges"],
  } as const satisfies Readonly<Record<string, readonly (typeof topicCommands)[number][]>>;

  interface TopicState {
    readonly status: string;
    readonly way: readonly (keyof typeof ways)[];
    /** Events that the machine accepts. */
    readonly taken: readonly (typeof topicCommands)[number][];
  }
  const states: Readonly<Record<string, TopicState>> = {
    idea: { status: "idea", way: [], taken: events.idea },
    "idea with an article": { status: "idea", way: ["article"], taken: events.idea },
    shortlisted: { status: "shortlisted", way: ["shortlist"], taken: events.begun },
    outlined: { status: "outlined", way: ["outline"], taken: [...events.begun, ...events.outline] },
    "outlined and approved": {
      status: "outlined",
      way: ["outline", "approveOutline"],
      taken: [...events.begun, "outline.requestChanges"],
    },
    "drafted without an outline": { status: "drafted", way: ["draft"], taken: [...events.begun, ...events.draft] },
    drafted: { status: "drafted", way: ["outline", "draft"], taken: [...events.begun, ...events.outline, ...events.draft] },
    "drafted, both approved": {
      status: "drafted",
      way: ["outline", "approveOutline", "draft", "approveDraft"],
      taken: [...events.begun, "outline.requestChanges", "draft.requestChanges"],
    },
    "archived, once an idea": { status: "archived", way: ["archive"], taken: events.archived },
    "archived with its article": { status: "archived", way: ["article", "archive"], taken: events.archived },
    "archived, once shortlisted": { status: "archived", way: ["shortlist", "archive"], taken: events.archived },
    "archived, once outlined": { status: "archived", way: ["outline", "archive"], taken: events.archived },
    "archived, once drafted": { status: "archived", way: ["outline", "approveOutline", "draft", "archive"], taken: events.archived },
  };

  const post = (rest: string) => (topicId: string) => rig.expect(200, "POST", rig.topicPath(topicId, rest), {});
  const commit = (file: ArticleFile) => async (topicId: string) => {
    const { articleId } = (await rig.request("POST", rig.topicPath(topicId, "/article"), {})).body;
    const call = () => createCall(rig.storage, workspaceId, partitionOfId(workspaceId), { username: "ben" });
    await rig.node.edits.edit(articleId, { mode: "append", file, content: "Some text.\n" }, call());
    await rig.node.commits.create(articleId, {}, call());
  };
  const ways = {
    article: (topicId: string) => rig.expect(201, "POST", rig.topicPath(topicId, "/article"), {}),
    shortlist: post("/shortlist"),
    outline: commit("outline.md"),
    approveOutline: post("/outline/approve"),
    draft: commit("content.md"),
    approveDraft: post("/draft/approve"),
    archive: post("/archive"),
  } as const;

  async function reach({ status, way }: TopicState): Promise<string> {
    const topicId = await rig.makeTopic("Holds against the wind");
    for (const step of way) await ways[step](topicId);
    expect((await rig.topic(topicId)).status).toBe(status);
    return topicId;
  }

  function toRequest(topicId: string, { procedure, path, method, body = {} }: TopicMove): Request {
    const input = { workspaceId, topicId, ...body };
    return { method: method ?? "POST", path: rig.topicPath(topicId, path), body, procedure: `topics.${procedure}`, input };
  }

  async function everythingOf(topicId: string): Promise<unknown> {
    const topic = await rig.request("GET", rig.topicPath(topicId));
    const runs = await rig.expect(200, "GET", `/workspaces/${workspaceId}/runs?topicId=${topicId}`);
    const articles = (await rig.node.articles.list({ workspaceId, topicId })).items.map(({ article }) => article);
    return [topic.headers.get("etag"), topic.body, await rig.auditOf(topicId), runs, articles];
  }

  /** A resolved approval has its own error code. */
  function codeOf({ event }: TopicMove, { taken }: TopicState): ErrorCode {
    const isApproved = event.endsWith(".approve") && taken.includes(event.replace("approve", "requestChanges") as typeof event);
    return isApproved ? "approval_already_resolved" : "invalid_transition";
  }

  test("[TO46] the tables contain every status and every move", () => {
    const statuses = Object.keys(topicMachine.states).filter((status) => status !== "new");
    expect([...new Set(Object.values(states).map(({ status }) => status))].sort()).toEqual(statuses.sort());
    expect([...new Set(moves.map(({ event }) => event))].sort()).toEqual([...topicCommands].sort());
  });

  test.each(Object.entries(states))(
    "[TO46] [OP77] %s: a refusal names what was asked, the state and the possible operations, and changes nothing",
    async (_name, state) => {
      const topicId = await reach(state);
      const before = await everythingOf(topicId);
      const refused = moves.filter(({ event }) => !state.taken.includes(event));
      for (const move of refused) {
        await expectRefused(toRequest(topicId, move), {
          code: codeOf(move, state),
          currentState: state.status,
          refused: move.event,
          taken: state.taken,
        });
      }
      expect(refused.length).toBeGreaterThan(0);
      expect(await everythingOf(topicId)).toEqual(before);
    },
  );

  test.each(Object.entries(states))("[TO47] %s: each listed transition is accepted and leads where the list says", async (_name, state) => {
    const { status, allowed, blocked } = await rig.expect(200, "GET", rig.topicPath(await reach(state), "/transitions"));
    expect(status).toBe(state.status);
    const taken = moves.filter(({ event }) => state.taken.includes(event));
    expect(allowed.map(({ operation }: { operation: string }) => operation).sort()).toEqual(taken.map(({ operation }) => operation).sort());
    const refused = moves.filter((move) => !taken.includes(move));
    expect(Object.fromEntries(blocked.map(({ operation, code }: { operation: string; code: string }) => [operation, code]))).toEqual(
      Object.fromEntries(refused.map((move) => [move.operation, codeOf(move, state)])),
    );
    for (const move of taken) {
      const { to } = allowed.find(({ operation }: { operation: string }) => operation === move.operation);
      for (const surface of surfaceNames) {
        const topicId = await reach(state);
        const { problem } = await surfaces[surface](toRequest(topicId, move));
        expect(problem, `${move.procedure} over ${surface}`).toBeUndefined();
        const left = await rig.topic(topicId);
        // The run that was started waits or is held, so nothing else moves the topic.
        expect(left.status, move.procedure).toBe(to);
        const { runs } = await rig.expect(200, "GET", `/workspaces/${workspaceId}/runs?topicId=${topicId}`);
        for (const { runId } of runs) await rig.request("POST", `/runs/${runId}/cancel`);
      }
    }
  });

  const surroundings: Readonly<Record<string, (topicId: string) => Promise<unknown>>> = {
    "a run under way": (topicId) => rig.expect(202, "POST", rig.topicPath(topicId, "/outline"), {}),
    "the article in the trash": async (topicId) => {
      const { articleId } = await rig.topic(topicId);
      await rig.node.articles.delete(articleId, false, createCall(rig.storage, workspaceId, partitionOfId(workspaceId)));
    },
  };

  test.each(Object.entries(surroundings))(
    "[TO47] with %s, the refusal code in the transitions is the code of the operation",
    async (_name, bring) => {
      for (const state of ["outlined", "outlined and approved", "drafted", "drafted, both approved"]) {
        const topicId = await reach(states[state] as TopicState);
        await bring(topicId);
        const { blocked } = await rig.expect(200, "GET", rig.topicPath(topicId, "/transitions"));
        for (const { operation, code } of blocked) {
          const request = toRequest(topicId, moves.find((move) => move.operation === operation) as TopicMove);
          for (const surface of surfaceNames) {
            const { problem } = await surfaces[surface](request);
            const facts = { currentState: expect.any(String), allowed: expect.any(Array) };
            expect(problem, `${request.procedure} over ${surface}, ${state}`).toMatchObject({ status: 409, code, ...facts });
          }
        }
        expect(blocked.length).toBeGreaterThan(3);
      }
    },
  );
});

describe("runs", () => {
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

  function toRequest({ runId, approvalId }: ReachedRun, { event, body }: RunMove): Request {
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
        await expectRefused(toRequest(run, move), {
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
          const { problem } = await surfaces[surface](toRequest(run, move));
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
