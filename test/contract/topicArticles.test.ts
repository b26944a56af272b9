/** Tests topics and their articles: links, texts, and the effect of commits and deletions on a topic. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ArticleFile, CommitKind } from "../../api/schema/article.ts";
import type { CommittingRun } from "../../server/domain/articles/port.ts";
import { articleRecord, toArticle, toCommit } from "../../server/domain/articles/records.ts";
import { workspaceCountersRecord } from "../../server/domain/identity/workspaces/records.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { createDyingStorage } from "../support/dyingStorage.ts";
import type { ManualTime } from "../support/manualTime.ts";
import { domainStorages } from "../support/storages.ts";
import { addWorkspace, type CallOptions, quietMs } from "./articleFixture.ts";
import { createTopicNode, openTopics, partition, type TopicNode } from "./topicFixture.ts";

describe.each(domainStorages())("articles of topics on %s", (_name, open) => {
  let time: ManualTime;
  let storage: Storage;
  let node: TopicNode;
  let workspaceId: string;
  let topicId: string;
  let close: () => Promise<void>;

  beforeEach(async () => {
    ({ time, storage, node, workspaceId, close } = await openTopics(open));
    topicId = await node.create(workspaceId);
  });
  afterEach(() => close());

  const call = (options: CallOptions = {}) => node.call(workspaceId, options);
  const ensure = (articleId?: string, options: CallOptions = {}, of = topicId) =>
    node.topics.ensure(call(options), workspaceId, of, articleId);
  const append = (articleId: string, content: string, file: ArticleFile = "content.md") =>
    node.node.edits.edit(articleId, { mode: "append", file, content }, call());
  const commit = (articleId: string) => node.node.commits.create(articleId, {}, call());
  const makeArticle = async (title = "Written before") =>
    (await node.node.articles.create({ workspaceId, title, content: "text\n" }, call())).article.articleId;
  const status = async () => (await node.get(workspaceId, topicId)).status;

  /** Makes a commit as a run does, in its own store commit. */
  async function prepared(articleId: string, kind: CommitKind, run?: CommittingRun) {
    const order = {
      articleId,
      commitId: node.node.ids.next("cmt", partition),
      kind,
      message: "",
      committer: "cal",
      ids: node.node.ids,
      run,
    };
    const unit = node.actors.openUnit(partition);
    const made = await node.node.writer.commit(unit, order);
    if (made.kind !== "ready") return made;
    const { ok } = await unit.commit((batch) => storage.commit(batch));
    return { ...made, ok };
  }

  test("[TO40] a topic gets a new article once, with the workspace's next number and the topic's title", async () => {
    const made = await ensure(undefined, { username: "ben" });
    expect(made).toEqual({ articleId: expect.stringMatching(/^art_/), created: true, linked: true });
    const { article, revision } = await node.node.articles.get(made.articleId);
    expect(toArticle(article, revision)).toMatchObject({
      title: "Kites in high wind",
      slug: "kites-in-high-wind",
      topicId,
      createdBy: "ben",
      revision: 0,
      files: [],
      wordCount: 0,
    });
    expect((await storage.records.get(workspaceCountersRecord, workspaceId))?.value.counters).toMatchObject({ article: 1, brief: 1 });
    expect((await node.get(workspaceId, topicId)).articleId).toBe(made.articleId);
    for (const wanted of [undefined, made.articleId]) {
      expect(await ensure(wanted)).toEqual({ articleId: made.articleId, created: false, linked: false });
    }
    expect((await node.node.articles.list({ workspaceId })).items).toHaveLength(1);
  });

  test("[TO40] two concurrent requests create one article", async () => {
    const second = createTopicNode(storage, time);
    const both = await Promise.all([ensure(), second.topics.ensure(call(), workspaceId, topicId, undefined)]);
    expect(both[0]?.articleId).toBe(both[1]?.articleId);
    expect(both.map(({ created }) => created).sort()).toEqual([false, true]);
    expect((await node.node.articles.list({ workspaceId })).items).toHaveLength(1);
    await second.node.close();
  });

  test("[TO40] an existing article is linked, unless it is foreign, in the trash or another topic's", async () => {
    const articleId = await makeArticle();
    expect(await ensure(articleId)).toEqual({ articleId, created: false, linked: true });
    expect((await node.node.articles.get(articleId)).article.topicId).toBe(topicId);
    const other = await node.create(workspaceId, { title: "Another" });
    await expect(ensure(articleId, {}, other)).rejects.toMatchObject({ code: "already_exists" });
    const second = await makeArticle();
    await expect(ensure(second)).rejects.toMatchObject({ code: "already_exists" });

    const foreignWorkspaceId = await addWorkspace(storage, partition);
    const foreign = await node.node.articles.create({ workspaceId: foreignWorkspaceId, title: "Theirs" }, node.call(foreignWorkspaceId));
    await node.node.articles.delete(second, false, call());
    const missing = articleId.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    for (const refused of [foreign.article.articleId, second, missing]) {
      await expect(ensure(refused, {}, other)).rejects.toMatchObject({
        code: "validation_failed",
        facts: { errors: [{ pointer: "/articleId" }] },
      });
    }
    expect((await node.get(workspaceId, other)).articleId).toBeUndefined();
    // While the topic's own article is in the trash, it is neither returned nor replaced.
    await node.node.articles.delete(articleId, false, call());
    await expect(ensure()).rejects.toMatchObject({ code: "invalid_transition", facts: { currentState: "article_deleted" } });
  });

  test("[TO41] outline and draft are those of the last commit that contains them", async () => {
    const read = (file: ArticleFile) => node.topics.read(workspaceId, topicId, file);
    await expect(read("outline.md")).rejects.toMatchObject({ code: "not_found" });
    const { articleId } = await ensure();
    await append(articleId, "typed only", "outline.md");
    await expect(read("outline.md")).rejects.toMatchObject({ code: "not_found" });
    await commit(articleId);
    await append(articleId, " and more", "outline.md");
    expect(await read("outline.md")).toEqual({ topicId, articleId, text: "typed only" });
    await expect(read("content.md")).rejects.toMatchObject({ code: "not_found" });
    await append(articleId, "draft", "content.md");
    await commit(articleId);
    expect((await read("outline.md")).text).toBe("typed only and more");
    // After an empty commit, the earlier commit has the text. After new text is committed, the new commit has it.
    const { revision } = await node.node.articles.get(articleId);
    await node.node.edits.edit(articleId, { mode: "replace", file: "outline.md", content: "", baseRevision: revision }, call());
    await commit(articleId);
    await append(articleId, "!", "content.md");
    await commit(articleId);
    expect([(await read("outline.md")).text, (await read("content.md")).text]).toEqual(["typed only and more", "draft!"]);
    await append(articleId, "third", "outline.md");
    await commit(articleId);
    expect((await read("outline.md")).text).toBe("third");
    await node.node.articles.delete(articleId, false, call());
    await expect(read("content.md")).rejects.toMatchObject({ code: "not_found" });
  });

  test("[TO42] a person's commit moves the topic through every status between, each with its audit event", async () => {
    const { articleId } = await ensure();
    await append(articleId, "notes", "research.md");
    await commit(articleId);
    expect(await status()).toBe("idea");
    await append(articleId, "# Outline", "outline.md");
    const outline = (await commit(articleId)).commit;
    expect(await status()).toBe("outlined");
    await node.send(workspaceId, topicId, { type: "outline.approve", by: "ben" });
    await append(articleId, "# Draft", "content.md");
    await commit(articleId);
    expect(await status()).toBe("drafted");
    expect((await node.get(workspaceId, topicId)).approvals).toMatchObject({ outline: { approvedBy: "ben" } });
    expect(await node.audit(workspaceId, topicId)).toEqual([
      "topic_created",
      "topic_shortlisted",
      "outline_generated",
      "outline_approved",
      "draft_generated",
    ]);
    const { items } = await node.topics.audit({ workspaceId, topicId }, {});
    expect(items.find(({ eventType }) => eventType === "outline_generated")).toMatchObject({
      actorId: "ada",
      articleId,
      metadata: { commitId: outline.commitId, revision: outline.revision },
    });
    // A later commit of the outline removes its approval. A commit of another file does not.
    await append(articleId, " more", "content.md");
    await commit(articleId);
    expect((await node.get(workspaceId, topicId)).approvals).toMatchObject({ outline: { approvedBy: "ben" } });
    await append(articleId, " more", "outline.md");
    await commit(articleId);
    expect(await node.get(workspaceId, topicId)).not.toHaveProperty("approvals");
    expect(await status()).toBe("drafted");
  });

  test("[TO42] an automatic checkpoint moves no status, and an emptied file moves nothing at all", async () => {
    const { articleId } = await ensure();
    node.node.pump.start();
    await append(articleId, "in the making", "content.md");
    await time.until(async () => (await node.node.commits.list(articleId, {})).items.length === 1, { withinMs: quietMs * 3 });
    expect(await status()).toBe("idea");
    expect(await node.audit(workspaceId, topicId)).toEqual(["topic_created"]);
    const { revision } = await node.node.articles.get(articleId);
    await node.node.edits.edit(articleId, { mode: "replace", content: "", baseRevision: revision }, call());
    await commit(articleId);
    expect(await status()).toBe("idea");
    await append(articleId, "again", "content.md");
    await commit(articleId);
    expect(await status()).toBe("drafted");
  });

  test("[TO42] a run's commit completes only its own stage; people's text in other files moves nothing", async () => {
    const { articleId } = await ensure();
    await append(articleId, "# Outline", "outline.md");
    await append(articleId, "a few words", "content.md");
    const run = { runId: "run_1", stepName: "outline", file: "outline.md", seoBriefRevision: 3 } as const;
    expect(await prepared(articleId, "agent", run)).toMatchObject({ kind: "ready", ok: true });
    const topic = await node.get(workspaceId, topicId);
    expect(topic).toMatchObject({ status: "outlined", outlineSeoBriefRevision: 3 });
    expect(topic).not.toHaveProperty("draftSeoBriefRevision");
    expect(await node.audit(workspaceId, topicId)).toEqual([
      "topic_created",
      "topic_shortlisted",
      "outline_generated",
      "pipeline_stage_completed",
    ]);
    expect(await prepared(articleId, "agent", run)).toMatchObject({ kind: "unchanged", lastCommitId: expect.stringMatching(/^cmt_/) });
    expect((await node.audit(workspaceId, topicId)).length).toBe(4);
  });

  test.each(["before", "after"] as const)(
    "[TO42] commit, topic move and audit are one: a crash just %s any write leaves all or nothing",
    async (when) => {
      const left: string[] = [];
      for (let dieAt = 1; dieAt < 20; dieAt += 1) {
        topicId = await node.create(workspaceId);
        const { articleId } = await ensure();
        await append(articleId, `# Outline ${dieAt}`, "outline.md");
        const dying = createDyingStorage(storage, dieAt, when);
        const doomed = createTopicNode(dying, time);
        const committing = doomed.node.commits.create(articleId, {}, { ...call(), commit: dying.commit });
        const dead = time.until(() => dying.dead, { withinMs: 1000 }).then(() => "dead");
        const ended = await Promise.race([committing.then(() => "done"), dead]);
        dead.catch(() => {});
        const commits = (await node.node.commits.list(articleId, {})).items.length;
        const told = (await node.audit(workspaceId, topicId)).filter((type) => type === "outline_generated").length;
        left.push(`${commits} ${await status()} ${told}`);
        if (ended === "done") break;
      }
      // The process died at the blob of the text, at the blob of the attribution, and at the commit.
      expect(left).toEqual(["0 idea 0", "0 idea 0", when === "before" ? "0 idea 0" : "1 outlined 1", "1 outlined 1"]);
    },
  );

  test("[TO42] a commit prepared on an outdated state is refused as a whole", async () => {
    const { articleId } = await ensure();
    await append(articleId, "# Outline", "outline.md");
    const order = { articleId, commitId: node.node.ids.next("cmt", partition), kind: "agent", message: "", ids: node.node.ids } as const;
    const unit = node.actors.openUnit(partition);
    const made = await node.node.writer.commit(unit, order);
    if (made.kind !== "ready") throw new Error(made.kind);
    await node.topics.update(call(), { workspaceId, topicId }, { title: "Renamed" } as never);
    expect(await unit.commit((batch) => storage.commit(batch))).toMatchObject({ ok: false, conflict: { kind: "record" } });
    expect([await status(), (await node.node.commits.list(articleId, {})).items.length]).toEqual(["idea", 0]);
  });

  test("[TO43] commits, events and articles name their topic and the run that made them", async () => {
    const { articleId } = await ensure();
    await append(articleId, "# Outline", "outline.md");
    const made = await prepared(articleId, "agent", { runId: "run_9", stepName: "outline", file: "outline.md" });
    expect(made).toMatchObject({ kind: "ready", ok: true });
    const [newest] = (await node.node.commits.list(articleId, {})).items;
    if (newest === undefined) throw new Error("no commit");
    expect(toCommit(newest)).toMatchObject({ kind: "agent", runId: "run_9" });
    expect(node.webhooks).toEqual([expect.objectContaining({ articleId, topicId, runId: "run_9", kind: "agent" })]);
    expect((await storage.records.get(articleRecord, articleId))?.value).toMatchObject({ topicId, updatedBy: "cal" });
    // Articles of one moment are listed by their ids, which are random.
    await time.advance(1);
    const lone = await makeArticle();
    await commit(lone);
    const listed = async (filter: object) =>
      (await node.node.articles.list({ workspaceId, ...filter })).items.map(({ article }) => article.articleId);
    expect([await listed({ topicId }), await listed({})]).toEqual([[articleId], [lone, articleId]]);
    expect(await listed({ topicId, q: "Written" })).toEqual([]);
    const otherId = await addWorkspace(storage, partition);
    expect((await node.node.articles.list({ workspaceId: otherId, topicId })).items).toEqual([]);
    await node.node.articles.delete(articleId, false, call());
    expect([await listed({ topicId }), await listed({ topicId, deleted: true })]).toEqual([[], [articleId]]);
    expect(Object.keys(node.webhooks[1] ?? {})).not.toContain("topicId");
    expect(Object.keys(node.webhooks[1] ?? {})).not.toContain("runId");
  });

  test("[TO44] a topic keeps its article in the trash and loses it at the final deletion", async () => {
    const { articleId } = await ensure();
    await append(articleId, "# Outline", "outline.md");
    await commit(articleId);
    await node.node.articles.delete(articleId, false, call());
    expect((await node.get(workspaceId, topicId)).articleId).toBe(articleId);
    await node.node.articles.undelete(articleId, call());
    expect((await node.node.articles.get(articleId)).article.topicId).toBe(topicId);
    await node.send(workspaceId, topicId, { type: "topic.archive", reason: "manual", by: "ada" });
    await node.node.articles.delete(articleId, true, call({ role: "admin" }));
    expect(await node.get(workspaceId, topicId)).not.toHaveProperty("articleId");
    await node.topics.restore(call(), { workspaceId, topicId });
    expect(await status()).toBe("outlined");
    const next = await ensure();
    expect(next).toMatchObject({ created: true, linked: true });
    expect(next.articleId).not.toBe(articleId);
  });

  test("[TO44] a topic loses its article when the trash is emptied after its time", async () => {
    const { articleId } = await ensure();
    await node.node.articles.delete(articleId, false, call());
    node.node.pump.start();
    await time.leap(node.node.limits["keep.trash"] + 1);
    await time.until(async () => (await storage.records.get(articleRecord, articleId)) === undefined, { withinMs: 60_000 });
    expect(await node.get(workspaceId, topicId)).not.toHaveProperty("articleId");
  });
});
