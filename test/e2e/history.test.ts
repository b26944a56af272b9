/** Tests blame, restore, committed texts, the forms of texts, and the history of a public page on the real server; on Redis on two nodes. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createRest, createTrpc, type Editor, openEditor, type Rest, signIn } from "../support/clients.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { untilReturns } from "../support/untilReturns.ts";

const password = "correct horse battery";
const settings = {
  BASE_URL: "http://127.0.0.1:8787",
  LIMITS: JSON.stringify({ "document.keptMs": 1, "document.keptBatches": 1 }),
};
let server: RunningServer;
/** Another node on the same store if the store is Redis; otherwise the only node. */
let other: RunningServer;
let operator: Rest;
let ana: Rest;
let bo: Rest;
let workspaceId: string;
const editors: Editor[] = [];

beforeAll(async () => {
  server = await startServer(settings);
  other = server.store?.kind === "redis" ? await startServer({ ...settings, ...server.store.settings }) : server;
  operator = await signIn(server.url, server.operator);
  ({ workspaceId } = await operator.expect(201, "POST", "/workspaces", { name: "Desk", type: "team" }));
  for (const username of ["ana", "bo"]) {
    await operator.expect(201, "POST", "/accounts", { username, password });
    await operator.expect(201, "POST", `/workspaces/${workspaceId}/members`, { username, role: "member" });
  }
  ana = await signIn(server.url, { username: "ana", password });
  bo = await signIn(other.url, { username: "bo", password });
});
afterEach(() => {
  for (const editor of editors.splice(0)) editor.close();
});
afterAll(async () => {
  if (other !== server) await other.remove();
  await server.remove();
});

const elsewhere = (rest: Rest) => createRest(other.url, rest.headers);

async function open(rest: Rest, articleId: string, file?: string): Promise<Editor> {
  const editor = await openEditor(rest, articleId, file);
  editors.push(editor);
  return editor;
}

/** The authors of the pieces of a file, each of which must occur once. */
async function authorsOf(articleId: string, file: string, pieces: readonly string[]): Promise<readonly string[]> {
  const { content } = await operator.expect(200, "GET", `/articles/${articleId}/content?file=${file}`);
  const { spans } = await elsewhere(operator).expect(200, "GET", `/articles/${articleId}/blame?file=${file}`);
  return pieces.map((piece) => {
    const [start, end] = [content.indexOf(piece), content.indexOf(piece) + piece.length];
    const span = spans.find((each: { start: number; end: number }) => start >= 0 && each.start <= start && each.end >= end);
    return `${piece} ${span?.kind}/${span?.username}`;
  });
}

/** Starts a run that writes an outline. Resolves with the outline once it is committed. */
async function writeOutline(): Promise<{ readonly articleId: string; readonly outline: string }> {
  const topics = `/workspaces/${workspaceId}/topics`;
  const { topicId } = await operator.expect(201, "POST", topics, { title: "Kites in high wind", targetAudience: "builders" });
  const { articleId } = await operator.expect(201, "POST", `${topics}/${topicId}/article`, {});
  await operator.expect(202, "POST", `${topics}/${topicId}/workflow-runs`, {});
  return untilReturns(async () => {
    const { commits } = await operator.expect(200, "GET", `/articles/${articleId}/commits?kind=agent`);
    if (commits.length === 0) throw new Error("the run has not committed its outline yet");
    const { content } = await operator.expect(200, "GET", `/articles/${articleId}/content?file=outline.md`);
    return { articleId, outline: content as string };
  }, 30_000);
}

test("[CO14] two people, an agent and a key share a paragraph: every letter keeps its author over a restart", async () => {
  const { articleId, outline } = await writeOutline();
  const path = `/articles/${articleId}`;
  const word = /[a-z]{5,}/.exec(outline)?.[0] ?? "";
  const place = outline.indexOf(word) + 2;
  const [left, right] = [await open(ana, articleId, "outline.md"), await open(bo, articleId, "outline.md")];
  left.text.insert(place, "[ana]");
  await right.until((text) => text.includes("[ana]"));
  right.text.insert(place + "[an".length, "<bo>");
  await left.until((text) => text.includes("<bo>"));
  const { key } = await ana.expect(201, "POST", "/api-keys", { name: "key", scopes: ["articles:read", "articles:write"] });
  const edits = [{ find: "<bo>", replace: "<bo> {key} " }];
  const program = createRest(other.url, { "x-api-key": key });
  const edited = await program.expect(200, "PATCH", `${path}/content`, { mode: "patch", file: "outline.md", edits });
  await operator.expect(201, "POST", `${path}/commits`, {});
  const agent = outline.slice(0, place);
  const pieces = [agent, "[an", "<bo>", "{key}", "a]"];
  const wanted = [`${agent} agent/operator`, "[an user/ana", "<bo> user/bo", "{key} key/ana", "a] user/ana"];
  expect(await authorsOf(articleId, "outline.md", pieces)).toEqual(wanted);
  for (const editor of editors.splice(0)) editor.close();
  await server.stop();
  await server.start();
  expect((await operator.request("GET", `${path}/content?revision=${edited.revision - 1}`)).status).toBe(410);
  await operator.expect(200, "PATCH", `${path}/content`, { mode: "append", file: "outline.md", content: "Later.\n" });
  await operator.expect(201, "POST", `${path}/commits`, {});
  expect(await authorsOf(articleId, "outline.md", [...pieces, "Later."])).toEqual([...wanted, "Later. user/operator"]);
});

test("[CO17] [CO18] a text is restored and read by its commit, also after its author's account was disabled", async () => {
  const { articleId } = await bo.expect(201, "POST", "/articles", { workspaceId, title: "Notes", content: "# A\n\none\n" });
  const path = `/articles/${articleId}`;
  const { commitId } = await bo.expect(201, "POST", `${path}/commits`, {});
  const { key } = await ana.expect(201, "POST", "/api-keys", { name: "reader", scopes: ["articles:read"] });
  await bo.expect(200, "PATCH", `${path}/content`, { mode: "patch", edits: [{ find: "one", replace: "two" }], message: "Two" });
  await operator.expect(200, "PATCH", "/accounts/bo", { disabled: true });
  await expect.poll(async () => (await bo.request("GET", path)).status).toBe(401);

  const text = await elsewhere(operator).request("GET", `${path}/commits/${commitId}/content`, undefined, { accept: "text/markdown" });
  expect([text.status, text.body, text.headers.get("etag")]).toEqual([200, "# A\n\none\n", '"r1"']);
  const again = await operator.request("GET", `${path}/commits/${commitId}/content`, undefined, { "if-none-match": '"r1"' });
  expect(again.status).toBe(304);
  const blamed = await operator.request("GET", `${path}/blame`);
  expect(blamed.headers.get("etag")).toBe('"r2"');
  expect(blamed.body.spans.every(({ username }: { username: string }) => username === "bo")).toBe(true);

  const narrow = createRest(server.url, { "x-api-key": key });
  expect((await narrow.request("POST", `${path}/restore`, { revision: 1 })).status).toBe(403);
  expect((await operator.request("POST", `${path}/restore`, { revision: 1, section: "B" })).body.code).toBe("anchor_not_found");
  const restored = await operator.request("POST", `${path}/restore`, { revision: 1, section: "A" }, { "idempotency-key": "back" });
  expect([restored.status, restored.body.kind, restored.body.authors]).toEqual([201, "restore", [{ username: "operator", kind: "user" }]]);
  expect(restored.headers.get("location")).toBe(`${path}/commits/${restored.body.commitId}`);
  const repeated = await elsewhere(operator).request(
    "POST",
    `${path}/restore`,
    { revision: 1, section: "A" },
    { "idempotency-key": "back" },
  );
  expect([repeated.body.commitId, repeated.headers.get("idempotency-replayed")]).toEqual([restored.body.commitId, "true"]);
  const trpc = createTrpc(operator);
  expect((await trpc.commits.restore.mutate({ articleId, revision: 1 })).commitId).toBe(restored.body.commitId);
  expect((await trpc.commits.content.query({ articleId, commitId })).content).toBe("# A\n\none\n");
  const { spans } = await trpc.commits.blame.query({ articleId });
  expect(spans.map(({ username, commitId: at }) => [username, at === restored.body.commitId])).toEqual([
    ["bo", false],
    ["operator", true],
    ["bo", false],
  ]);
});

test("[PL25] [PL26] the history of a Live page is complete over a kill of the server", async () => {
  const { articleId } = await operator.expect(201, "POST", "/articles", { workspaceId, title: "Public", content: "a" });
  const path = `/articles/${articleId}`;
  expect((await operator.request("GET", `${path}/public-link/history`)).body.code).toBe("not_published");
  await operator.expect(201, "PUT", `${path}/public-link`, {});
  await operator.expect(200, "PATCH", `${path}/content`, { mode: "append", content: "b" });
  await server.kill();
  await server.start();
  const history = async () => (await elsewhere(operator).expect(200, "GET", `${path}/public-link/history`)).periods;
  await expect.poll(async () => (await history()).length).toBe(2);
  await operator.expect(204, "DELETE", `${path}/public-link`);
  const [last, first] = await history();
  expect([first.mode, first.revision, first.to]).toEqual(["live", 1, last.from]);
  expect([last.revision, last.to]).toEqual([2, expect.any(Number)]);
  expect((await operator.request("GET", `${path}/public-link/history?to=${first.from}`)).body.periods).toEqual([first]);
});

test("[AR34][AR35] a text is read as HTML and plain text, live and in a commit, each with its own tag", async () => {
  const text = "# Über uns\n\nA *word*.<script>run()</script>\n";
  const { articleId } = await ana.expect(201, "POST", "/articles", { workspaceId, title: "Forms", content: text });
  const { commitId } = await ana.expect(201, "POST", `/articles/${articleId}/commits`);
  await ana.expect(200, "PATCH", `/articles/${articleId}/content`, { mode: "append", content: "\nMore.\n" });
  const live = `/articles/${articleId}/content`;
  const committed = `/articles/${articleId}/commits/${commitId}/content`;
  const tags = new Set<string>();
  for (const [path, revision] of [[live, 2] as const, [committed, 1] as const]) {
    for (const [accept, format] of [["text/html", "html"] as const, ["text/plain", "text"] as const]) {
      const raw = await ana.request("GET", path, undefined, { accept });
      expect([raw.status, raw.headers.get("content-type")]).toEqual([200, `${accept}; charset=utf-8`]);
      expect(raw.headers.get("vary")).toContain("accept");
      expect(raw.body).toContain(format === "html" ? "<h1>Über uns</h1>" : "Über uns\n\nA word.");
      expect(raw.body.includes("More.")).toBe(revision === 2);
      expect(raw.body).not.toContain("<script");
      const json = await ana.request("GET", `${path}?format=${format}`);
      expect(json.body).toMatchObject({ format, revision, content: raw.body });
      for (const { headers } of [raw, json]) {
        const tag = headers.get("etag") ?? "";
        expect(tag).toMatch(new RegExp(`^"r${revision}-[a-z0-9-]+"$`));
        expect(headers.get("x-svc-content-hash")).toBe((await ana.request("GET", path)).headers.get("x-svc-content-hash"));
        tags.add(tag);
      }
      const unchanged = { accept, "if-none-match": raw.headers.get("etag") ?? "" };
      expect((await ana.request("GET", path, undefined, unchanged)).status).toBe(304);
    }
  }
  expect(tags.size).toBe(8);
  expect((await ana.request("GET", live, undefined, { accept: "text/html" })).headers.get("content-security-policy")).toContain("sandbox");
  const { content } = await createTrpc(ana).content.get.query({ articleId, format: "text" });
  expect(content).toContain("More.");
  // The tag of a form names the text, so an edit can be based on it.
  const [tag = ""] = [...tags].filter((each) => each.startsWith('"r2-html'));
  const edit = { mode: "append", content: "Last.\n" };
  expect((await ana.request("PATCH", live, edit, { "if-match": tag })).status).toBe(200);
  expect((await ana.request("PATCH", live, edit, { "if-match": tag })).status).toBe(412);
});
