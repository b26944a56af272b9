/** Tests the life of an article over HTTP, on the real server. */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as Y from "yjs";
import type { z } from "zod";
import { contract } from "../../api/contract/contract.ts";
import type { OperationSpec } from "../../api/contract/operation.ts";
import { createRest, createTrpc, type Rest, signIn } from "../support/clients.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { createTangledPatch } from "../support/tangledPatch.ts";

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

test("[API13] If-Match and If-None-Match work with the ETags of texts and commits", async () => {
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

test("[AR1][AR7][AR8] an article is created, read in every form, and edited; an empty edit is no revision", async () => {
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

test("[AR16][CO7] requests repeated under their Idempotency-Key happen once, with one answer", async () => {
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

test("[API27] articles are listed by their topic's id and by its short id", async () => {
  const topics = `/workspaces/${workspaceId}/topics`;
  const { topicId, shortId } = await rest.expect(201, "POST", topics, { title: "Kites", targetAudience: "builders" });
  const { articleId } = await rest.expect(201, "POST", `${topics}/${topicId}/article`, {});
  await create("Of no topic");
  for (const reference of [topicId, shortId]) {
    const { articles } = await rest.expect(200, "GET", `/articles?workspaceId=${workspaceId}&topicId=${reference}`);
    expect(articles.map((article: { articleId: string }) => article.articleId)).toEqual([articleId]);
  }
  expect((await rest.expect(200, "GET", `/articles?workspaceId=${workspaceId}&topicId=T-999`)).articles).toEqual([]);
  expect((await rest.request("GET", `/articles?workspaceId=${workspaceId}&topicId=t-1`)).status).toBe(422);
  const specs: readonly OperationSpec[] = Object.values(contract).flatMap((group) => Object.values(group));
  const named = specs.flatMap(({ params, query }) => [params?.shape.topicId, query?.shape.topicId]).filter((field) => field !== undefined);
  expect(named.length).toBeGreaterThan(15);
  for (const field of named) expect((field as z.ZodType).safeParse("T-1").success).toBe(true);
});

test("[CO1][CO8][CO10] commits are made, listed and compared over REST and tRPC", async () => {
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

test("[CO11][CO12] a name for unchanged text is shown everywhere, with a new tag, once for its key", async () => {
  const { articleId } = (await create("Names", "one\n")).body;
  const path = `/articles/${articleId}/commits`;
  const made = await rest.expect(201, "POST", path);
  const read = () => rest.request("GET", `${path}/${made.commitId}`);
  const before = (await read()).headers.get("etag") ?? "";
  const name = (text: string, key: string) => rest.request("POST", path, { name: text }, { "idempotency-key": key });
  const named = await name("Draft", "first");
  expect([named.status, named.headers.get("location"), named.body]).toEqual([200, null, { ...made, name: "Draft" }]);
  expect((await rest.request("GET", `${path}/${made.commitId}`, undefined, { "if-none-match": before })).body.name).toBe("Draft");
  await name("Final", "second");
  expect((await name("Draft", "first")).body.name).toBe("Draft");
  expect((await read()).body.name).toBe("Final");
  expect((await rest.expect(200, "GET", path)).commits).toEqual([{ ...made, name: "Final" }]);
});

test("[AR3] a commit is seen by a reader who sends the entity tag of the article before it", async () => {
  const { articleId } = (await create("Seen", "one\n")).body;
  const path = `/articles/${articleId}`;
  await rest.expect(200, "PATCH", `${path}/content`, { mode: "append", content: "two\n" });
  const read = (tag: string) => rest.request("GET", path, undefined, { "if-none-match": tag });
  const before = await rest.request("GET", path);
  const tag = before.headers.get("etag") ?? "";
  expect((await read(tag)).status).toBe(304);
  const { files } = await rest.expect(201, "POST", `${path}/commits`, {});
  const after = await read(tag);
  expect([after.status, after.body.contentHash, after.body.wordCount]).toEqual([200, files[0].contentHash, 2]);
  expect(after.body.contentHash).not.toBe(before.body.contentHash);
  expect((await read(after.headers.get("etag") ?? "")).status).toBe(304);
});

test("[AR3][AR4][AR5] an article is renamed, deleted, restored and deleted for good", async () => {
  const { articleId } = (await create("Fate", "text\n")).body;
  const path = `/articles/${articleId}`;
  const renamed = await rest.request("PATCH", path, { title: "New" }, { "if-match": '"r1-1"' });
  expect(renamed.headers.get("etag")).toBe('"r1-2"');
  expect((await rest.request("PATCH", path, { title: "Other" }, { "if-match": '"r1-1"' })).body).toMatchObject({ status: 412 });
  expect((await rest.request("DELETE", path)).status).toBe(204);
  expect((await rest.request("PATCH", `${path}/content`, { mode: "append", content: "late" })).status).toBe(409);
  expect((await rest.expect(200, "GET", path)).deletedAt).toBeTypeOf("number");
  const trash = await rest.expect(200, "GET", `/articles?workspaceId=${workspaceId}&deleted=true`);
  expect(trash.articles.map((article: { articleId: string }) => article.articleId)).toEqual([articleId]);
  expect(await rest.expect(200, "POST", `${path}/undelete`)).toMatchObject({ title: "New" });
  expect((await rest.request("POST", `${path}/undelete`)).body).toMatchObject({ status: 409, code: "invalid_transition" });
  expect((await rest.request("DELETE", `${path}?permanent=true`)).status).toBe(204);
  expect((await rest.request("GET", path)).status).toBe(404);
  expect((await createRest(server.url).request("GET", path)).status).toBe(401);
});

test("[AR33][AR41] an article in the trash can be read but not changed before it is restored", async () => {
  const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title: "Fate", content: "one\n" });
  const path = `/articles/${articleId}`;
  const { commitId } = await rest.expect(201, "POST", `${path}/commits`);
  await rest.expect(200, "PATCH", `${path}/content`, { mode: "append", content: "two\n" });
  expect((await rest.request("DELETE", path)).status).toBe(204);
  expect((await rest.expect(200, "GET", `${path}/content`)).content).toBe("one\ntwo\n");
  expect((await rest.expect(200, "GET", `${path}/content?revision=1`)).content).toBe("one\n");
  expect((await rest.expect(200, "GET", `${path}/commits`)).commits).toHaveLength(1);
  expect((await rest.expect(200, "GET", `${path}/commits/${commitId}`)).revision).toBe(1);
  expect((await rest.expect(200, "GET", `${path}/diff?from=1&to=live`)).stats).toEqual({ added: 1, removed: 0 });
  for (const [method, below] of [
    ["PATCH", "/content"],
    ["POST", "/commits"],
    ["POST", "/duplicate"],
  ] as const) {
    expect([below, (await rest.request(method, path + below, method === "PATCH" ? { mode: "append", content: "x" } : {})).status]).toEqual([
      below,
      409,
    ]);
  }
});

test("[AR13] a large article is edited and merged while other requests are answered", async () => {
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

test("[AR24] one workspace's edits that take too long do not block the long edit of another", async () => {
  const limits = { "edit.workMs": 1000, "article.file": 2 ** 20 };
  const own = await startServer({ LIMITS: JSON.stringify(limits) });
  try {
    const rest = await signIn(own.url, own.operator);
    const createIn = async (name: string, content: string) => {
      const { workspaceId } = await rest.expect(201, "POST", "/workspaces", { name, type: "team" });
      const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title: name, content });
      return `/articles/${articleId}/content`;
    };
    const { text, edits } = createTangledPatch(limits["article.file"]);
    const tangledPaths = await Promise.all(Array.from({ length: 2 }, (_, at) => createIn(`Tangled ${at}`, text)));
    const plain = Array.from({ length: 8000 }, (_, at) => `line ${at} of an ordinary text\n`).join("");
    const plainPath = await createIn("Plain", plain);
    const ended: string[] = [];
    const tangled = tangledPaths.flatMap((path) =>
      Array.from({ length: 3 }, async () => {
        const { status, body } = await rest.request("PATCH", path, { mode: "patch", edits });
        ended.push("tangled");
        return { status, code: body.code };
      }),
    );
    for (const at of [1, 2, 3]) {
      const edit = { find: `line ${at * 1000} of`, replace: `LINE ${at * 1000} of` };
      const send = () => rest.request("PATCH", plainPath, { mode: "patch", edits: [edit] });
      let answer = await send();
      // A thread that got no processor time at all for its limit asks the client to repeat.
      while (answer.status === 429) answer = await send();
      expect(answer).toMatchObject({ status: 200, body: { applied: 1 } });
      ended.push("plain");
    }
    const answers = await Promise.all(tangled);
    expect(answers).toContainEqual({ status: 422, code: "edit_too_complex" });
    for (const answer of answers) expect([422, 429]).toContain(answer.status);
    expect(ended.lastIndexOf("plain")).toBeLessThan(ended.lastIndexOf("tangled"));
  } finally {
    await own.remove();
  }
});
