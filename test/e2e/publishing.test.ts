/** Tests public links and their pages over HTTP, on the real server. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { publicLinkRecord } from "../../server/domain/publishing/records.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { createRest, createTrpc, type Rest, signIn } from "../support/clients.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { withStoreOf } from "../support/stoppedStore.ts";

let server: RunningServer;
let rest: Rest;
let anyone: Rest;
let workspaceId: string;

beforeAll(async () => {
  server = await startServer();
  rest = await signIn(server.url, server.operator);
  anyone = createRest(server.url);
  workspaceId = (await rest.expect(200, "GET", "/workspaces")).workspaces[0].workspaceId;
});
afterAll(() => server.remove());

const patience = { timeout: 20_000, interval: 50 };

let articles = 0;
async function create(content: string): Promise<{ articleId: string; linkPath: string; edit(text: string): Promise<number> }> {
  articles += 1;
  const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title: `Published ${articles}`, content });
  return {
    articleId,
    linkPath: `/articles/${articleId}/public-link`,
    edit: async (text) => (await rest.expect(200, "PATCH", `/articles/${articleId}/content`, { mode: "append", content: text })).revision,
  };
}

/** Writes the link into the stopped server's store as six failed attempts leave it. In real time this takes 43 minutes. */
async function giveUpSync(articleId: string): Promise<void> {
  await withStoreOf(server, async (storage) => {
    const link = await storage.records.get(publicLinkRecord, articleId);
    if (link === undefined) throw new Error(`${articleId} has no public link`);
    const { context } = link.value;
    const sync = { ...context.sync, attempts: 6, lastError: "The text of the article could not be read or stored." };
    const value = { ...link.value, state: { live: "failed" }, context: { ...context, sync } };
    const put = { op: "put", type: publicLinkRecord, value, replacing: link } as const;
    expect(await storage.commit({ partition: partitionOfId(articleId), records: [put] })).toMatchObject({ ok: true });
  });
}

test("[PL1][PL2] a published page follows an edit, even one that a kill -9 interrupts", async () => {
  const { articleId, linkPath, edit } = await create("# Published 1\n\nHello.\n");
  expect((await rest.request("GET", linkPath)).body).toMatchObject({ status: 404, code: "not_published" });
  const made = await rest.request("PUT", linkPath);
  expect(made.status).toBe(201);
  expect(made.headers.get("location")).toBe(linkPath);
  const { slug, url } = made.body;
  expect(url).toBe(`${server.url}/p/${slug}`);
  expect((await rest.expect(200, "GET", `/articles/${articleId}`)).publicLink).toEqual({ mode: "live", state: "live", url });
  const got = await rest.request("GET", linkPath);
  expect(got.headers.get("etag")).toMatch(/^"r\d+-\d+"$/);

  const page = await anyone.request("GET", `/p/${slug}`, undefined, { accept: "text/html" });
  expect(page.status).toBe(200);
  expect(page.body).toContain('<p dir="auto">Hello.</p>');
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  const style = /href="\.\.(\/assets\/[^"]+)"/.exec(page.body)?.[1] ?? "";
  expect((await anyone.request("GET", style)).headers.get("content-type")).toMatch(/^text\/css/);
  const etag = page.headers.get("etag") ?? "";
  expect((await anyone.request("GET", `/p/${slug}`, undefined, { "if-none-match": etag })).status).toBe(304);
  expect((await anyone.request("HEAD", `/p/${slug}.md`)).headers.get("access-control-allow-origin")).toBe("*");

  const shows = (text: string) => async () => expect((await anyone.request("GET", `/p/${slug}.md`)).body).toContain(text);
  const revision = await edit("Followed.\n");
  await vi.waitFor(shows("Followed."), patience);
  expect((await anyone.request("GET", `/p/${slug}.md`)).headers.get("x-svc-revision")).toBe(String(revision));
  await edit("Interrupted.\n");
  await server.kill();
  await server.start();
  await vi.waitFor(shows("Interrupted."), patience);
});

test("[PL3][PL4][PL5] a Snapshot stays frozen, is refreshed and switched, and is 410 once unpublished", async () => {
  const { linkPath, edit } = await create("Frozen.\n");
  const { slug } = await rest.expect(201, "PUT", linkPath, { mode: "snapshot" });
  const markdown = async () => (await anyone.expect(200, "GET", `/p/${slug}.json`)).markdown;
  for (let at = 0; at < 50; at += 1) {
    await edit(`${at}\n`);
    if (at % 10 === 0) expect(await markdown()).toBe("Frozen.\n");
  }
  const refreshed = await rest.expect(200, "POST", `${linkPath}/snapshot`);
  expect(await markdown()).toContain("\n49\n");
  expect((await rest.request("POST", `${linkPath}/sync`)).body).toMatchObject({ status: 409, code: "public_link_wrong_mode" });
  const live = await rest.expect(200, "PATCH", linkPath, { mode: "live" });
  expect(live).toMatchObject({ mode: "live", url: refreshed.url, liveSync: { status: "synced" } });
  expect((await rest.request("POST", `${linkPath}/sync`)).status).toBe(202);

  // Readers poll without a pause. After the answer to the DELETE, no reader may get the page.
  let unpublishedAt = Number.POSITIVE_INFINITY;
  const served: number[] = [];
  const readers = Array.from({ length: 4 }, async () => {
    for (;;) {
      const begunAt = performance.now();
      const { status } = await anyone.request("GET", `/p/${slug}`);
      if (status === 200) served.push(begunAt);
      if (begunAt > unpublishedAt) return status;
    }
  });
  await rest.expect(204, "DELETE", linkPath);
  unpublishedAt = performance.now();
  expect(await Promise.all(readers)).toEqual([410, 410, 410, 410]);
  expect(served.filter((begunAt) => begunAt > unpublishedAt)).toEqual([]);
  expect((await anyone.request("GET", `/p/${slug}.json`)).body).toMatchObject({ status: 410, code: "unpublished" });
  expect((await rest.request("DELETE", linkPath)).body).toMatchObject({ status: 404, code: "not_published" });
  expect((await rest.request("PUT", linkPath, { slug })).status).toBe(201);
});

test("[PL19] a Live page that was given up before a restart follows the next edit", async () => {
  const { articleId, linkPath, edit } = await create("Once.\n");
  const { slug, publishedAt } = await rest.expect(201, "PUT", linkPath);
  // The first synchronization follows the publication. The test must not confuse it with the one after the restart.
  await vi.waitFor(async () => {
    const { liveSync } = await rest.expect(200, "GET", linkPath);
    expect(liveSync.status === "synced" && liveSync.lastSyncedAt > publishedAt).toBe(true);
  }, patience);
  await server.stop();
  await giveUpSync(articleId);
  await server.start();
  expect((await rest.expect(200, "GET", linkPath)).liveSync).toMatchObject({ status: "failed", attempts: 6 });
  const revision = await edit("Twice.\n");
  await vi.waitFor(async () => expect((await anyone.request("GET", `/p/${slug}.md`)).body).toBe("Once.\nTwice.\n"), patience);
  const { liveSync } = await rest.expect(200, "GET", linkPath);
  expect(liveSync).toMatchObject({ status: "synced", attempts: 0, publishedRevision: revision });
  expect(liveSync).not.toHaveProperty("lastError");
});

test("[PL1][PL12] bad slugs, foreign articles and narrow keys are refused, over REST and tRPC alike", async () => {
  const { articleId, linkPath } = await create("x\n");
  for (const slug of ["", "-a", "A", "a b", "a/b", "ä", "a".repeat(121)]) {
    expect((await rest.request("PUT", linkPath, { slug })).body).toMatchObject({ status: 422, errors: [{ pointer: "/slug" }] });
  }
  expect((await rest.request("PUT", linkPath, { mode: "live", expires: 1 })).body).toMatchObject({ status: 422, code: "unknown_field" });
  for (const [field, value] of Object.entries({ gate: "strict", expiresAt: 1, indexable: "yes" })) {
    expect((await rest.request("PUT", linkPath, { [field]: value })).body).toMatchObject({
      status: 422,
      errors: [{ pointer: `/${field}` }],
    });
  }
  expect((await rest.request("GET", linkPath)).status).toBe(404);

  const reading = await rest.expect(201, "POST", "/api-keys", { name: "reader", scopes: ["publishing:read"] });
  const reader = anyone.with({ "x-api-key": reading.key });
  expect((await reader.request("PUT", linkPath)).body).toMatchObject({ code: "insufficient_scope", missingScopes: ["publishing:write"] });
  await rest.expect(201, "PUT", linkPath, undefined, { "idempotency-key": "ignored on PUT" });
  expect((await reader.request("GET", linkPath)).status).toBe(200);
  expect((await anyone.request("GET", linkPath)).status).toBe(401);

  await rest.expect(201, "POST", "/accounts", { username: "mallory", password: "correct horse battery" });
  const mallory = await signIn(server.url, { username: "mallory", password: "correct horse battery" });
  for (const [method, path] of [
    ["GET", linkPath],
    ["PUT", linkPath],
    ["PATCH", linkPath],
    ["DELETE", linkPath],
    ["GET", `${linkPath}/diff`],
    ["POST", `${linkPath}/sync`],
    ["POST", `${linkPath}/snapshot`],
    ["GET", `/workspaces/${workspaceId}/public-links`],
  ] as const) {
    const { body } = await mallory.request(method, path, method === "PATCH" ? {} : undefined);
    expect(body, `${method} ${path}`).toMatchObject({ status: 404, code: "not_found" });
  }
  expect((await rest.request("GET", linkPath)).status).toBe(200);

  const trpc = createTrpc(rest);
  // The state of a synchronization that is under way could change between the two answers.
  await expect.poll(async () => (await rest.expect(200, "GET", linkPath)).liveSync.status).toBe("synced");
  const overTrpc = await trpc.publicLinks.get.query({ articleId });
  expect(overTrpc).toEqual(await rest.expect(200, "GET", linkPath));
  const { publicLinks } = await trpc.publicLinks.list.query({ workspaceId, mode: "live" });
  const { title } = await rest.expect(200, "GET", `/articles/${articleId}`);
  expect(publicLinks).toContainEqual({ ...overTrpc, title });
  const stale = { "if-match": '"r999"' };
  expect((await rest.request("PATCH", linkPath, { indexable: true }, stale)).body).toMatchObject({ code: "precondition_failed" });
});

test("[PL5] an address that was never public or is invalid answers 404, for programs and people", async () => {
  for (const path of ["/p/never-known", "/p/UPPER", "/p/a.b.md", "/p/a%2Fb", "/p/x.pdf", `/p/${"a".repeat(300)}`]) {
    expect((await anyone.request("GET", path)).body, path).toMatchObject({ status: 404, code: "not_found" });
    const page = await anyone.request("GET", path, undefined, { accept: "text/html" });
    expect([page.status, page.headers.get("content-type")], path).toEqual([404, "text/html; charset=utf-8"]);
  }
  expect((await anyone.request("POST", "/p/never-known")).body).toMatchObject({ status: 405, code: "method_not_allowed" });
});
