/** An article's life over HTTP, on the real server. */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as Y from "yjs";
import { createRest, createTrpc, type Rest, signIn } from "../support/clients.ts";
import { type RunningServer, startServer } from "../support/server.ts";

let server: RunningServer;
let rest: Rest;
let workspaceId: string;

beforeAll(async () => {
  server = await startServer();
  rest = await signIn(server.url, server.operator);
  const { workspaces } = await rest.expect(200, "GET", "/workspaces");
  workspaceId = workspaces[0].workspaceId;
});
afterAll(() => server.remove());

const create = (title: string, content?: string, headers?: Record<string, string>) =>
  rest.request("POST", "/articles", { workspaceId, title, ...(content === undefined ? {} : { content }) }, headers);
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

test("[API13] what a text's or a commit's ETag says, If-Match and If-None-Match hold; PUT takes the mode it has", async () => {
  const { articleId } = (await create("Conditions", "one\n")).body;
  const path = `/articles/${articleId}/content`;
  const put = (content: string, tag: string, more: object = {}) =>
    rest.request("PUT", path, { content, baseRevision: 1, ...more }, { "if-match": tag });
  expect((await put("two\n", '"r1"', { mode: "replace" })).headers.get("etag")).toBe('"r2"');
  const late = await put("three\n", '"r1"');
  expect([late.status, late.body.code, late.body.currentRevision]).toEqual([412, "precondition_failed", 2]);
  expect((await rest.expect(200, "GET", path)).content).toBe("two\n");
  expect((await put("three\n", '"r2"', { mode: "append" })).status).toBe(422);

  const { commitId } = await rest.expect(201, "POST", `/articles/${articleId}/commits`);
  const commit = await rest.request("GET", `/articles/${articleId}/commits/${commitId}`);
  const again = { "if-none-match": commit.headers.get("etag") ?? "" };
  expect((await rest.request("GET", `/articles/${articleId}/commits/${commitId}`, undefined, again)).status).toBe(304);
});

test("[AR1][AR7][AR8] an article is created, read in every form, edited and told from its unchanged self", async () => {
  const made = await create("Hello, world", "# Hello\n");
  expect(made.status).toBe(201);
  const { articleId } = made.body;
  expect(made.headers.get("location")).toBe(`/articles/${articleId}`);
  expect(made.headers.get("etag")).toBe('"r1-1"');
  expect(made.body).toMatchObject({
    slug: "hello-world",
    revision: 1,
    folderId: null,
    files: ["content.md"],
    contentHash: sha256("# Hello\n"),
  });
  const path = `/articles/${articleId}/content`;

  const json = await rest.request("GET", path);
  expect(json.body).toMatchObject({ content: "# Hello\n", format: "markdown", revision: 1 });
  expect(json.headers.get("etag")).toBe('"r1"');
  expect(json.headers.get("x-svc-content-hash")).toBe(sha256("# Hello\n"));
  expect((await rest.request("GET", path, undefined, { "if-none-match": '"r1"' })).status).toBe(304);
  const markdown = await rest.request("GET", path, undefined, { accept: "text/markdown" });
  expect(markdown.headers.get("content-type")).toMatch(/^text\/markdown/);
  expect(markdown.body).toBe("# Hello\n");
  expect((await rest.request("GET", path, undefined, { accept: "image/png" })).status).toBe(406);
  expect(JSON.parse((await rest.expect(200, "GET", `${path}?format=json`)).content)).toMatchObject({ children: [{ type: "heading" }] });

  const state = await fetch(server.url + path, { headers: { ...rest.headers, accept: "application/octet-stream" } });
  const document = new Y.Doc();
  Y.applyUpdate(document, new Uint8Array(await state.arrayBuffer()));
  const before = Y.encodeStateVector(document);
  document.getText("content.md").insert(8, "typed\n");
  const update = Y.encodeStateAsUpdate(document, before);
  const octets = { "content-type": "application/octet-stream" };
  expect(await rest.expect(200, "PATCH", path, update, octets)).toMatchObject({
    revision: 2,
    applied: 1,
    contentHash: sha256("# Hello\ntyped\n"),
  });
  expect((await rest.request("PATCH", path, new Uint8Array([9, 9]), octets)).body).toMatchObject({
    status: 422,
    code: "content_not_accepted",
  });

  const put = await rest.expect(200, "PUT", path, { content: "# Hello\n\nwritten\n", baseRevision: 1 });
  expect(put).toMatchObject({ merged: true, revision: 3, contentHash: sha256((await rest.expect(200, "GET", path)).content) });
  expect((await rest.request("PUT", path, { content: "x" })).body).toMatchObject({ status: 428, code: "precondition_required" });
  expect((await rest.request("GET", `${path}?revision=9`)).body).toMatchObject({ status: 410, code: "revision_gone" });
  expect((await rest.request("PATCH", path, { mode: "patch", edits: [{ find: "zebra", replace: "" }] })).body).toMatchObject({
    status: 422,
    code: "anchor_not_found",
    errors: [{ pointer: "/edits/0/find" }],
  });
});

test("[AR16][CO7] requests repeated under their Idempotency-Key are done once and answered alike", async () => {
  const key = (name: string) => ({ "idempotency-key": name });
  const made = await create("Once", "one\n", key("create"));
  const again = await create("Once", "one\n", key("create"));
  expect(again.headers.get("idempotency-replayed")).toBe("true");
  expect(again.body).toEqual(made.body);
  const path = `/articles/${made.body.articleId}`;
  for (const [method, to, body] of [
    ["PATCH", `${path}/content`, { mode: "append", content: "two\n", message: "Two" }],
    ["PATCH", `${path}/content`, { mode: "patch", edits: [{ find: "one\n", replace: "" }] }],
    ["POST", `${path}/commits`, { message: "All" }],
  ] as const) {
    const first = await rest.request(method, to, body, key(`${method} ${JSON.stringify(body)}`));
    const second = await rest.request(method, to, body, key(`${method} ${JSON.stringify(body)}`));
    expect(second.status).toBe(first.status);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
  }
  expect((await rest.expect(200, "GET", `${path}/content`)).content).toBe("two\n");
  expect((await rest.expect(200, "GET", `${path}/commits`)).commits).toHaveLength(2);
});

test("[CO1][CO8][CO10] commits are made, listed and compared over both surfaces", async () => {
  const { articleId } = (await create("Commits", "one\n")).body;
  const path = `/articles/${articleId}`;
  const first = await rest.request("POST", `${path}/commits`, { message: "First" });
  expect(first.status).toBe(201);
  expect(first.headers.get("location")).toBe(`${path}/commits/${first.body.commitId}`);
  expect((await rest.request("POST", `${path}/commits`)).status).toBe(200);
  await rest.expect(200, "PATCH", `${path}/content`, { mode: "append", content: "two\n", message: "Second" });
  const trpc = createTrpc(rest);
  const { commits } = await trpc.commits.list.query({ articleId });
  expect(commits.map((commit) => commit.message)).toEqual(["Second", "First"]);
  const expected = { from: 1, to: 2, stats: { added: 1, removed: 0 } };
  expect(await rest.expect(200, "GET", `${path}/diff?from=1&to=live`)).toMatchObject(expected);
  expect(await trpc.commits.diff.query({ articleId, from: 1, to: 2, format: "words" })).toMatchObject(expected);
  expect((await rest.request("GET", `${path}/diff?from=1&to=now`)).status).toBe(422);
  expect((await rest.request("GET", `${path}/diff?from=1`)).status).toBe(422);
});

test("[AR3][AR4][AR5] renamed, deleted, taken back and deleted for good", async () => {
  const { articleId } = (await create("Fate", "text\n")).body;
  const path = `/articles/${articleId}`;
  const renamed = await rest.request("PATCH", path, { title: "New" }, { "if-match": '"r1-1"' });
  expect(renamed.headers.get("etag")).toBe('"r1-2"');
  expect((await rest.request("PATCH", path, { title: "Other" }, { "if-match": '"r1-1"' })).body).toMatchObject({ status: 412 });
  expect((await rest.request("DELETE", path)).status).toBe(204);
  expect((await rest.request("GET", `${path}/content`)).status).toBe(404);
  expect((await rest.expect(200, "GET", path)).deletedAt).toBeTypeOf("number");
  const trash = await rest.expect(200, "GET", `/articles?workspaceId=${workspaceId}&deleted=true`);
  expect(trash.articles.map((article: { articleId: string }) => article.articleId)).toEqual([articleId]);
  expect(await rest.expect(200, "POST", `${path}/undelete`)).toMatchObject({ title: "New" });
  expect((await rest.request("POST", `${path}/undelete`)).body).toMatchObject({ status: 409, code: "invalid_transition" });
  expect((await rest.request("DELETE", `${path}?permanent=true`)).status).toBe(204);
  expect((await rest.request("GET", path)).status).toBe(404);
  expect((await createRest(server.url).request("GET", path)).status).toBe(401);
});

test("[AR13] a large article is edited and merged while others are answered", async () => {
  const line = (at: number) => `line ${at} of an article that grew long over the years\n`;
  const text = Array.from({ length: 30_000 }, (_, at) => line(at)).join("");
  const { articleId } = (await create("Long", text)).body;
  const path = `/articles/${articleId}/content`;
  const edits = Array.from({ length: 200 }, (_, at) => ({ find: line(at * 100), replace: `LINE ${at * 100}\n` }));
  const patched = rest.expect(200, "PATCH", path, { mode: "patch", edits });
  for (let at = 0; at < 20; at += 1) await rest.expect(200, "GET", "/auth/me");
  expect(await patched).toMatchObject({ applied: 200, rejected: [] });
  const stale = text.replaceAll("years", "decades");
  expect(await rest.expect(200, "PUT", path, { content: stale, baseRevision: 1 })).toMatchObject({ merged: true });
  const merged = (await rest.expect(200, "GET", path)).content as string;
  expect(merged.split("LINE ").length).toBe(201);
  expect(merged.split("decades").length).toBe(30_001);
  expect((await rest.request("PATCH", path, { mode: "append", content: "x".repeat(2 ** 21) })).body).toMatchObject({
    status: 413,
    code: "content_too_large",
  });
});
