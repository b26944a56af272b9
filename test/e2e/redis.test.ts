/** Tests the real server with all data in Redis: its status, what another node finds, and the loss of Redis. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createRest, type Rest, signIn } from "../support/clients.ts";
import { type RedisProcess, startRedis } from "../support/redisServer.ts";
import { type RunningServer, runServer, startServer } from "../support/server.ts";

let redis: RedisProcess;
let server: RunningServer;
let settings: Record<string, string>;
let rest: Rest;
let operator: Rest;

beforeAll(async () => {
  redis = await startRedis();
  settings = { REDIS_URL: `redis://127.0.0.1:${redis.port}`, SVC_SECRET_KEY: "5a".repeat(32), BASE_URL: "http://127.0.0.1:8787" };
  server = await startServer(settings);
  rest = await signIn(server.url, server.operator);
  operator = createRest(server.url).with({ authorization: `Bearer ${server.operatorToken}` });
});
afterAll(async () => {
  await server?.remove();
  await redis?.remove();
});

async function createArticle(title: string, content: string): Promise<string> {
  const { workspaces } = await rest.expect(200, "GET", "/workspaces");
  return (await rest.expect(201, "POST", "/articles", { workspaceId: workspaces[0].workspaceId, title, content })).articleId;
}

test("[OP29] with REDIS_URL another node with the same key and address serves all the data", async () => {
  const articleId = await createArticle("Shared", "# One\n");
  const other = await startServer(settings);
  try {
    // A session of one node is valid at the other.
    const there = createRest(other.url).with(rest.headers);
    expect((await there.expect(200, "GET", `/articles/${articleId}/content`)).content).toBe("# One\n");
    await there.expect(200, "PUT", `/articles/${articleId}/content`, { content: "# Two\n", baseRevision: 1 });
    await vi.waitFor(async () => expect((await rest.expect(200, "GET", `/articles/${articleId}/content`)).content).toBe("# Two\n"), {
      timeout: 10_000,
    });
  } finally {
    await other.remove();
  }
  const ready = await operator.expect(200, "GET", "/readyz");
  expect(ready).toMatchObject({ status: "ready", writes: "ok", deviations: [], store: { kind: "redis", durable: true } });
  const checked = await runServer(["check"], { ...settings, DATA_DIR: server.dataDir });
  expect(checked.code).toBe(0);
  expect(checked.stdout).toContain(`redis, version 1, in Redis at 127.0.0.1:${redis.port}`);
});

test("[PL15] [PL62] a Redis that stops answering leaves public pages readable for a second", async () => {
  const articleId = await createArticle("Stopped", "Stopped is public.\n");
  const { slug } = await rest.expect(201, "PUT", `/articles/${articleId}/public-link`, { indexable: true });
  const read = () => createRest(server.url).request("GET", `/p/${slug}`);
  const readAround = async () => {
    redis.signal("SIGCONT");
    expect((await read()).status).toBe(200);
    redis.signal("SIGSTOP");
    const { status, body, headers } = await read();
    expect([status, body]).toEqual([200, expect.stringContaining("Stopped is public.")]);
    expect(headers.get("ratelimit-policy")).toBe('"public";q=300;w=1');
    expect(headers.get("ratelimit")).toMatch(/^"public";r=59\d;t=1$/);
  };
  const readLate = async () => {
    const { status, body, headers } = await read();
    expect([status, body.code, headers.has("ratelimit")]).toEqual([503, "unavailable", true]);
  };
  try {
    // On a slow machine, more than a second may pass between two reads. Then they are repeated.
    await vi.waitFor(readAround, { timeout: 60_000 });
    await vi.waitFor(readLate, { timeout: 20_000 });
  } finally {
    redis.signal("SIGCONT");
  }
  await vi.waitFor(async () => expect((await read()).status).toBe(200), { timeout: 20_000 });
});

test("[OP29] while Redis is away the server reports it, refuses requests, and recovers by itself", async () => {
  const articleId = await createArticle("Away", "# Away\n");
  await redis.kill();
  await vi.waitFor(
    async () => {
      const { status, body } = await operator.request("GET", "/readyz");
      expect([status, body.status, body.writes]).toEqual([503, "not_ready", "refused"]);
    },
    { timeout: 20_000 },
  );
  expect((await rest.request("GET", `/articles/${articleId}`)).status).toBe(503);
  expect((await createRest(server.url).request("GET", "/healthz")).status).toBe(200);
  await redis.start();
  await vi.waitFor(async () => expect((await operator.request("GET", "/readyz")).status).toBe(200), { timeout: 20_000 });
  expect((await rest.expect(200, "GET", `/articles/${articleId}/content`)).content).toBe("# Away\n");
  await createArticle("Back", "# Back\n");
});

test("[OP29] a Redis that does not sync each write is named at the start, in /readyz and by check", async () => {
  await redis.command("CONFIG", "SET", "appendfsync", "everysec");
  await server.kill();
  await server.start();
  const reason = "appendfsync is everysec, not always: a crash of the machine loses the last writes";
  expect(server.logLines.some((line) => line.level === "warn" && line.reason === reason)).toBe(true);
  expect(await createRest(server.url).expect(200, "GET", "/readyz")).toMatchObject({ deviations: [{ name: "store.durable" }] });
  const ready = await operator.expect(200, "GET", "/readyz");
  expect(ready.deviations).toEqual([{ name: "store.durable", value: `false: ${reason}` }]);
  expect((await runServer(["check"], { ...settings, DATA_DIR: server.dataDir })).stdout).toContain(`durable     no: ${reason}`);
});
