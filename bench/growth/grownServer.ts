/**
 * GrownServer is our server as a process of its own, on a store that was filled before it started.
 *
 * The store is filled through the storage port, because 100,000 requests would take longer than the measurement.
 */
import type { ArticleFile, Author } from "../../api/schema/article.ts";
import { toNewArticle } from "../../server/domain/articles/articleWriter.ts";
import { emptyTexts } from "../../server/domain/articles/fileTexts.ts";
import { encodeBatch } from "../../server/domain/articles/logEntry.ts";
import { articleRecord, documentLog } from "../../server/domain/articles/records.ts";
import { toTextUpdate } from "../../server/domain/articles/textUpdate.ts";
import { workspaceCountersRecord } from "../../server/domain/identity/workspaces/records.ts";
import { createIds, partitionOfId } from "../../server/platform/storage/ids.ts";
import type { Batch, Storage } from "../../server/platform/storage/port.ts";
import { openStorage } from "../../server/store.ts";
import { createRest, type Rest, signIn } from "../../test/support/clients.ts";
import { type RedisProcess, startRedis } from "../../test/support/redisServer.ts";
import { type Settings, startServer } from "../../test/support/server.ts";
import { secretKey } from "../../test/support/stores.ts";
import { benchLimits } from "../live/benchServer.ts";
import { cpuSeconds } from "../processFigures.ts";

export type GrownStore = "embedded" | "redis";

export interface GrownServer {
  readonly size: string;
  readonly workspaceId: string;
  /** The articles that were filled in. */
  readonly articleIds: readonly string[];
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

export interface Filling {
  /** Name of the size, for example "100,000 articles". */
  readonly size: string;
  readonly articles: number;
  /** The text of an article, as a Yjs update. */
  readonly toUpdate: (at: number) => Uint8Array;
}

const file: ArticleFile = "content.md";
const author: Author = { username: "operator", kind: "user" };
const subjects = ["stone", "water", "paper", "metal", "cloth", "grain", "timber", "glass"];
/** One commit holds this many articles. */
const articlesPerBatch = 200;
/** A checkpoint during the measurement would be counted as the cost of another operation. */
const noCheckpoints = { CHECKPOINT_QUIET_MS: "3600000", CHECKPOINT_MAX_MS: "3600000" };

export function toTitle(at: number): string {
  return `Report ${at} on ${subjects[at % subjects.length]}`;
}

/** Text of about so many bytes: words of a report. */
export function toText(bytes: number): string {
  const sentence = "The report names the cause, the place and the time of each finding. ";
  return sentence.repeat(Math.ceil(bytes / sentence.length)).slice(0, bytes);
}

const kilobyte = toText(1000);
/** An article of 1 kB. Each has a client id of its own, as articles of different authors have. */
export const toShortArticle = (at: number): Uint8Array => toTextUpdate({ ...emptyTexts, [file]: kilobyte }, at + 1);

/** Adds articles to a store that is open in this process. */
export async function fill(storage: Storage, workspaceId: string, { articles, toUpdate }: Filling): Promise<readonly string[]> {
  const partition = partitionOfId(workspaceId);
  const ids = createIds(storage);
  const articleIds: string[] = [];
  const commit = async (batch: Omit<Batch, "partition">) => {
    const result = await storage.commit({ partition, ...batch });
    if (!result.ok) throw new Error(`the store could not be filled: ${JSON.stringify(result.conflict)}`);
  };
  for (let from = 0; from < articles; from += articlesPerBatch) {
    const places = Array.from({ length: Math.min(articlesPerBatch, articles - from) }, (_, at) => from + at);
    const made = places.map((at) => {
      const articleId = ids.next("art", partition);
      const nowMs = storage.now() - (articles - at);
      const value = toNewArticle({ articleId, workspaceId, number: at + 1, title: toTitle(at), by: author.username, nowMs });
      return { value, entry: encodeBatch(nowMs, "fill", [{ author, update: toUpdate(at) }]) };
    });
    await commit({
      records: made.map(({ value }) => ({ op: "put", type: articleRecord, value, replacing: null })),
      logs: made.map(({ value, entry }) => ({ op: "append", log: documentLog(value.articleId), entries: [entry] })),
    });
    for (const { value } of made) articleIds.push(value.articleId);
  }
  const value = { workspaceId, counters: { article: articles, project: 0, brief: 0 } };
  await commit({ records: [{ op: "put", type: workspaceCountersRecord, value, replacing: null }] });
  return articleIds;
}

async function redisCpuSeconds(redis: RedisProcess): Promise<number> {
  const info = String(await redis.command("INFO", "cpu"));
  const read = (field: string) => Number(new RegExp(`^${field}:([\\d.]+)`, "m").exec(info)?.[1]);
  return read("used_cpu_sys") + read("used_cpu_user");
}

export async function startGrownServer(store: GrownStore, filling: Filling, settings: Settings = noCheckpoints): Promise<GrownServer> {
  const redis = store === "redis" ? await startRedis() : undefined;
  const redisSettings = redis === undefined ? {} : { REDIS_URL: `redis://127.0.0.1:${redis.port}`, SVC_SECRET_KEY: secretKey };
  const server = await startServer({ LIMITS: benchLimits, ...settings, ...redisSettings }, { store: "embedded" });
  const session = await signIn(server.url, server.operator);
  const { workspaceId } = await session.expect(201, "POST", "/workspaces", { type: "team", name: "Growth" });
  const { key } = await session.expect(201, "POST", "/api-keys", { name: "bench", scopes: ["articles:read", "articles:write"] });
  await server.stop();
  const address = redis === undefined ? {} : { redis: { address: redis.address, waitReplicas: 0 } };
  const storage = await openStorage({ dataDir: server.dataDir, diskReserveMiB: 0, ...address }, (error) => {
    throw error;
  });
  const articleIds = await fill(storage, workspaceId, filling);
  await storage.close();
  await server.start();
  const headers = { "x-api-key": key };
  return {
    size: filling.size,
    workspaceId,
    articleIds,
    pid: server.pid,
    rest: createRest(server.url, headers),
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
