/** Tests articles as a whole: create, find, rename, delete and restore. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as Y from "yjs";
import { articleEventLog } from "../../server/domain/articles/articleEvents.ts";
import { articleRecord, commitRecord, documentLog, documentRecord, withPublicLink } from "../../server/domain/articles/records.ts";
import { workspaceCountersRecord } from "../../server/domain/identity/workspaces/records.ts";
import { createArticleHandlers } from "../../server/edge/handlers/articles.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import type { ManualTime } from "../support/manualTime.ts";
import { domainStorages } from "../support/storages.ts";
import { type ArticleNode, addWorkspace, type CallOptions, createArticleNode, createCall, idleMs, openArticles } from "./articleFixture.ts";

const day = 24 * 3_600_000;

describe.each(domainStorages())("articles on %s", (_name, open) => {
  let time: ManualTime;
  let close: () => Promise<void>;
  let storage: Storage;
  let node: ArticleNode;
  let workspaceId: string;
  const call = (options: CallOptions = {}) => createCall(storage, workspaceId, partitionOfId(workspaceId), options);
  const create = (title: string, content?: string) => node.articles.create({ workspaceId, title, content }, call());

  /** In one month a pump polls five million times, so each look at the queue has its own pump. */
  const lookAfter = async (ms: number) => {
    await time.advance(ms);
    const { pump } = createArticleNode(storage, time);
    pump.register("blob.collect", async (row) => {
      await storage.blobs.collect(row.partition, (row.payload as { sha256: string }).sha256);
      return { kind: "done" };
    });
    pump.start();
    // An answer that takes as long as the lease must start nothing.
    await time.advance(0);
    await time.advance(5000);
    await pump.drain(AbortSignal.timeout(1000));
  };

  beforeEach(async () => {
    ({ time, storage, node, workspaceId, close } = await openArticles(open));
  });
  afterEach(() => close());

  test("[AR1] a new article has its text and the workspace's next number, under concurrent creations", async () => {
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, at) => create(`Draft ${at}`, at === 0 ? "# Hi\n\nSome words here.\n" : undefined)),
    );
    expect(made.map(({ article }) => article.number).sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, at) => at + 1));
    expect((await storage.records.get(workspaceCountersRecord, workspaceId))?.value.counters.article).toBe(12);
    const [first, second] = made;
    expect(first).toMatchObject({ revision: 1, article: { wordCount: 4, files: [{ file: "content.md" }], createdBy: "ada" } });
    expect(second).toMatchObject({ revision: 0, article: { wordCount: 0, files: [] } });
    const id = first?.article.articleId ?? "";
    expect(await node.content.readText(id, "content.md", undefined)).toMatchObject({ text: "# Hi\n\nSome words here.\n", revision: 1 });
  });

  test("[AR1] a repeated creation makes the article once", async () => {
    const attempt = { seed: "create", nowMs: time.now() };
    const first = await node.articles.create({ workspaceId, title: "One", content: "x" }, call({ attempt }));
    const again = await node.articles.create({ workspaceId, title: "One", content: "x" }, call({ attempt }));
    expect(again.article.articleId).toBe(first.article.articleId);
    expect(again.revision).toBe(1);
    expect((await storage.records.get(workspaceCountersRecord, workspaceId))?.value.counters.article).toBe(1);
  });

  test("[AR1] the slug comes from the title, or from the number without an ASCII letter or digit", async () => {
    expect((await create("  Über Café: 10 Dinge — heute! ")).article.slug).toBe("uber-cafe-10-dinge-heute");
    expect((await create("新しい記事")).article.slug).toBe("article-2");
    expect((await create("x".repeat(300))).article.slug).toBe("x".repeat(120));
  });

  test("[AR15] a text that a document cannot hold creates no article", async () => {
    await expect(create("Bad", "a\0b")).rejects.toMatchObject({ code: "content_not_accepted" });
    await expect(create("Bad", "\ud800")).rejects.toMatchObject({ code: "content_not_accepted" });
    await expect(create("Bad", "é".repeat(1024 * 1024 + 1))).rejects.toMatchObject({ code: "content_too_large" });
    expect((await node.articles.list({ workspaceId })).items).toEqual([]);
    expect(await storage.records.get(workspaceCountersRecord, workspaceId)).toBeUndefined();
  });

  test("[AR2] a list shows its own articles newest first, no trash, with no gap or repeat over pages", async () => {
    const titles = Array.from({ length: 7 }, (_, at) => `Article ${at}`);
    for (const title of titles) {
      await create(title);
      await time.advance(1000);
    }
    const other = await addWorkspace(storage);
    await node.articles.create({ workspaceId: other, title: "Elsewhere" }, createCall(storage, other, partitionOfId(other)));
    const [, gone] = (await node.articles.list({ workspaceId })).items;
    await node.articles.delete(gone?.article.articleId ?? "", false, call());
    const found: string[] = [];
    let nextToken: string | undefined;
    do {
      const page = await node.articles.list({ workspaceId, limit: 2, nextToken });
      found.push(...page.items.map(({ article }) => article.title));
      nextToken = page.nextToken;
    } while (nextToken !== undefined);
    expect(found).toEqual(["Article 6", "Article 4", "Article 3", "Article 2", "Article 1", "Article 0"]);
    const trash = await node.articles.list({ workspaceId, deleted: true });
    expect(trash.items.map(({ article }) => article.title)).toEqual(["Article 5"]);
    await expect(node.articles.list({ workspaceId, deleted: true, nextToken: "x" })).rejects.toMatchObject({ code: "invalid_next_token" });
  });

  test("[AR2] q finds titles in which each of its words starts a word, in the order of the list", async () => {
    for (const title of ["Realtime editing", "Reality of Éditions", "On the edge", "Editorial, really: a guide", "漢字の本"]) {
      await create(title);
      await time.advance(1000);
    }
    const titles = async (q: string) => (await node.articles.list({ workspaceId, q })).items.map(({ article }) => article.title);
    expect(await titles("real")).toEqual(["Editorial, really: a guide", "Reality of Éditions", "Realtime editing"]);
    expect(await titles("REAL edit")).toEqual(["Editorial, really: a guide", "Reality of Éditions", "Realtime editing"]);
    expect(await titles("realtim")).toEqual(["Realtime editing"]);
    expect(await titles("édit")).toEqual(["Editorial, really: a guide", "Reality of Éditions", "Realtime editing"]);
    expect(await titles("漢字")).toEqual(["漢字の本"]);
    expect(await titles("time")).toEqual([]);
    const [first] = (await node.articles.list({ workspaceId, q: "realtime" })).items;
    await node.articles.update(first?.article.articleId ?? "", { title: "Renamed" }, call());
    expect(await titles("realtime")).toEqual([]);
    expect(await titles("ren")).toEqual(["Renamed"]);
  });

  test("[AR2] updatedSince lists articles that were committed at that time or later", async () => {
    const { article } = await create("Old", "text");
    await time.advance(10_000);
    await create("New");
    const since = time.now() / 1000;
    const titles = async () => (await node.articles.list({ workspaceId, updatedSince: since })).items.map((item) => item.article.title);
    expect(await titles()).toEqual(["New"]);
    await time.advance(1000);
    await node.commits.create(article.articleId, {}, call());
    expect(await titles()).toEqual(["New", "Old"]);
  });

  test("[AR3] typing and commits never fail a rename under If-Match, but another rename does", async () => {
    const { article, revision } = await create("Title", "text");
    const { articleId } = article;
    const handlers = createArticleHandlers({ ...node, copies: node.articles });
    const etag = handlers.get.reply({ article, revision }).headers?.etag ?? "";
    expect(etag).toBe('"r1-1"');
    await node.edits.edit(articleId, { mode: "append", content: " more" }, call());
    await node.commits.create(articleId, {}, call());
    const renamed = await node.articles.update(articleId, { title: "Other" }, call({ ifMatch: [etag] }));
    expect(handlers.update.reply(renamed)).toMatchObject({ headers: { etag: '"r2.2-2"' }, body: { title: "Other", revision: 2 } });
    await expect(node.articles.update(articleId, { title: "Third" }, call({ ifMatch: [etag] }))).rejects.toMatchObject({
      code: "precondition_failed",
    });
    await expect(node.articles.delete(articleId, false, call({ ifMatch: [etag] }))).rejects.toMatchObject({ code: "precondition_failed" });
    expect(await node.articles.get(articleId)).toMatchObject({ article: { title: "Other" } });
  });

  test("[AR3] every commit changes the entity tag of the article, even one of an empty article", async () => {
    const { articleId } = (await create("Empty")).article;
    const handlers = createArticleHandlers({ ...node, copies: node.articles });
    const readTag = async () => {
      await time.advance(1000);
      return handlers.get.reply(await node.articles.get(articleId)).headers?.etag ?? "";
    };
    const tags = [await readTag()];
    const steps = [
      () => node.commits.create(articleId, {}, call()),
      () => node.edits.edit(articleId, { mode: "append", content: "one" }, call()),
      () => node.commits.create(articleId, { kind: "checkpoint" }, call()),
      () => node.edits.edit(articleId, { mode: "append", content: " two", message: "Two" }, call()),
    ];
    for (const step of steps) {
      await step();
      tags.push(await readTag());
    }
    expect(tags).toEqual(['"r0-1"', '"r0.0-1"', '"r1.0-1"', '"r1.1-1"', '"r2.2-1"']);
    await node.articles.update(articleId, { title: "Other" }, call({ ifMatch: [tags[0] ?? ""] }));
  });

  test("[AR3] concurrent renames and commits are all stored", async () => {
    const { article } = await create("Title", "text");
    const { articleId } = article;
    await Promise.all([
      node.articles.update(articleId, { title: "Renamed" }, call()),
      node.articles.update(articleId, { slug: "other" }, call()),
      node.commits.create(articleId, {}, call()),
    ]);
    expect((await node.articles.get(articleId)).article).toMatchObject({
      title: "Renamed",
      slug: "other",
      metaRevision: 3,
      lastCommit: { revision: 1 },
    });
  });

  test("[AR4] the trash unlists an article and closes its sockets in one commit; undelete restores it", async () => {
    const { article } = await create("Gone", "text");
    const { articleId } = article;
    const partition = partitionOfId(articleId);
    const stored = await storage.records.get(articleRecord, articleId);
    if (stored === undefined) throw new Error("no article");
    const link = { mode: "live", url: "https://content.example/p/gone", slug: "gone", state: "live" } as const;
    await storage.commit({ partition, records: [withPublicLink(stored, link)] });
    await node.articles.delete(articleId, false, call());
    expect(node.deleted).toEqual([articleId]);
    const facts = await storage.log.read({ partition, log: "access", after: 0, limit: 10 });
    expect(facts.gap ? [] : facts.entries.map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString()))).toEqual([
      { kind: "article.deleted", articleId },
    ]);
    expect(await node.locate(articleId, { deleted: false })).toBeUndefined();
    expect(await node.locate(articleId, { deleted: true })).toEqual({ workspaceId, trashedArticleId: articleId });
    expect((await node.articles.get(articleId)).article.publicLink).toBeUndefined();
    const author = { username: "ada", kind: "user" } as const;
    expect(await node.documentStore.updateLog.append(articleId, [{ author, update: Uint8Array.of(0, 0) }])).toEqual({ kind: "deleted" });
    await expect(node.commits.create(articleId, {}, call())).rejects.toMatchObject({ code: "not_found" });
    await expect(node.articles.update(articleId, { title: "No" }, call())).rejects.toMatchObject({ code: "not_found" });

    await node.articles.delete(articleId, false, call());
    expect(node.deleted).toEqual([articleId]);
    const back = await node.articles.undelete(articleId, call());
    expect(back.article.deletedAtMs).toBeUndefined();
    expect(await node.content.readText(articleId, "content.md", undefined)).toMatchObject({ text: "text" });
    await expect(node.articles.undelete(articleId, call())).rejects.toMatchObject({
      code: "invalid_transition",
      facts: { currentState: "active" },
    });
    await time.advance(31 * day);
    node.pump.start();
    await time.advance(2000);
    expect(await node.articles.get(articleId)).toMatchObject({ article: { title: "Gone" } });
  });

  test("[AR4] text typed before the move to the trash is committed after the restore", async () => {
    const { article } = await create("Gone", "text");
    node.pump.start();
    await node.articles.delete(article.articleId, false, call());
    await time.advance(60_000);
    expect(node.events).toEqual([]);
    await node.articles.undelete(article.articleId, call());
    await time.until(() => node.events.length === 1);
    expect(node.events[0]?.data).toMatchObject({ kind: "checkpoint", revision: 1 });
  });

  test("[AR5] after the final deletion no log, state, commit or text remains", async () => {
    const { article } = await create("Gone", "text 0");
    const { articleId } = article;
    const partition = partitionOfId(articleId);
    for (let at = 1; at <= 3; at += 1) {
      await node.commits.create(articleId, {}, call());
      await node.edits.edit(articleId, { mode: "append", content: ` ${at}` }, call());
    }
    const state = await node.rooms.read(articleId, (document) => Y.encodeStateAsUpdate(document));
    await node.documentStore.updateLog.saveState(articleId, 4, state);
    await time.advance(2 * idleMs + 1);
    const blobs = [
      ...(await node.commits.list(articleId, {})).items.flatMap(({ files, attribution = "" }) => [
        ...files.map(({ blob }) => blob),
        attribution,
      ]),
      ...((await storage.records.get(documentRecord, articleId))?.value.states ?? []).map((state) => state.blob),
    ];
    expect(blobs).toHaveLength(7);
    await expect(node.articles.delete(articleId, true, call())).rejects.toMatchObject({ code: "insufficient_role" });
    await node.articles.delete(articleId, true, call({ role: "admin" }));
    expect(node.deleted).toEqual([articleId]);
    await expect(node.articles.get(articleId)).rejects.toMatchObject({ code: "not_found" });
    expect(await storage.log.tail(partition, documentLog(articleId))).toBe(0);
    for (let looked = 0; (await storage.due.stats()).rows > 0; looked += 1) {
      expect(looked).toBeLessThan(10);
      await lookAfter(looked === 0 ? 0 : day);
    }
    expect(await storage.log.tail(partition, articleEventLog(articleId))).toBe(0);
    for await (const _commit of storage.records.scan(commitRecord, partition)) throw new Error("a commit is left");
    expect(await storage.records.get(documentRecord, articleId)).toBeUndefined();
    for (const blob of blobs) expect(await storage.blobs.get(partition, blob)).toBeUndefined();
    await node.documentStore.updateLog.saveState(articleId, 9, Uint8Array.of(0, 0));
    expect(await storage.records.get(documentRecord, articleId)).toBeUndefined();
  });

  test("[AR6] the trash is emptied after keep.trash, but not while an article is being restored", async () => {
    const kept = await create("Kept");
    const gone = await create("Gone");
    for (const { article } of [kept, gone]) await node.articles.delete(article.articleId, false, call());
    await node.articles.undelete(kept.article.articleId, call());
    await lookAfter(29 * day);
    expect(await node.locate(gone.article.articleId, { deleted: true })).toBeDefined();
    await lookAfter(day);
    expect(await node.locate(gone.article.articleId, { deleted: true })).toBeUndefined();
    expect(await node.locate(kept.article.articleId, { deleted: false })).toBeDefined();
  });
});
