/**
 * Tests the entity tag of a workspace over HTTP: when a conditional change fails, and when a cached copy is still
 * valid.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Rest, signIn } from "../support/clients.ts";
import { type RunningServer, startServer } from "../support/server.ts";

let server: RunningServer;
let rest: Rest;

beforeAll(async () => {
  server = await startServer();
  rest = await signIn(server.url, server.operator);
});
afterAll(() => server.remove());

async function createWorkspace() {
  const { workspaceId } = await rest.expect(201, "POST", "/workspaces", { name: "Desk", type: "team" });
  const path = `/workspaces/${workspaceId}`;
  const tag = async () => (await rest.request("GET", path)).headers.get("etag") ?? "";
  const patch = async (settings: object, ifMatch: string) =>
    (await rest.request("PATCH", path, { settings }, { "if-match": ifMatch })).status;
  return { workspaceId, path, tag, patch };
}

test("[WS12] new articles and topics do not fail a change of settings under If-Match", async () => {
  const { workspaceId, path, tag, patch } = await createWorkspace();
  const before = await tag();
  await rest.expect(201, "POST", "/articles", { workspaceId, title: "One" });
  const { topicId } = await rest.expect(201, "POST", `${path}/topics`, { title: "Kites", targetAudience: "builders" });
  await rest.expect(201, "POST", `${path}/topics/${topicId}/article`, {});
  expect(await patch({ tone: "plain" }, before)).toBe(200);
  expect(await rest.expect(200, "GET", path)).toMatchObject({
    settings: { tone: "plain" },
    svcArticleCounter: 2,
    svcBriefCounter: 1,
    svcProjectCounter: 0,
  });
});

test("[WS12] a change of settings, name or members fails a later one under the tag from before it", async () => {
  const { path, tag, patch } = await createWorkspace();
  const first = await tag();
  expect(await patch({ tone: "plain" }, first)).toBe(200);
  expect(await patch({ tone: "dry" }, first)).toBe(412);
  const second = await tag();
  await rest.expect(201, "POST", "/accounts", { username: "guest", password: "correct horse battery" });
  await rest.expect(201, "POST", `${path}/members`, { username: "guest", role: "member" });
  expect(await patch({ tone: "dry" }, second)).toBe(412);
  expect(await patch({ tone: "dry" }, await tag())).toBe(200);
});

test("[WS13] a cached copy of a workspace is refreshed after a counter changed", async () => {
  const { workspaceId, path, tag } = await createWorkspace();
  const cached = { "if-none-match": await tag() };
  expect((await rest.request("GET", path, undefined, cached)).status).toBe(304);
  await rest.expect(201, "POST", "/articles", { workspaceId, title: "One" });
  const fresh = await rest.request("GET", path, undefined, cached);
  expect([fresh.status, fresh.body.svcArticleCounter]).toEqual([200, 1]);
});
