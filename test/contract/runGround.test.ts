/**
 * Tests articles, topics and limits that change during a run: trash, archive, removed members, texts that grow too
 * large.
 */
import { afterEach, describe, expect, test } from "vitest";
import { toNewArticle } from "../../server/domain/articles/articleWriter.ts";
import { articleRecord } from "../../server/domain/articles/records.ts";
import { type WorkspaceRecord, workspaceRecord } from "../../server/domain/identity/workspaces/records.ts";
import type { Executors } from "../../server/domain/runs/executors/port.ts";
import { runLists, runRecord } from "../../server/domain/runs/model/records.ts";
import { createIds } from "../../server/platform/storage/ids.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { type Answer, workspaceId } from "../support/operationServer.ts";
import { createCall } from "./articleFixture.ts";
import { createGate, draftOf, draftRun, eventsOf, openEngine, partition, written } from "./runBreaksFixture.ts";
import { finished, readRun, toInput } from "./runEngineFixture.ts";
import { createRunRig, noUsage, type RunRig } from "./runRig.ts";

let rig: RunRig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});

async function openRig(executors: Executors = {}, storage: Storage = createMemoryStorage()): Promise<RunRig> {
  rig = await createRunRig({ storage, executors });
  return rig;
}

describe("missing articles and ended steps", () => {
  test("[RU75] a run that ends while its article is deleted does not delay the deletion", async () => {
    const memory = createMemoryStorage();
    let meanwhile: (() => Promise<unknown>) | undefined;
    const storage: Storage = {
      ...memory,
      records: {
        ...memory.records,
        async getMany(type, keys) {
          const once = (type as { name: string }).name === runRecord.name ? meanwhile : undefined;
          if (once !== undefined) meanwhile = undefined;
          await once?.();
          return memory.records.getMany(type, keys);
        },
      },
    };
    const current = await openRig({}, storage);
    const topicId = await current.makeTopic();
    const { runId, articleId } = await current.expect(202, "POST", current.topicPath(topicId, "/outline"), {});
    await current.runIn(runId, "paused_for_approval");
    meanwhile = () => current.expect(202, "POST", `/runs/${runId}/cancel`, { reason: "mine" });
    await current.node.articles.delete(articleId, false, createCall(storage, workspaceId, partition, { username: "ana", role: "owner" }));
    expect((await current.run(runId)).status).toBe("cancelled");
    expect((await current.node.articles.list({ workspaceId })).items).toEqual([]);
  });

  /** A store that runs `before` once, ahead of the next commit that puts a record of the type named `type`. */
  function createInterruptedStorage() {
    const memory = createMemoryStorage();
    let next: { readonly type: string; readonly before: () => Promise<unknown> } | undefined;
    const storage: Storage = {
      ...memory,
      async commit(batch) {
        const { type, before } = next ?? {};
        if (before !== undefined && batch.records?.some((write) => write.op === "put" && write.type.name === type)) {
          next = undefined;
          await before();
        }
        return memory.commit(batch);
      },
    };
    return {
      storage,
      interrupt(type: string, before: () => Promise<unknown>) {
        next = { type, before };
      },
    };
  }

  /** Starts a run of an article that has no active run. `topicId` is absent for an article without a topic. */
  type Start = (
    current: RunRig,
    target: { readonly articleId: string; readonly topicId?: string; readonly runId?: string },
  ) => Promise<Answer>;
  const starts: Readonly<Record<string, Start>> = {
    "a run of a topic": (current, { topicId = "" }) => current.request("POST", current.topicPath(topicId, "/outline"), {}),
    "a run of an article without a topic": (current, { articleId }) =>
      current.request("POST", "/workflows/standard_article/runs", { workspaceId, articleId }),
    "a retry": (current, { runId }) => current.request("POST", `/runs/${runId}/retry`),
  };

  async function openInterrupted(what: string) {
    const { storage, interrupt } = createInterruptedStorage();
    const current = await openRig({}, storage);
    const call = createCall(storage, workspaceId, partition, { username: "ana", role: "owner" });
    const start = (target: Parameters<Start>[1]) =>
      starts[what]?.(current, target) ?? Promise.reject(new Error(`no start is named ${what}`));
    const trash = (articleId: string) => current.node.articles.delete(articleId, false, call);
    const activeOf = async (articleId: string) => {
      const rows = await storage.index.scan({ partition, prefix: runLists.activeOfArticle(articleId), limit: 10 });
      return rows.map(({ target }) => target);
    };
    if (what === "a run of an article without a topic") {
      const { articleId } = (await current.node.articles.create({ workspaceId, title: "Wells" }, call)).article;
      return { interrupt, start: () => start({ articleId }), trash: () => trash(articleId), active: () => activeOf(articleId) };
    }
    const topicId = await current.makeTopic();
    const { runId, articleId } = await current.expect(202, "POST", current.topicPath(topicId, "/outline"), {});
    await current.expect(202, "POST", `/runs/${runId}/cancel`);
    await current.runIn(runId, "cancelled");
    return {
      interrupt,
      start: () => start({ articleId, topicId, runId }),
      trash: () => trash(articleId),
      active: () => activeOf(articleId),
    };
  }

  test.each(Object.keys(starts))("[RU111] %s is refused if its article was moved to the trash first", async (what) => {
    const { interrupt, start, trash, active } = await openInterrupted(what);
    interrupt(runRecord.name, trash);
    const { status, headers, body } = await start();
    expect([status, headers.get("content-type"), body.code]).toEqual(
      what === "a run of an article without a topic"
        ? [422, "application/problem+json", "validation_failed"]
        : [409, "application/problem+json", "invalid_transition"],
    );
    expect(await active()).toEqual([]);
  });

  test.each(Object.keys(starts))("[RU111] %s is cancelled if its article is being moved to the trash", async (what) => {
    const { interrupt, start, trash, active } = await openInterrupted(what);
    let started: Answer | undefined;
    interrupt(articleRecord.name, async () => {
      started = await start();
    });
    await trash();
    expect(started?.status).toBe(202);
    expect(await active()).toEqual([]);
  });

  test("[RU76] a run that reads an article in the trash fails and makes no report", async () => {
    const gate = createGate();
    const current = await openRig({ article_validation: gate.run });
    const call = createCall(current.storage, workspaceId, partition, { username: "ana", role: "owner" });
    const { articleId } = (await current.node.articles.create({ workspaceId, title: "Wells" }, call)).article;
    await current.node.articles.delete(articleId, false, call);
    const runId = current.node.ids.next("run", partition);
    await current.actors.create(current.runKind, runId, {
      ...toInput([{ name: "validation", type: "article_validation" }]),
      workspaceId,
      articleId,
    });
    const run = await current.runIn(runId, "failed", "completed");
    expect(run).toMatchObject({ status: "failed", failure: { code: "not_found", stepName: "validation" } });
    expect(gate.open).toHaveLength(0);
  });

  test("[RU77] however a step ends, nothing listens for its run any more", async () => {
    const ends: Executors = {
      research: async () => finished("research"),
      thesis: async () => ({ kind: "failed", code: "step_failed", message: "no", retryable: true, usage: noUsage }),
      draft: async () => {
        throw new Error("a bug");
      },
      review: async () => finished("review"),
      outline: () => new Promise(() => {}),
    };
    const engine = openEngine(ends);
    const ids = createIds(engine.time);
    const before = engine.listening.count;
    // There are no documents here, so a read of a document after the start of the step is a bug.
    const articleId = ids.next("art", partition);
    const article = toNewArticle({ articleId, workspaceId, number: 1, title: "Wells", by: "ada", nowMs: engine.time.now() });
    await engine.storage.commit({ partition, records: [{ op: "put", type: articleRecord, value: article, replacing: null }] });
    for (const type of ["research", "thesis", "draft", "review", "outline"] as const) {
      const runId = ids.next("run", partition);
      await engine.actors.create(engine.kind, runId, toInput([{ name: type, type }], [], type === "review" ? { articleId } : {}));
      await engine.time.advance(60_000);
      if (type === "outline") await engine.actors.send(engine.kind, runId, { type: "run.cancel", by: "ben" });
      await engine.time.advance(60_000);
      expect((await readRun(engine.storage, runId)).pending, type).toEqual([]);
      expect(engine.listening.count, type).toBe(before);
    }
  });
});

describe("in the middle of a streaming draft", () => {
  async function halfway(gate: ReturnType<typeof createGate>) {
    const current = await openRig({ draft: gate.run });
    const run = await draftRun(current);
    await expect.poll(() => gate.open.length).toBe(1);
    await gate.open[0]?.write("half a draft, ");
    await expect.poll(() => draftOf(current, run.articleId)).toBe("half a draft, ");
    return { current, ...run };
  }

  async function expectWrittenOnce(current: RunRig, gate: ReturnType<typeof createGate>, runId: string, articleId: string): Promise<void> {
    await current.expect(202, "POST", `/runs/${runId}/retry`);
    await expect.poll(() => gate.open.length).toBe(2);
    await gate.open[1]?.write("a whole draft");
    gate.open[1]?.end(written("a whole draft"));
    await current.runIn(runId, "completed");
    expect(await draftOf(current, articleId)).toBe("a whole draft");
    expect(current.node.rooms.presence(articleId)).toEqual([]);
    expect(await eventsOf(current.storage, runId, "agent.step_completed")).toHaveLength(3);
  }

  test("[RU86] a trashed article ends its streaming draft, and a retry after the restore writes it once", async () => {
    const gate = createGate();
    const { current, runId, articleId } = await halfway(gate);
    const call = createCall(current.storage, workspaceId, partition, { username: "ana", role: "owner" });
    await current.node.articles.delete(articleId, false, call);
    expect((await current.run(runId)).status).toBe("cancelled");
    await gate.open[0]?.write("and more").catch(() => {});
    gate.open[0]?.end(written("half a draft, and more"));
    await current.node.articles.undelete(articleId, call);
    await expectWrittenOnce(current, gate, runId, articleId);
  });

  test("[RU86] an archived topic ends its streaming draft, and a retry after the restore writes it once", async () => {
    const gate = createGate();
    const { current, runId, articleId, topicId } = await halfway(gate);
    await current.expect(200, "POST", current.topicPath(topicId, "/archive"));
    await gate.open[0]?.write("and more").catch(() => {});
    gate.open[0]?.end(written("half a draft, and more"));
    await expect.poll(() => current.node.rooms.presence(articleId)).toEqual([]);
    expect(await draftOf(current, articleId)).toBe("half a draft, ");
    expect((await current.topic(topicId)).status).toBe("archived");
    await current.expect(200, "POST", current.topicPath(topicId, "/restore"));
    await expectWrittenOnce(current, gate, runId, articleId);
  });

  test("[RU86] the person who started the run leaves the workspace: the run continues to its end", async () => {
    const gate = createGate();
    const { current, runId, articleId } = await halfway(gate);
    const stored = await current.storage.records.get(workspaceRecord, workspaceId);
    const value = { ...(stored?.value as WorkspaceRecord), members: [] };
    await current.storage.commit({ partition, records: [{ op: "put", type: workspaceRecord, value, replacing: stored ?? null }] });
    await gate.open[0]?.write("and the rest");
    gate.open[0]?.end(written("half a draft, and the rest"));
    await expect.poll(async () => (await readRun(current.storage, runId)).state).toBe("completed");
    expect(await draftOf(current, articleId)).toBe("half a draft, and the rest");
    expect((await current.request("GET", `/runs/${runId}`)).status).toBe(404);
  });
});

describe("limits", () => {
  test.each([
    ["the file", { "article.file": 3000 }],
    ["the document", { "document.bytes": 3000 }],
  ])("[RU85] a draft that outgrows %s fails its run, and a retry reverts the part that was shown", async (_what, limits) => {
    let pieces = 10;
    rig = await createRunRig({
      storage: createMemoryStorage(),
      limits,
      executors: {
        async draft({ write }) {
          const text = Array.from({ length: pieces }, (_, at) => `${at} `.repeat(250));
          for (const piece of text) await write(piece);
          return written(text.join(""));
        },
      },
    });
    const { runId, articleId } = await draftRun(rig);
    const failed = await rig.runIn(runId, "failed", "completed");
    expect(failed).toMatchObject({ status: "failed", failure: { code: "content_too_large", stepName: "draft", retryable: false } });
    const shown = await draftOf(rig, articleId);
    expect([shown.length > 0, shown.length < 3000]).toEqual([true, true]);
    expect(rig.node.rooms.presence(articleId)).toEqual([]);
    pieces = 2;
    await rig.expect(202, "POST", `/runs/${runId}/retry`);
    expect(await rig.runIn(runId, "failed", "completed")).toMatchObject({ status: "completed" });
    expect(await draftOf(rig, articleId)).toBe("0 ".repeat(250) + "1 ".repeat(250));
  });
});
