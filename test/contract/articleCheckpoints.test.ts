/** Tests automatic checkpoints of articles, with a crash at every write. */
import { describe, expect, test } from "vitest";
import { toContentHash } from "../../server/domain/articles/fileTexts.ts";
import { articleRecord, commitRecord } from "../../server/domain/articles/records.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import { createDyingStorage } from "../support/dyingStorage.ts";
import { createManualTime } from "../support/manualTime.ts";
import { domainStorages } from "../support/storages.ts";
import { addWorkspace, articlePartition, createArticleNode, createCall, eventsOf, maxMs, quietMs, useArticle } from "./articleFixture.ts";

describe.each(domainStorages())("checkpoints on %s", (_name, open) => {
  const rig = useArticle(open);
  const { call, append, list, article, events } = rig;

  test("[CO4] a checkpoint is made once when typing has paused, with all authors", async () => {
    const { time, storage, node, articleId } = rig;
    node.pump.start();
    const startedAt = time.now();
    for (let at = 0; at < 10; at += 1) {
      await time.advance(quietMs / 2);
      await append(`${at}\n`, { username: at % 2 === 0 ? "ada" : "bob" });
    }
    expect(await list()).toEqual([]);
    await time.until(() => node.events.length > 0);
    expect(time.now() - startedAt).toBeGreaterThanOrEqual(quietMs * 6);
    expect(time.now() - startedAt).toBeLessThan(quietMs * 6 + 2000);
    await time.advance(maxMs * 2);
    expect(await list()).toMatchObject([
      {
        kind: "checkpoint",
        revision: 11,
        parentRevision: null,
        message: "Automatic checkpoint",
        authors: [{ username: "ada" }, { username: "bob" }],
      },
    ]);
    expect(await article()).toMatchObject({ updatedBy: "bob", wordCount: 12 });
    expect(await storage.due.get(articlePartition, `checkpoint/${articleId}`)).toBeUndefined();
  });

  test("[CO4] however long the typing continues, a checkpoint is never later than its limit", async () => {
    const { time, node } = rig;
    node.pump.start();
    const startedAt = time.now();
    while (node.events.length < 2) {
      await time.advance(5000);
      await append("x\n");
    }
    const [first, second] = node.events;
    expect(first?.createdAtMs).toBeGreaterThanOrEqual(startedAt + maxMs);
    expect(first?.createdAtMs).toBeLessThan(startedAt + maxMs + 2000);
    expect(second?.data.previousRevision).toBe(first?.data.revision);
    expect((second?.createdAtMs ?? 0) - (first?.createdAtMs ?? 0)).toBeLessThan(maxMs + 6000);
  });

  test("[CO4] no checkpoint is made after a commit, or when the edits cancelled out", async () => {
    const { time, node, articleId } = rig;
    node.pump.start();
    await node.commits.create(articleId, {}, call());
    await time.advance(quietMs + 2000);
    await append("x");
    await node.edits.edit(articleId, { mode: "patch", edits: [{ find: "x", replace: "" }] }, call({ username: "bob" }));
    await time.advance(quietMs + 2000);
    expect(await list()).toHaveLength(1);
    expect(await events()).toHaveLength(1);
    expect(await article()).toMatchObject({ checkedRevision: 3, updatedBy: "ada" });
    await append("y\n", { username: "carla" });
    await time.until(async () => (await events()).length === 2);
    expect((await list())[0]).toMatchObject({ parentRevision: 1, revision: 4, authors: [{ username: "carla", kind: "user" }] });
  });

  test("[CO5] an edit that arrives during a checkpoint is in that checkpoint or in the next one", async () => {
    const { time, storage, articleId } = rig;
    let late = 0;
    const slow = createArticleNode(storage, time, {
      listeners: {
        // Between reading the text and the commit.
        articleUpdated: async (unit, event) => {
          late += 1;
          if (late <= 2) await slow.edits.edit(articleId, { mode: "append", content: `late ${late}\n` }, call({ username: "eve" }));
          unit.log({ op: "append", log: "test.events", entries: [Buffer.from(JSON.stringify(event.data))] });
        },
      },
    });
    slow.pump.start();
    await time.until(async () => (await events()).length === 3, { stepMs: 1000 });
    const made = await events();
    expect(made.map(({ previousRevision, revision }) => [previousRevision, revision])).toEqual([
      [null, 1],
      [1, 2],
      [2, 3],
    ]);
    expect(made[2]?.contentHash).toBe(toContentHash("one\ntwo\nlate 1\nlate 2\n"));
    await slow.pump.drain(AbortSignal.timeout(1000));
  });

  test("[CO5] two nodes that see the same row make one checkpoint", async () => {
    const { time, storage, node } = rig;
    const other = createArticleNode(storage, time, { nodeId: "node_b" });
    node.pump.start();
    other.pump.start();
    await append("more\n");
    await time.until(async () => (await events()).length > 0);
    await time.advance(10_000);
    expect(await events()).toHaveLength(1);
    await other.pump.drain(AbortSignal.timeout(1000));
  });
});

describe("a checkpoint through a crash", () => {
  /** Types while the process dies at its n-th write. A second process continues. Returns the events. */
  async function crashAt(dieAt: number, when: "before" | "after") {
    const time = createManualTime();
    const beneath = createMemoryStorage({ now: time.now });
    const workspaceId = await addWorkspace(beneath, articlePartition);
    const before = createArticleNode(beneath, time);
    const { article } = await before.articles.create({ workspaceId, title: "T" }, createCall(beneath, workspaceId, articlePartition));
    // The edit arms a checkpoint whose first check marks the article.
    const edit = { mode: "append", content: "one\n" } as const;
    await before.edits.edit(article.articleId, edit, createCall(beneath, workspaceId, articlePartition));

    const dying = createDyingStorage(time.watch(beneath), dieAt, when);
    const first = createArticleNode(dying, time);
    first.pump.start();
    await time.until(async () => dying.dead || (await eventsOf(beneath, articlePartition)).length > 0);
    await time.advance(1000);
    const died = dying.dead;

    const second = createArticleNode(time.watch(beneath), time, { nodeId: "node_b" });
    second.pump.start();
    await time.until(async () => (await eventsOf(beneath, articlePartition)).length > 0);
    await time.advance(20_000);
    const events = await eventsOf(beneath, articlePartition);
    const commits: string[] = [];
    for await (const { value } of beneath.records.scan(commitRecord, articlePartition)) commits.push(value.commitId);
    const stored = await beneath.records.get(articleRecord, article.articleId);
    const { rows } = await beneath.due.stats();
    await second.pump.drain(AbortSignal.timeout(1000));
    return { died, events, commits, lastCommit: stored?.value.lastCommit?.commitId, isMarked: stored?.value.mayHaveEdits === true, rows };
  }

  test.each(["before", "after"] as const)(
    "[CO5][AR31] killed just %s any of its writes, a checkpoint is still made once, with one event",
    async (when) => {
      let deaths = 0;
      for (let dieAt = 1; ; dieAt += 1) {
        const { died, events, commits, lastCommit, isMarked, rows } = await crashAt(dieAt, when);
        expect(events, `write ${dieAt}`).toHaveLength(1);
        expect(commits).toEqual([lastCommit]);
        expect(events[0]?.commitId).toBe(lastCommit);
        expect(isMarked).toBe(false);
        // One row trims the events of the article. At most two more remain: they remove a text and an attribution that were
        // stored for a commit that was not made.
        expect(rows).toBeLessThanOrEqual(3);
        if (!died) break;
        deaths += 1;
      }
      expect(deaths).toBeGreaterThanOrEqual(5);
    },
  );
});
