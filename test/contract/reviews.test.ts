/** Tests anchors, suggestions and the end of reviews. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type * as Y from "yjs";
import type { AppError } from "../../api/schema/error.ts";
import type { CreateReviewRequest } from "../../api/schema/review.ts";
import { reviewRecord } from "../../server/domain/reviews/records.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { codeOf } from "../support/codeOf.ts";
import { createDyingStorage } from "../support/dyingStorage.ts";
import { createManualTime, type ManualTime } from "../support/manualTime.ts";
import { domainStorages } from "../support/storages.ts";
import { type ArticleNodeOptions, addWorkspace, type CallOptions, createCall, quietMs } from "./articleFixture.ts";
import { createReviewNode, type ReviewNode } from "./reviewFixture.ts";

const text = "# Kites\n\nA kite needs teh wind. A kite needs a line.\n";

describe.each(domainStorages())("reviews on %s", (_name, openStorage) => {
  let time: ManualTime;
  let storage: Storage;
  let close: () => Promise<void>;
  let nodes: ReviewNode[];
  let node: ReviewNode;
  let workspaceId: string;
  let articleId: string;

  const createNode = (on = storage, options: ArticleNodeOptions = {}): ReviewNode => {
    const created = createReviewNode(on, time, options);
    nodes.push(created);
    return created;
  };
  const call = (options: CallOptions = {}) =>
    createCall(storage, workspaceId, partitionOfId(workspaceId), { limits: node.limits, ...options });
  const create = async (request: Partial<CreateReviewRequest>, on = node) =>
    (await on.reviews.create(articleId, { body: "A remark.", ...request }, call())).review;
  const suggest = (quote: string, replacement: string) => create({ kind: "suggestion", anchor: { quote }, replacement });
  const get = async (reviewId: string, on = node) => (await on.reviews.get(reviewId)).review;
  const live = async (on = node) => (await on.content.readText(articleId, "content.md", undefined)).text;
  const commits = async () => (await node.commits.list(articleId, {})).items.map(({ message }) => message);
  /** Changes the text as a client without a diff does. */
  const rewrite = (written: string) =>
    node.rooms.edit(articleId, { username: "bob", kind: "user" }, undefined, (document: Y.Doc) => {
      const shared = document.getText("content.md");
      shared.delete(0, shared.length);
      shared.insert(0, written);
    });
  const type = (at: number, insert: string, remove = 0) =>
    node.rooms.edit(articleId, { username: "bob", kind: "user" }, undefined, (document: Y.Doc) => {
      document.getText("content.md").delete(at, remove);
      document.getText("content.md").insert(at, insert);
    });

  beforeEach(async () => {
    time = createManualTime();
    ({ storage, close } = await openStorage(time));
    nodes = [];
    node = createNode();
    workspaceId = await addWorkspace(storage);
    articleId = (await node.articles.create({ workspaceId, title: "Kites", content: text }, call())).article.articleId;
  });
  afterEach(async () => {
    for (const each of nodes) {
      await each.pump.drain(AbortSignal.abort());
      await each.rooms.drain();
      await each.closeReviews();
      await each.close();
    }
    await close();
  });

  test("[RV2] a place is a quote that occurs once, or a range of characters at a known revision", async () => {
    const review = await create({ anchor: { quote: "teh wind" } });
    expect(review.anchor).toEqual({
      quote: "teh wind",
      prefix: "# Kites\n\nA kite needs ",
      suffix: ". A kite needs a line.\n",
      start: 22,
      end: 30,
      revision: 1,
      state: "anchored",
    });
    await type(0, "Title. ");
    const range = await create({ anchor: { start: 22, end: 30, revision: 1 } });
    expect(range.anchor).toMatchObject({ quote: "teh wind", start: 29, end: 37, revision: 2 });
    expect((await create({ anchor: { quote: "A kite", suffix: " needs a" } })).anchor).toMatchObject({ start: 39 });
    expect((await create({ anchor: { quote: "A kite", occurrence: 2 } })).anchor).toMatchObject({ start: 39 });
    expect((await create({})).anchor).toBeNull();
    const ambiguous = await create({ anchor: { quote: "A kite" } }).catch((reason: unknown) => reason);
    expect(ambiguous).toMatchObject({ code: "anchor_ambiguous" });
    expect((ambiguous as AppError).facts.errors?.map(({ message }) => message)).toEqual([
      expect.stringContaining("occurrence 1 is at 16 to 22"),
      expect.stringContaining("occurrence 2 is at 39 to 45"),
    ]);
    for (const [anchor, code] of [
      [{ quote: "no such words" }, "anchor_not_found"],
      [{ quote: "A kite", occurrence: 3 }, "anchor_not_found"],
      [{ quote: "teh\ud800" }, "content_not_accepted"],
      [{ start: 4, end: 4, revision: 1 }, "validation_failed"],
      [{ start: 0, end: 400, revision: 1 }, "validation_failed"],
      [{ start: 0, end: 4, revision: 99 }, "revision_conflict"],
    ] as const) {
      expect([anchor, await codeOf(create({ anchor }))]).toEqual([anchor, code]);
    }
  });

  test("[RV2] the fields of a review must fit its kind, and a suggestion must change something", async () => {
    const anchor = { quote: "teh" };
    expect(await codeOf(create({ kind: "suggestion", replacement: "the" }))).toBe("validation_failed");
    expect(await codeOf(create({ kind: "suggestion", anchor }))).toBe("validation_failed");
    expect(await codeOf(create({ anchor, replacement: "the" }))).toBe("validation_failed");
    expect(await codeOf(create({ kind: "suggestion", anchor, replacement: "teh" }))).toBe("validation_failed");
    expect(await codeOf(create({ kind: "suggestion", anchor, replacement: "\0" }))).toBe("content_not_accepted");
    expect(await codeOf(create({ body: "x".repeat(10_001) }))).toBe("validation_failed");
  });

  test("[RV7] a stored place follows the text after each commit, so that later rewrites are followed too", async () => {
    node.pump.start();
    const head = (name: string) => `Words that are long enough for a context, before the ${name} `;
    const tail = (name: string) => ` ${name}, after which words follow that are long enough.`;
    await rewrite(`${head("First")}teh wind${tail("First")}`);
    const { reviewId } = await create({ anchor: { quote: "teh wind" } });
    const stored = async () => (await storage.records.get(reviewRecord, reviewId))?.value.context.anchor;
    // Each rewrite keeps one side of the context. Without storing, the second one would keep nothing of the first context.
    for (const [before, after] of [
      [head("First"), tail("Second")],
      [head("Second"), tail("Second")],
      [head("Second"), tail("Third")],
    ] as const) {
      await rewrite(`${before}teh wind${after}`);
      expect((await get(reviewId)).anchor).toMatchObject({ state: "moved", start: before.length });
      await node.commits.create(articleId, { message: after }, call());
      await time.until(async () => {
        const anchor = await stored();
        return anchor?.prefix === before.slice(-32) && anchor.suffix === after.slice(0, 32);
      });
      expect(await stored()).toMatchObject({ state: "moved", isMoved: true });
    }
    await rewrite("Nothing of it.");
    await node.commits.create(articleId, { message: "gone" }, call());
    await time.until(async () => (await stored())?.state === "orphaned");
    expect((await node.list.ofWorkspace(workspaceId, {}, call())).items[0]?.anchor).toMatchObject({ state: "orphaned" });
  });

  test("[RV33] a review shows the text around its place as it is, before its place is stored as after it", async () => {
    const { reviewId } = await create({ anchor: { quote: "teh wind" } });
    await type(text.indexOf("teh wind"), "much of ");
    const read = async () => {
      const { review, revision, metaRevision } = await node.reviews.get(reviewId);
      return { review, tag: [revision, metaRevision] };
    };
    const before = await read();
    expect(before.review.anchor).toMatchObject({ prefix: "# Kites\n\nA kite needs much of ", state: "anchored" });
    await node.commits.create(articleId, {}, call());
    node.pump.start();
    const first = (await storage.records.get(reviewRecord, reviewId))?.revision;
    await time.until(async () => (await storage.records.get(reviewRecord, reviewId))?.revision !== first);
    expect(await read()).toEqual(before);
    expect((await node.list.ofArticle(articleId, {}, call())).items).toEqual([before.review]);
  });

  test("[RV11] accepting replaces the quote among the words of others, and commits", async () => {
    const { reviewId } = await suggest("teh wind", "the wind");
    await type(text.indexOf("A kite"), "Surely. ");
    const accepted = (await node.suggestions.accept(reviewId, call({ viaKey: true }))).review;
    expect(accepted).toMatchObject({ status: "accepted", resolvedBy: "ada", anchor: { state: "orphaned", revision: 2 } });
    expect(await live()).toBe(text.replace("A kite", "Surely. A kite").replace("teh", "the"));
    const [commit] = (await node.commits.list(articleId, {})).items;
    expect(commit).toMatchObject({ kind: "commit", message: "Accept suggestion of ada", revision: 3 });
    expect(commit?.authors).toEqual([
      { username: "bob", kind: "user" },
      { username: "ada", kind: "user" },
    ]);
    expect(node.reviewEvents.resolved).toMatchObject([{ reviewId, status: "accepted" }]);
    expect(await codeOf(node.suggestions.accept(reviewId, call()))).toBe("invalid_transition");
    expect(await codeOf(node.reviews.reject(reviewId, call()))).toBe("invalid_transition");
    expect(await get(reviewId)).toEqual(accepted);
  });

  test("[RV12] a suggestion whose quote is gone is refused with anchor_orphaned, and nothing changes", async () => {
    const { reviewId } = await suggest("teh wind", "the wind");
    await type(text.indexOf("teh"), "the", 3);
    expect((await get(reviewId)).anchor).toMatchObject({ state: "orphaned", start: 22, revision: 1 });
    expect(await codeOf(node.suggestions.accept(reviewId, call()))).toBe("anchor_orphaned");
    expect(await live()).toBe(text.replace("teh", "the"));
    expect(await get(reviewId)).toMatchObject({ status: "open" });
    expect(await commits()).toEqual([]);
    expect((await node.reviews.reject(reviewId, call())).review).toMatchObject({ status: "rejected", resolvedBy: "ada" });
    const comment = await create({ anchor: { quote: "line" } });
    expect(await codeOf(node.suggestions.accept(comment.reviewId, call()))).toBe("invalid_transition");
  });

  test("[RV13] of concurrent decisions about a suggestion on two nodes one is made, and the text fits it", async () => {
    const other = storage.isShared ? createNode(storage, { nodeId: "node_b" }) : node;
    for (let round = 0; round < 8; round += 1) {
      await rewrite(text);
      const { reviewId } = await suggest("teh wind", "the wind");
      const ends = await Promise.allSettled([
        node.suggestions.accept(reviewId, call()),
        (round % 2 === 0 ? other : node).suggestions.accept(reviewId, call()),
        (round % 4 < 2 ? other : node).reviews.reject(reviewId, call()),
      ]);
      expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const end of ends)
        if (end.status === "rejected")
          expect(end.reason).toMatchObject({ code: expect.stringMatching(/invalid_transition|anchor_orphaned/) });
      const { status } = await get(reviewId);
      const expected = status === "accepted" ? text.replace("teh", "the") : text;
      expect([status, await live(), await live(other)]).toEqual([status, expected, expected]);
    }
  });

  test("[RV29] blame names the author of an accepted suggestion, after a commit, a checkpoint and a restart", async () => {
    const suggestion = { body: "More.", kind: "suggestion", anchor: { quote: "teh wind" }, replacement: "a strong wind" } as const;
    const made = await node.reviews.create(articleId, suggestion, call({ username: "cleo", viaKey: true }));
    await node.suggestions.accept(made.review.reviewId, call());
    const blame = async (on = node) => {
      const shown = await live(on);
      const { items } = (await on.blame.read(articleId, {})).spans;
      return items.map(({ start, end, username, kind }) => `${kind}/${username} ${shown.slice(start, end)}`);
    };
    const wanted = [`user/ada ${text.slice(0, text.indexOf("teh"))}`, "key/cleo a strong", "user/ada  wind. A kite needs a line.\n"];
    expect(await blame()).toEqual(wanted);
    const [commit] = (await node.commits.list(articleId, {})).items;
    expect(commit?.authors).toContainEqual({ username: "cleo", kind: "key" });
    expect((await node.articles.get(articleId)).article.updatedBy).toBe("ada");

    node.pump.start();
    await type(text.length + "a strong".length - "teh".length, "End.");
    await time.until(async () => (await node.commits.list(articleId, {})).items[0]?.kind === "checkpoint", {
      stepMs: 1000,
      withinMs: 60_000,
    });
    const later = [...wanted, "user/bob End."];
    expect(await blame()).toEqual(later);
    expect(await blame(createNode(storage, { nodeId: "node_restarted" }))).toEqual(later);
  });

  test("[RV14] a crash at any write of an acceptance stores the whole acceptance or nothing, and one commit follows", async () => {
    let accepted = 0;
    for (const when of ["before", "after"] as const) {
      for (let dieAt = 1; ; dieAt += 1) {
        await rewrite(text);
        await node.commits.create(articleId, { message: "before" }, call());
        const earlier = (await commits()).length;
        const { reviewId } = await suggest("teh wind", "the wind");
        const dying = createDyingStorage(storage, dieAt, when);
        const first = createNode(dying, { nodeId: `node_${when}_${dieAt}` });
        let isOver = false;
        const ended = first.suggestions.accept(reviewId, call()).then(() => {
          isOver = true;
        });
        await time.until(() => dying.dead || isOver, { stepMs: 10 });
        await time.advance(0);
        const second = createNode(storage, { nodeId: `node_${when}_${dieAt}_second` });
        const { status } = await get(reviewId, second);
        expect([status, await live(second)]).toEqual([status, status === "accepted" ? text.replace("teh", "the") : text]);
        if (status === "accepted") {
          second.pump.start();
          await time.until(async () => (await commits()).length > earlier, { stepMs: 1000, withinMs: 60_000 });
          // A checkpoint would come later: nothing is left for it.
          await time.advance(2 * quietMs);
          expect((await commits()).slice(0, -earlier)).toEqual(["Accept suggestion of ada"]);
          accepted += 1;
        } else {
          expect(status).toBe("open");
        }
        await second.pump.drain(AbortSignal.abort());
        if (dying.dead) continue;
        await ended;
        break;
      }
    }
    expect(accepted).toBeGreaterThanOrEqual(4);
  });

  test("[RV15] a repeat of an interrupted request makes the same review and reply once", async () => {
    const attempt = { seed: "repeated review", nowMs: time.now() };
    const request = { body: "Again.", anchor: { quote: "teh" } };
    const once = (await node.reviews.create(articleId, request, call({ attempt }))).review;
    const again = (await node.reviews.create(articleId, request, call({ attempt }))).review;
    expect(again).toEqual(once);
    const { reviewId } = once;
    const reply = await node.replies.add(reviewId, "Yes.", call({ attempt }));
    expect(await node.replies.add(reviewId, "Yes.", call({ attempt }))).toEqual(reply);
    expect((await node.list.ofArticle(articleId, {}, call())).items).toHaveLength(1);
    expect((await get(reviewId)).replies).toEqual([reply.value]);
  });

  test("[RV16] reviews of a trashed article stay, and those of a purged article are removed", async () => {
    const { reviewId } = await create({ anchor: { quote: "teh" } });
    for (let at = 0; at < 3; at += 1) await create({});
    await node.articles.delete(articleId, false, call());
    expect((await node.list.ofWorkspace(workspaceId, {}, call())).items).toEqual([]);
    expect(await codeOf(create({}))).toBe("not_found");
    await node.articles.undelete(articleId, call());
    expect((await node.list.ofArticle(articleId, {}, call())).items).toHaveLength(4);
    await node.articles.delete(articleId, true, call({ role: "owner" }));
    node.pump.start();
    const left = async () => {
      const found: string[] = [];
      for await (const { value } of storage.records.scan(reviewRecord, partitionOfId(articleId))) found.push(value.id);
      return found;
    };
    await time.until(async () => (await left()).length === 0);
    expect(await codeOf(node.reviews.get(reviewId))).toBe("not_found");
  });

  test("[RV17] the limits of reviews hold exactly, also for concurrent requests", async () => {
    const small = createNode(storage, {
      limits: { "review.perArticle": 3, "review.replies": 2, "review.mentions": 1, "review.bytes": 4096 },
    });
    const limits = { limits: small.limits };
    const add = (body = "A remark.") => small.reviews.create(articleId, { body }, call(limits));
    const made = await Promise.allSettled(Array.from({ length: 8 }, () => add()));
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    for (const end of made) if (end.status === "rejected") expect(end.reason).toMatchObject({ code: "limit_reached" });
    const [first] = (await small.list.ofArticle(articleId, {}, call(limits))).items;
    const reviewId = first?.reviewId ?? "";
    const replies = await Promise.allSettled(Array.from({ length: 5 }, () => small.replies.add(reviewId, "Yes.", call(limits))));
    expect(replies.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    await small.reviews.delete(reviewId, call(limits));
    const { review } = await add("@ada");
    expect(await codeOf(small.replies.add(review.reviewId, "@bo", call(limits)))).toBe("validation_failed");
    expect(await codeOf(small.replies.add(review.reviewId, "@ada @bo", call(limits)))).toBe("validation_failed");
    expect(await codeOf(small.replies.add(review.reviewId, "x".repeat(5000), call(limits)))).toBe("limit_reached");
    expect((await get(review.reviewId)).replies).toEqual([]);
  });
});
