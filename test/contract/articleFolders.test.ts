/** Tests articles in folders, their copies, and the deletion of their folders. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as Y from "yjs";
import { articleRecord, commitsOf } from "../../server/domain/articles/records.ts";
import { folderRecord } from "../../server/domain/folders/records.ts";
import { workspaceCountersRecord } from "../../server/domain/identity/workspaces/records.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import type { ManualTime } from "../support/manualTime.ts";
import { domainStorages } from "../support/storages.ts";
import { type ArticleNode, addWorkspace, type CallOptions, createCall, openArticles } from "./articleFixture.ts";
import { addFolder } from "./topicFixture.ts";

const partition = 5;

describe.each(domainStorages())("articles in folders on %s", (_name, open) => {
  let time: ManualTime;
  let close: () => Promise<void>;
  let storage: Storage;
  let node: ArticleNode;
  let workspaceId: string;
  let folderId: string;
  const call = (options: CallOptions = {}) => createCall(storage, workspaceId, partitionOfId(workspaceId), options);
  const create = async (more: object = {}) => (await node.articles.create({ workspaceId, title: "Kites", ...more }, call())).article;
  const inFolder = async (id: string) =>
    (await node.articles.list({ workspaceId, folderId: id })).items.map(({ article }) => article.articleId);
  async function removeFolder(id: string): Promise<void> {
    const replacing = await storage.records.get(folderRecord, id);
    if (replacing === undefined) throw new Error("no folder");
    expect((await storage.commit({ partition, records: [{ op: "delete", type: folderRecord, replacing }] })).ok).toBe(true);
  }
  const refusal = { code: "validation_failed", facts: { errors: [{ pointer: "/folderId" }] } };

  beforeEach(async () => {
    ({ time, storage, node, workspaceId, close } = await openArticles(open));
    folderId = await addFolder(storage, workspaceId);
  });
  afterEach(() => close());

  test("[AR25] an article is created in a folder, moved to another one, and to the top level", async () => {
    const other = await addFolder(storage, workspaceId);
    const { articleId, metaRevision } = await create({ folderId });
    expect([await inFolder(folderId), await inFolder("null")]).toEqual([[articleId], []]);
    const moved = await node.articles.update(articleId, { folderId: other }, call());
    expect(moved.article).toMatchObject({ folderId: other, metaRevision: metaRevision + 1 });
    expect([await inFolder(folderId), await inFolder(other)]).toEqual([[], [articleId]]);
    await node.articles.update(articleId, { folderId: other }, call());
    await node.articles.update(articleId, { title: "Renamed" }, call());
    const top = await node.articles.update(articleId, { folderId: null }, call());
    expect([top.article.folderId, top.article.metaRevision]).toEqual([undefined, metaRevision + 3]);
    expect([await inFolder(other), await inFolder("null")]).toEqual([[], [articleId]]);
    expect((await node.articles.update(articleId, { folderId: null }, call())).article.metaRevision).toBe(metaRevision + 3);
  });

  test("[AR25] a missing folder and one of another workspace are refused alike, and nothing changes", async () => {
    const { articleId } = await create({ folderId });
    const foreign = await addFolder(storage, await addWorkspace(storage, partition));
    for (const id of [foreign, folderId.replace(/.$/, (last) => (last === "Z" ? "Y" : "Z")), "fld_1"]) {
      await expect(create({ folderId: id })).rejects.toMatchObject(refusal);
      await expect(node.articles.update(articleId, { folderId: id }, call())).rejects.toMatchObject(refusal);
      await expect(node.articles.duplicate(articleId, { folderId: id }, call())).rejects.toMatchObject(refusal);
    }
    expect((await node.articles.list({ workspaceId })).items).toMatchObject([{ article: { folderId, metaRevision: 1 } }]);
    expect((await storage.records.get(workspaceCountersRecord, workspaceId))?.value.counters.article).toBe(1);
  });

  test("[AR26] of a creation or move and a deletion of its folder at the same time, only one happens", async () => {
    const { articleId } = await create();
    const acts = [
      (during: ReturnType<typeof call>) => node.articles.create({ workspaceId, title: "Late", folderId }, during),
      (during: ReturnType<typeof call>) => node.articles.update(articleId, { folderId }, during),
      (during: ReturnType<typeof call>) => node.articles.duplicate(articleId, { folderId }, during),
    ];
    for (const act of acts) {
      folderId = await addFolder(storage, workspaceId);
      const slow = call();
      let isRemoved = false;
      const commit: typeof slow.commit = async (batch, value) => {
        // The folder is deleted after it was read and before the commit.
        if (!isRemoved) await removeFolder(folderId);
        isRemoved = true;
        return slow.commit(batch, value);
      };
      await expect(act({ ...slow, commit })).rejects.toMatchObject(refusal);
      expect(await inFolder(folderId)).toEqual([]);
    }
    expect((await node.articles.list({ workspaceId })).items).toHaveLength(1);
  });

  test("[AR27] a restored article returns to its folder, or to the top level if the folder is gone", async () => {
    const { articleId } = await create({ folderId });
    await node.articles.delete(articleId, false, call());
    expect(await inFolder(folderId)).toEqual([]);
    expect((await node.articles.undelete(articleId, call())).article.folderId).toBe(folderId);
    expect(await inFolder(folderId)).toEqual([articleId]);
    await node.articles.delete(articleId, false, call());
    await removeFolder(folderId);
    expect((await node.articles.undelete(articleId, call())).article.folderId).toBeUndefined();
    expect(await inFolder("null")).toEqual([articleId]);
  });

  test("[AR28] a copy has the live text of every file, written by the caller in a new document", async () => {
    const source = await create({ folderId, content: "# Kites\n" });
    await node.commits.create(source.articleId, {}, call());
    for (const file of ["content.md", "outline.md", "research.md"] as const) {
      await node.edits.edit(source.articleId, { mode: "append", file, content: `${file}\n` }, call({ username: "bob" }));
    }
    const { article, revision } = await node.articles.duplicate(source.articleId, {}, call({ username: "carla" }));
    expect(article).toMatchObject({ title: "Copy of Kites", folderId, createdBy: "carla", wordCount: 3, number: 2 });
    expect([article.lastCommit, article.topicId, article.publicLink, revision]).toEqual([undefined, undefined, undefined, 1]);
    const texts = await node.documents.read(article.articleId);
    expect(texts).toEqual({ ...(await node.documents.read(source.articleId)), revision: 1 });
    const clientsOf = (id: string) =>
      node.rooms.read(id, (document: Y.Doc) => [...Y.decodeStateVector(Y.encodeStateVector(document)).keys()]);
    const [own, theirs] = [await clientsOf(article.articleId), await clientsOf(source.articleId)];
    expect(own).toHaveLength(1);
    expect(theirs).not.toContain(own[0]);
    const { commit } = await node.commits.create(article.articleId, {}, call());
    expect(commit.authors).toEqual([{ username: "carla", kind: "user" }]);
    expect(await storage.index.scan({ partition, prefix: commitsOf(article.articleId), limit: 10 })).toHaveLength(1);

    // Later changes of one do not reach the other.
    await node.edits.edit(article.articleId, { mode: "append", content: "own\n" }, call());
    expect((await node.documents.read(source.articleId)).texts["content.md"]).toBe("# Kites\ncontent.md\n");
  });

  test("[AR28] a copy takes its title and folder from the request, and a long title is cut", async () => {
    const source = await create({ folderId, title: `${"x".repeat(491)}😀😀` });
    const copy = await node.articles.duplicate(source.articleId, {}, call());
    expect(copy.article.title).toBe(`Copy of ${"x".repeat(491)}`);
    const named = await node.articles.duplicate(source.articleId, { title: "Named", folderId: null }, call());
    expect([named.article.title, named.article.folderId]).toEqual(["Named", undefined]);
    const replacing = await storage.records.get(folderRecord, folderId);
    if (replacing === undefined) throw new Error("no folder");
    const value = { ...replacing.value, archivedAtMs: 1 };
    await storage.commit({ partition, records: [{ op: "put", type: folderRecord, value, replacing }] });
    expect((await node.articles.duplicate(source.articleId, {}, call())).article.folderId).toBeUndefined();
    await removeFolder(folderId);
    expect((await node.articles.duplicate(source.articleId, {}, call())).article.folderId).toBeUndefined();
    await node.articles.delete(source.articleId, false, call());
    await expect(node.articles.duplicate(source.articleId, {}, call())).rejects.toMatchObject({ code: "not_found" });
  });

  test("[AR28] a copy that is requested again under its key is made once", async () => {
    const source = await create({ content: "one\n" });
    const attempt = { seed: "copy", nowMs: time.now() };
    const first = await node.articles.duplicate(source.articleId, {}, call({ attempt }));
    const again = await node.articles.duplicate(source.articleId, {}, call({ attempt }));
    expect(again.article.articleId).toBe(first.article.articleId);
    expect((await node.articles.list({ workspaceId })).items).toHaveLength(2);
    expect((await storage.records.get(articleRecord, first.article.articleId))?.revision).toBe(1);
  });
});
