/** Tests the event streams of the client package while the server is killed and restarted. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import {
  type AgentEvent,
  type Api,
  ApiError,
  createApi,
  createTokens,
  followArticle,
  followRun,
  followWorkspace,
} from "../../client/index.ts";
import { type Rest, signIn } from "../support/clients.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { startWaitingRun } from "../support/waitingRun.ts";

const hangMs = 60_000;
let server: RunningServer;
let rest: Rest;
let api: Api;
let workspaceId: string;

beforeAll(async () => {
  server = await startServer({ LEASE_MS: "1000" });
  const grant = { grantType: "password", ...server.operator } as const;
  api = createApi({ url: server.url, tokens: createTokens(() => createApi({ url: server.url }).trpc.auth.token.mutate(grant)) });
  rest = await signIn(server.url, server.operator);
  ({ workspaceId } = await api.trpc.workspaces.create.mutate({ name: "Newsroom", type: "team" }));
});
afterAll(() => server.remove());

/** Reads a stream to its end; `read` has what came so far. */
function collect<Event extends { readonly event: string }>(stream: AsyncIterable<Event>) {
  const read: Event[] = [];
  const over = (async () => {
    for await (const event of stream) read.push(event);
  })();
  over.catch(() => {});
  return {
    read,
    over,
    names: () => read.map(({ event }) => event),
    has: (name: string) => vi.waitFor(() => expect(read.map(({ event }) => event)).toContain(name), hangMs),
  };
}

test("[CL20] over kills of the server, every event of a run and of its workspace arrives once and in order", async () => {
  const leaving = new AbortController();
  const all = collect(followWorkspace(api, { workspaceId, from: "start", signal: leaving.signal }));
  const ends = collect(followWorkspace(api, { workspaceId, from: "start", events: ["agent.run_completed"], signal: leaving.signal }));
  const { topicId } = await api.trpc.topics.create.mutate({ workspaceId, title: "Kites in high wind", targetAudience: "builders" });
  const { runId } = await rest.expect(202, "POST", `/workspaces/${workspaceId}/topics/${topicId}/outline`, {});
  const run = collect(followRun(api, { runId }));
  await run.has("agent.step_started");
  await server.kill();
  await server.start();
  await run.has("agent.paused_for_approval");
  await server.stop();
  await server.start();
  const paused = run.read.find(({ event }) => event === "agent.paused_for_approval") as Extract<
    AgentEvent,
    { event: "agent.paused_for_approval" }
  >;
  await rest.expect(200, "POST", `/runs/${runId}/approvals/${paused.data.approvalId}`, { decision: "approve" });
  await run.over;

  const events = run.read.filter((event): event is AgentEvent => event.event !== "stream.reset");
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
  expect(events.at(-1)?.event).toBe("agent.run_completed");
  const ofRun = () => all.read.filter((event) => event.event !== "stream.reset" && event.runId === runId);
  await vi.waitFor(() => expect(ofRun()).toEqual(events), hangMs);
  await vi.waitFor(() => expect(ends.names()).toContain("agent.run_completed"), hangMs);
  leaving.abort();
  await Promise.all([all.over, ends.over]);
  expect(new Set(ends.names())).toEqual(new Set(["agent.run_completed"]));

  // A reader that was there before continues after its token; after the last event there is nothing.
  const rested = collect(followRun(api, { runId, lastEventId: events[3]?.id ?? "" }));
  await rested.over;
  expect(rested.read).toEqual(events.slice(4));
  const past = collect(followRun(api, { runId, lastEventId: events.at(-1)?.id ?? "" }));
  await past.over;
  expect(past.read).toEqual([]);
});

test("[CL20] over kills of the server, every event of an article arrives once and in order, until it is deleted", async () => {
  const { articleId } = await api.trpc.articles.create.mutate({ workspaceId, title: "Kites" });
  const article = collect(followArticle(api, { articleId, from: "start" }));
  const kept = () => article.read.flatMap((event) => ("id" in event ? [event] : []));
  for (const end of ["kill", "stop"] as const) {
    await rest.expect(200, "PATCH", `/articles/${articleId}/content`, { mode: "append", content: `Before the ${end}.\n`, message: end });
    await vi.waitFor(() => expect(kept().at(-1)?.data).toMatchObject({ message: end }), hangMs);
    await server[end]();
    await server.start();
  }
  await vi.waitFor(() => expect(article.names()).toContain("document.live"), hangMs);
  await rest.expect(204, "DELETE", `/articles/${articleId}`);
  await article.over;
  expect(kept().map(({ id, event }) => [id, event])).toEqual([
    ["1", "document.committed"],
    ["2", "document.committed"],
    ["3", "document.deleted"],
  ]);
});

test("[CL20] a reader whose events are not kept gets the snapshot, and then what follows", async () => {
  const leaving = new AbortController();
  const all = collect(followWorkspace(api, { workspaceId, lastEventId: "999999", signal: leaving.signal }));
  await all.has("stream.reset");
  const { runId } = await startWaitingRun(rest, workspaceId);
  await all.has("agent.paused_for_approval");
  leaving.abort();
  await all.over;
  const [reset, first, ...more] = all.read;
  expect(reset).toMatchObject({ event: "stream.reset", data: { snapshot: { runs: [] } } });
  expect([first, ...more].map((event) => (event?.event === "stream.reset" ? undefined : event?.runId))).toEqual(
    Array.from({ length: all.read.length - 1 }, () => runId),
  );
});

test("[CL21] a loop that is left closes its connection, and a refused stream throws the problem", async () => {
  const { runId } = await startWaitingRun(rest, workspaceId);
  const openStreams = async () => {
    const metrics = await (await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${server.operatorToken}` } })).text();
    return /^svc_sockets\{[^}]*kind="stream"[^}]*\} (\d+)$/m.exec(metrics)?.[1];
  };
  for await (const { event } of followRun(api, { runId })) if (event === "agent.step_started") break;
  await vi.waitFor(async () => expect(await openStreams()).toBe("0"), hangMs);
  const refused = collect(followRun(api, { runId: runId.replace(/.$/, (last) => (last === "X" ? "Y" : "X")) }));
  await expect(refused.over).rejects.toBeInstanceOf(ApiError);
  await expect(refused.over).rejects.toMatchObject({ code: "not_found", status: 404 });
});
