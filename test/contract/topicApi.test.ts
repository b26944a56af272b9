/** Tests the operations of topics over REST and tRPC: closed shapes, limits, refusals, headers and access. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import { otherWorkspaceId, workspaceId } from "../support/operationServer.ts";
import { createRunRig, type RunRig } from "./runRig.ts";

let rig: RunRig;
beforeEach(async () => {
  rig = await createRunRig({ storage: createMemoryStorage() });
});
afterEach(() => rig.close());

const inWorkspace = `/workspaces/${workspaceId}`;
const minimal = { title: "Kites", targetAudience: "builders" };

describe("topics over the wire", () => {
  test("[TO20] a new topic has a Location, and its id and short id return it with an entity tag", async () => {
    const made = await rig.request("POST", `${inWorkspace}/topics`, minimal);
    expect(made.status).toBe(201);
    expect(Object.keys(made.body).sort()).toEqual(["createdAt", "shortId", "slug", "status", "topicId"]);
    const location = made.headers.get("location") ?? "";
    expect(location).toBe(`${inWorkspace}/topics/${made.body.topicId}`);
    const byId = await rig.request("GET", location);
    const byShortId = await rig.request("GET", `${inWorkspace}/topics/T-1`);
    expect(byShortId.body).toEqual(byId.body);
    expect(byId.headers.get("etag")).toMatch(/^"r\d+"$/);
    expect(byShortId.headers.get("etag")).toBe(byId.headers.get("etag"));
  });

  test("[TO21] unknown, read-only and out-of-range fields are refused, and nothing is created", async () => {
    const refused: [object, string, string][] = [
      [{ nonsense: 1 }, "unknown_field", "/nonsense"],
      [{ status: "drafted" }, "unknown_field", "/status"],
      [{ articleId: "art_1" }, "unknown_field", "/articleId"],
      [{ recommendedAction: "CREATE" }, "unknown_field", "/recommendedAction"],
      [{ suggestedSources: [{ url: "u", why: "w", who: "x" }] }, "unknown_field", "/suggestedSources/0/who"],
      [{ priorityScore: 100.5 }, "validation_failed", "/priorityScore"],
      [{ priorityScore: -1 }, "validation_failed", "/priorityScore"],
      [{ articleType: "essay" }, "validation_failed", "/articleType"],
      [{ contentType: "essay" }, "validation_failed", "/contentType"],
      [{ scheduledDate: "24.12.2026" }, "validation_failed", "/scheduledDate"],
      [{ scheduledDate: "2026-02-30" }, "validation_failed", "/scheduledDate"],
      [{ wordCountRange: { min: 5, max: 4 } }, "validation_failed", "/wordCountRange/min"],
      [{ wordCountRange: { min: 5 } }, "validation_failed", "/wordCountRange/max"],
      [{ wordCountRange: null }, "validation_failed", "/wordCountRange"],
      [{ angles: ["a", 1] }, "validation_failed", "/angles/1"],
      [{ title: " " }, "validation_failed", "/title"],
      [{ targetAudience: "" }, "validation_failed", "/targetAudience"],
      [{ contentProjectId: "fld_x" }, "validation_failed", "/contentProjectId"],
    ];
    for (const [more, code, pointer] of refused) {
      const { status, body } = await rig.request("POST", `${inWorkspace}/topics`, { ...minimal, ...more });
      expect([status, body.code, body.errors?.[0]?.pointer], JSON.stringify(more)).toEqual([422, code, pointer]);
    }
    const crossed = await rig.request("POST", `${inWorkspace}/topics`, { ...minimal, wordCountRange: { min: 5, max: 4 } });
    expect(crossed.body.errors).toMatchObject([{ pointer: "/wordCountRange/min", message: "must not be above max" }]);
    for (const missing of ["title", "targetAudience"]) {
      const { status, body } = await rig.request("POST", `${inWorkspace}/topics`, { ...minimal, [missing]: undefined });
      expect([status, body.errors[0].pointer]).toEqual([422, `/${missing}`]);
    }
    expect((await rig.expect(200, "GET", `${inWorkspace}/topics`)).topics).toEqual([]);
    const topicId = await rig.makeTopic();
    for (const body of [{ contentProjectId: "fld_x" }, { status: "idea" }, { ownerId: "ben" }, { archiveNote: "x" }]) {
      const answer = await rig.request("PATCH", rig.topicPath(topicId), body);
      expect([answer.status, answer.body.code]).toEqual([422, "unknown_field"]);
    }
    const changed = await rig.expect(200, "PATCH", rig.topicPath(topicId), { recommendedAction: "REWRITE", rankProximity: "page-1" });
    expect(changed).toEqual({ message: expect.any(String), topicId });
  });

  test("[TO24] a foreign workspace, and a topic of another workspace, look missing", async () => {
    const topicId = await rig.makeTopic();
    const made = await rig.expect(201, "POST", `/workspaces/${otherWorkspaceId}/topics`, minimal);
    const paths: [string, string, object?][] = [
      ["GET", ""],
      ["PATCH", "", { title: "x" }],
      ["GET", "/transitions"],
      ["GET", "/audit"],
      ["GET", "/outline"],
      ["GET", "/draft"],
      ["POST", "/restore"],
      ["POST", "/article", {}],
    ];
    for (const [method, rest, body] of paths) {
      expect((await rig.request(method, rig.topicPath(made.topicId, rest), body)).status, rest).toBe(404);
      expect((await rig.request(method, `/workspaces/${otherWorkspaceId}/topics/${topicId}${rest}`, body)).status, rest).toBe(404);
      // Ben is a member of the first workspace only; Dan is a member of none.
      expect((await rig.request(method, `/workspaces/${otherWorkspaceId}/topics/T-1${rest}`, body, { as: "ben" })).status).toBe(404);
      expect((await rig.request(method, rig.topicPath(topicId, rest), body, { as: "dan" })).status).toBe(404);
    }
    for (const path of ["topics", "audit"]) {
      expect((await rig.request("GET", `/workspaces/${otherWorkspaceId}/${path}`, undefined, { as: "ben" })).status).toBe(404);
    }
    expect((await rig.request("POST", `/workspaces/${otherWorkspaceId}/topics`, minimal, { as: "ben" })).status).toBe(404);
  });

  test("[TO27] a change under If-Match is 412 when the topic has changed", async () => {
    const topicId = await rig.makeTopic();
    const etag = (await rig.request("GET", rig.topicPath(topicId))).headers.get("etag") ?? "";
    const headers = { "if-match": etag };
    expect((await rig.request("PATCH", rig.topicPath(topicId), { title: "One" }, { headers })).status).toBe(200);
    const late = await rig.request("PATCH", rig.topicPath(topicId), { title: "Two" }, { headers });
    expect([late.status, late.body.code]).toEqual([412, "precondition_failed"]);
    expect((await rig.topic(topicId)).title).toBe("One");
  });

  test("[TO25] a creation repeated under its Idempotency-Key has the same answer and is made once", async () => {
    const headers = { "idempotency-key": "k-1" };
    const first = await rig.request("POST", `${inWorkspace}/topics`, minimal, { headers });
    const again = await rig.request("POST", `${inWorkspace}/topics`, minimal, { headers });
    expect([again.status, again.body, again.headers.get("location")]).toEqual([201, first.body, first.headers.get("location")]);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect((await rig.expect(200, "GET", `${inWorkspace}/topics`)).topics).toHaveLength(1);
  });

  test("[TO28] a move that a topic refuses is refused in the same way over REST and tRPC", async () => {
    const topicId = await rig.makeTopic();
    const rest = await rig.request("POST", rig.topicPath(topicId, "/restore"));
    expect([rest.status, rest.body.code, rest.body.currentState]).toEqual([409, "invalid_transition", "idea"]);
    expect(rest.body.allowed).toContain("topics.shortlist");
    const { problem } = await rig.trpc("topics.restore", { workspaceId, topicId });
    expect(problem).toMatchObject({ status: 409, code: "invalid_transition", currentState: "idea", allowed: rest.body.allowed });
    await rig.expect(200, "POST", rig.topicPath(topicId, "/archive"), { note: "no" });
    const { problem: changed } = await rig.trpc("topics.update", { workspaceId, topicId, title: "x" });
    expect(changed).toMatchObject({ status: 409, currentState: "archived", allowed: ["topics.restore"] });
  });

  test("[TO31] the audit of a workspace is for administrators, that of a topic for every member", async () => {
    const topicId = await rig.makeTopic();
    const { body } = await rig.request("GET", `${inWorkspace}/audit`, undefined, { as: "ben" });
    expect([body.status, body.code]).toEqual([403, "insufficient_role"]);
    expect(await rig.auditOf(topicId)).toEqual(["topic_created"]);
    const answer = await rig.expect(200, "GET", `${inWorkspace}/audit?eventType=topic_created&eventType=topic_updated&topicId=T-1&from=1`);
    expect(answer).toEqual({
      events: [
        { topicId, eventAt: expect.any(Number), eventId: expect.stringMatching(/^evt_/), eventType: "topic_created", actorId: "ana" },
      ],
    });
    expect((await rig.request("GET", rig.topicPath(topicId, "/audit"), undefined, { as: "ben" })).status).toBe(200);
  });

  test("[TO35] a list accepts repeated statuses, and refuses unknown parameters and values", async () => {
    await rig.makeTopic("First", { priorityScore: 1 });
    const archived = await rig.makeTopic("Second", { priorityScore: 2 });
    await rig.expect(200, "POST", rig.topicPath(archived, "/archive"));
    const titles = async (query: string) =>
      (await rig.expect(200, "GET", `${inWorkspace}/topics${query}`)).topics.map(({ title }: { title: string }) => title);
    expect(await titles("")).toEqual(["First"]);
    expect(await titles("?includeArchived=true&sort=priorityScore")).toEqual(["Second", "First"]);
    expect(await titles("?status=archived&status=idea&order=asc&sort=priorityScore")).toEqual(["First", "Second"]);
    const { statusCounts } = await rig.expect(200, "GET", `${inWorkspace}/topics?status=drafted`);
    expect(statusCounts).toEqual({ idea: 1, shortlisted: 0, outlined: 0, drafted: 0, archived: 1 });
    for (const query of ["?status=published", "?sort=title", "?order=up", "?scheduledFrom=tomorrow", "?limit=0", "?state=idea"]) {
      const { status } = await rig.request("GET", `${inWorkspace}/topics${query}`);
      expect(status, query).toBe(422);
    }
  });

  test("[TO34] transitions mention a running run and the decision that it waits for", async () => {
    const topicId = await rig.makeTopic();
    const { runId } = await rig.expect(202, "POST", rig.topicPath(topicId, "/workflow-runs"));
    await rig.runIn(runId, "paused_for_approval");
    const { status, allowed, blocked } = await rig.expect(200, "GET", rig.topicPath(topicId, "/transitions"));
    expect(status).toBe("outlined");
    const operations = allowed.map(({ operation }: { operation: string }) => operation);
    expect(operations).toEqual(["update", "archive", "ensure_article", "approve_outline", "request_outline_changes"]);
    const codes = Object.fromEntries(blocked.map(({ operation, code }: { operation: string; code: string }) => [operation, code]));
    expect(codes).toEqual({
      shortlist: "invalid_transition",
      restore: "invalid_transition",
      start_workflow: "run_in_progress",
      generate_outline: "run_in_progress",
      run_draft_action: "run_in_progress",
      approve_draft: "invalid_transition",
      request_draft_changes: "invalid_transition",
    });
    // The operations answer as the transitions said.
    const asked: Record<string, [string, object?]> = {
      shortlist: ["/shortlist"],
      restore: ["/restore"],
      start_workflow: ["/workflow-runs"],
      generate_outline: ["/outline"],
      run_draft_action: ["/draft/actions", { action: "create" }],
      approve_draft: ["/draft/approve"],
      request_draft_changes: ["/draft/request-changes", { feedback: "x" }],
    };
    for (const [operation, [path, body]] of Object.entries(asked)) {
      const answer = await rig.request("POST", rig.topicPath(topicId, path), body);
      expect([answer.status, answer.body.code], operation).toEqual([409, codes[operation]]);
    }
  });

  test("[TO40] a new article is answered with 201 and its Location, an existing one with 200", async () => {
    const topicId = await rig.makeTopic();
    const made = await rig.request("POST", rig.topicPath(topicId, "/article"));
    expect([made.status, made.headers.get("location")]).toEqual([201, `/articles/${made.body.articleId}`]);
    expect(made.body).toEqual({ articleId: expect.any(String), created: true, linked: true });
    const again = await rig.request("POST", rig.topicPath(topicId, "/article"), {});
    expect([again.status, again.body]).toEqual([200, { articleId: made.body.articleId, created: false, linked: false }]);
    const key = "ana|workspaces:write";
    const narrow = await rig.request("POST", rig.topicPath(topicId, "/article"), {}, { key });
    expect([narrow.status, narrow.body.missingScopes]).toEqual([403, ["articles:write"]]);
    const outline = await rig.request("GET", rig.topicPath(topicId, "/outline"), undefined, { key });
    expect([outline.status, outline.body.missingScopes]).toEqual([403, ["articles:read"]]);
  });
});
