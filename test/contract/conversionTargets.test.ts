/** Tests conversions that write an article, and processes that die meanwhile. */
import { describe, expect, test } from "vitest";
import type * as Y from "yjs";
import type { RequestedConversion } from "../../server/domain/conversions/createConversion.ts";
import { conversionRecord } from "../../server/domain/conversions/records.ts";
import { folderRecord } from "../../server/domain/folders/records.ts";
import { workspaceRecord } from "../../server/domain/identity/workspaces/records.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { codeOf } from "../support/codeOf.ts";
import { defaultLeaseMs } from "../support/composeParts.ts";
import { succeedWith } from "../support/converterDouble.ts";
import { createDyingStorage } from "../support/dyingStorage.ts";
import { createManualTime } from "../support/manualTime.ts";
import { domainStorages } from "../support/storages.ts";
import { addWorkspace, createCall, eventsOf } from "./articleFixture.ts";
import { createConversionNode } from "./conversionFixture.ts";
import { useConversions } from "./conversionRig.ts";

describe.each(domainStorages())("targets of conversions on %s", (_name, openStorage) => {
  const rig = useConversions(openStorage);

  test("[CV52] a target creates an article whose text, first commit and event are one commit with the success", async () => {
    const { time, storage, node, workspaceId, partition, convert, commitsOf, live, articles } = rig;
    const { conversionId, writtenArticleId: articleId = "" } = await convert({
      to: "markdown",
      options: { title: "Report" },
      target: { workspaceId } as never,
    });
    expect(partitionOfId(conversionId)).toBe(partition);
    expect((await articles()).map(({ article }) => [article.articleId, article.title])).toEqual([[articleId, "Report"]]);
    expect(await live(articleId)).toBe("markdown to markdown: # Kites\n");
    const [commit, ...others] = await commitsOf(articleId);
    expect(others).toEqual([]);
    expect(commit).toMatchObject({ kind: "import", revision: 1, parentRevision: null, authors: [{ username: "ada", kind: "user" }] });
    expect(await eventsOf(storage, partition)).toMatchObject([{ articleId, kind: "import", commitId: commit?.commitId }]);
    const { spans } = await node.blame.read(articleId, {});
    expect(spans.items).toEqual([{ start: 0, end: 30, username: "ada", kind: "user", commitId: commit?.commitId }]);
    // No checkpoint follows, because nothing is left for it.
    await time.leap(600_000);
    await time.advance(5000);
    expect(await commitsOf(articleId)).toHaveLength(1);
  });

  test("[CV112] a new article is named as requested, after its source article, its first heading, or its file", async () => {
    const { node, workspaceId, convert, articles, newArticle } = rig;
    const upload = (content: string) => ({ upload: { name: "kites.md", mediaType: "text/markdown", bytes: Buffer.from(content) } });
    node.converter.answer = async ({ bytes }) => succeedWith(Buffer.from(bytes).toString("utf8"));
    const source = await newArticle("# Sails\n");
    const target = { workspaceId } as never;
    await convert({ to: "markdown", source: upload("One\n\n## A *long* tail\n") as never, target });
    await convert({ to: "markdown", source: upload("Two\n") as never, target });
    await convert({ to: "markdown", source: upload("# Three\n") as never, target: { workspaceId, title: "Asked for" } as never });
    await convert({ to: "markdown", source: { articleId: source } as never, target });
    const titles = (await articles()).filter(({ article }) => article.articleId !== source).map(({ article }) => article.title);
    expect(titles.sort()).toEqual(["A long tail", "Asked for", "Kites", "kites"]);
  });

  test("[CV52][CV62] a target article gets one commit of kind import, and text typed meanwhile stays", async () => {
    const { node, convert, commitsOf, live, newArticle } = rig;
    const articleId = await newArticle("# Old\n\nThe end.\n");
    node.converter.answer = async () => {
      await node.rooms.edit(articleId, { username: "bo", kind: "user" }, undefined, (document: Y.Doc) =>
        document.getText("content.md").insert(0, "Typed. "),
      );
      return succeedWith("# New\n\nThe end.\n");
    };
    const { writtenArticleId, status } = await convert({ to: "markdown", target: { articleId } as never });
    expect([status, writtenArticleId]).toEqual(["succeeded", articleId]);
    expect(await live(articleId)).toBe("Typed. # New\n\nThe end.\n");
    const [commit, ...others] = await commitsOf(articleId);
    expect([commit?.kind, others.length]).toEqual(["import", 0]);
  });

  test("[CV62] a target that was closed meanwhile fails the conversion and changes nothing", async () => {
    const { time, storage, node, workspaceId, partition, call, request, start, convert, articles } = rig;
    const workspace = await storage.records.get(workspaceRecord, workspaceId);
    const folderId = "fld_0000000000050000000000000A";
    const folder = { folderId, workspaceId, parentFolderId: null, name: "Inbox", slug: "inbox", createdAtMs: 1, updatedAtMs: 1 };
    await storage.commit({ partition, records: [{ op: "put", type: folderRecord, value: folder, replacing: null }] });
    node.converter.answer = async () => {
      const stored = await storage.records.get(folderRecord, folderId);
      if (stored === undefined) throw new Error("no folder");
      const archived = { ...stored.value, archivedAtMs: 2 };
      await storage.commit({ partition, records: [{ op: "put", type: folderRecord, value: archived, replacing: stored }] });
      return succeedWith("text");
    };
    const late = await convert({ to: "markdown", target: { folderId } as never });
    expect([late.status, late.error?.code, late.writtenArticleId]).toEqual(["failed", "not_found", undefined]);
    expect(await codeOf(node.conversions.create(request({ to: "markdown", target: { folderId } as never }), call()))).toBe(
      "validation_failed",
    );
    node.converter.answer = async () => {
      if (workspace === undefined) throw new Error("no workspace");
      await storage.commit({
        partition,
        records: [{ op: "put", type: workspaceRecord, value: { ...workspace.value, members: [] }, replacing: workspace }],
      });
      return succeedWith("text of a former member");
    };
    const conversionId = await start({ to: "markdown", target: { workspaceId } as never });
    const read = async () => (await storage.records.get(conversionRecord, conversionId))?.value;
    await time.until(async () => (await read())?.state === "failed");
    expect((await read())?.context.error?.code).toBe("insufficient_permission");
    expect(await codeOf(node.conversions.get(conversionId, call()))).toBe("not_found");
    expect(await articles()).toEqual([]);
  });

  test("[CV62] a right that is lost after the text was merged does not stop the commit; a deletion does", async () => {
    const { node, storage, partition, workspaceId, call, createNode, start, newArticle, commitsOf, live } = rig;
    await node.pump.drain(AbortSignal.abort());
    const stateOf = async (conversionId: string) => (await storage.records.get(conversionRecord, conversionId))?.value;
    const run = async (articleId: string, afterReplace: () => Promise<void>) => {
      const other = createNode(storage, { nodeId: articleId, afterReplace });
      const conversionId = await start({ to: "markdown", target: { articleId } as never }, other);
      other.pump.start();
      await rig.time.until(async () => (await stateOf(conversionId))?.context.finishedAtMs !== undefined);
      await other.pump.drain(AbortSignal.abort());
      return stateOf(conversionId);
    };
    const deleted = await newArticle("Old.\n");
    const gone = await run(deleted, () => node.articles.delete(deleted, false, call()));
    expect([gone?.state, gone?.context.error?.code]).toEqual(["failed", "not_found"]);
    const articleId = await newArticle("Old.\n");
    const ended = await run(articleId, async () => {
      const workspace = await storage.records.get(workspaceRecord, workspaceId);
      if (workspace === undefined) throw new Error("no workspace");
      const value = { ...workspace.value, members: [] };
      await storage.commit({ partition, records: [{ op: "put", type: workspaceRecord, value, replacing: workspace }] });
    });
    expect(ended?.state).toBe("succeeded");
    expect(await live(articleId)).toBe("markdown to markdown: # Kites\n");
    expect((await commitsOf(articleId)).map(({ kind }) => kind)).toEqual(["import"]);
  });
});

/** A process that dies at its n-th write is the same on every store, so one of them is enough. */
test("[CV52] a process that dies at any write leaves its text in one article, with one commit of kind import", async () => {
  const time = createManualTime();
  const storage = time.watch(createMemoryStorage({ now: time.now }));
  const workspaceId = await addWorkspace(storage);
  const partition = partitionOfId(workspaceId);
  const reader = createConversionNode(storage, time, { nodeId: "reader" });
  const made = await reader.articles.create(
    { workspaceId, title: "Old", content: "As it was.\n" },
    createCall(storage, workspaceId, partition),
  );
  const { articleId } = made.article;
  const articles = async () => (await reader.articles.list({ workspaceId })).items.length;
  const imports = async (id: string) => (await reader.commits.list(id, { kind: "import" })).items.length;
  let kills = 0;
  for (const target of [{ workspaceId }, { articleId }]) {
    for (let dieAt = 1; ; dieAt += 1) {
      const [articlesBefore, importsBefore] = [await articles(), await imports(articleId)];
      const dying = createDyingStorage(storage, dieAt, dieAt % 2 === 0 ? "before" : "after");
      const text = `Import ${"articleId" in target} ${dieAt}.\n`;
      const asked = { source: { content: text, format: "markdown" }, to: "markdown", target } as RequestedConversion;
      const attempt = { seed: text, nowMs: time.now() };
      const callOn = (on: Storage) => createCall(on, workspaceId, partition, { attempt });
      const doomed = createConversionNode(dying, time, { nodeId: `doomed ${text}` });
      doomed.pump.start();
      let isAnswered = false;
      void doomed.conversions.create(asked, { ...callOn(dying), waitMs: 30_000 }).then(() => {
        isAnswered = true;
      });
      await time.until(() => dying.dead || isAnswered, { stepMs: 10 });
      if (dying.dead) kills += 1;
      else await doomed.pump.drain(AbortSignal.abort());
      await time.leap(2 * defaultLeaseMs);
      const next = createConversionNode(storage, time, { nodeId: `next ${text}` });
      next.pump.start();
      const { conversionId } = (await next.conversions.create(asked, callOn(storage))).conversion;
      const read = () => next.conversions.get(conversionId, callOn(storage));
      await time.until(async () => (await read()).hasEnded, { stepMs: 1000 });
      const { conversion, writtenArticleId = "" } = await read();
      expect([conversion.status, (await next.content.readText(writtenArticleId, "content.md", undefined)).text]).toEqual([
        "succeeded",
        `markdown to markdown: ${text}`,
      ]);
      expect((await articles()) - articlesBefore).toBe("articleId" in target ? 0 : 1);
      expect((await imports(writtenArticleId)) - ("articleId" in target ? importsBefore : 0)).toBe(1);
      await next.pump.drain(AbortSignal.abort());
      await next.close();
      if (!dying.dead) break;
    }
  }
  expect(kills).toBeGreaterThan(10);
});
