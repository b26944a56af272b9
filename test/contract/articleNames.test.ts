/** Tests names for commits whose text is already committed. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createManualTime, type ManualTime } from "../support/manualTime.ts";
import { domainStorages, type OpenedStorage } from "../support/storages.ts";
import { type ArticleNode, addWorkspace, type CallOptions, createArticleNode, createCall, eventsOf, quietMs } from "./articleFixture.ts";

const partition = 5;

describe.each(domainStorages())("names of commits on %s", (_name, open) => {
  let time: ManualTime;
  let opened: OpenedStorage;
  let node: ArticleNode;
  let workspaceId: string;
  let articleId: string;
  const call = (options: CallOptions = {}) => createCall(opened.storage, workspaceId, partition, options);
  const create = (request: Parameters<ArticleNode["commits"]["create"]>[1], options: CallOptions = {}) =>
    node.commits.create(articleId, request, call(options));
  const list = async () => (await node.commits.list(articleId, {})).items;
  const append = (content: string) => node.edits.edit(articleId, { mode: "append", content }, call());

  beforeEach(async () => {
    time = createManualTime();
    opened = await open(time);
    node = createArticleNode(opened.storage, time);
    workspaceId = await addWorkspace(opened.storage, partition);
    articleId = (await node.articles.create({ workspaceId, title: "Title", content: "one\n" }, call())).article.articleId;
  });
  afterEach(async () => {
    await node.pump.drain(AbortSignal.timeout(1000));
    await opened.close();
  });

  test("[CO11] a name for unchanged text is given to the last checkpoint, without an event", async () => {
    node.pump.start();
    await time.until(async () => (await list()).length === 1, { stepMs: 1000, withinMs: quietMs * 3 });
    const [checkpoint] = await list();
    const events = await eventsOf(opened.storage, partition);
    const named = await create({ name: "Final", message: "unused" });
    expect(named).toEqual({ commit: { ...checkpoint, name: "Final" }, created: false });
    expect(named.commit.kind).toBe("checkpoint");
    expect(await list()).toEqual([named.commit]);
    expect((await node.commits.get(articleId, named.commit.commitId)).commit).toEqual(named.commit);
    expect(await eventsOf(opened.storage, partition)).toEqual(events);
  });

  test("[CO12] a name for unchanged text replaces the last commit's name; none or the same keeps it", async () => {
    const first = await create({ name: "Draft" });
    const revisionOf = async () => (await node.commits.get(articleId, first.commit.commitId)).recordRevision;
    expect(await revisionOf()).toBe(1);
    for (const request of [{}, { name: "Draft" }]) expect((await create(request)).commit).toEqual(first.commit);
    expect(await revisionOf()).toBe(1);
    expect(await create({ name: "Final" })).toEqual({ commit: { ...first.commit, name: "Final" }, created: false });
    expect(await revisionOf()).toBe(2);
  });

  test("[CO12] a name for changed text belongs to the new commit and leaves the previous one unchanged", async () => {
    await create({ name: "First" });
    await append("two\n");
    await create({ name: "Second" });
    expect((await list()).map(({ name }) => name)).toEqual(["Second", "First"]);
  });

  test("[CO11] of many concurrent names one remains, and every answer shows the name it asked for", async () => {
    await create({});
    const names = ["A", "B", "C", "D", "E", "F"];
    const answers = await Promise.all(names.map((name) => create({ name })));
    expect(answers.map(({ commit }) => commit.name)).toEqual(names);
    expect(names).toContain((await list())[0]?.name);
  });

  test("[CO13] naming a commit is refused if the article is deleted at the same time", async () => {
    await create({});
    const slow = call();
    let deleted = false;
    const commit: typeof slow.commit = async (batch, answer) => {
      if (!deleted) {
        deleted = true;
        await node.articles.delete(articleId, false, call());
      }
      return slow.commit(batch, answer);
    };
    await expect(node.commits.create(articleId, { name: "Late" }, { ...slow, commit })).rejects.toMatchObject({ code: "not_found" });
    expect((await list())[0]?.name).toBeUndefined();
  });
});
