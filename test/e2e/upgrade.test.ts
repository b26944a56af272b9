/** Tests a server that is started on a store of an earlier version, whose lists had fewer indexes. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ArticleRecord, articleRecord } from "../../server/domain/articles/records.ts";
import { type TopicRecord, topicRecord } from "../../server/domain/topics/records.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { indexMarkRecord } from "../../server/platform/storage/indexUpgrade.ts";
import type { RecordType, Storage } from "../../server/platform/storage/port.ts";
import { createRest, type Rest, signIn } from "../support/clients.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { withStoreOf } from "../support/stoppedStore.ts";

const titles = ["Café culture", "Balloons", "Kites"];

let server: RunningServer;
let rest: Rest;
let workspaceId: string;
const articleIds: string[] = [];
let topicId: string;

/** The type without the indexes that later versions added. */
function toEarlier<Value>(type: RecordType<Value>, kept: readonly string[]): RecordType<Value> {
  const { indexVersion: _, indexes = () => [], ...rest } = type;
  return { ...rest, indexes: (value) => indexes(value).filter(([name]) => kept.includes(name)) };
}

const earlierArticle = toEarlier<ArticleRecord>(articleRecord, ["article.created", "article.trash", "article.topic"]);
const earlierTopic = toEarlier<TopicRecord>(topicRecord, ["topic.number", "topic.createdAt"]);

/** Stores the record as a server with the earlier type did. */
async function storeEarlier<Value>(storage: Storage, type: RecordType<Value>, earlier: RecordType<Value>, key: string): Promise<void> {
  const partition = partitionOfId(key);
  const stored = await storage.records.get(type, key);
  if (stored === undefined) throw new Error(`there is no ${type.name} ${key}`);
  await storage.commit({ partition, records: [{ op: "delete", type, replacing: stored }] });
  await storage.commit({ partition, records: [{ op: "put", type: earlier, value: stored.value, replacing: null }] });
}

beforeAll(async () => {
  server = await startServer();
  rest = await signIn(server.url, server.operator);
  ({ workspaceId } = await rest.expect(201, "POST", "/workspaces", { name: "Desk", type: "team" }));
  for (const title of titles) {
    const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title, content: `# ${title}\n` });
    await rest.expect(201, "POST", `/articles/${articleId}/commits`, {});
    articleIds.push(articleId);
  }
  const topic = { title: "Über Straßen", targetAudience: "all" };
  ({ topicId } = await rest.expect(201, "POST", `/workspaces/${workspaceId}/topics`, topic));
  await server.stop();
  await withStoreOf(server, async (storage) => {
    for (const articleId of articleIds) await storeEarlier(storage, articleRecord, earlierArticle, articleId);
    await storeEarlier(storage, topicRecord, earlierTopic, topicId);
    const mark = await storage.records.get(indexMarkRecord, "indexes");
    if (mark === undefined) throw new Error("the server has stored no mark");
    await storage.commit({ partition: 0, records: [{ op: "delete", type: indexMarkRecord, replacing: mark }] });
  });
});
afterAll(() => server.remove());

const completions = () => server.logLines.filter(({ msg = "" }) => msg.includes("indexes of a store of an earlier version"));

test("[ST110] a server completes the indexes of an earlier version before its first answer, and once", async () => {
  expect(completions()).toEqual([]);
  await server.start();
  rest = createRest(server.url, rest.headers);
  const { username } = server.operator;
  const list = async (filter: string) => {
    const { articles } = await rest.expect(200, "GET", `/articles?workspaceId=${workspaceId}&${filter}`);
    return articles.map(({ title }: { title: string }) => title);
  };
  expect(await list("sort=title")).toEqual(["Balloons", "Café culture", "Kites"]);
  for (const filter of ["", "folderId=null", `author=${username}`, "published=none", "updatedSince=1"]) {
    expect([filter, (await list(filter)).toSorted()]).toEqual([filter, titles.toSorted()]);
  }
  expect(await list("q=cafe")).toEqual(["Café culture"]);
  const { topics } = await rest.expect(200, "GET", `/workspaces/${workspaceId}/topics?q=uber%20strass&sort=updatedAt`);
  expect(topics.map((topic: { topicId: string }) => topic.topicId)).toEqual([topicId]);
  expect(completions()).toEqual([expect.objectContaining({ level: "info", upgraded: 4 })]);

  // The rows of the upgrade follow later changes, and a later start has nothing to do.
  await rest.expect(200, "PATCH", `/articles/${articleIds[1]}`, { title: "Airships" });
  await rest.expect(204, "DELETE", `/articles/${articleIds[2]}`);
  expect(await list("sort=title")).toEqual(["Airships", "Café culture"]);
  expect(await list("q=ball")).toEqual([]);
  await server.stop();
  await server.start();
  expect(await list("folderId=null&sort=title")).toEqual(["Airships", "Café culture"]);
  expect(completions()).toHaveLength(1);
});
