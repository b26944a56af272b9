/**
 * Tests the timeline of a workspace in stock clients while the server is killed repeatedly: an EventSource and a
 * subscription of `@trpc/client`. Both know only the address.
 */
import { createTRPCClient, httpSubscriptionLink } from "@trpc/client";
import { EventSource } from "eventsource";
import { afterEach, expect, test } from "vitest";
import type { AppRouter } from "../../api/derive/trpc.ts";
import type { AgentEvent } from "../../api/schema/timeline.ts";
import { createRestClient } from "../demo/client.ts";
import { openTimeline } from "../demo/timeline.ts";
import { until } from "../demo/until.ts";
import { type RunningServer, startServer } from "../support/server.ts";

const restarts = 5;
let server: RunningServer;
const closing: (() => void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) close();
  await server.remove();
});

/** Subscribes with the stock client; records the events and the number of connections. */
function subscribe(workspaceId: string, token: string) {
  const events: AgentEvent[] = [];
  let connections = 0;
  const trpc = createTRPCClient<AppRouter>({
    links: [
      httpSubscriptionLink({
        url: `${server.url}/trpc`,
        EventSource,
        eventSourceOptions: () => ({
          fetch: (address, init) => fetch(address, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } }),
        }),
      }),
    ],
  });
  const { unsubscribe } = trpc.workspaces.timeline.subscribe(
    { workspaceId, from: "start" },
    {
      onStarted: () => {
        connections += 1;
      },
      onData: (item) => {
        if (item.data.event === "stream.reset") throw new Error(`the timeline was reset: ${JSON.stringify(item.data)}`);
        events.push(item.data);
      },
    },
  );
  closing.push(unsubscribe);
  return {
    events,
    get connections() {
      return connections;
    },
  };
}

test(`[SE30] over ${restarts} kills, stock clients receive every event of a workspace once and in order`, async () => {
  server = await startServer({ LEASE_MS: "1000" });
  const anonymous = createRestClient(server.url);
  const { accessToken } = (
    await anonymous.call<{ accessToken: string }>("POST", "/auth/token", { grantType: "password", ...server.operator })
  ).body;
  const rest = anonymous.as({ authorization: `Bearer ${accessToken}` });
  const { workspaceId } = (await rest.call<{ workspaceId: string }>("POST", "/workspaces", { name: "Newsroom", type: "team" })).body;

  const byEventSource = openTimeline({ url: server.url, workspaceId, token: accessToken, onEvent: () => {} });
  closing.push(byEventSource.close);
  const byTrpc = subscribe(workspaceId, accessToken);
  await until(() => byEventSource.connections > 0 && byTrpc.connections > 0);

  const runIds: string[] = [];
  async function startRun(): Promise<string> {
    const topic = await rest.call<{ shortId: string }>("POST", `/workspaces/${workspaceId}/topics`, {
      title: `Topic ${runIds.length + 1}`,
      targetAudience: "people who run servers",
    });
    expect(topic.status, JSON.stringify(topic.body)).toBe(201);
    const run = await rest.call<{ runId: string }>("POST", `/workspaces/${workspaceId}/topics/${topic.body.shortId}/workflow-runs`, {});
    expect(run.status).toBe(202);
    runIds.push(run.body.runId);
    return run.body.runId;
  }

  for (let killed = 0; killed < restarts; killed += 1) {
    const runId = await startRun();
    // Kill in the middle of a run, at a different place each time.
    await until(() => byTrpc.events.filter((event) => event.runId === runId).length > killed);
    await server.kill();
    await server.start();
    // Wait until both clients have reconnected. Otherwise the next kill would not interrupt them.
    await until(() => [byEventSource, byTrpc].every(({ connections }) => connections > killed + 1));
  }
  await startRun();

  const stored: AgentEvent[] = [];
  for (const runId of runIds) {
    await until(async () => (await rest.call<{ status: string }>("GET", `/runs/${runId}`)).body.status === "paused_for_approval");
    stored.push(...(await rest.call<{ events: AgentEvent[] }>("GET", `/runs/${runId}/events`)).body.events);
  }
  const inOrder = stored.toSorted((one, other) => Number(one.cursor) - Number(other.cursor));
  expect(inOrder.map(({ cursor }) => cursor)).toEqual(inOrder.map((_, at) => String(at + 1)));
  for (const heard of [byEventSource, byTrpc]) {
    await until(() => heard.events.length >= inOrder.length);
    expect(heard.events).toEqual(inOrder);
    expect(heard.connections).toBeGreaterThan(restarts);
  }
});
