/** Tests every operation that can answer 201: the caller can read the created resource at its `Location`. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { contract } from "../../api/contract/contract.ts";
import type { OperationSpec } from "../../api/contract/operation.ts";
import { type Answer, createRest, type Rest, signIn } from "../support/clients.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type RunningServer, startServer } from "../support/server.ts";

const password = "correct horse battery";

interface Creation {
  readonly answer: Answer<unknown>;
  /** Client that created the resource; the operator if absent. */
  readonly by?: Rest;
}

let server: RunningServer;
let receiver: Receiver;
let rest: Rest;
let workspaceId: string;
let articleId: string;
let topicId: string;
let reviewId: string;
let templateId: string;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startServer({ OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8", NODE_EXTRA_CA_CERTS: receiver.authority.file });
  rest = await signIn(server.url, server.operator);
  ({ workspaceId } = await rest.expect(201, "POST", "/workspaces", { name: "Desk", type: "team" }));
  ({ articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title: "Kites", content: "# Kites\n" }));
  ({ reviewId } = await rest.expect(201, "POST", `/articles/${articleId}/reviews`, { body: "A comment." }));
  ({ templateId } = await rest.expect(201, "POST", "/templates", { workspaceId, name: "Kites", content: "# Kites\n" }));
  ({ topicId } = await rest.expect(201, "POST", `/workspaces/${workspaceId}/topics`, { title: "Kites", targetAudience: "builders" }));
});
afterAll(async () => {
  await server.remove();
  await receiver.close();
});

async function completeSetup(): Promise<Creation> {
  const { setupUrl } = await rest.expect(201, "POST", "/accounts", { username: "invited" });
  const token = new URLSearchParams(new URL(setupUrl).hash.slice(1)).get("token");
  const answer = await createRest(server.url).request("POST", "/auth/setup", { token, password });
  return { answer, by: await signIn(server.url, { username: "invited", password }) };
}

const post = async (path: string, body?: unknown): Promise<Creation> => ({ answer: await rest.request("POST", path, body) });

const creations: Readonly<Record<string, () => Promise<Creation>>> = {
  "auth.setup": completeSetup,
  "accounts.create": () => post("/accounts", { username: "ann", password }),
  "keys.create": () => post("/api-keys", { name: "key" }),
  "workspaces.create": () => post("/workspaces", { name: "Another", type: "team" }),
  "members.add": async () => {
    await rest.expect(201, "POST", "/accounts", { username: "ben", password });
    return post(`/workspaces/${workspaceId}/members`, { username: "ben", role: "member" });
  },
  "folders.create": () => post("/folders", { workspaceId, name: "Guides" }),
  "articles.create": () => post("/articles", { workspaceId, title: "More" }),
  "articles.duplicate": () => post(`/articles/${articleId}/duplicate`),
  "templates.create": () => post("/templates", { workspaceId, name: "More", content: "" }),
  "templates.instantiate": () => post(`/templates/${templateId}/instantiate`, { title: "From a template" }),
  "conversions.create": async () => {
    const body = { source: { content: "# Kites\n", format: "markdown" }, to: "txt" };
    return { answer: await rest.request("POST", "/conversions", body, { prefer: "wait=30" }) };
  },
  "commits.create": () => post(`/articles/${articleId}/commits`),
  "reviews.create": () => post(`/articles/${articleId}/reviews`, { body: "Another comment." }),
  "reviews.reply": () => post(`/reviews/${reviewId}/replies`, { body: "A reply." }),
  "commits.restore": () => post(`/articles/${articleId}/restore`, { revision: 0 }),
  "publicLinks.put": async () => ({ answer: await rest.request("PUT", `/articles/${articleId}/public-link`, {}) }),
  "webhooks.create": () => post(`/workspaces/${workspaceId}/webhooks`, { url: receiver.url }),
  "topics.create": () => post(`/workspaces/${workspaceId}/topics`, { title: "Rain", targetAudience: "farmers" }),
  "topics.ensureArticle": () => post(`/workspaces/${workspaceId}/topics/${topicId}/article`, {}),
};

/** A ticket is a signed text and not a resource, so it cannot be read. */
const withoutAddress = ["auth.streamTicket"];

function operationsThatCreate(): string[] {
  return Object.entries(contract).flatMap(([resource, operations]) =>
    Object.entries(operations as Record<string, OperationSpec>)
      .filter(([, spec]) => 201 in spec.replies)
      .map(([name]) => `${resource}.${name}`),
  );
}

test("[API26] every operation that can answer 201 is tested here or returns nothing to fetch", () => {
  expect(operationsThatCreate().toSorted()).toEqual([...Object.keys(creations), ...withoutAddress].toSorted());
});

test.each(Object.entries(creations))("[API26] GET of the Location that %s answers is 200 for its creator", async (_key, create) => {
  const { answer, by = rest } = await create();
  expect(answer.status).toBe(201);
  const location = answer.headers.get("location") ?? "";
  const found = await by.request("GET", location);
  expect([location, found.status]).toEqual([location, 200]);
  const shared = Object.entries(answer.body as object).filter(([name]) => name in found.body && /Id$|^username$/.test(name));
  expect(shared.length).toBeGreaterThan(0);
  expect(found.body).toMatchObject(Object.fromEntries(shared));
});
