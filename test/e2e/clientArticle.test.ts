/** Tests openArticle of the client package against the real server, which is killed and started again. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import * as Y from "yjs";
import { type Article, type ArticleOptions, type ArticleState, type ArticleStatus, openArticle } from "../../client/article.ts";
import { type Api, createApi, createTokens, type Ticket } from "../../client/index.ts";
import { type Rest, signIn } from "../support/clients.ts";
import { type RunningServer, startServer } from "../support/server.ts";

const hangMs = 30_000;
/** Tickets expire while the tests run, so each reconnect needs a new one. */
const limits = { "keep.ticket": 2000, "article.file": 20_000, "rate.auth": "off" };

let server: RunningServer;
let rest: Rest;
let api: Api;
let workspaceId: string;
let articleId: string;
const articles: Article[] = [];

beforeAll(async () => {
  server = await startServer({ LIMITS: JSON.stringify(limits) });
  const grant = { grantType: "password", ...server.operator } as const;
  api = createApi({ url: server.url, tokens: createTokens(() => createApi({ url: server.url }).trpc.auth.token.mutate(grant)) });
  rest = await signIn(server.url, server.operator);
  ({ workspaceId } = await api.trpc.workspaces.create.mutate({ name: "Newsroom", type: "team" }));
});
beforeEach(async () => {
  ({ articleId } = await api.trpc.articles.create.mutate({ workspaceId, title: "Typed" }));
});
afterEach(() => {
  for (const article of articles.splice(0)) article.close();
});
afterAll(() => server.remove());

/** Opens the article of the test. `states` has each state that it reported. */
function open(options: Partial<ArticleOptions> = {}) {
  const article = openArticle({ api, articleId, WebSocket, ...options });
  articles.push(article);
  const states: ArticleState[] = [article.state];
  article.subscribe((state) => states.push(state));
  return {
    article,
    states,
    statuses: () => states.map(({ status }) => status).filter((status, at, all) => status !== all[at - 1]),
    until: (status: ArticleStatus) => vi.waitFor(() => expect(article.state.status).toBe(status), { timeout: hangMs, interval: 5 }),
    type: (text: string) => article.text().insert(article.text().length, text),
  };
}

const stored = async () => (await rest.expect(200, "GET", `/articles/${articleId}/content`)).content as string;

/** Tickets of the server, and how many were made. */
function countedTickets(change: (ticket: Ticket, count: number) => Ticket = (ticket) => ticket) {
  const made: Ticket[] = [];
  return {
    made,
    async getTicket() {
      made.push(await api.trpc.auth.streamTicket.mutate({ resource: `article:${articleId}` }));
      return change(made.at(-1) as Ticket, made.length);
    },
  };
}

test("[CL1] what is typed is unsaved at once, and after it is reported as saved a kill loses nothing", async () => {
  const { article, until, type } = open();
  expect(article.state).toEqual({ status: "connecting", unsavedChanges: 0, unsavedSince: undefined, problem: undefined });
  await until("saved");
  const beforeMs = Date.now();
  type("On disk.\n");
  expect(article.state).toMatchObject({ status: "saving", unsavedChanges: 1 });
  expect(Number(article.state.unsavedSince)).toBeGreaterThanOrEqual(beforeMs);
  await article.untilSaved();
  await server.kill();
  expect(article.state).toMatchObject({ unsavedChanges: 0 });
  await server.start();
  expect(await stored()).toBe("On disk.\n");
});

test("[CL4] while people type, the server is killed and restarted: nothing is lost, and nothing is doubled", async () => {
  const one = open();
  const other = open();
  await Promise.all([one.until("saved"), other.until("saved")]);
  const typed: string[] = [];
  const typing = setInterval(() => {
    for (const [name, { article }] of Object.entries({ one, other })) {
      const line = `${name} ${typed.length}\n`;
      typed.push(line);
      article.text().insert(0, line);
    }
  }, 20);
  try {
    for (const end of ["kill", "stop"] as const) {
      const before = typed.length;
      await vi.waitFor(() => expect(typed.length).toBeGreaterThan(before + 20), hangMs);
      await server[end]();
      await Promise.all([one.until("offline"), other.until("offline")]);
      expect(one.article.state.problem).toBeDefined();
      await server.start();
      await vi.waitFor(() => expect([one, other].map(({ article }) => article.state.status)).not.toContain("offline"), hangMs);
    }
  } finally {
    clearInterval(typing);
  }
  await Promise.all([one.article.untilSaved(), other.article.untilSaved()]);
  expect((await stored()).split(/(?<=\n)/).toSorted()).toEqual(typed.toSorted());
  await vi.waitFor(() => expect(other.article.text().toString()).toBe(one.article.text().toString()), hangMs);
  expect(one.states.at(-1)).toEqual({ status: "saved", unsavedChanges: 0, unsavedSince: undefined, problem: undefined });
});

test("[CL3] a ticket that has expired is renewed before the connection, which is then not refused", async () => {
  const { made, getTicket } = countedTickets();
  const { article, states, until, type } = open({ url: server.url, getTicket });
  await until("saved");
  await vi.waitFor(() => expect(Date.parse(made[0]?.expiresAt ?? "")).toBeLessThan(Date.now()), hangMs);
  type("The open socket outlives its ticket.\n");
  await article.untilSaved();
  await server.kill();
  await until("offline");
  type("Typed offline.\n");
  await server.start();
  await until("saved");
  expect(await stored()).toBe("The open socket outlives its ticket.\nTyped offline.\n");
  expect(states.map(({ problem }) => problem?.code)).not.toContain("unauthenticated");
});

test("[CL3] a ticket that the server refuses is replaced at once", async () => {
  const tickets = countedTickets(({ ticket }, count) => ({
    ticket: count === 1 ? "of another server" : ticket,
    expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
  }));
  const { states, until } = open({ url: server.url, getTicket: tickets.getTicket });
  await until("saved");
  expect(tickets.made).toHaveLength(2);
  expect(states.map(({ problem }) => problem?.code)).toContain("unauthenticated");
});

test("[CL5] a key that is revoked ends the access, and the text is sent with the next credential", async () => {
  const { key, keyId } = await api.trpc.keys.create.mutate({ name: "Editor" });
  let used = createApi({ url: server.url, apiKey: key });
  const getTicket = () => used.trpc.auth.streamTicket.mutate({ resource: `article:${articleId}` });
  const { article, until, type } = open({ url: server.url, getTicket });
  type("Typed with the key.\n");
  await article.untilSaved();
  await api.trpc.keys.revoke.mutate({ keyId });
  await until("revoked");
  expect(article.state.problem).toMatchObject({ code: "key_revoked" });
  type("Typed without access.\n");
  await expect(article.untilSaved()).rejects.toThrow("The text is not saved");
  expect(article.state).toMatchObject({ status: "revoked", unsavedChanges: 1 });
  article.retry();
  await vi.waitFor(() => expect(article.state.problem?.detail).toContain("revoked"), hangMs);
  await until("revoked");
  used = api;
  article.retry();
  await article.untilSaved();
  expect(article.state.problem).toBeUndefined();
  expect(await stored()).toBe("Typed with the key.\nTyped without access.\n");
});

test("[CL6] a reader follows the text, and what is typed all the same is not saved", async () => {
  const { key } = await api.trpc.keys.create.mutate({ name: "Reader", scopes: ["articles:read"] });
  const reader = open({ api: createApi({ url: server.url, apiKey: key }) });
  await reader.until("readOnly");
  await reader.article.untilSaved();
  const writer = open();
  await writer.until("saved");
  writer.type("Seen by the reader.\n");
  await vi.waitFor(() => expect(reader.article.text().toString()).toBe("Seen by the reader.\n"), hangMs);
  reader.type("Not stored.\n");
  await expect(reader.article.untilSaved()).rejects.toThrow("not saved");
  await vi.waitFor(() => expect(reader.article.state.problem).toMatchObject({ code: "insufficient_permission" }), hangMs);
  expect(reader.article.state).toMatchObject({ status: "readOnly", unsavedChanges: 1 });
  await writer.article.untilSaved();
  expect(await stored()).toBe("Seen by the reader.\n");
});

test("[CL7] text that the server refuses is reported with its words, and stays in the document", async () => {
  const { article, until, type } = open();
  type("Fits.\n");
  await article.untilSaved();
  type("x".repeat(30_000));
  await until("refused");
  expect(article.state).toMatchObject({
    unsavedChanges: 1,
    problem: { code: "content_too_large", detail: expect.stringContaining("20000") },
  });
  expect(article.text().length).toBe(30_006);
  expect(await stored()).toBe("Fits.\n");
  article.text().delete(10, article.text().length - 10);
  article.retry();
  await article.untilSaved();
  expect(article.state.problem).toBeUndefined();
  expect(await stored()).toBe("Fits.\nxxxx");
});

test("[CL9] a large paste is stored, and one above frame.bytes ends the connection once, with the limit", async () => {
  const roomy = await startServer({ LIMITS: `{"article.file":16777216,"document.bytes":67108864}` });
  try {
    const own = await signIn(roomy.url, roomy.operator);
    const [workspace] = (await own.expect(200, "GET", "/workspaces")).workspaces;
    const id = (await own.expect(201, "POST", "/articles", { workspaceId: workspace.workspaceId, title: "Large" })).articleId;
    let tickets = 0;
    const getTicket = (): Promise<Ticket> => {
      tickets += 1;
      return own.expect(201, "POST", "/auth/stream-ticket", { resource: `article:${id}` });
    };
    const { article, until, type, states, statuses } = open({ url: roomy.url, articleId: id, getTicket });
    await until("saved");
    const paste = "x".repeat(1_500_000);
    type(paste);
    await article.untilSaved();
    expect(states.map(({ problem }) => problem)).not.toContainEqual(expect.anything());
    for (const bytes of [5 * 1024 * 1024, 9 * 1024 * 1024]) {
      states.length = 0;
      type("y".repeat(bytes));
      await until("refused");
      expect(article.state.problem).toEqual({ code: "payload_too_large", detail: expect.stringMatching(/at most 4194304 at once\. Copy/) });
      expect(statuses().filter((status) => status === "offline")).toHaveLength(1);
      article.text().delete(paste.length, bytes);
      article.retry();
      await article.untilSaved();
    }
    const { content } = await own.expect(200, "GET", `/articles/${id}/content`);
    expect(content).toBe(paste);
    expect(tickets).toBe(1);
    article.close();
  } finally {
    await roomy.remove();
  }
});

test("[CL2] text that another store put into the document is sent, and is unsaved until then", async () => {
  const doc = new Y.Doc();
  doc.getText("content.md").insert(0, "Kept by the browser.\n");
  const { article } = open({ doc });
  expect(article.state).toMatchObject({ status: "connecting", unsavedChanges: 1 });
  Y.transact(doc, () => doc.getText("outline.md").insert(0, "Loaded later.\n"), "a provider that keeps the document");
  expect(article.state.unsavedChanges).toBe(2);
  await article.untilSaved();
  expect(await stored()).toBe("Kept by the browser.\n");
  article.close();
  expect(doc.isDestroyed).toBe(false);
});

test("[CL8] close ends waiting, listeners and the socket", async () => {
  const { article, states, until } = open();
  await until("saved");
  const waiting = new AbortController();
  await server.kill();
  await until("offline");
  article.text().insert(0, "Not sent.\n");
  const aborted = expect(article.untilSaved(waiting.signal)).rejects.toThrow("enough");
  const closed = expect(article.untilSaved()).rejects.toThrow("closed");
  waiting.abort(new Error("enough"));
  article.close();
  await Promise.all([aborted, closed]);
  expect([article.state.status, states.at(-1)?.status, article.doc.isDestroyed]).toEqual(["closed", "closed", true]);
  await server.start();
});
