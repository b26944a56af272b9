/** Tests conversions over HTTP on the real server with its real converter: forms, JSON, tRPC, access and repeats. */
import { hash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRest, createTrpc, type Rest } from "../support/clients.ts";
import { createDesk } from "../support/desk.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { untilReturns } from "../support/untilReturns.ts";

const markdown = "# Kites\n\nA **kite** needs wind.\n";

let server: RunningServer;
let ana: Rest;
let bo: Rest;
let outsider: Rest;
let workspaceId: string;

beforeAll(async () => {
  server = await startServer({
    LIMITS: JSON.stringify({ "rate.conversions": "off", "conversion.input": 100_000, "conversion.outputJson": 500_000 }),
  });
  ({ ana, bo, outsider, workspaceId } = await createDesk(server));
});
afterAll(() => server.remove());

const wait = { prefer: "wait=30" };
const convert = (by: Rest, body: object) => by.expect(201, "POST", "/conversions", body, wait);
const content = (text: string, format = "markdown") => ({ content: text, format });
const output = async (by: Rest, { conversionId }: { conversionId: string }, accept = "*/*") =>
  by.request<string>("GET", `/conversions/${conversionId}/output`, undefined, { accept });
const withScopes = async (by: Rest, scopes: readonly string[]) => {
  const { key } = await by.expect(201, "POST", "/api-keys", { name: "robot", scopes });
  return createRest(server.url, { "x-api-key": key });
};

/** Sends a form as a browser does. */
async function sendForm(by: Rest, parts: Readonly<Record<string, string>>, file: Blob | undefined, name: string, headers: object = wait) {
  const form = new FormData();
  for (const [field, value] of Object.entries(parts)) form.set(field, value);
  if (file !== undefined) form.set("file", file, name);
  const answer = await fetch(`${server.url}/conversions`, {
    method: "POST",
    body: form,
    headers: { ...by.headers, ...headers } as HeadersInit,
  });
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

test("[CV60][CV65] an uploaded file is converted, and its output is a file with a name", async () => {
  const made = await sendForm(ana, { to: "html", options: '{"title":"Kites"}' }, new Blob([markdown]), "Über Kites.md");
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  expect(made.headers.get("location")).toBe(`/conversions/${made.body.conversionId}`);
  expect(made.body).toMatchObject({ status: "succeeded", from: "markdown", to: "html", source: { fileName: "Über Kites.md" } });
  const answer = await output(ana, made.body);
  expect([answer.status, answer.headers.get("content-type"), answer.headers.get("x-content-type-options")]).toEqual([
    200,
    "text/html",
    "nosniff",
  ]);
  expect(answer.headers.get("content-disposition")).toBe(`attachment; filename="_ber Kites.html"; filename*=UTF-8''%C3%9Cber%20Kites.html`);
  expect(answer.body).toContain("<strong>kite</strong>");
  expect((await output(ana, made.body, "application/octet-stream")).body).toBe(answer.body);
  expect((await output(ana, made.body, "image/png")).body).toMatchObject({ status: 406, code: "not_acceptable" });
});

test("[CV60] a binary file goes there and back: Markdown to DOCX to Markdown", async () => {
  const made = await convert(ana, { source: content(markdown), to: "docx" });
  const found = await fetch(made.output.url, { headers: { ...ana.headers } });
  const docx = await found.arrayBuffer();
  const back = await sendForm(ana, { to: "markdown" }, new Blob([docx], { type: made.output.contentType }), "upload");
  expect(back.body).toMatchObject({ status: "succeeded", from: "docx" });
  expect((await output(ana, back.body)).body).toContain("A **kite** needs wind.");
  const inJson = content(Buffer.from(docx).toString("base64"), "docx");
  expect(await convert(ana, { source: inJson, to: "txt" })).toMatchObject({ status: "succeeded" });
});

test("[CV60][CV63] every fault of a form or body is named with its place", async () => {
  const blob = new Blob([markdown]);
  const cases = [
    [await sendForm(ana, { to: "html" }, undefined, ""), 422, "validation_failed", "/file"],
    [await sendForm(ana, {}, blob, "a.md"), 422, "validation_failed", "/to"],
    [await sendForm(ana, { to: "epub" }, blob, "a.md"), 422, "validation_failed", "/to"],
    [await sendForm(ana, { to: "html", color: "red" }, blob, "a.md"), 422, "unknown_field", "/color"],
    [await sendForm(ana, { to: "markdown", target: '{"articleId":"x"}' }, blob, "a.md"), 422, "validation_failed", "/target/articleId"],
    [await sendForm(ana, { to: "html" }, blob, "photo.xyz"), 415, "unsupported_media_type", "/format"],
    [await sendForm(ana, { to: "html" }, new Blob([new Uint8Array(100_001)]), "a.md"), 413, "payload_too_large", undefined],
    [await sendForm(ana, { to: "html" }, new Blob([new Uint8Array(3_000_000)]), "a.md"), 413, "payload_too_large", undefined],
    [await ana.request("POST", "/conversions", { source: content("%", "pdf"), to: "txt" }), 422, "validation_failed", "/source/content"],
    [await ana.request("POST", "/conversions", { source: { content: "a" }, to: "txt" }), 422, "validation_failed", "/source"],
    [
      await ana.request("POST", "/conversions", { source: content("a"), to: "html", target: { workspaceId } }),
      ...[422, "validation_failed", "/to"],
    ],
    [
      await ana.request("POST", "/conversions", { source: { url: "https://127.0.0.1/a.html" }, to: "markdown" }),
      ...[422, "url_not_public", "/source/url"],
    ],
    [
      await ana.request("POST", "/conversions", { source: { url: "http://docs.example.com/" }, to: "markdown" }),
      ...[422, "url_not_https", "/source/url"],
    ],
    [await ana.request("POST", "/conversions", "--x--", { "content-type": "multipart/form-data" }), 400, "bad_request", undefined],
    [await ana.request("POST", "/conversions", "a", { "content-type": "text/plain" }), 415, "unsupported_media_type", undefined],
  ] as const;
  for (const [answer, status, code, pointer] of cases) {
    expect([answer.body.status, answer.body.code, answer.body.errors?.[0]?.pointer], JSON.stringify(answer.body)).toEqual([
      status,
      code,
      pointer,
    ]);
  }
});

test("[CV63] all pairs of formats are listed, and each format can be read", async () => {
  const { pairs } = await ana.expect(200, "GET", "/conversions/formats");
  expect(pairs).toHaveLength(36);
  expect(pairs).toContainEqual({ from: "markdown", to: "json", lossless: true });
  const sources: Record<string, object> = {
    markdown: content(markdown),
    txt: content("A kite needs wind.\n", "txt"),
    html: content("<p>A kite needs wind.</p>", "html"),
  };
  for (const format of ["docx", "pdf", "json"]) {
    const made = await convert(ana, { source: content(markdown), to: format });
    const { body } = await output(ana, made, "application/vnd.svc.conversion-output+json");
    sources[format] = content((body as unknown as { content: string }).content, format);
  }
  for (const source of Object.values(sources)) {
    expect((await output(ana, await convert(ana, { source, to: "txt" }))).body).toContain("kite needs wind.");
  }
});

test("[CV52][CV57] an article is converted into another one with the scopes that this needs", async () => {
  const { articleId } = await ana.expect(201, "POST", "/articles", { workspaceId, title: "Kites", content: markdown });
  const { folderId } = await ana.expect(201, "POST", "/folders", { workspaceId, name: "Imports" });
  const body = { source: { articleId }, to: "markdown", target: { folderId, title: "Copy" } };
  const cases = [
    [["conversions:execute"], ["articles:read", "articles:write"]],
    [["conversions:execute", "articles:read"], ["articles:write"]],
    [["articles:write"], ["conversions:execute"]],
  ] as const;
  for (const [scopes, missingScopes] of cases) {
    const refused = await (await withScopes(ana, scopes)).request("POST", "/conversions", body);
    expect(refused.body).toMatchObject({ status: 403, code: "insufficient_scope", missingScopes });
  }
  const robot = await withScopes(ana, ["conversions:execute", "articles:write"]);
  const { body: made, headers } = await robot.request("POST", "/conversions", body, wait);
  expect(made).toMatchObject({ status: "succeeded", workspaceId, source: { articleId, file: "content.md" } });
  const written = headers.get("x-svc-article");
  expect((await robot.request("GET", `/conversions/${made.conversionId}`)).headers.get("x-svc-article")).toBe(written);
  const copy = await ana.expect(200, "GET", `/articles/${written}`);
  expect(copy).toMatchObject({ title: "Copy", folderId, createdBy: "ana" });
  const { commits } = await ana.expect(200, "GET", `/articles/${written}/commits`);
  expect(commits).toMatchObject([{ kind: "import", message: "Import Kites", authors: [{ username: "ana", kind: "key" }] }]);
  const only = await withScopes(ana, ["conversions:execute"]);
  expect((await only.request("GET", `/conversions/${made.conversionId}`)).status).toBe(200);
  expect((await output(only, made)).body).toMatchObject({ status: 403, missingScopes: ["articles:read"] });
  await convert(ana, { source: content("# Other\n"), to: "markdown", target: { articleId } });
  expect((await ana.expect(200, "GET", `/articles/${articleId}/content`)).content).toBe("# Other\n");
});

test("[CV56] others get the same answer for a conversion, a source and a target as for missing ones", async () => {
  const made = await convert(ana, { source: content("# Secret\n"), to: "html" });
  const path = `/conversions/${made.conversionId}`;
  const missing = path.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
  for (const [by, at] of [
    [bo, path],
    [outsider, path],
    [ana, missing],
  ] as const) {
    for (const [method, end] of [
      ["GET", ""],
      ["GET", "/output"],
      ["DELETE", ""],
    ] as const) {
      expect((await by.request(method, at + end)).body).toMatchObject({ status: 404, code: "not_found" });
    }
  }
  expect((await bo.expect(200, "GET", "/conversions")).conversions).toEqual([]);
  const { conversions } = await ana.expect(200, "GET", "/conversions?limit=1");
  expect(conversions[0].conversionId).toBe(made.conversionId);
  const { articleId } = await ana.expect(201, "POST", "/articles", { workspaceId, title: "Kites", content: markdown });
  const { folderId } = await ana.expect(201, "POST", "/folders", { workspaceId, name: "Private" });
  for (const body of [
    { source: { articleId }, to: "html" },
    { source: content("a"), to: "markdown", target: { articleId } },
    { source: content("a"), to: "markdown", target: { folderId } },
    { source: content("a"), to: "markdown", target: { workspaceId } },
  ]) {
    expect((await outsider.request("POST", "/conversions", body)).body).toMatchObject({ status: 404, code: "not_found" });
  }
  const key = await ana.expect(201, "POST", "/api-keys", { name: "narrow", workspaceIds: [workspaceId], scopes: ["conversions:execute"] });
  const narrow = createRest(server.url, { "x-api-key": key.key });
  expect((await narrow.request("GET", path)).status).toBe(404);
  const own = await convert(narrow, { source: content("own"), to: "html" });
  expect((await narrow.expect(200, "GET", "/conversions")).conversions.map(({ conversionId }: typeof own) => conversionId)).toContain(
    own.conversionId,
  );
});

test("[CV64] a request that is repeated with its Idempotency-Key converts once, also as a form and with a wait", async () => {
  const headers = { "idempotency-key": "form-1", ...wait };
  const body = new Blob(["# Twice\n"]);
  const target = JSON.stringify({ workspaceId, title: "Twice" });
  const first = await sendForm(ana, { to: "markdown", target }, body, "a.md", headers);
  const again = await sendForm(ana, { to: "markdown", target }, body, "a.md", headers);
  expect([first.status, again.status, again.headers.get("idempotency-replayed")]).toEqual([201, 201, "true"]);
  expect(again.body).toEqual(first.body);
  const other = await sendForm(ana, { to: "markdown", target }, new Blob(["# Thrice\n"]), "a.md", headers);
  expect(other.body).toMatchObject({ status: 422, code: "idempotency_key_reused" });
  const { articles } = await ana.expect(200, "GET", `/articles?workspaceId=${workspaceId}&q=Twice`);
  expect(articles).toHaveLength(1);
});

test("[CV72] a large output is downloaded whole, and is too large for JSON", async () => {
  const words = Array.from({ length: 10_000 }, (_, at) => `word ${at}`).join("\n\n");
  const made = await convert(ana, { source: content(words, "txt"), to: "json" });
  expect(made.output.bytes).toBeGreaterThan(600_000);
  const answer = await fetch(made.output.url, { headers: { ...ana.headers } });
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect([answer.status, bytes.length, hash("sha256", bytes)]).toEqual([200, made.output.bytes, made.output.sha256]);
  const refused = await output(ana, made, "application/vnd.svc.conversion-output+json");
  expect(refused.body).toMatchObject({ status: 413, code: "content_too_large" });
  expect((await ana.request("GET", `/conversions/${made.conversionId}/output`, undefined, { accept: "text/html" })).status).toBe(406);
});

test("[CV61][CV54] without a wait the answer is 202, the work continues, and a deleted conversion is gone", async () => {
  const queued = await ana.request("POST", "/conversions", { source: content("# Later\n"), to: "pdf" });
  expect([queued.status, queued.headers.get("location")]).toEqual([202, `/conversions/${queued.body.conversionId}`]);
  const path = `/conversions/${queued.body.conversionId}`;
  const ended = await untilReturns(async () => {
    const found = await ana.request("GET", path);
    if (found.body.status !== "succeeded") throw new Error(found.body.status);
    return found;
  }, 30_000);
  expect((await ana.request("DELETE", path, undefined, { "if-match": '"r0"' })).status).toBe(412);
  await ana.expect(204, "DELETE", path, undefined, { "if-match": ended.headers.get("etag") ?? "" });
  expect((await ana.request("GET", path)).status).toBe(404);
});

test("[CV66] tRPC converts the same input with the same result", async () => {
  const trpc = createTrpc(ana.with(wait));
  const made = await trpc.conversions.create.mutate({ source: { content: markdown, format: "markdown" }, to: "txt" });
  expect(made).toMatchObject({ status: "succeeded", from: "markdown", to: "txt" });
  const { conversionId } = made;
  const text = await trpc.conversions.output.query({ conversionId: conversionId as never });
  expect(text).toMatchObject({ fileName: "conversion.txt", contentType: "text/plain", encoding: "utf-8" });
  expect(text.content).toContain("A kite needs wind.");
  expect((await trpc.conversions.get.query({ conversionId: conversionId as never })).output?.sha256).toBe(text.sha256);
  expect((await trpc.conversions.list.query({ limit: 1 })).conversions[0]?.conversionId).toBe(conversionId);
  expect((await trpc.conversions.formats.query()).pairs).toContainEqual({ from: "markdown", to: "txt", lossless: expect.any(Boolean) });
  await trpc.conversions.delete.mutate({ conversionId: conversionId as never });
  expect((await ana.request("GET", `/conversions/${conversionId}`)).status).toBe(404);
});
