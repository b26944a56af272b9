/** Tests readers of live streams in trouble, on both hosts: trimmed logs, readers that stall, clients that disconnect. */
import { createTRPCClient, httpSubscriptionLink, type TRPCClientError } from "@trpc/client";
import { EventSource, type FetchLike } from "eventsource";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { AppRouter } from "../../api/derive/trpc.ts";
import type { AgentEvent } from "../../api/schema/timeline.ts";
import { runLog, timelineLog } from "../../server/domain/runs/engine/timelineEntry.ts";
import { closeReaders, eventsOf, openReader, type Reading, type Told } from "../support/eventReader.ts";
import { rawConnection } from "./rawHttp.ts";
import { hangMs, hosts, type StreamServer, startStreamServer } from "./streamFixture.ts";

const has = (count: number) => (told: readonly Told[]) => eventsOf(told).length >= count;
const first = (told: readonly Told[]) => told.length > 0;
const seqs = ({ told }: Reading) => eventsOf(told).map(({ seq }) => seq);
const upTo = (last: number, from = 1) => Array.from({ length: last - from + 1 }, (_, at) => from + at);

afterEach(closeReaders);

describe.each(hosts)("live streams on %s", (_name, start) => {
  let server: StreamServer;
  let workspaceId: string;
  /** Positions that readers wait for, by log. */
  const watched = new Map<string, number>();
  /** Highest position that was read from, by log. */
  const readFrom = new Map<string, number>();

  beforeAll(async () => {
    watched.clear();
    server = await startStreamServer(start, {
      around: (storage) => ({
        ...storage,
        bus: {
          ...storage.bus,
          subscribe(topic, listener) {
            const end = storage.bus.subscribe(topic, listener);
            watched.set(topic, (watched.get(topic) ?? 0) + 1);
            return () => {
              watched.set(topic, (watched.get(topic) ?? 0) - 1);
              end();
            };
          },
        },
        log: {
          ...storage.log,
          read(where) {
            readFrom.set(where.log, Math.max(readFrom.get(where.log) ?? 0, where.after));
            return storage.log.read(where);
          },
        },
      }),
    });
    workspaceId = await server.newWorkspace();
  });
  afterAll(async () => {
    await server.close();
    expect(server.logged).toEqual([]);
  });

  const nobodyIsLeft = (...logs: readonly string[]) =>
    vi.waitFor(
      async () => {
        expect(await server.openStreams()).toBe(0);
        expect(logs.map((log) => watched.get(log) ?? 0)).toEqual(logs.map(() => 0));
      },
      { timeout: hangMs },
    );

  test("[SE10] HEAD, a 204 and readers that leave keep no stream and no watch open", async () => {
    const runId = await server.newRun(workspaceId);
    const paths = [`/runs/${runId}/stream`, `/workspaces/${workspaceId}/timeline/stream`];
    const input = encodeURIComponent(JSON.stringify({ runId }));
    for (const path of [...paths, `/trpc/runs.timeline?input=${input}`]) {
      const head = await fetch(server.url + path, { method: "HEAD", headers: server.rest.headers });
      expect([head.status, head.headers.get("content-type"), await head.text()]).toEqual([200, "text/event-stream; charset=utf-8", ""]);
      expect(await server.openStreams()).toBe(0);
      // One reader reads and leaves. The other one leaves before it has read anything.
      const reading = await openReader(server.rest, path);
      await reading.until(first);
      expect(await server.openStreams()).toBe(1);
      reading.close();
      await nobodyIsLeft(runLog(runId), timelineLog(workspaceId));
      const connection = await rawConnection(server.port);
      connection.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${server.rest.headers.authorization}\r\n\r\n`);
      connection.destroy();
    }
    await server.rest.expect(202, "POST", `/runs/${runId}/cancel`);
    const { lastSeq } = await server.rest.expect(200, "GET", `/runs/${runId}`);
    const over = await server.rest.request("GET", paths[0] ?? "", undefined, { "last-event-id": `${runId}:${lastSeq}` });
    expect([over.status, over.headers.get("content-type")]).toEqual([204, null]);
    await nobodyIsLeft(runLog(runId), timelineLog(workspaceId));
  });

  test("[SE13] a reader that stops delays no other, nothing is read ahead for it, and it later gets all", async () => {
    const runId = await server.newRun(workspaceId);
    const { lastSeq } = await server.rest.expect(200, "GET", `/runs/${runId}`);
    const stalled = await rawConnection(server.port);
    stalled.write(`GET /runs/${runId}/stream HTTP/1.1\r\nhost: x\r\nauthorization: ${server.rest.headers.authorization}\r\n\r\n`);
    await vi.waitFor(async () => expect(await server.openStreams()).toBe(1), { timeout: hangMs });
    stalled.socket.pause();
    const quick = await openReader(server.rest, `/workspaces/${workspaceId}/timeline/stream`);
    await quick.until(first);
    // More events than the buffers between two sockets hold, sent before a stalled reader is disconnected.
    const count = 600;
    for (let told = 0; told < count; told += 100) await server.tell(workspaceId, runId, 100, "x".repeat(30_000));
    await quick.until(has(count));
    quick.close();
    expect(readFrom.get(runLog(runId))).toBeLessThan(count);
    await server.rest.expect(202, "POST", `/runs/${runId}/cancel`);
    stalled.socket.resume();
    const { status, body } = await stalled.response();
    const ids = [...body.toString().matchAll(/^id: .*:(\d+)$/gm)].map(([, seq]) => Number(seq));
    // After the added events come the end of the open approval and the end of the run.
    expect([status, ids]).toEqual([200, upTo(lastSeq + count + 2)]);
    expect(body.toString().endsWith("event: stream.end\ndata: {}\n\n")).toBe(true);
    stalled.destroy();
  });

  test("[SE61] a stream that must end does not wait for a reader that takes nothing", async () => {
    const runId = await server.newRun(workspaceId);
    const { keyId, as } = await server.newKey();
    const stalled = await rawConnection(server.port);
    stalled.write(`GET /runs/${runId}/stream HTTP/1.1\r\nhost: x\r\nx-api-key: ${as.headers["x-api-key"]}\r\n\r\n`);
    await vi.waitFor(async () => expect(await server.openStreams()).toBe(1), { timeout: hangMs });
    stalled.socket.pause();
    const count = 600;
    for (let told = 0; told < count; told += 100) await server.tell(workspaceId, runId, 100, "x".repeat(30_000));
    await server.rest.expect(200, "POST", `/api-keys/${keyId}/revoke`);
    await nobodyIsLeft(runLog(runId));
    expect(readFrom.get(runLog(runId))).toBeLessThan(count);
    stalled.socket.resume();
    const received = await stalled.response().then(
      ({ body }) => body.toString(),
      (error: Error) => error.message,
    );
    expect(received).not.toContain("stream.end");
    await server.rest.expect(202, "POST", `/runs/${runId}/cancel`);
  });

  test("[SE15] after deletions a reader continues or restarts, and from=start begins at the oldest kept", async () => {
    const runId = await server.newRun(workspaceId);
    const { lastSeq, ...run } = await server.rest.expect(200, "GET", `/runs/${runId}`);
    const path = `/runs/${runId}/stream`;
    await server.forget(runLog(runId), 3);
    for (const [headers, query] of [
      [{ "last-event-id": `${runId}:3` }, ""],
      [{}, ""],
      [{}, "?from=start"],
    ] as const) {
      const reading = await openReader(server.rest, path + query, headers as Record<string, string>);
      await reading.until(has(lastSeq - 3));
      expect(seqs(reading)).toEqual(upTo(lastSeq, 4));
    }
    const late = await openReader(server.rest, path, { "last-event-id": `${runId}:2` });
    await late.until(first);
    await server.tell(workspaceId, runId, 1);
    await late.until(has(1));
    expect(late.told[0]).toMatchObject({ event: "stream.reset", id: `${runId}:${lastSeq}` });
    expect(JSON.parse(late.told[0]?.data ?? "")).toEqual({ snapshot: { ...run, lastSeq } });
    expect(seqs(late)).toEqual([lastSeq + 1]);
    // The log of the workspace is trimmed by itself. Its snapshot contains the runs that have not ended.
    const ended = await server.newRun(workspaceId, "research", "completed");
    const tail = Number((await server.rest.expect(200, "GET", `/runs/${ended}/events`)).events.at(-1).cursor);
    await server.forget(timelineLog(workspaceId), tail - 1);
    const whole = `/workspaces/${workspaceId}/timeline/stream`;
    const oldest = await openReader(server.rest, `${whole}?from=start`);
    expect((await oldest.until(has(1)))[0]).toMatchObject({ event: "agent.run_completed", id: String(tail) });
    const [reset] = await (await openReader(server.rest, `${whole}?lastEventId=1`)).until(first);
    const { snapshot } = JSON.parse(reset?.data ?? "");
    expect(reset).toMatchObject({ event: "stream.reset", id: String(tail) });
    const shown = snapshot.runs.map((one: { runId: string }) => one.runId);
    expect([shown.includes(runId), shown.includes(ended)]).toEqual([true, false]);
  });

  test("[SE16] a run that is retried after its end continues after the token of its last event", async () => {
    const runId = await server.newRun(workspaceId);
    await server.rest.expect(202, "POST", `/runs/${runId}/cancel`);
    const path = `/runs/${runId}/stream`;
    const ended = await openReader(server.rest, path);
    await ended.ended;
    expect(ended.told.at(-1)).toEqual({ event: "stream.end", data: "{}" });
    const token = { "last-event-id": ended.told.at(-2)?.id ?? "" };
    expect((await openReader(server.rest, path, token)).status).toBe(204);
    await server.rest.expect(202, "POST", `/runs/${runId}/retry`);
    const { lastSeq } = await server.runIn(runId, "paused_for_approval");
    const again = await openReader(server.rest, path, token);
    await again.until((told) => told.at(-1)?.id === `${runId}:${lastSeq}`);
    expect([...seqs(ended), ...seqs(again)]).toEqual(upTo(lastSeq));
  });

  describe("a stock tRPC client", () => {
    function subscribe(input: { readonly runId: string; readonly lastEventId?: string }, connectionParams?: { readonly ticket: string }) {
      const heard: unknown[] = [];
      const asOperator: FetchLike = (address, init) => fetch(address, { ...init, headers: { ...init.headers, ...server.rest.headers } });
      const credential = connectionParams === undefined ? { eventSourceOptions: () => ({ fetch: asOperator }) } : { connectionParams };
      const trpc = createTRPCClient<AppRouter>({
        links: [httpSubscriptionLink({ url: `${server.url}/trpc`, EventSource, ...credential })],
      });
      return new Promise<{ readonly heard: readonly unknown[]; readonly refusal?: TRPCClientError<AppRouter> }>((resolve) => {
        const subscription = trpc.runs.timeline.subscribe(input, {
          onData: ({ id, data }) => heard.push([id, data]),
          onComplete: () => resolve({ heard }),
          onError(refusal) {
            subscription.unsubscribe();
            resolve({ heard, refusal });
          },
        });
      });
    }

    test("[SE11] a tRPC client sends a ticket, resumes, gets stream.reset as data, and completes", async () => {
      const runId = await server.newRun(workspaceId, "research", "completed");
      const { events, lastSeq } = await server.rest.expect(200, "GET", `/runs/${runId}/events`);
      const tracked = events.map((event: AgentEvent) => [event.id, event]);
      const { ticket } = await server.rest.expect(201, "POST", "/auth/stream-ticket", { resource: `run:${runId}` });
      expect(await subscribe({ runId }, { ticket })).toEqual({ heard: tracked });
      expect(await subscribe({ runId, lastEventId: `${runId}:2` })).toEqual({ heard: tracked.slice(2) });
      // Where SSE answers 204, a subscription completes at once.
      expect(await subscribe({ runId, lastEventId: `${runId}:${lastSeq}` })).toEqual({ heard: [] });
      await server.forget(runLog(runId), 2);
      const snapshot = await server.rest.expect(200, "GET", `/runs/${runId}`);
      expect(await subscribe({ runId, lastEventId: `${runId}:1` })).toEqual({
        heard: [[`${runId}:${lastSeq}`, { event: "stream.reset", data: { snapshot } }]],
      });
    });

    test("[SE11] a tRPC client receives a refusal with the problem that REST would have answered", async () => {
      const runId = await server.newRun(workspaceId, "research", "completed");
      const { ticket } = await server.rest.expect(201, "POST", "/auth/stream-ticket", { resource: `workspace:${workspaceId}` });
      for (const [input, connectionParams, headers] of [
        [{ runId: `${runId.slice(0, -1)}${runId.endsWith("A") ? "B" : "A"}` }, undefined, server.rest.headers],
        [{ runId, lastEventId: "7" }, undefined, server.rest.headers],
        [{ runId }, { ticket }, {}],
      ] as const) {
        const { heard, refusal } = await subscribe(input, connectionParams);
        expect(heard).toEqual([]);
        const asked = new URLSearchParams({ ...("lastEventId" in input ? { lastEventId: input.lastEventId } : {}), ...connectionParams });
        const overRest = await server.anyone.request("GET", `/runs/${input.runId}/stream?${asked}`, undefined, headers);
        const own = { requestId: "", instance: "" };
        expect({ ...refusal?.data?.problem, ...own }).toEqual({ ...overRest.body, ...own });
        expect(refusal?.data?.httpStatus).toBe(overRest.status);
      }
    });
  });
});

describe.each(hosts)("a bus that loses wake-up messages, on %s", (_name, start) => {
  test("[SE12] readers of runs and workspaces still receive every event", async () => {
    const server = await startStreamServer(start, {
      around: (storage) => ({
        ...storage,
        bus: {
          ...storage.bus,
          subscribe: (topic, listener) => (/^(run|timeline)\//.test(topic) ? () => {} : storage.bus.subscribe(topic, listener)),
        },
      }),
    });
    const workspaceId = await server.newWorkspace();
    const byWorkspace = await openReader(server.rest, `/workspaces/${workspaceId}/timeline/stream`);
    await byWorkspace.until(first);
    const runId = await server.newRun(workspaceId);
    const byRun = await openReader(server.rest, `/runs/${runId}/stream`);
    await byRun.until(has(1));
    await server.rest.expect(202, "POST", `/runs/${runId}/cancel`);
    await byRun.ended;
    const { events } = await server.rest.expect(200, "GET", `/runs/${runId}/events`);
    expect(eventsOf(byRun.told)).toEqual(events);
    await byWorkspace.until(has(events.length));
    expect(eventsOf(byWorkspace.told)).toEqual(events);
    await server.close();
  });
});
