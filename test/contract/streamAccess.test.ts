/** Tests access to live streams on both hosts: refusals, what ends a stream, and which clients are told to reconnect. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { StorageUnavailableError } from "../../server/platform/storage/port.ts";
import type { Rest } from "../support/clients.ts";
import { closeReaders, openReader, type Told } from "../support/eventReader.ts";
import { hosts, type StreamServer, startStreamServer } from "./streamFixture.ts";

const first = (told: readonly Told[]) => told.length > 0;
const missingRunId = "run_01KAHX0000050123456789ABCD";
const missingWorkspaceId = "ws_01KAHX0000050123456789ABCD";
/** Headers of an EventSource. */
const likeABrowser = { accept: "text/event-stream" };

afterEach(closeReaders);

describe.each(hosts)("who reads live streams on %s", (_name, start) => {
  let server: StreamServer;
  let workspaceId: string;
  let runId: string;
  let isStoreSilent = false;

  beforeAll(async () => {
    const answered = <Result>(work: () => Promise<Result>) =>
      isStoreSilent ? Promise.reject(new StorageUnavailableError("the store does not answer")) : work();
    server = await startStreamServer(start, {
      around: (storage) => ({
        ...storage,
        records: { ...storage.records, get: (type, key) => answered(() => storage.records.get(type, key)) },
        log: { ...storage.log, read: (where) => answered(() => storage.log.read(where)) },
      }),
    });
    workspaceId = await server.newWorkspace();
    runId = await server.newRun(workspaceId);
  });
  afterAll(() => server.close());

  const runStream = (id: string) => `/runs/${id}/stream`;
  const workspaceStream = (id: string) => `/workspaces/${id}/timeline/stream`;
  const subscription = (name: string, input: object) => `/trpc/${name}?input=${encodeURIComponent(JSON.stringify(input))}`;

  /** Returns the problem of a refusal over either surface, without its own ids. */
  async function refusalOf(as: Pick<Rest, "request">, path: string) {
    const { status, headers, body } = await as.request("GET", path);
    if (!path.startsWith("/trpc/")) {
      expect(headers.get("content-type")).toBe("application/problem+json");
      expect(body.status).toBe(status);
      return { ...body, requestId: "", instance: "" };
    }
    expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    const [, data = ""] = /^event: serialized-error\ndata: (.*)\n\n$/.exec(body) ?? [];
    return { ...JSON.parse(data).data.problem, requestId: "", instance: "" };
  }

  test("[SE20] missing, foreign, malformed and out-of-reach ids look the same on streams and tickets", async () => {
    const stranger = await server.newPerson("stranger");
    const elsewhere = await server.newWorkspace();
    const { as: narrowed } = await server.newKey({ workspaceIds: [elsewhere] });
    const seen = [];
    for (const [as, run, workspace] of [
      [server.rest, missingRunId, missingWorkspaceId],
      [server.rest, "run_1", "ws_1"],
      [server.rest, workspaceId, runId],
      [stranger, runId, workspaceId],
      [narrowed, runId, workspaceId],
    ] as const) {
      seen.push(
        await refusalOf(as, runStream(run)),
        await refusalOf(as, workspaceStream(workspace)),
        await refusalOf(as, subscription("runs.timeline", { runId: run })),
        await refusalOf(as, subscription("workspaces.timeline", { workspaceId: workspace })),
      );
    }
    expect(seen[0]).toMatchObject({ status: 404, code: "not_found" });
    for (const other of seen) expect(other).toEqual(seen[0]);
    for (const [as, run] of [
      [server.rest, missingRunId],
      [stranger, runId],
      [narrowed, runId],
    ] as const) {
      const ticket = await as.request("POST", "/auth/stream-ticket", { resource: `run:${run}` });
      expect({ ...ticket.body, requestId: "", instance: "" }).toEqual(seen[0]);
    }
    // The credential is checked before the answer depends on what exists.
    for (const id of [runId, missingRunId, "run_1"]) {
      expect(await refusalOf(server.anyone, runStream(id))).toMatchObject({ status: 401, code: "unauthenticated" });
    }
    // A run of another workspace has no events in this one, and its topic is not found.
    const foreignRun = await server.newRun(elsewhere);
    const { topicId } = await server.rest.expect(200, "GET", `/runs/${foreignRun}`);
    expect(await refusalOf(server.rest, `${workspaceStream(workspaceId)}?topicId=${topicId}`)).toEqual(seen[0]);
    const none = await openReader(server.rest, `${workspaceStream(workspaceId)}?from=start&runId=${foreignRun}`);
    expect((await none.until(first)).map(({ event }) => event)).toEqual(["stream.position"]);
  });

  test("[SE21] an invalid query is refused with the allowed values, on REST and tRPC, and opens nothing", async () => {
    // The readers of the test before may still be closing.
    await expect.poll(() => server.openStreams()).toBe(0);
    for (const [query, input, problem] of [
      ["from=later", { from: "later" }, { status: 422, errors: [{ pointer: "/from" }] }],
      ["event=agent.slept", { event: ["agent.slept"] }, { status: 422, errors: [{ pointer: "/event/0" }] }],
      ["runId=run_1", { runId: "run_1" }, { status: 422, errors: [{ pointer: "/runId" }] }],
      ["colour=red", { colour: "red" }, { status: 422 }],
      [`lastEventId=${"1".repeat(200)}`, { lastEventId: "1".repeat(200) }, { status: 422, errors: [{ pointer: "/lastEventId" }] }],
      [
        "lastEventId=run",
        { lastEventId: "run" },
        { status: 400, code: "bad_request", detail: expect.stringContaining("a decimal number") },
      ],
    ] as const) {
      const overRest = await refusalOf(server.rest, `${workspaceStream(workspaceId)}?${query}`);
      expect(overRest, query).toMatchObject(problem);
      expect(await refusalOf(server.rest, subscription("workspaces.timeline", { workspaceId, ...input })), query).toEqual(overRest);
    }
    for (const query of ["from=start&from=now", "from=%ff", "ticket=x"]) {
      expect((await refusalOf(server.rest, `${workspaceStream(workspaceId)}?${query}`)).status, query).toBeLessThan(500);
    }
    for (const input of ["[]", "7", "{", "null"]) {
      const path = `/trpc/runs.timeline?input=${encodeURIComponent(input)}`;
      expect((await refusalOf(server.rest, path)).status, input).toBe(400);
    }
    expect(await server.openStreams()).toBe(0);
  });

  test("[SE22] a disabled account ends its streams, and a reconnecting subscription gets the reason", async () => {
    const cara = await server.newPerson("cara", workspaceId);
    const streams = await Promise.all([
      openReader(cara, runStream(runId)),
      openReader(cara, workspaceStream(workspaceId)),
      openReader(cara, subscription("runs.timeline", { runId })),
    ]);
    await Promise.all(streams.map((stream) => stream.until(first)));
    await server.rest.expect(200, "PATCH", "/accounts/cara", { disabled: true });
    await Promise.all(streams.map(({ ended }) => ended));
    for (const path of [runStream(runId), subscription("runs.timeline", { runId })]) {
      expect(await refusalOf(cara, path)).toMatchObject({ status: 401 });
    }
  });

  test("[SE24] a store that does not answer ends streams and makes an EventSource reconnect", async () => {
    const open = await openReader(server.rest, runStream(runId));
    await open.until(first);
    isStoreSilent = true;
    await server.tell(workspaceId, runId, 1);
    await open.ended;
    for (const path of [runStream(runId), workspaceStream(workspaceId), subscription("runs.timeline", { runId })]) {
      const sentAway = await openReader(server.rest, path);
      await sentAway.ended;
      expect([sentAway.status, sentAway.text]).toEqual([200, "retry: 2000\n\n"]);
    }
    // A request without the event stream type gets a plain refusal.
    const plain = await server.rest.request("GET", runStream(runId));
    expect([plain.status, plain.body.code]).toEqual([503, "unavailable"]);
    isStoreSilent = false;
    const again = await openReader(server.rest, runStream(runId), { "last-event-id": open.told.at(-1)?.id ?? "" });
    expect((await again.until(first))[0]).toMatchObject({ event: "agent.run_failed" });
  });

  test("[SE24] a stopping server ends all streams and makes new readers reconnect later", async () => {
    const streams = await Promise.all([openReader(server.rest, runStream(runId)), openReader(server.rest, workspaceStream(workspaceId))]);
    await Promise.all(streams.map((stream) => stream.until(first)));
    await server.drain();
    await Promise.all(streams.map(({ ended }) => ended));
    for (const { told } of streams) expect(told.map(({ event }) => event)).not.toContain("stream.end");
    const sentAway = await server.rest.request("GET", runStream(runId), undefined, likeABrowser);
    expect([sentAway.status, sentAway.body, sentAway.headers.get("content-type")]).toEqual([
      200,
      "retry: 2000\n\n",
      "text/event-stream; charset=utf-8",
    ]);
    expect((await server.rest.request("GET", runStream(runId))).status).toBe(503);
    // An earlier test silenced the store, and background work that met it was logged.
    expect(server.logged.filter((line) => !line.includes("the store does not answer"))).toEqual([]);
  });
});

describe.each(hosts)("how often streams are opened on %s", (_name, start) => {
  test("[SE23] a credential opens a limited number at once, REST and tRPC together; others are separate", async () => {
    const server = await startStreamServer(start, { limits: { "rate.connects": { count: 1, seconds: 60, burst: 3 } } });
    const workspaceId = await server.newWorkspace();
    const { as: reader } = await server.newKey();
    const path = `/workspaces/${workspaceId}/timeline/stream`;
    const input = encodeURIComponent(JSON.stringify({ workspaceId }));
    for (const address of [path, `/trpc/workspaces.timeline?input=${input}`, path]) {
      expect(await (await openReader(reader, address)).until(first)).not.toEqual([]);
    }
    const refused = await reader.request("GET", path);
    expect([refused.status, refused.body.code]).toEqual([429, "rate_limited"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(refused.headers.get("ratelimit-policy")).toBe('"connects";q=1;w=60');
    expect(refused.headers.get("ratelimit")).toMatch(/^"connects";r=0;t=\d+$/);
    const overTrpc = await reader.request<string>("GET", `/trpc/workspaces.timeline?input=${input}`);
    expect(overTrpc.body).toContain('"code":"TOO_MANY_REQUESTS"');
    expect((await openReader(server.rest, path)).status).toBe(200);
    closeReaders();
    await server.close();
  });
});
