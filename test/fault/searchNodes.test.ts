/** Tests the search of two nodes on one Redis, while one of them is killed and its index file is lost. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createRest, type Rest, signIn } from "../support/clients.ts";
import { type RedisProcess, startRedis } from "../support/redisServer.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { secretKey } from "../support/stores.ts";

// A commit is found within two seconds; how long it takes on a machine that runs other tests is not judged here.
const patience = { timeout: 30_000 };

let redis: RedisProcess;
let one: RunningServer;
let two: RunningServer;
let rest: Rest;
let workspaceId: string;

beforeAll(async () => {
  redis = await startRedis();
  const settings = { REDIS_URL: `redis://127.0.0.1:${redis.port}`, SVC_SECRET_KEY: secretKey, BASE_URL: "http://127.0.0.1:8787" };
  one = await startServer(settings);
  two = await startServer(settings);
  rest = await signIn(one.url, one.operator);
  ({ workspaceId } = await rest.expect(201, "POST", "/workspaces", { name: "Desk", type: "team" }));
});
afterAll(async () => {
  await one?.remove();
  await two?.remove();
  await redis?.remove();
});

async function write(title: string, content: string): Promise<string> {
  const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title, content });
  await rest.expect(201, "POST", `/articles/${articleId}/commits`, {});
  return articleId;
}

async function titlesAt({ url }: RunningServer, q: string): Promise<string[]> {
  const { hits } = await createRest(url, rest.headers).expect(200, "GET", `/workspaces/${workspaceId}/search?q=${q}&limit=100`);
  return hits.map(({ title }: { title: string }) => title);
}

const untilBoth = (q: string, titles: readonly string[]) =>
  Promise.all([one, two].map((node) => vi.waitFor(async () => expect(await titlesAt(node, q)).toEqual(titles), patience)));

test("[SR6] a commit, a rename and a deletion at one node are found at the other", async () => {
  const articleId = await write("Kites", "The wind carries them.\n");
  await untilBoth("wind", ["Kites"]);
  await createRest(two.url, rest.headers).expect(200, "PATCH", `/articles/${articleId}`, { title: "Dragons" });
  await untilBoth("dragons", ["Dragons"]);
  await rest.expect(204, "DELETE", `/articles/${articleId}`);
  await untilBoth("wind", []);
});

test("[SR8] a node that is killed while it indexes finds everything after its return", async () => {
  await Promise.all(Array.from({ length: 40 }, (_, at) => write(`Before ${at}`, "Storm.\n")));
  await two.kill();
  await Promise.all(Array.from({ length: 40 }, (_, at) => write(`After ${at}`, "Storm.\n")));
  await two.start();
  await vi.waitFor(async () => expect(await titlesAt(two, "storm")).toHaveLength(80), patience);
});

test("[SR7] a node whose index file is gone builds it again while it answers", async () => {
  await two.kill();
  rmSync(join(two.dataDir, "search"), { recursive: true });
  await two.start();
  const { status } = await createRest(two.url, rest.headers).request("GET", `/workspaces/${workspaceId}/search?q=storm`);
  expect(status).toBe(200);
  await vi.waitFor(async () => expect(await titlesAt(two, "storm")).toHaveLength(80), patience);
});
