/**
 * Tries every operation in every state of a topic. The tables below name the accepted moves. Every other move is refused
 * with the state and the possible moves, over REST and tRPC alike, and changes nothing. The tables are written by hand
 * and must name all states and moves of the machine.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ArticleFile } from "../../api/schema/article.ts";
import type { ErrorCode } from "../../api/schema/error.ts";
import { topicCommands, topicMachine } from "../../machines/topic.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { workspaceId } from "../support/operationServer.ts";
import { createCall } from "./articleFixture.ts";
import { expectRefused, type MoveRequest, openMoveRig, surfaceNames, surfaces } from "./moveFixture.ts";
import type { RunRig } from "./runRig.ts";

let rig: RunRig;
beforeEach(async () => {
  rig = await openMoveRig();
});
afterEach(() => rig.close());

describe("moves of topics", () => {
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

  function toRequest(topicId: string, { procedure, path, method, body = {} }: TopicMove): MoveRequest {
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
        await expectRefused(rig, toRequest(topicId, move), {
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
        const { problem } = await surfaces[surface](rig, toRequest(topicId, move));
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
            const { problem } = await surfaces[surface](rig, request);
            const facts = { currentState: expect.any(String), allowed: expect.any(Array) };
            expect(problem, `${request.procedure} over ${surface}, ${state}`).toMatchObject({ status: 409, code, ...facts });
          }
        }
        expect(blocked.length).toBeGreaterThan(3);
      }
    },
  );
});
