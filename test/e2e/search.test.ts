/** Tests the full-text search of a running server over REST and tRPC. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { SearchHit } from "../../api/schema/search.ts";
import { createRest, createTrpc, type Rest, signIn } from "../support/clients.ts";
import { type RunningServer, startServer } from "../support/server.ts";

const patience = { timeout: 20_000 };

let server: RunningServer;
let rest: Rest;
let workspaceId: string;
let topicId: string;

beforeAll(async () => {
  server = await startServer({ LIMITS: JSON.stringify({ "rate.default": "off", "rate.writes": "off" }) });
  rest = await signIn(server.url, server.operator);
  ({ workspaceId } = await rest.expect(201, "POST", "/workspaces", { name: "Desk", type: "team" }));
  for (const [title, content] of [
    ["How a draft survives a power cut", "# Durable drafts\n\nEvery keystroke is <b>flushed</b> & kept.\n"],
    ["Café culture", "The Straße was full. Power tools are cut in half.\n"],
    ["東京タワーの歴史", "東京タワーは1958年に完成した。\n"],
    ["Plain", "Nothing to see.\n"],
  ]) {
    await write(title ?? "", content ?? "");
  }
  ({ topicId } = await rest.expect(201, "POST", `/workspaces/${workspaceId}/topics`, {
    title: "Power of habit",
    targetAudience: "writers",
    thesis: "A cut is a choice.",
  }));
  await vi.waitFor(async () => {
    expect(await find("plain")).toHaveLength(1);
    expect(await find("habit", "&in=topics")).toHaveLength(1);
  }, patience);
});
afterAll(() => server.remove());

async function write(title: string, content: string): Promise<string> {
  const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title, content });
  await rest.expect(201, "POST", `/articles/${articleId}/commits`, {});
  return articleId;
}

const pathOf = (q: string, more = "") => `/workspaces/${workspaceId}/search?q=${encodeURIComponent(q)}${more}`;
const find = async (q: string, more = ""): Promise<readonly SearchHit[]> => (await rest.expect(200, "GET", pathOf(q, more))).hits;
const titles = async (q: string, more = "") => (await find(q, more)).map(({ title }) => title);
const durable = "How a draft survives a power cut";

test("[SR2] words, a phrase and the beginning of a word find the matching texts, by relevance", async () => {
  expect(await titles("power cut")).toEqual([durable, "Café culture"]);
  expect(await titles('"power cut"')).toEqual([durable]);
  expect(await titles("surv")).toEqual([durable]);
  expect(await titles("surv ")).toEqual([]);
  expect(await titles("power nothing")).toEqual([]);
});

test("[SR3] accents do not matter, and a part of a Japanese title is found", async () => {
  for (const q of ["cafe", "CAFÉ", "strasse", "Straße"]) expect(await titles(q)).toEqual(["Café culture"]);
  for (const q of ["タワー", "東京", "歴", "完成", "1958年"]) expect(await titles(q)).toEqual(["東京タワーの歴史"]);
  expect(await titles("京東")).toEqual([]);
});

test("[SR9] [SR19] a hit has the current title, and a snippet in which only the marks are markup", async () => {
  const [hit] = await find("flushed keystroke");
  expect(hit).toEqual({
    kind: "article",
    id: expect.stringMatching(/^art_/),
    articleId: hit?.id,
    title: durable,
    snippet: "Durable drafts Every <mark>keystroke</mark> is <mark>flushed</mark> &amp; kept.",
    score: 1,
    updatedAt: expect.any(Number),
  });
});

test("[SR1] topics are found on request, by their fields, and archived ones only by their status", async () => {
  expect(await titles("power", "&in=topics")).toEqual(["Power of habit"]);
  expect(await find("choice", "&in=topics")).toEqual([
    expect.objectContaining({ kind: "topic", id: topicId, topicId, snippet: "A cut is a <mark>choice</mark>." }),
  ]);
  expect(new Set(await titles("power", "&in=topics&in=articles"))).toEqual(new Set([durable, "Café culture", "Power of habit"]));
  expect(await titles("power", "&in=topics&status=shortlisted")).toEqual([]);
  const { topicId: old } = await rest.expect(201, "POST", `/workspaces/${workspaceId}/topics`, { title: "Old habit", targetAudience: "x" });
  await rest.expect(200, "POST", `/workspaces/${workspaceId}/topics/${old}/archive`, { reason: "manual" });
  await vi.waitFor(async () => expect(await titles("habit", "&in=topics&status=archived")).toEqual(["Old habit"]), patience);
  expect(await titles("habit", "&in=topics")).toEqual(["Power of habit"]);
});

test("[SR10] a filter that finds nothing there, an unknown kind and too many hits are refused", async () => {
  for (const [more, pointer] of [
    ["&status=idea", "/status"],
    ["&in=topics&in=articles&status=idea", "/status"],
    ["&in=runs", "/in/0"],
    ["&in=topics&status=open", "/status"],
    ["&in=reviews&status=open&status=idea", "/status/1"],
    ["&limit=101", "/limit"],
  ]) {
    const { status, body } = await rest.request("GET", pathOf("power", more));
    expect([more, status, body.code, body.errors?.[0]?.pointer]).toEqual([more, 422, "validation_failed", pointer]);
  }
});

/** Waits until the reviews with the word are these. */
const untilReviews = (q: string, reviewIds: readonly string[], more = "") =>
  vi.waitFor(async () => expect((await find(q, `&in=reviews${more}`)).map(({ id }) => id)).toEqual(reviewIds), patience);

test("[SR15] reviews are found by their text and replies, by their state, and where their article is", async () => {
  const { folderId } = await rest.expect(201, "POST", "/folders", { workspaceId, name: "Reviewed" });
  const articleId = await write("Lanterns", "They glow.\n");
  const reviews = `/articles/${articleId}/reviews`;
  const { reviewId } = await rest.expect(201, "POST", reviews, { body: "Is the <b>wick</b> trimmed?", anchor: { quote: "glow" } });
  const { reviewId: other } = await rest.expect(201, "POST", reviews, { body: "The glass is new." });
  const { replyId } = await rest.expect(201, "POST", `/reviews/${reviewId}/replies`, { body: "Trimmed with scissors." });
  await untilReviews("scissors", [reviewId]);
  expect(await find("wick", "&in=reviews")).toEqual([
    {
      kind: "review",
      id: reviewId,
      articleId,
      title: "Lanterns",
      snippet: "Is the <mark>wick</mark> trimmed?",
      score: 1,
      updatedAt: expect.any(Number),
    },
  ]);
  expect(await titles("lanterns", "&in=reviews")).toEqual([]);
  expect(await titles("lanterns", "&in=reviews&in=articles")).toEqual(["Lanterns"]);
  await rest.expect(200, "PATCH", `/reviews/${other}`, { status: "resolved" });
  await untilReviews("glass", [other], "&status=resolved");
  expect(await find("glass", "&in=reviews&status=open&status=rejected")).toEqual([]);
  expect((await find("glass", "&in=reviews&in=topics&status=resolved&status=idea")).map(({ id }) => id)).toEqual([other]);

  expect(await find("wick", `&in=reviews&folderId=${folderId}`)).toEqual([]);
  await rest.expect(200, "PATCH", `/articles/${articleId}`, { folderId, title: "Lamps" });
  await untilReviews("wick", [reviewId], `&folderId=${folderId}`);
  expect(await titles("wick", "&in=reviews")).toEqual(["Lamps"]);
  await rest.expect(204, "DELETE", `/articles/${articleId}`);
  expect(await find("wick", "&in=reviews")).toEqual([]);
  await rest.expect(200, "POST", `/articles/${articleId}/undelete`);
  await untilReviews("wick", [reviewId]);

  await rest.expect(204, "DELETE", `/reviews/${reviewId}/replies/${replyId}`);
  await untilReviews("scissors", []);
  await rest.expect(204, "DELETE", `/reviews/${reviewId}`);
  expect(await find("wick", "&in=reviews")).toEqual([]);
});

test("[SR15] articles and topics are found by the folder in which they are now, and not by folders below or above", async () => {
  const { folderId } = await rest.expect(201, "POST", "/folders", { workspaceId, name: "Boats", contentProject: {} });
  const { folderId: below } = await rest.expect(201, "POST", "/folders", { workspaceId, name: "Sails", parentFolderId: folderId });
  const articleId = await write("Regatta", "They tack.\n");
  const inTopics = `/workspaces/${workspaceId}/topics`;
  await rest.expect(201, "POST", inTopics, { title: "Regatta rules", targetAudience: "sailors", contentProjectId: folderId });
  const untilIn = (folder: string, found: readonly string[]) =>
    vi.waitFor(
      async () => expect((await titles("regatta", `&in=articles&in=topics&folderId=${folder}`)).toSorted()).toEqual(found),
      patience,
    );
  await untilIn(folderId, ["Regatta rules"]);
  await rest.expect(200, "PATCH", `/articles/${articleId}`, { folderId });
  await untilIn(folderId, ["Regatta", "Regatta rules"]);
  await rest.expect(200, "PATCH", `/articles/${articleId}`, { folderId: below });
  await untilIn(below, ["Regatta"]);
  await untilIn(folderId, ["Regatta rules"]);
  await rest.expect(200, "PATCH", `/articles/${articleId}`, { folderId: null });
  await untilIn(below, []);
  expect(await titles("regatta", `&folderId=${workspaceId}`)).toEqual([]);
});

test("[SR10] a key finds topics only with the scope to read topics, and nothing without the scope to read articles", async () => {
  const keyOf = async (...scopes: string[]) => {
    const { key } = await rest.expect(201, "POST", "/api-keys", { name: scopes.join(), scopes });
    return createRest(server.url, { "x-api-key": key });
  };
  const reader = await keyOf("articles:read");
  expect((await reader.expect(200, "GET", pathOf("power"))).hits).toHaveLength(2);
  expect(await reader.expect(403, "GET", pathOf("power", "&in=topics"))).toMatchObject({
    code: "insufficient_scope",
    requiredScopes: ["articles:read", "workspaces:read"],
    missingScopes: ["workspaces:read"],
  });
  expect(await reader.expect(403, "GET", pathOf("power", "&in=reviews"))).toMatchObject({ missingScopes: ["reviews:read"] });
  const both = await keyOf("articles:read", "workspaces:read");
  expect((await both.expect(200, "GET", pathOf("power", "&in=topics"))).hits).toHaveLength(1);
  expect(await (await keyOf("workspaces:read")).expect(403, "GET", pathOf("power"))).toMatchObject({ missingScopes: ["articles:read"] });
});

test("[SR5] hostile queries are found, not executed, and a query without a word is refused", async () => {
  for (const q of ['"', "a AND (b", "title:x*", "NEAR(a b)", "x^2", "{a b}:c", "-a", "'--", "a\u0000b", "\u{1F642}a", "*a", "a*"]) {
    const { status } = await rest.request("GET", pathOf(q));
    expect([q, status]).toEqual([q, /[a-z]/.test(q) ? 200 : 422]);
  }
  for (const q of ["", "   ", "?!", '""', "x ".repeat(101)]) expect((await rest.request("GET", pathOf(q))).status).toBe(422);
  const many = Array.from({ length: 33 }, (_, at) => at).join(" ");
  expect((await rest.request("GET", pathOf(many))).body.detail).toContain("at most 32 words");
});

test("[SR4] another workspace finds nothing of this one, and its members cannot search here", async () => {
  const { workspaceId: other } = await rest.expect(201, "POST", "/workspaces", { name: "Other", type: "team" });
  expect((await rest.expect(200, "GET", `/workspaces/${other}/search?q=power`)).hits).toEqual([]);
  await rest.expect(201, "POST", "/accounts", { username: "bo", password: "correct horse battery" });
  const bo = await signIn(server.url, { username: "bo", password: "correct horse battery" });
  expect((await bo.request("GET", pathOf("power"))).status).toBe(404);
});

test("[SR11] the state of the index is in the answer, in the long readyz and in the metrics", async () => {
  const { headers } = await rest.request("GET", pathOf("power"));
  expect(headers.get("x-svc-search-state")).toBe("ready");
  const operator = createRest(server.url, { authorization: `Bearer ${server.operatorToken}` });
  await vi.waitFor(async () => {
    const { search } = await operator.expect(200, "GET", "/readyz");
    expect(search).toEqual({ state: "ready", documents: expect.any(Number), builtPartitions: 64 });
  }, patience);
  const { body } = await operator.request<string>("GET", "/metrics");
  for (const line of [/^svc_search_documents [1-9]\d*$/m, /^svc_search_partitions 64$/m, /^svc_search_failed 0$/m])
    expect(body).toMatch(line);
  expect(await createRest(server.url).expect(200, "GET", "/readyz")).not.toHaveProperty("search");
});

test("[SR1] tRPC gives the same hits", async () => {
  const hits = await find("power", "&in=topics&in=articles&limit=3");
  const answer = await createTrpc(rest).workspaces.search.query({ workspaceId, q: "power", in: ["topics", "articles"], limit: 3 });
  expect(answer).toEqual({ hits });
});

test("[SR13] q of the lists of articles and topics finds accents without accents", async () => {
  const list = async (q: string) => {
    const { articles } = await rest.expect(200, "GET", `/articles?workspaceId=${workspaceId}&q=${encodeURIComponent(q)}`);
    return articles.map(({ title }: { title: string }) => title);
  };
  expect(await list("cafe")).toEqual(["Café culture"]);
  expect(await list("Café")).toEqual(["Café culture"]);
  await rest.expect(201, "POST", `/workspaces/${workspaceId}/topics`, { title: "Über Straßen", targetAudience: "x" });
  const { topics } = await rest.expect(200, "GET", `/workspaces/${workspaceId}/topics?q=uber%20strass`);
  expect(topics.map(({ title }: { title: string }) => title)).toEqual(["Über Straßen"]);
});

test("[SR16] lists and searches find words without accents by words with them, composed or not", async () => {
  for (const form of ["NFC", "NFD"]) {
    const q = (text: string) => encodeURIComponent(text.normalize(form));
    const { articles } = await rest.expect(200, "GET", `/articles?workspaceId=${workspaceId}&q=${q("Pláin")}`);
    const { topics } = await rest.expect(200, "GET", `/workspaces/${workspaceId}/topics?q=${q("Hábit")}`);
    expect([articles[0]?.title, topics[0]?.title]).toEqual(["Plain", "Power of habit"]);
    expect(await titles("Pláin".normalize(form))).toEqual(["Plain"]);
    expect(await titles("Hábit".normalize(form), "&in=topics")).toEqual(["Power of habit"]);
  }
});

test("[SR8] after kill -9 everything that was committed is found", async () => {
  const written = await Promise.all(Array.from({ length: 30 }, (_, at) => write(`Killed ${at}`, `Word number${at}.\n`)));
  await rest.expect(201, "POST", `/articles/${written[0]}/reviews`, { body: "Killed too." });
  await server.kill();
  await server.start();
  await vi.waitFor(
    async () => expect(new Set((await find("killed", "&limit=100")).map(({ id }) => id))).toEqual(new Set(written)),
    patience,
  );
  await vi.waitFor(async () => expect(await titles("killed", "&in=reviews")).toEqual(["Killed 0"]), patience);
  expect(await titles("number17 ")).toEqual(["Killed 17"]);
  expect(await titles("flushed")).toEqual([durable]);
});
