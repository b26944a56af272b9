/** Tests lists of articles: their contents in every order, the cost of a page, and edits that are not committed yet. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ArticleSort, PublishedState } from "../../api/schema/article.ts";
import { toNewArticle } from "../../server/domain/articles/articleWriter.ts";
import { type ArticleRecord, articleRecord, publishedStateOf, withPublicLink } from "../../server/domain/articles/records.ts";
import { toTitleOrder } from "../../server/domain/call/titleOrder.ts";
import { createIds, partitionOfId } from "../../server/platform/storage/ids.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { createManualTime, type ManualTime } from "../support/manualTime.ts";
import { domainStorages } from "../support/storages.ts";
import {
  type ArticleNode,
  addWorkspace,
  type CallOptions,
  createArticleNode,
  createCall,
  maxMs,
  openArticles,
  quietMs,
} from "./articleFixture.ts";
import { countRows } from "./topicFixture.ts";

type Filter = Omit<Parameters<ArticleNode["articles"]["list"]>[0], "workspaceId">;

const partition = 5;
const sorts = ["createdAt", "updatedAt", "title"] as const satisfies readonly ArticleSort[];
const folders = [undefined, "fld_0000000000050000000000000A", "fld_0000000000050000000000000B"];
const states: readonly PublishedState[] = ["none", "live", "none", "snapshot", "expired"];
const words = ["Kite", "Éclair", "zebra", "ábaco", "Wind", "Über"];

/** Adds many articles as records. Their times and titles differ in other ways than their ids. */
async function addArticles(storage: Storage, workspaceId: string, count: number): Promise<ArticleRecord[]> {
  const ids = createIds(storage);
  const articles = Array.from({ length: count }, (_, at): ArticleRecord => {
    const articleId = ids.next("art", partition);
    const title = `${words[at % words.length]} ${words[(at + Math.floor(at / 6)) % words.length]} ${(at * 31) % 17}`;
    const made = toNewArticle({ articleId, workspaceId, number: at + 1, title, by: at % 4 === 0 ? "bob" : "ada", nowMs: 1000 + at });
    const state = states[at % states.length] as PublishedState;
    const folderId = folders[at % folders.length];
    return {
      ...made,
      updatedAtMs: 2000 + ((at * 7919) % 211),
      ...(folderId === undefined ? {} : { folderId }),
      ...(at % 6 === 1 ? { authors: ["carla"] } : {}),
      ...(at % 10 === 9 ? { deletedAtMs: 3000 + at } : {}),
      ...(state === "none" || at % 10 === 9 ? {} : { publicLink: { mode: "live", url: "https://content.example/p/x", slug: "x", state } }),
    };
  });
  for (let at = 0; at < count; at += 500) {
    const records = articles.slice(at, at + 500).map((value) => ({ op: "put", type: articleRecord, value, replacing: null }) as const);
    expect((await storage.commit({ partition, records })).ok).toBe(true);
  }
  return articles;
}

async function walk(node: ArticleNode, workspaceId: string, filter: Filter): Promise<string[]> {
  const found: string[] = [];
  let nextToken: string | undefined;
  do {
    const page = await node.articles.list({ workspaceId, limit: 7, ...filter, nextToken });
    found.push(...page.items.map(({ article }) => article.articleId));
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  return found;
}

/** The expected list, from its definition. */
function toExpected(articles: readonly ArticleRecord[], filter: Filter): string[] {
  const {
    sort = "createdAt",
    order = sort === "title" ? "asc" : "desc",
    deleted = false,
    published,
    author,
    folderId,
    q,
    updatedSince,
  } = filter;
  const place = ({ createdAtMs, updatedAtMs, title }: ArticleRecord) =>
    ({ createdAt: createdAtMs, updatedAt: updatedAtMs, title: toTitleOrder(title) })[sort];
  const compare = (a: ArticleRecord, b: ArticleRecord) => {
    const [left, right] = [place(a), place(b)];
    return left < right ? -1 : left > right ? 1 : a.articleId < b.articleId ? -1 : 1;
  };
  return articles
    .filter(
      (article) =>
        (article.deletedAtMs !== undefined) === deleted &&
        (published === undefined || published.includes(publishedStateOf(article))) &&
        (author === undefined || article.createdBy === author || article.authors?.includes(author) === true) &&
        (folderId === undefined || (article.folderId ?? "null") === folderId) &&
        (q === undefined || q.split(" ").every((start) => ` ${article.title.toLowerCase()}`.includes(` ${start}`))) &&
        (updatedSince === undefined || Math.max(article.updatedAtMs, article.deletedAtMs ?? 0) >= updatedSince * 1000),
    )
    .sort((a, b) => compare(a, b) * (order === "asc" ? 1 : -1))
    .map(({ articleId }) => articleId);
}

const filters: readonly Filter[] = [
  {},
  { folderId: "null" },
  { folderId: folders[1] },
  { author: "bob" },
  { author: "carla" },
  { published: ["none"] },
  { published: ["live", "expired"] },
  { q: "kite" },
  { q: "wind zebra" },
  { updatedSince: 2.1 },
  { deleted: true },
  { deleted: true, updatedSince: 3.05 },
  { folderId: folders[2], author: "ada", published: ["snapshot", "none"] },
  { q: "zebra", author: "bob", updatedSince: 2.05 },
  { author: "nobody" },
];

describe("lists of articles", () => {
  // With 30 rows a request, most lists are longer than a request may read, so both ways of sorting are walked.
  test.each([2000, 30])("[AR29] every filter in every order shows exactly the matching articles, with list.scan %i", async (scan) => {
    const time = createManualTime();
    const storage = createMemoryStorage({ now: time.now });
    const node = createArticleNode(storage, time, { limits: { "list.scan": scan } });
    const workspaceId = await addWorkspace(storage, partition);
    const articles = await addArticles(storage, workspaceId, 120);
    await addArticles(storage, await addWorkspace(storage, partition), 30);
    for (const filter of filters) {
      for (const sort of sorts) {
        for (const order of [undefined, "asc", "desc"] as const) {
          const asked: Filter = { ...filter, sort, ...(order === undefined ? {} : { order }) };
          expect(await walk(node, workspaceId, asked), JSON.stringify(asked)).toEqual(toExpected(articles, asked));
        }
      }
    }
  });

  test("[AR29] a nextToken is refused with other filters, another order or another sort field", async () => {
    const time = createManualTime();
    const storage = createMemoryStorage({ now: time.now });
    const node = createArticleNode(storage, time);
    const workspaceId = await addWorkspace(storage, partition);
    await addArticles(storage, workspaceId, 40);
    const base: Filter = { sort: "title", author: "ada", limit: 3 };
    const { nextToken } = await node.articles.list({ workspaceId, ...base });
    expect((await node.articles.list({ workspaceId, ...base, nextToken })).items).toHaveLength(3);
    const others: Filter[] = [
      { ...base, sort: "updatedAt" },
      { ...base, order: "desc" },
      { ...base, author: "bob" },
      { ...base, folderId: "null" },
      { ...base, published: ["none"] },
    ];
    for (const other of others) {
      const refused = node.articles.list({ workspaceId, ...other, nextToken });
      await expect(refused, JSON.stringify(other)).rejects.toMatchObject({ code: "invalid_next_token" });
    }
  });

  test("[AR30] a page costs as many rows among 900 articles as among 200", async () => {
    const costs = await Promise.all(
      [200, 900].map(async (count) => {
        const time = createManualTime();
        const counted = countRows(createMemoryStorage({ now: time.now }));
        const node = createArticleNode(counted.storage, time);
        const workspaceId = await addWorkspace(counted.storage, partition);
        await addArticles(counted.storage, workspaceId, count);
        const rows: number[] = [];
        const lists: Filter[] = [{}, { folderId: folders[1] }, { folderId: "null" }, { deleted: true }];
        const ordered = lists.flatMap((filter) => sorts.map((sort): Filter => ({ ...filter, sort })));
        for (const filter of [...ordered, { author: "bob" }, { published: ["live"] }] satisfies Filter[]) {
          counted.take();
          expect((await node.articles.list({ workspaceId, limit: 15, ...filter })).items).toHaveLength(15);
          rows.push(counted.take());
        }
        return rows;
      }),
    );
    expect(costs[1]).toEqual(costs[0]);
    expect(Math.max(...(costs[1] ?? []))).toBeLessThan(100);
  });
});

describe.each(domainStorages())("lists of articles on %s", (_name, open) => {
  let time: ManualTime;
  let close: () => Promise<void>;
  let storage: Storage;
  let node: ArticleNode;
  let workspaceId: string;
  const call = (options: CallOptions = {}) => createCall(storage, workspaceId, partitionOfId(workspaceId), options);
  const create = async (title: string, content?: string) =>
    (await node.articles.create({ workspaceId, title, content }, call())).article.articleId;
  const append = (articleId: string, options: CallOptions = {}) =>
    node.edits.edit(articleId, { mode: "append", content: "more\n" }, call(options));
  const titles = async (filter: Filter) => (await node.articles.list({ workspaceId, ...filter })).items.map(({ article }) => article.title);
  const recordOf = async (articleId: string) => {
    const stored = await storage.records.get(articleRecord, articleId);
    if (stored === undefined) throw new Error("no article");
    return stored;
  };

  beforeEach(async () => {
    ({ time, storage, node, workspaceId, close } = await openArticles(open));
  });
  afterEach(() => close());

  test("[AR29] an article moves in its lists with each commit, rename and change of its page", async () => {
    const first = await create("Zebra", "one\n");
    await time.advance(1000);
    const second = await create("ébène");
    await time.advance(1000);
    await create("apple");
    expect(await titles({ sort: "title" })).toEqual(["apple", "ébène", "Zebra"]);
    expect(await titles({ sort: "updatedAt" })).toEqual(["apple", "ébène", "Zebra"]);
    await append(first, { username: "bob" });
    expect(await titles({ author: "bob" })).toEqual([]);
    await time.advance(1000);
    await node.commits.create(first, {}, call());
    expect(await titles({ sort: "updatedAt" })).toEqual(["Zebra", "apple", "ébène"]);
    expect(await titles({ author: "BOB" })).toEqual(["Zebra"]);
    expect(await titles({ author: "ada", sort: "title", order: "desc" })).toEqual(["Zebra", "ébène", "apple"]);
    await node.articles.update(second, { title: "Zoo" }, call());
    expect(await titles({ sort: "title" })).toEqual(["apple", "Zebra", "Zoo"]);
    const link = { mode: "snapshot", url: "https://content.example/p/zoo", slug: "zoo", state: "snapshot" } as const;
    await storage.commit({ partition, records: [withPublicLink(await recordOf(second), link)] });
    expect(await titles({ published: ["snapshot"] })).toEqual(["Zoo"]);
    expect(await titles({ published: ["none"], sort: "title" })).toEqual(["apple", "Zebra"]);
    await node.articles.delete(first, false, call());
    expect(await titles({ author: "bob" })).toEqual([]);
    expect(await titles({ deleted: true, sort: "title" })).toEqual(["Zebra"]);
  });

  test("[AR31] updatedSince finds typing before it is committed, and each change of an article", async () => {
    node.pump.start();
    const typed = await create("Typed", "one\n");
    const renamed = await create("Renamed");
    await create("Silent", "one\n");
    await time.until(async () => (await recordOf(typed)).value.lastCommit !== undefined);
    await time.advance(quietMs);
    const since = time.now() / 1000;
    expect(await titles({ updatedSince: since })).toEqual([]);
    await append(typed);
    await time.advance(5000);
    expect((await recordOf(typed)).value.lastCommit?.revision).toBe(1);
    expect(await titles({ updatedSince: since })).toEqual(["Typed"]);
    expect(await titles({ updatedSince: since, sort: "title", author: "ada" })).toEqual(["Typed"]);

    // The article is marked, so further typing is found at once.
    await time.advance(2000);
    const later = time.now() / 1000;
    expect(await titles({ updatedSince: later })).toEqual([]);
    await append(typed);
    expect(await titles({ updatedSince: later })).toEqual(["Typed"]);
    await node.articles.update(renamed, { title: "Renamed twice" }, call());
    expect(await titles({ updatedSince: later, sort: "title" })).toEqual(["Renamed twice", "Typed"]);
  });

  test("[AR31][AR32] the mark of an article is written once and goes with its checkpoint", async () => {
    node.pump.start();
    const articleId = await create("Typed");
    const before = (await recordOf(articleId)).revision;
    for (let at = 0; at < 5; at += 1) await append(articleId);
    expect((await recordOf(articleId)).revision).toBe(before);
    await time.advance(5000);
    expect(await recordOf(articleId)).toMatchObject({ revision: before + 1, value: { mayHaveEdits: true } });
    for (let at = 0; at < 4; at += 1) {
      await time.advance(quietMs / 2);
      await append(articleId);
    }
    expect(await recordOf(articleId)).toMatchObject({ revision: before + 1, value: { mayHaveEdits: true } });
    await node.commits.create(articleId, {}, call());
    expect((await recordOf(articleId)).value.mayHaveEdits).toBe(true);
    await time.advance(quietMs + 5000);
    expect((await recordOf(articleId)).value.mayHaveEdits).toBeUndefined();
    await append(articleId);
    await time.until(async () => (await recordOf(articleId)).value.mayHaveEdits === true);
    await time.advance(maxMs);
    expect((await recordOf(articleId)).value.mayHaveEdits).toBeUndefined();
  });
});
