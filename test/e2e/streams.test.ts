/**
 * Tests the live streams of the real server as raw bytes: their events and order, where they begin, how they end, and
 * who may read them for how long.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { AgentEvent } from "../../api/schema/timeline.ts";
import { createRest, type Rest, signIn } from "../support/clients.ts";
import { closeReaders, eventsOf, openReader as open, type Told } from "../support/eventReader.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { startWaitingRun, type WaitingRun } from "../support/waitingRun.ts";

const hangMs = 20_000;
afterEach(closeReaders);

const isOver = (told: readonly Told[]) => told.at(-1)?.event === "stream.end";

async function approve(rest: Rest, { runId, approvalId }: WaitingRun): Promise<void> {
  await rest.expect(200, "POST", `/runs/${runId}/approvals/${approvalId}`, { decision: "approve" });
}

let server: RunningServer;
let rest: Rest;
let workspaceId: string;

async function begin(settings: Record<string, string> = {}): Promise<void> {
  server = await startServer(settings);
  rest = await signIn(server.url, server.operator);
  ({ workspaceId } = await rest.expect(201, "POST", "/workspaces", { name: "Newsroom", type: "team" }));
}

describe("events", () => {
  beforeAll(() => begin());
  afterAll(() => server.remove());

  test("[SE1] a run streams live from its start to its end, resumes after a token, and then is 204", async () => {
    const run = await startWaitingRun(rest, workspaceId);
    const path = `/runs/${run.runId}/stream`;
    const live = await open(rest, path);
    await live.until((told) => told.at(-1)?.event === "agent.paused_for_approval");
    await approve(rest, run);
    await live.ended;
    const events = eventsOf(live.told);
    expect(events.map(({ id, seq }) => [id, seq])).toEqual(events.map((_, at) => [`${run.runId}:${at + 1}`, at + 1]));
    expect(live.told.map(({ event }) => event)).toEqual([...events.map(({ event }) => event), "stream.end"]);
    expect(live.told.slice(0, -1).map(({ id }) => id)).toEqual(events.map(({ id }) => id));
    expect(events.at(-1)?.event).toBe("agent.run_completed");
    // The token may be in the header or in the query. The header takes precedence.
    for (const at of [0, 5, events.length - 1]) {
      const token = `${run.runId}:${at}`;
      for (const [query, headers] of [
        [`?lastEventId=${token}`, {}],
        [`?lastEventId=${run.runId}:2`, { "last-event-id": token }],
      ] as const) {
        const resumed = await open(rest, path + query, headers);
        await resumed.ended;
        expect(eventsOf(resumed.told)).toEqual(events.slice(at));
        expect(isOver(resumed.told)).toBe(true);
      }
    }
    const over = await open(rest, path, { "last-event-id": `${run.runId}:${events.length}` });
    await over.ended;
    expect([over.status, over.told]).toEqual([204, []]);
    const now = await open(rest, `${path}?from=now`);
    await now.ended;
    expect(now.told).toEqual([
      { event: "stream.position", id: `${run.runId}:${events.length}`, data: "" },
      { event: "stream.end", data: "{}" },
    ]);
  });

  test("[SE2] a workspace streams from now or the start, in the order of its cursors, and filtered", async () => {
    const before = await startWaitingRun(rest, workspaceId);
    const live = await open(rest, `/workspaces/${workspaceId}/timeline/stream`);
    // The stream first sends its start position, so that a reader who is disconnected then misses nothing.
    const [position] = await live.until((told) => told.length > 0);
    expect(position).toMatchObject({ event: "stream.position", data: "" });
    const run = await startWaitingRun(rest, workspaceId);
    await live.until((told) => told.at(-1)?.event === "agent.paused_for_approval");
    const events = eventsOf(live.told);
    expect(new Set(events.map(({ runId }) => runId))).toEqual(new Set([run.runId]));
    expect(events.map(({ cursor }) => Number(cursor))).toEqual(events.map((_, at) => Number(position?.id) + at + 1));
    expect(live.told.slice(1).map(({ id }) => id)).toEqual(events.map(({ cursor }) => cursor));
    const tail = events.at(-1)?.cursor;
    const narrowed = async (query: string) => {
      const opened = await open(rest, `/workspaces/${workspaceId}/timeline/stream?from=start&${query}`);
      // A reader whose filter matches no event still receives newer positions.
      return eventsOf(await opened.until((told) => told.at(-1)?.id === tail));
    };
    const kinds = (found: readonly AgentEvent[]) => found.map(({ event, runId }) => [event, runId]);
    expect(kinds(await narrowed(`event=agent.run_started&event=agent.paused_for_approval&topicId=${before.topicId}`))).toEqual([
      ["agent.run_started", before.runId],
      ["agent.paused_for_approval", before.runId],
    ]);
    expect(kinds(await narrowed(`runId=${run.runId}&event=agent.run_started`))).toEqual([["agent.run_started", run.runId]]);
    const { shortId } = await rest.expect(200, "GET", `/workspaces/${workspaceId}/topics/${run.topicId}`);
    expect(await narrowed(`topicId=${shortId}`)).toEqual(events);
    expect(await narrowed(`event=agent.run_failed`)).toEqual([]);
  });

  test("[SE3] server-sent events, tRPC subscriptions and the pages of events carry the same envelopes", async () => {
    const run = await startWaitingRun(rest, workspaceId);
    await approve(rest, run);
    const bySse = await open(rest, `/runs/${run.runId}/stream`);
    const input = encodeURIComponent(JSON.stringify({ runId: run.runId }));
    const byTrpc = await open(rest, `/trpc/runs.timeline?input=${input}`);
    await Promise.all([bySse.ended, byTrpc.ended]);
    const events = eventsOf(bySse.told);
    const paged: AgentEvent[] = [];
    for (let lastSeq = 1; paged.length < lastSeq; ) {
      const page = await rest.expect(200, "GET", `/runs/${run.runId}/events?limit=4&afterSeq=${paged.length}`);
      paged.push(...page.events);
      lastSeq = page.lastSeq;
    }
    expect(paged).toEqual(events);
    expect(byTrpc.told[0]).toEqual({ event: "connected", data: "{}" });
    expect(byTrpc.told.at(-1)).toEqual({ event: "return", data: "" });
    expect(byTrpc.told.slice(1, -1)).toEqual(events.map((event) => ({ id: event.id, data: JSON.stringify(event) })));
  });

  test("[SE4] an invented token is 400, and a token ahead of the stream restarts with a snapshot", async () => {
    const run = await startWaitingRun(rest, workspaceId);
    const other = await startWaitingRun(rest, workspaceId);
    const [ofRun, ofWorkspace] = [`/runs/${run.runId}/stream`, `/workspaces/${workspaceId}/timeline/stream`];
    for (const [path, token] of [
      [ofRun, "x"],
      [ofRun, `${other.runId}:1`],
      [ofRun, `${run.runId}:-1`],
      [ofRun, `${run.runId}:1.5`],
      [ofRun, "7"],
      [ofWorkspace, `${run.runId}:1`],
      [ofWorkspace, "01"],
      [ofWorkspace, "1e3"],
    ] as const) {
      const refused = await rest.request("GET", path, undefined, { "last-event-id": token });
      expect([refused.status, refused.body.code], `${path} ${token}`).toEqual([400, "bad_request"]);
      expect(refused.body.detail).toMatch(/must be the (id|cursor) of one of its events/);
    }
    const { lastSeq } = await rest.expect(200, "GET", `/runs/${run.runId}`);
    const ahead = await open(rest, ofRun, { "last-event-id": `${run.runId}:${lastSeq + 5}` });
    const [reset] = await ahead.until((told) => told.length > 0);
    expect(reset).toMatchObject({ event: "stream.reset", id: `${run.runId}:${lastSeq}` });
    expect(JSON.parse(reset?.data ?? "")).toEqual({ snapshot: await rest.expect(200, "GET", `/runs/${run.runId}`) });
    const far = await open(rest, ofWorkspace, { "last-event-id": "999999" });
    const [again] = await far.until((told) => told.length > 0);
    const waiting = JSON.parse(again?.data ?? "").snapshot.runs.map(({ runId }: { runId: string }) => runId);
    expect(waiting).toEqual(expect.arrayContaining([run.runId, other.runId]));
    // Both streams continue from there.
    await approve(rest, run);
    await ahead.ended;
    expect(eventsOf(ahead.told).map(({ seq }) => seq)).toEqual([lastSeq + 1, lastSeq + 2]);
    await far.until((told) => eventsOf(told).length === 2);
  });

  test("[SE9] stream answers show the quota, prevent caching and buffering, and HEAD has their headers", async () => {
    const run = await startWaitingRun(rest, workspaceId);
    const live = await open(rest, `/runs/${run.runId}/stream`);
    expect(live.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(live.headers.get("x-accel-buffering")).toBe("no");
    expect(live.headers.get("x-request-id")).toBeTruthy();
    await rest.expect(202, "POST", `/runs/${run.runId}/cancel`);
    await live.ended;
    const last = live.told.findLast(({ id }) => id !== undefined)?.id ?? "";
    const over = await open(rest, `/runs/${run.runId}/stream`, { "last-event-id": last });
    expect(over.status).toBe(204);
    for (const { headers } of [live, over]) {
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("ratelimit-policy")).toBe('"connects";q=1000;w=1');
      expect(headers.get("ratelimit")).toMatch(/^"connects";r=\d+;t=\d+$/);
    }
    // A refusal after the draw shows it too, and draws from no other limit.
    const missing = await rest.request("GET", `/runs/${run.runId.slice(0, -1)}/stream`);
    expect([missing.status, missing.headers.get("ratelimit-policy")]).toEqual([404, '"connects";q=1000;w=1']);
    const head = await fetch(`${rest.url}/runs/${run.runId}/stream`, { method: "HEAD", headers: rest.headers });
    expect([head.status, head.headers.get("content-type"), await head.text()]).toEqual([200, "text/event-stream; charset=utf-8", ""]);
  });
});

describe("access", () => {
  beforeAll(() => begin({ LIMITS: '{"sse.credential":2}' }));
  afterAll(() => server.remove());

  async function newKey(...scopes: string[]): Promise<{ readonly keyId: string; readonly as: Rest }> {
    const { key, keyId } = await rest.expect(201, "POST", "/api-keys", { name: "Reader", scopes });
    return { keyId, as: createRest(rest.url, { "x-api-key": key }) };
  }

  test("[SE5] a stream requires a credential and its scope, and a credential may have only so many", async () => {
    const { runId } = await startWaitingRun(rest, workspaceId);
    const paths = [`/runs/${runId}/stream`, `/workspaces/${workspaceId}/timeline/stream`];
    const { as: unscoped } = await newKey("articles:read");
    const { as: reader } = await newKey("workspaces:read");
    for (const path of paths) {
      expect((await createRest(rest.url).request("GET", path)).status).toBe(401);
      const scope = await unscoped.request("GET", path);
      expect(scope).toMatchObject({ status: 403, body: { code: "insufficient_scope", missingScopes: ["workspaces:read"] } });
    }
    const [first, second] = await Promise.all(paths.map((path) => open(reader, path)));
    expect([first?.status, second?.status]).toEqual([200, 200]);
    const third = await reader.request("GET", paths[0] ?? "");
    expect(third).toMatchObject({ status: 429, body: { code: "rate_limited" } });
    expect(Number(third.headers.get("retry-after"))).toBeGreaterThan(0);
    // Other credentials are not affected, and a freed place can be used again.
    expect((await open(rest, paths[0] ?? "")).status).toBe(200);
    first?.close();
    await vi.waitFor(async () => expect((await open(reader, paths[0] ?? "")).status).toBe(200), { timeout: hangMs });
  });

  test("[SE6] a ticket opens its one stream, any number of times, and ends with its key", async () => {
    const run = await startWaitingRun(rest, workspaceId);
    const other = await startWaitingRun(rest, workspaceId);
    const { keyId, as: reader } = await newKey("workspaces:read");
    const anyone = createRest(rest.url);
    const { ticket } = await reader.expect(201, "POST", "/auth/stream-ticket", { resource: `run:${run.runId}` });
    const path = `/runs/${run.runId}/stream?ticket=${ticket}`;
    for (let times = 0; times < 2; times += 1) {
      const opened = await open(anyone, path);
      await opened.until((told) => eventsOf(told).length > 0);
      opened.close();
    }
    expect((await anyone.request("GET", `/runs/${other.runId}/stream?ticket=${ticket}`)).status).toBe(401);
    expect((await anyone.request("GET", `/workspaces/${workspaceId}/timeline/stream?ticket=${ticket}`)).status).toBe(401);
    expect((await anyone.request("GET", `/runs/${run.runId}?ticket=${ticket}`)).status).toBe(401);
    expect((await reader.request("GET", path)).status).toBe(400);
    await rest.expect(200, "POST", `/api-keys/${keyId}/revoke`);
    expect((await anyone.request("GET", path)).status).toBe(401);
  });

  test("[SE7] a stream ends when its key is revoked, its session ends or its reader leaves", async () => {
    const { runId } = await startWaitingRun(rest, workspaceId);
    const path = `/runs/${runId}/stream`;
    const isOpen = (told: readonly Told[]) => told.length > 0;
    const { keyId, as: byKey } = await newKey("workspaces:read");
    const password = "a member's password";
    await rest.expect(201, "POST", "/accounts", { username: "ben", password });
    await rest.expect(201, "POST", `/workspaces/${workspaceId}/members`, { username: "ben", role: "member" });
    const ben = await signIn(server.url, { username: "ben", password });
    const benToo = await signIn(server.url, { username: "ben", password });
    const [keyed, signedOut, left] = await Promise.all([byKey, ben, benToo].map((as) => open(as, path)));
    await Promise.all([keyed, signedOut, left].map((stream) => stream?.until(isOpen)));
    await rest.expect(200, "POST", `/api-keys/${keyId}/revoke`);
    await keyed?.ended;
    await ben.expect(204, "POST", "/auth/logout");
    await signedOut?.ended;
    await rest.expect(204, "DELETE", `/workspaces/${workspaceId}/members/ben`);
    await left?.ended;
    expect((await benToo.request("GET", path)).status).toBe(404);
    for (const as of [byKey, ben]) expect((await as.request("GET", path)).status).toBe(401);
  });
});

describe("retention", () => {
  beforeAll(() => begin({ LIMITS: '{"keep.events":1000}' }));
  afterAll(() => server.remove());

  test("[SE8] events over keep.events are deleted, readers restart with a snapshot, positions continue", async () => {
    const run = await startWaitingRun(rest, workspaceId);
    const { lastSeq } = await rest.expect(200, "GET", `/runs/${run.runId}`);
    const events = (path = "") => rest.expect(200, "GET", `/runs/${run.runId}/events${path}`);
    await vi.waitFor(async () => expect(await events()).toEqual({ events: [], lastSeq }), { timeout: hangMs, interval: 200 });
    const late = await open(rest, `/runs/${run.runId}/stream`, { "last-event-id": `${run.runId}:1` });
    const [reset] = await late.until((told) => told.length > 0);
    expect(reset).toMatchObject({ event: "stream.reset", id: `${run.runId}:${lastSeq}` });
    expect(JSON.parse(reset?.data ?? "").snapshot).toMatchObject({ runId: run.runId, status: "paused_for_approval", lastSeq });
    await approve(rest, run);
    await late.ended;
    expect(eventsOf(late.told).map(({ seq }) => seq)).toEqual([lastSeq + 1, lastSeq + 2]);
    expect((await rest.expect(200, "GET", `/runs/${run.runId}`)).lastSeq).toBe(lastSeq + 2);
  });
});
