/** GrownServer is our server as a process of its own, on a store that was filled before it started. */
import { setTimeout as delay } from "node:timers/promises";
import { openStorage } from "../../server/store.ts";
import { createRest, type Rest, signIn } from "../../test/support/clients.ts";
import { type RedisProcess, startRedis } from "../../test/support/redisServer.ts";
import { type Settings, startServer, withoutCheckpoints } from "../../test/support/server.ts";
import { secretKey } from "../../test/support/stores.ts";
import { benchLimits } from "../live/benchServer.ts";
import { cpuSeconds } from "../processFigures.ts";
import { type Catalog, type Filling, fill } from "./fill.ts";

export type GrownStore = "embedded" | "redis";

export interface GrownServer {
  readonly size: string;
  readonly workspaceId: string;
  readonly catalog: Catalog;
  /** The articles that were filled in. */
  readonly articleIds: readonly string[];
  /** Time in Unix seconds after which no article was filled in. */
  readonly filledAt: number;
  readonly pid: number;
  readonly rest: Rest;
  /** Processor seconds that the server and its Redis have used. */
  cpuSeconds(): Promise<number>;
  /** One value of `/metrics`. */
  metric(name: string): Promise<number>;
  /** Where a client opens the article's socket. */
  address(articleId: string): { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  stop(): Promise<void>;
}

async function redisCpuSeconds(redis: RedisProcess): Promise<number> {
  const info = String(await redis.command("INFO", "cpu"));
  const read = (field: string) => Number(new RegExp(`^${field}:([\\d.]+)`, "m").exec(info)?.[1]);
  return read("used_cpu_sys") + read("used_cpu_user");
}

/** Waits until the search index of the server is complete. */
async function untilIndexed(rest: Rest, workspaceId: string): Promise<void> {
  const isReady = async () => {
    const { headers } = await rest.request("GET", `/workspaces/${workspaceId}/search?q=report`);
    return headers.get("x-svc-search-state") === "ready";
  };
  while (!(await isReady())) await delay(200);
}

export interface GrownServerOptions {
  readonly settings?: Settings;
  /** Puts the articles into all lists, and waits until the search index has them. */
  readonly hasCatalog?: boolean;
}

export async function startGrownServer(store: GrownStore, filling: Filling, options: GrownServerOptions = {}): Promise<GrownServer> {
  // A checkpoint during the measurement would be counted as the cost of another operation.
  const { settings = withoutCheckpoints, hasCatalog = false } = options;
  const redis = store === "redis" ? await startRedis() : undefined;
  const redisSettings = redis === undefined ? {} : { REDIS_URL: `redis://127.0.0.1:${redis.port}`, SVC_SECRET_KEY: secretKey };
  const server = await startServer({ LIMITS: benchLimits, ...settings, ...redisSettings }, { store: "embedded" });
  const session = await signIn(server.url, server.operator);
  const { workspaceId } = await session.expect(201, "POST", "/workspaces", { type: "team", name: "Growth" });
  const { folderId } = await session.expect(201, "POST", "/folders", { workspaceId, name: "Reports" });
  const topic = { title: "Reports", targetAudience: "Readers" };
  const { topicId } = await session.expect(201, "POST", `/workspaces/${workspaceId}/topics`, topic);
  const catalog = { folderId, topicId, username: server.operator.username };
  const scopes = ["articles:read", "articles:write", "reviews:read"];
  const { key } = await session.expect(201, "POST", "/api-keys", { name: "bench", scopes });
  await server.stop();
  const address = redis === undefined ? {} : { redis: { address: redis.address, waitReplicas: 0 } };
  const storage = await openStorage({ dataDir: server.dataDir, diskReserveMiB: 0, ...address }, (error) => {
    throw error;
  });
  const articleIds = await fill(storage, workspaceId, filling, hasCatalog ? catalog : undefined);
  const filledAt = storage.now() / 1000;
  await storage.close();
  await server.start();
  const headers = { "x-api-key": key };
  const rest = createRest(server.url, headers);
  if (hasCatalog) await untilIndexed(rest, workspaceId);
  return {
    size: filling.size,
    workspaceId,
    catalog,
    articleIds,
    filledAt,
    pid: server.pid,
    rest,
    cpuSeconds: async () => cpuSeconds([server.pid]) + (redis === undefined ? 0 : await redisCpuSeconds(redis)),
    async metric(name) {
      const answer = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${server.operatorToken}` } });
      const value = new RegExp(`^${name}(?:{[^}]*})? (\\S+)$`, "m").exec(await answer.text())?.[1];
      if (value === undefined) throw new Error(`/metrics has no ${name}`);
      return Number(value);
    },
    address: (articleId) => ({ url: `${server.url.replace(/^http/, "ws")}/collab/${articleId}`, headers }),
    async stop() {
      await server.remove();
      await redis?.remove();
    },
  };
}
