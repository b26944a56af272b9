/** Tests the commits of articles: what a commit has, how commits follow each other, and how they are listed. */
import { describe, expect, test } from "vitest";
import { toContentHash } from "../../server/domain/articles/fileTexts.ts";
import { articleRecord, toCommit } from "../../server/domain/articles/records.ts";
import { createCommitHandlers } from "../../server/edge/handlers/commits.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { domainStorages } from "../support/storages.ts";
import { articlePartition, createArticleNode, idleMs, useArticle } from "./articleFixture.ts";

describe.each(domainStorages())("commits on %s", (_name, open) => {
  const rig = useArticle(open);
  const { call, append, list, article, events } = rig;

  test.each([true, false])("[AR45] a commit that races the deletion of its article is 404 (for good: %s)", async (permanent) => {
    const { time, storage, node, articleId } = rig;
    await node.commits.create(articleId, {}, call());
    await append("three\n");
    await time.advance(2 * idleMs + 1);
    let isRead = false;
    const get: Storage["records"]["get"] = async (type, key) => {
      const found = await storage.records.get(type, key);
      if (type.name === articleRecord.name && !isRead) {
        isRead = true;
        await node.articles.delete(articleId, permanent, call({ role: "admin" }));
      }
      return found;
    };
    const other = createArticleNode({ ...storage, records: { ...storage.records, get } }, time);
    await expect(other.commits.create(articleId, {}, call())).rejects.toMatchObject({ code: "not_found" });
    expect(isRead).toBe(true);
  });

  test("[CO1] a commit has texts, authors and counts since the last one, as in article and event", async () => {
    const { time, node, workspaceId, articleId } = rig;
    const first = await node.commits.create(articleId, { message: "Start" }, call());
    expect(first.created).toBe(true);
    expect(toCommit(first.commit)).toEqual({
      commitId: first.commit.commitId,
      articleId,
      revision: 1,
      parentRevision: null,
      kind: "commit",
      message: "Start",
      authors: [{ username: "ada", kind: "user" }],
      files: [{ file: "content.md", contentHash: toContentHash("one\ntwo\n"), added: 2, removed: 0 }],
      createdAt: time.now() / 1000,
    });
    await append("three\n", { username: "bob" });
    await append("- point\n", { username: "carla", viaKey: true }, "outline.md");
    await node.edits.edit(articleId, { mode: "patch", edits: [{ find: "one", replace: "1" }] }, call({ username: "bob" }));
    await time.advance(1000);
    const { commit } = await node.commits.create(articleId, { name: "v2" }, call({ username: "dora" }));
    expect(commit).toMatchObject({
      revision: 4,
      parentRevision: 1,
      name: "v2",
      message: "",
      authors: [
        { username: "carla", kind: "key" },
        { username: "bob", kind: "user" },
      ],
      files: [
        { file: "content.md", contentHash: toContentHash("1\ntwo\nthree\n"), added: 2, removed: 1 },
        { file: "outline.md", contentHash: toContentHash("- point\n"), added: 1, removed: 0 },
      ],
    });
    expect(await article()).toMatchObject({
      updatedBy: "dora",
      updatedAtMs: time.now(),
      wordCount: 3,
      lastCommit: { commitId: commit.commitId, revision: 4 },
    });
    expect(node.events.map((event) => event.data)).toEqual(await events());
    expect(node.events[1]).toMatchObject({
      workspaceId,
      createdAtMs: time.now(),
      data: {
        articleId,
        title: "Title",
        commitId: commit.commitId,
        kind: "commit",
        revision: 4,
        previousRevision: 1,
        contentHash: toContentHash("1\ntwo\nthree\n"),
        files: [
          { file: "content.md", added: 2, removed: 1 },
          { file: "outline.md", added: 1, removed: 0 },
        ],
        diffUrl: `https://content.example/articles/${articleId}/diff?from=1&to=4`,
      },
    });
  });

  test("[API11] the trace context of a commit continues in its event, also for an edit with a message", async () => {
    const { node, articleId } = rig;
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    await node.commits.create(articleId, {}, call({ traceparent }));
    await node.edits.edit(articleId, { mode: "append", content: "x\n", message: "More" }, call({ traceparent }));
    await append("y\n");
    await node.commits.create(articleId, {}, call());
    expect(node.events.map((event) => event.traceparent)).toEqual([traceparent, traceparent, undefined]);
  });

  test("[CO2] without a change, or after edits that cancel out, the last commit is returned, no event", async () => {
    const { node, articleId } = rig;
    const { reply } = createCommitHandlers(node).create;
    const first = await node.commits.create(articleId, {}, call());
    expect(reply(first)).toMatchObject({ status: 201, headers: { location: `/articles/${articleId}/commits/${first.commit.commitId}` } });
    await append("x");
    await node.edits.edit(articleId, { mode: "patch", edits: [{ find: "x", replace: "" }] }, call());
    const again = await node.commits.create(articleId, { message: "other" }, call());
    expect(reply(again)).toEqual({ status: 200, headers: {}, body: toCommit(first.commit) });
    expect(await events()).toHaveLength(1);
  });

  test("[CO2] an empty article can be committed once, and an emptied file is listed once", async () => {
    const { node, workspaceId, articleId } = rig;
    const { article: empty } = await node.articles.create({ workspaceId, title: "Empty" }, call());
    expect(await node.commits.create(empty.articleId, {}, call())).toMatchObject({ created: true, commit: { revision: 0, files: [] } });
    expect(await node.commits.create(empty.articleId, {}, call())).toMatchObject({ created: false });
    await node.commits.create(articleId, {}, call());
    await node.edits.edit(articleId, { mode: "replace", content: "", baseRevision: 1 }, call());
    const { commit } = await node.commits.create(articleId, {}, call());
    expect(commit.files).toMatchObject([{ file: "content.md", contentHash: toContentHash(""), added: 0, removed: 2 }]);
    expect((await article()).files).toEqual([]);
    await append("outline\n", {}, "outline.md");
    expect((await node.commits.create(articleId, {}, call())).commit.files.map(({ file }) => file)).toEqual(["outline.md"]);
  });

  test("[CO3] concurrent commits and edits form one chain, in which each parent is the previous commit", async () => {
    const { node, articleId } = rig;
    await Promise.all(
      Array.from({ length: 12 }, async (_, at) => {
        await append(`line ${at}\n`);
        return node.commits.create(articleId, { message: String(at) }, call());
      }),
    );
    const commits = (await list()).reverse();
    expect(commits.length).toBeGreaterThan(0);
    for (const [at, commit] of commits.entries()) expect(commit.parentRevision).toBe(commits[at - 1]?.revision ?? null);
    expect(commits.at(-1)?.revision).toBe(13);
    expect((await events()).map((event) => event.commitId)).toEqual(commits.map((commit) => commit.commitId));
    expect(new Set(commits.map((commit) => commit.revision)).size).toBe(commits.length);
  });

  test("[CO7] a repeated commit is made once and returns the same answer", async () => {
    const { time, node, articleId } = rig;
    const attempt = { seed: "commit", nowMs: time.now() };
    const first = await node.commits.create(articleId, {}, call({ attempt }));
    await append("more\n");
    const again = await node.commits.create(articleId, {}, call({ attempt }));
    expect(again).toEqual(first);
    expect(await list()).toHaveLength(1);
    expect(await events()).toHaveLength(1);
  });

  test("[CO8] commits are listed newest first, by author and kind, and only under their own article", async () => {
    const { node, workspaceId, articleId } = rig;
    for (let at = 0; at < 5; at += 1) {
      await append(`${at}\n`, { username: at % 2 === 0 ? "ada" : "bob" });
      await node.commits.create(articleId, { kind: at === 4 ? "checkpoint" : "commit", message: String(at) }, call());
    }
    expect((await list()).map((commit) => commit.message)).toEqual(["4", "3", "2", "1", "0"]);
    expect((await list({ author: "Bob" })).map((commit) => commit.message)).toEqual(["3", "1"]);
    expect((await list({ kind: "checkpoint" })).map((commit) => commit.message)).toEqual(["4"]);
    const [page] = [await node.commits.list(articleId, { limit: 2 })];
    expect(page?.items).toHaveLength(2);
    expect((await node.commits.list(articleId, { limit: 2, nextToken: page?.nextToken })).items.map((commit) => commit.message)).toEqual([
      "2",
      "1",
    ]);
    const other = (await node.articles.create({ workspaceId, title: "Other" }, call())).article.articleId;
    const commitId = page?.items[0]?.commitId ?? "";
    expect((await node.commits.get(articleId, commitId)).commit.commitId).toBe(commitId);
    await expect(node.commits.get(other, commitId)).rejects.toMatchObject({ code: "not_found" });
    await expect(node.commits.get(articleId, node.ids.next("cmt", articlePartition))).rejects.toMatchObject({ code: "not_found" });
    await expect(node.commits.get(articleId, node.ids.next("cmt", 6))).rejects.toMatchObject({ code: "not_found" });
  });

  test("[CO10] a diffUrl shows its commit, live is the newest text, and a deleted revision is 410", async () => {
    const { time, storage, node, articleId } = rig;
    await node.commits.create(articleId, {}, call());
    await append("three\n");
    await append("point\n", {}, "outline.md");
    const small = createArticleNode(storage, time, { limits: { "document.keptBatches": 0 } });
    const diff = (from: number | "live", to: number | "live", options = {}) =>
      small.content.diff(articleId, { from, to, ...options }, call());
    expect(await diff(0, 1)).toEqual({
      from: 0,
      to: 1,
      hunks: [{ fromLine: 0, fromLines: 0, toLine: 1, toLines: 2, text: "@@ -0,0 +1,2 @@\n+one\n+two\n" }],
      stats: { added: 2, removed: 0 },
    });
    expect(await diff(1, "live")).toMatchObject({ from: 1, to: 3, stats: { added: 1, removed: 0 } });
    expect(await diff("live", 1, { format: "json" })).toMatchObject({ from: 3, to: 1, stats: { added: 0, removed: 1 } });
    expect(await diff(1, 3, { file: "outline.md" })).toMatchObject({ stats: { added: 1 } });
    await expect(diff(1, 2)).rejects.toMatchObject({ code: "revision_gone" });
  });

  test("[AR46] the diffUrl of a commit shows a file that the commit changed", async () => {
    const { node, workspaceId, articleId } = rig;
    await node.commits.create(articleId, {}, call());
    await append("- point\n", {}, "outline.md");
    await node.commits.create(articleId, {}, call());
    await append("- more\n", {}, "outline.md");
    await append("three\n");
    await node.commits.create(articleId, {}, call());
    const other = await node.articles.create({ workspaceId, title: "Empty" }, call());
    await node.commits.create(other.article.articleId, {}, call());
    const urls = node.events.map(({ data }) => new URL(data.diffUrl));
    expect(urls.map(({ search }) => search)).toEqual(["?from=0&to=1", "?from=1&to=2&file=outline.md", "?from=2&to=4", "?from=0&to=0"]);
  });

  test("[CO9] the texts of a commit can be read at its revision for ever", async () => {
    const { time, storage, articleId } = rig;
    const texts: string[] = [];
    const small = createArticleNode(storage, time, { limits: { "document.keptBatches": 1 } });
    for (let at = 0; at < 6; at += 1) {
      await small.edits.edit(articleId, { mode: "append", content: `line ${at}\n` }, call());
      const { commit } = await small.commits.create(articleId, {}, call());
      texts[commit.revision] = (await small.content.readText(articleId, "content.md", undefined)).text;
      await time.advance(2 * idleMs + 1);
    }
    for (const [revision, text] of texts.entries()) {
      if (text === undefined) continue;
      expect((await small.documents.readAt(articleId, revision))?.["content.md"]).toBe(text);
    }
    expect(await small.documents.readAt(articleId, 1)).toBeUndefined();
  });
});
