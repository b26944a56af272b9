/**
 * Tests the streams of articles on the real server; on Redis the readers are on another node than the writers.
 *
 * Readers see the raw bytes of the server. The test over kills uses stock clients of both protocols.
 */
import { createTRPCClient, httpSubscriptionLink } from "@trpc/client";
import { EventSource } from "eventsource";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { AppRouter } from "../../api/derive/trpc.ts";
import { type ArticleEvent, articleEventData } from "../../api/schema/articleEvent.ts";
import { createRest, type Editor, openEditor, type Rest, signIn } from "../support/clients.ts";
import { articleEventsOf, closeReaders, openReader, type Reading, type Told } from "../support/eventReader.ts";
import { type RunningServer, startServer } from "../support/server.ts";

const settings = { BASE_URL: "http://127.0.0.1:8787", CHECKPOINT_QUIET_MS: "300" };
const password = "correct horse battery";

let server: RunningServer;
/** Another node on the same store if the store is Redis; otherwise the only node. */
let other: RunningServer;
let ana: Rest;
let reader: Rest;
let workspaceId: string;
const editors: Editor[] = [];

async function begin(more: Readonly<Record<string, string>> = {}): Promise<void> {
  server = await startServer({ ...settings, ...more });
  other = server.store?.kind === "redis" ? await startServer({ ...settings, ...more, ...server.store.settings }) : server;
  ana = await signIn(server.url, server.operator);
  reader = createRest(other.url, ana.headers);
  ({ workspaceId } = await ana.expect(201, "POST", "/workspaces", { name: "Desk", type: "team" }));
}

async function end(): Promise<void> {
  if (other !== server) await other.remove();
  await server.remove();
}

afterEach(() => {
  for (const editor of editors.splice(0)) editor.close();
  closeReaders();
});

const newArticle = async (content = "# Kites\n"): Promise<string> =>
  (await ana.expect(201, "POST", "/articles", { workspaceId, title: "Kites", content })).articleId;
const streamOf = (articleId: string) => `/articles/${articleId}/stream`;
const append = (articleId: string, content: string, message?: string) =>
  ana.expect(200, "PATCH", `/articles/${articleId}/content`, { mode: "append", content, ...(message === undefined ? {} : { message }) });
const begun = (told: readonly Told[]) => told.length > 0;
const namesOf = ({ told }: Reading) => articleEventsOf(told).map(({ event }) => event);
const isKept = (event: ArticleEvent) => event.event in articleEventData;
const keptOf = (told: readonly Told[]) => articleEventsOf(told).filter(isKept);
const hasKept = (count: number) => (told: readonly Told[]) => keptOf(told).length >= count;

describe("events and signals", () => {
  beforeAll(() => begin());
  afterAll(end);

  test("[SE66] commits, checkpoints, the public page and the deletion are events of the article, in order", async () => {
    const articleId = await newArticle();
    const live = await openReader(reader, streamOf(articleId));
    expect(await live.until(begun)).toEqual([{ event: "stream.position", id: "0", data: "" }]);
    // The text of the new article becomes a checkpoint by itself.
    await live.until(hasKept(1));
    const { commitId } = await append(articleId, "They need wind.\n", "More about wind");
    const commit = await ana.expect(200, "GET", `/articles/${articleId}/commits/${commitId}`);
    await live.until(hasKept(2));
    const { url } = await ana.expect(201, "PUT", `/articles/${articleId}/public-link`, { mode: "snapshot" });
    await ana.expect(200, "PATCH", `/articles/${articleId}/public-link`, { indexable: true });
    await ana.expect(204, "DELETE", `/articles/${articleId}/public-link`);
    await ana.expect(204, "DELETE", `/articles/${articleId}`);
    await live.ended;
    const events = keptOf(live.told);
    expect(events.map(({ event }) => event)).toEqual([
      "document.checkpointed",
      "document.committed",
      "public_link.changed",
      "public_link.changed",
      "public_link.changed",
      "document.deleted",
    ]);
    const [checkpointed, committed, published, changed, unpublished, deleted] = events;
    expect(checkpointed?.data).toMatchObject({ kind: "checkpoint", previousRevision: null });
    expect(committed).toEqual({
      id: "2",
      event: "document.committed",
      createdAt: expect.any(String),
      workspaceId,
      articleId,
      actor: server.operator.username,
      data: {
        commitId,
        kind: "commit",
        message: "More about wind",
        revision: commit.revision,
        previousRevision: 1,
        contentHash: commit.files[0].contentHash,
        wordCount: 4,
        files: [{ file: "content.md", added: 1, removed: 0 }],
        authors: [{ username: server.operator.username, kind: "user" }],
        diffUrl: expect.stringContaining(`/articles/${articleId}/diff?from=1&to=${commit.revision}`),
      },
    });
    const page = { mode: "snapshot", state: "snapshot", url };
    expect(published?.data).toEqual({ publicLink: page, publishedRevision: expect.any(Number) });
    expect(changed?.data).toEqual(published?.data);
    expect([unpublished?.data, deleted?.data]).toEqual([{}, { permanent: false }]);
    expect(live.told.filter(({ id }) => id !== undefined).map(({ id }) => id)).toEqual(["0", "1", "2", "3", "4", "5", "6"]);
    expect(live.told.at(-1)).toEqual({ event: "stream.end", data: "{}" });
  });

  test("[SE67] a stream resumes after any token, is 204 in the trash, continues after it, and then is 404", async () => {
    const articleId = await newArticle("");
    const path = streamOf(articleId);
    for (const message of ["one", "two", "three"]) await append(articleId, `${message}\n`, message);
    await ana.expect(204, "DELETE", `/articles/${articleId}`);
    const whole = await openReader(reader, `${path}?from=start`);
    await whole.ended;
    const events = keptOf(whole.told);
    expect(events.map(({ event }) => event)).toEqual([...Array(3).fill("document.committed"), "document.deleted"]);
    for (const at of [0, 2]) {
      const resumed = await openReader(reader, path, { "last-event-id": String(at) });
      await resumed.ended;
      expect(keptOf(resumed.told)).toEqual(events.slice(at));
      expect(resumed.told.at(-1)?.event).toBe("stream.end");
    }
    const token = { "last-event-id": "4" };
    expect((await openReader(reader, path, token)).status).toBe(204);
    await ana.expect(200, "POST", `/articles/${articleId}/undelete`);
    const again = await openReader(reader, path, token);
    await again.until(begun);
    await append(articleId, "four\n", "four");
    await again.until(hasKept(1));
    await ana.expect(204, "DELETE", `/articles/${articleId}?permanent=true`);
    await again.ended;
    expect(keptOf(again.told).map(({ event, data }) => [event, "permanent" in data && data.permanent])).toEqual([
      ["document.committed", false],
      ["document.deleted", true],
    ]);
    expect(again.told.at(-1)?.event).toBe("stream.end");
    expect((await reader.request("GET", path, undefined, token)).status).toBe(404);
    for (const token of ["x", "-1", "01", `${articleId}:1`]) {
      const refused = await reader.request("GET", streamOf(await newArticle("")), undefined, { "last-event-id": token });
      expect([refused.status, refused.body.code], token).toEqual([400, "bad_request"]);
    }
  });

  test("[SE70] subscriptions carry the same envelopes, signals without a token of their own", async () => {
    const articleId = await newArticle("");
    const input = encodeURIComponent(JSON.stringify({ articleId }));
    const [bySse, byTrpc] = [
      await openReader(reader, streamOf(articleId)),
      await openReader(reader, `/trpc/articles.events?input=${input}`),
    ];
    for (const opened of [bySse, byTrpc]) await opened.until((told) => told.some(({ id }) => id === "0"));
    await append(articleId, "Some words.\n", "First");
    await bySse.until((told) => ["document.live", "document.committed"].every((name) => told.some(({ event }) => event === name)));
    await ana.expect(204, "DELETE", `/articles/${articleId}`);
    await Promise.all([bySse.ended, byTrpc.ended]);
    const sent = bySse.told.filter(({ event }) => !event?.startsWith("stream."));
    for (const { event, id } of sent) expect(id === undefined, event).toBe(event === "document.live");
    const carried = byTrpc.told.filter(({ event }) => event === undefined);
    expect(carried.map(({ id, data }) => [id, data])).toEqual(sent.map(({ id, data }) => [id, data]));
    expect(byTrpc.told.at(-1)).toEqual({ event: "return", data: "" });
  });

  test("[SE76] a reader needs articles:read or a ticket, and loses the stream with its access", async () => {
    const articleId = await newArticle();
    const path = streamOf(articleId);
    const keyOf = async (scope: string) => {
      const { key } = await ana.expect(201, "POST", "/api-keys", { name: "Reader", scopes: [scope] });
      return createRest(other.url, { "x-api-key": key });
    };
    const unscoped = await keyOf("workspaces:read");
    for (const asked of [path, `/articles/${articleId}/presence`]) {
      const refused = await unscoped.request("GET", asked);
      expect(refused).toMatchObject({ status: 403, body: { code: "insufficient_scope", missingScopes: ["articles:read"] } });
    }
    const scoped = await keyOf("articles:read");
    const { ticket } = await scoped.expect(201, "POST", "/auth/stream-ticket", { resource: `article:${articleId}` });
    const anyone = createRest(other.url);
    expect((await openReader(anyone, `${path}?ticket=${ticket}`)).status).toBe(200);
    expect((await anyone.request("GET", `${streamOf(await newArticle())}?ticket=${ticket}`)).status).toBe(401);
    expect((await anyone.request("GET", path)).status).toBe(401);
    await ana.expect(201, "POST", "/accounts", { username: "bo", password });
    const bo = await signIn(other.url, { username: "bo", password });
    const missing = await bo.request("GET", streamOf("art_01KAHX0000050123456789ABCD"));
    for (const asked of [path, `/articles/${articleId}/presence`]) {
      expect((await bo.request("GET", asked)).body).toEqual({
        ...missing.body,
        requestId: expect.any(String),
        instance: expect.any(String),
      });
    }
    await ana.expect(201, "POST", `/workspaces/${workspaceId}/members`, { username: "bo", role: "member" });
    const opened = await openReader(bo, path);
    await opened.until(begun);
    await ana.expect(204, "DELETE", `/workspaces/${workspaceId}/members/bo`);
    await opened.ended;
    expect(opened.told.map(({ event }) => event)).not.toContain("stream.end");
    expect((await bo.request("GET", path)).status).toBe(404);
  });

  async function edit(rest: Rest, articleId: string): Promise<Editor> {
    const editor = await openEditor(rest, articleId);
    editors.push(editor);
    return editor;
  }

  test("[SE68][SE69] readers see on every node who joins, types and leaves, as the credentials say", async () => {
    await ana.expect(201, "POST", "/accounts", { username: "cara", password });
    await ana.expect(201, "POST", `/workspaces/${workspaceId}/members`, { username: "cara", role: "member" });
    const articleId = await newArticle("one two");
    const live = await openReader(reader, streamOf(articleId));
    await live.until(begun);
    // Members that this answer has are not reported; later ones are.
    expect(await reader.expect(200, "GET", `/articles/${articleId}/presence`)).toEqual({ clients: [] });
    const cara = await edit(await signIn(server.url, { username: "cara", password }), articleId);
    cara.provider.awareness.setLocalStateField("user", { username: server.operator.username, kind: "agent" });
    await live.until(() => namesOf(live).includes("presence.joined"));
    cara.text.insert(cara.text.length, " three");
    const isTyped = () =>
      articleEventsOf(live.told).some(({ event, data }) => event === "document.live" && "wordCount" in data && data.wordCount === 3);
    await live.until(isTyped);
    cara.close();
    await live.until(() => namesOf(live).includes("presence.left"));
    const signals = articleEventsOf(live.told).filter((event) => !isKept(event));
    const client = { username: "cara", kind: "user", mode: "write", since: expect.any(Number) };
    const own = { createdAt: expect.any(String), workspaceId, articleId, actor: "cara" };
    expect(signals[0]).toEqual({ ...own, event: "presence.joined", data: { client } });
    expect(signals.find(({ event }) => event === "document.live")).toEqual({
      ...own,
      event: "document.live",
      data: { revision: expect.any(Number), wordCount: 3, typing: [{ username: "cara", kind: "user" }] },
    });
    expect(signals.find(({ event }) => event === "presence.left")).toEqual({ ...own, event: "presence.left", data: signals[0]?.data });
  });

  test("[SE71] the presence of an article lists each connection of every node, with its kind and mode", async () => {
    const articleId = await newArticle();
    const presence = `/articles/${articleId}/presence`;
    expect(await reader.expect(200, "GET", presence)).toEqual({ clients: [] });
    const startedAt = Date.now() / 1000;
    await edit(ana, articleId);
    await edit(ana, articleId);
    const { key } = await ana.expect(201, "POST", "/api-keys", { name: "Watcher", scopes: ["articles:read"] });
    await edit(createRest(other.url, { "x-api-key": key }), articleId);
    const { username } = server.operator;
    for (const rest of [ana, reader]) {
      await expect
        .poll(async () => (await rest.expect(200, "GET", presence)).clients.map(({ since, ...client }: { since: number }) => client))
        .toEqual([
          { username, kind: "user", mode: "write" },
          { username, kind: "user", mode: "write" },
          { username, kind: "key", mode: "read" },
        ]);
      const { clients } = await rest.expect(200, "GET", presence);
      for (const { since } of clients) expect(Math.abs(since - startedAt)).toBeLessThan(30);
    }
  });
});

describe("retention", () => {
  beforeAll(() => begin({ LIMITS: '{"keep.events":1000}' }));
  afterAll(end);

  test("[SE72] a reader whose events were deleted restarts with the article as a snapshot", async () => {
    const articleId = await newArticle("");
    const path = streamOf(articleId);
    for (const message of ["one", "two"]) await append(articleId, `${message}\n`, message);
    const resume = async () => {
      const late = await openReader(reader, path, { "last-event-id": "1" });
      const [first] = await late.until(begun);
      return { late, first };
    };
    // First only the first event is deleted, which this reader has.
    await expect.poll(async () => (await resume()).first).toMatchObject({ event: "stream.reset", id: "2" });
    const { late, first } = await resume();
    expect(JSON.parse(first?.data ?? "")).toEqual({ snapshot: await ana.expect(200, "GET", `/articles/${articleId}`) });
    await append(articleId, "three\n", "three");
    await late.until(hasKept(1));
    expect(keptOf(late.told).map((event) => "id" in event && event.id)).toEqual(["3"]);
  });
});

describe("kills", () => {
  const kills = 2;
  // A checkpoint between an edit and its commit would leave nothing to commit.
  beforeAll(() => begin({ CHECKPOINT_QUIET_MS: "600000", CHECKPOINT_MAX_MS: "900000" }));
  afterAll(end);

  test(`[SE74] over ${kills} kills, stock clients receive every event of an article once and in order`, async () => {
    const articleId = await newArticle("");
    const { authorization } = ana.headers;
    const authorized: typeof fetch = (address, init) =>
      fetch(address, { ...init, headers: { ...init?.headers, authorization: authorization ?? "" } });
    // The clients read from the node that is killed.
    const bySse: ArticleEvent[] = [];
    const source = new EventSource(`${server.url}${streamOf(articleId)}?from=start`, { fetch: authorized as never });
    let connections = 0;
    source.addEventListener("open", () => {
      connections += 1;
    });
    source.addEventListener("document.committed", ({ data }) => bySse.push(JSON.parse(data)));
    const byTrpc: ArticleEvent[] = [];
    const trpc = createTRPCClient<AppRouter>({
      links: [httpSubscriptionLink({ url: `${server.url}/trpc`, EventSource, eventSourceOptions: () => ({ fetch: authorized as never }) })],
    });
    let started = 0;
    const { unsubscribe } = trpc.articles.events.subscribe(
      { articleId, from: "start" },
      {
        onStarted: () => {
          started += 1;
        },
        onData({ data }) {
          if (data.event === "stream.reset") throw new Error(`the stream was reset: ${JSON.stringify(data)}`);
          if (data.event === "document.committed") byTrpc.push(data);
        },
      },
    );
    await expect.poll(() => Math.min(connections, started)).toBeGreaterThan(0);
    const messages: string[] = [];
    for (let killed = 0; killed <= kills; killed += 1) {
      for (const step of ["a", "b", "c"]) {
        messages.push(`${killed}${step}`);
        await append(articleId, `${killed}${step}\n`, `${killed}${step}`);
      }
      if (killed === kills) break;
      // Some of the events may not have been sent yet.
      await server.kill();
      await server.start();
      await expect.poll(() => Math.min(connections, started)).toBeGreaterThan(killed + 1);
    }
    for (const received of [bySse, byTrpc]) {
      await expect.poll(() => received.length).toBeGreaterThanOrEqual(messages.length);
      expect(received.map(({ data }) => "message" in data && data.message)).toEqual(messages);
      expect(received.map((event) => "id" in event && event.id)).toEqual(messages.map((_, at) => String(at + 1)));
    }
    source.close();
    unsubscribe();
  });
});
