/** Tests the log of updates, and the snapshots that shorten it, on each store. */
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as Y from "yjs";
import { defaultLimits } from "../../api/limits.ts";
import type { LoadedDocument } from "../../realtime/ports.ts";
import { decodeBatch, encodeBatch } from "../../server/domain/articles/logEntry.ts";
import { articleRecord, documentLog, documentRecord, withPublicLink } from "../../server/domain/articles/records.ts";
import { createDocumentStore } from "../../server/domain/articles/service.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { createManualTime, type ManualTime } from "../support/manualTime.ts";
import { everyStorage, type OpenedStorage } from "../support/storages.ts";
import { addWorkspace, createArticleNode, createCall, quietMs } from "./articleFixture.ts";

const partition = 5;
const ada = { username: "ada", kind: "user" } as const;
const bob = { username: "bob", kind: "key" } as const;

test("[AR17] an entry of the log returns its time, node, authors and updates", () => {
  const author = fc.record({ username: fc.string({ minLength: 1, maxLength: 38 }), kind: fc.constantFrom("user", "agent", "key") });
  const updates = fc.array(fc.record({ author, update: fc.uint8Array({ maxLength: 300 }) }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 45 }), fc.string({ maxLength: 40 }), updates, (atMs, writer, written) => {
      const batch = decodeBatch({ position: 7, bytes: encodeBatch(atMs, writer, written) });
      expect(batch).toMatchObject({ revision: 7, atMs, writer, updates: written });
    }),
  );
});

describe.each(everyStorage())("the update log on %s", (_name, open) => {
  let time: ManualTime;
  let opened: OpenedStorage;
  let storage: Storage;
  let articleId: string;
  let source: Y.Doc;

  const store = (keptBatches = 10, keptMs = defaultLimits["document.keptMs"], on = storage) =>
    createDocumentStore({
      storage: on,
      nodeId: "node_a",
      limits: { ...defaultLimits, "document.keptBatches": keptBatches, "document.keptMs": keptMs },
      checkpointQuietMs: quietMs,
      armAtEdit: (article, nowMs) => ({
        due: [{ op: "arm", row: { id: `live/${article.articleId}`, kind: "live", dueAtMs: nowMs, attempts: 0, payload: null } }],
      }),
    });
  /** Adds one letter in its own batch. */
  const typeOne = async (log = store().updateLog) => {
    const before = Y.encodeStateVector(source);
    const text = source.getText("content.md");
    text.insert(text.length, String.fromCharCode(97 + (text.length % 26)));
    return log.append(articleId, [{ author: ada, update: Y.encodeStateAsUpdate(source, before) }]);
  };
  const textOf = ({ state, tail }: LoadedDocument) => {
    const document = new Y.Doc();
    if (state !== undefined) Y.applyUpdate(document, state);
    for (const { updates } of tail) for (const { update } of updates) Y.applyUpdate(document, update);
    return document.getText("content.md").toString();
  };
  const revisionOf = ({ revision }: LoadedDocument) => revision;
  /** Acts like a checkpoint: no earlier update waits for a commit. */
  const check = async (revision: number) => {
    const stored = await storage.records.get(articleRecord, articleId);
    if (stored === undefined) throw new Error("no article");
    await storage.commit({
      partition,
      records: [{ op: "put", type: articleRecord, value: { ...stored.value, checkedRevision: revision }, replacing: stored }],
    });
  };

  beforeEach(async () => {
    time = createManualTime();
    opened = await open(time);
    storage = opened.storage;
    const workspaceId = await addWorkspace(storage, partition);
    const node = createArticleNode(storage, time);
    articleId = (await node.articles.create({ workspaceId, title: "T" }, createCall(storage, workspaceId, partition))).article.articleId;
    source = new Y.Doc();
  });
  afterEach(() => opened.close());

  test("[AR17] an append is durable with one armed checkpoint and, if published, the rows of the page", async () => {
    const { updateLog } = store();
    expect(await typeOne(updateLog)).toEqual({ kind: "appended", revision: 1 });
    const armedAt = time.now();
    await time.advance(1000);
    expect(await typeOne(updateLog)).toEqual({ kind: "appended", revision: 2 });
    expect(await storage.due.get(partition, `checkpoint/${articleId}`)).toMatchObject({
      kind: "checkpoint",
      dueAtMs: armedAt + 1000,
      payload: { articleId, firstEditAtMs: armedAt },
    });
    expect(await storage.due.get(partition, `live/${articleId}`)).toBeUndefined();
    const stored = await storage.records.get(articleRecord, articleId);
    if (stored === undefined) throw new Error("no article");
    const link = { mode: "live", url: "https://content.example/p/t", slug: "t", state: "live" } as const;
    await storage.commit({ partition, records: [withPublicLink(stored, link)] });
    await typeOne(updateLog);
    expect(await storage.due.get(partition, `live/${articleId}`)).toBeDefined();
    expect(await updateLog.readAfter(articleId, 1)).toMatchObject({
      gap: false,
      batches: [{ revision: 2, writer: "node_a" }, { revision: 3 }],
    });
  });

  test("[AR17] an append notices that the article was moved to the trash or restored since the last append", async () => {
    const log = store().updateLog;
    const change = async (deletedAtMs: number | undefined) => {
      const stored = await storage.records.get(articleRecord, articleId);
      if (stored === undefined) throw new Error("no article");
      const { deletedAtMs: _before, ...rest } = stored.value;
      const value = deletedAtMs === undefined ? rest : { ...rest, deletedAtMs };
      await storage.commit({ partition, records: [{ op: "put", type: articleRecord, value, replacing: stored }] });
    };
    expect(await typeOne(log)).toMatchObject({ kind: "appended" });
    await change(time.now());
    expect(await typeOne(log)).toEqual({ kind: "deleted" });
    await change(undefined);
    expect(await typeOne(log)).toMatchObject({ kind: "appended" });
  });

  test("[AR17] on a shared store, a further append costs one commit and no read", async () => {
    const calls: string[] = [];
    const counted = {
      ...storage,
      records: {
        ...storage.records,
        get: (...[type, key]: Parameters<typeof storage.records.get>) => {
          calls.push("read");
          return storage.records.get(type, key);
        },
      } as Storage["records"],
      commit: (batch: Parameters<typeof storage.commit>[0]) => {
        calls.push("commit");
        return storage.commit(batch);
      },
    };
    const log = store(10, undefined, counted).updateLog;
    for (let at = 0; at < 3; at += 1) expect(await typeOne(log)).toMatchObject({ kind: "appended" });
    const further = storage.isShared ? ["commit"] : ["read", "commit"];
    expect(calls).toEqual(["read", "commit", ...further, ...further]);
  });

  test("[AR17] many concurrent appends are all stored, each with its own revision", async () => {
    const { updateLog } = store();
    const renames = (async () => {
      for (let at = 0; at < 5; at += 1) await check(0);
    })();
    const appended = await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        updateLog.append(articleId, [{ author: at % 2 === 0 ? ada : bob, update: Uint8Array.of(0, 0) }]),
      ),
    );
    await renames;
    const revisions = appended.map((result) => (result.kind === "appended" ? result.revision : 0)).sort((a, b) => a - b);
    expect(revisions).toEqual(Array.from({ length: 40 }, (_, at) => at + 1));
  });

  test("[AR18] however often states are saved, every load and every kept revision is complete", async () => {
    const { updateLog, history } = store(10);
    for (let at = 1; at <= 60; at += 1) {
      await typeOne(updateLog);
      await check(at);
      if (at % 4 === 0) await updateLog.saveState(articleId, at, Y.encodeStateAsUpdate(source));
      // A snapshot that comes too late is older than the head and must not be kept.
      if (at % 4 === 1 && at > 4) await updateLog.saveState(articleId, at - 2, Uint8Array.of(0, 0));
    }
    const loaded = await updateLog.load(articleId);
    expect(revisionOf(loaded)).toBe(60);
    expect(textOf(loaded)).toBe(source.getText("content.md").toString());
    for (let revision = 50; revision <= 60; revision += 1) {
      expect((await history.textsAt(articleId, revision))?.["content.md"]).toBe(source.getText("content.md").toString().slice(0, revision));
    }
    expect(await history.textsAt(articleId, 49)).toBeUndefined();
    expect((await storage.records.get(documentRecord, articleId))?.value.states.length).toBeLessThanOrEqual(4);
  });

  test("[AR18] the log is trimmed only behind kept revisions, and an earlier reader receives the gap", async () => {
    const { updateLog } = store(10);
    for (let at = 1; at <= 60; at += 1) {
      await typeOne(updateLog);
      await check(at);
      if (at % 2 === 0) await updateLog.saveState(articleId, at, Y.encodeStateAsUpdate(source));
    }
    const trimmedTo = (await storage.records.get(documentRecord, articleId))?.value.trimmedTo ?? 0;
    expect(trimmedTo).toBeGreaterThanOrEqual(60 - 2 * 10);
    expect(trimmedTo).toBeLessThanOrEqual(50);
    const read = await storage.log.read({ partition, log: documentLog(articleId), after: trimmedTo - 1, limit: 1 });
    expect(read).toMatchObject({ gap: true, firstKept: trimmedTo + 1 });
    expect(await updateLog.readAfter(articleId, trimmedTo - 1)).toEqual({ gap: true });
    expect(await updateLog.readAfter(articleId, trimmedTo)).toMatchObject({ gap: false });
  });

  test("[AR18] trimming keeps what a later commit needs for its authors, and everything recent", async () => {
    const { updateLog } = store(2, 60_000);
    for (let at = 1; at <= 10; at += 1) {
      await typeOne(updateLog);
      await updateLog.saveState(articleId, at, Y.encodeStateAsUpdate(source));
    }
    expect((await storage.records.get(documentRecord, articleId))?.value.trimmedTo).toBe(0);
    const byAge = store(1000, 60_000).updateLog;
    await check(10);
    await typeOne(byAge);
    await byAge.saveState(articleId, 11, Y.encodeStateAsUpdate(source));
    expect((await storage.records.get(documentRecord, articleId))?.value.trimmedTo).toBe(0);
    await time.advance(61_000);
    await typeOne(byAge);
    await byAge.saveState(articleId, 12, Y.encodeStateAsUpdate(source));
    expect((await storage.records.get(documentRecord, articleId))?.value.trimmedTo).toSatisfy((at: number) => at > 0 && at <= 10);
    expect(textOf(await byAge.load(articleId))).toBe(source.getText("content.md").toString());
  });

  test("[AR18] a load during saving and trimming is never incomplete", async () => {
    const { updateLog } = store(1);
    let writing = true;
    const loads = (async () => {
      let loaded = 0;
      while (writing) {
        const found = await updateLog.load(articleId);
        expect(textOf(found).length).toBe(revisionOf(found));
        loaded += 1;
        // Yield between reads. Otherwise the store would never get a turn to write.
        await setImmediate();
      }
      return loaded;
    })();
    for (let at = 1; at <= 60; at += 1) {
      await typeOne(updateLog);
      await check(at);
      await setImmediate();
      await updateLog.saveState(articleId, at, Y.encodeStateAsUpdate(source));
    }
    writing = false;
    expect(await loads).toBeGreaterThan(5);
  });
});
