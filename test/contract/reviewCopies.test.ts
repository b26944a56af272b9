/** Tests copies of articles with their reviews. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CreateReviewRequest, Review } from "../../api/schema/review.ts";
import { articleEventLog } from "../../server/domain/articles/articleEvents.ts";
import { jobRecord } from "../../server/domain/jobs/records.ts";
import type { CopyRequest } from "../../server/domain/reviews/reviewCopies.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import type { Batch, Storage } from "../../server/platform/storage/port.ts";
import { createManualTime, type ManualTime } from "../support/manualTime.ts";
import { domainStorages } from "../support/storages.ts";
import { addWorkspace, type CallOptions, createCall } from "./articleFixture.ts";
import { createReviewNode, type ReviewNode } from "./reviewFixture.ts";

const text = "# Kites\n\nA kite needs teh wind. A kite needs a line.\n";

describe.each(domainStorages())("copies of reviews on %s", (_name, openStorage) => {
  let time: ManualTime;
  let storage: Storage;
  let close: () => Promise<void>;
  /** Jobs store no progress before this is called. */
  let releaseJobs: () => void;
  let node: ReviewNode;
  let workspaceId: string;
  let articleId: string;

  const call = (options: CallOptions = {}) =>
    createCall(storage, workspaceId, partitionOfId(workspaceId), { limits: node.limits, ...options });
  /** Each review is a millisecond younger than the one before, so that the lists have one order. */
  async function create(request: Partial<CreateReviewRequest>): Promise<Review> {
    await time.advance(1);
    return (await node.reviews.create(articleId, { body: "A remark.", ...request }, call())).review;
  }
  const listOf = async (id: string) => (await node.list.ofArticle(id, { limit: 100 }, call())).items;
  const liveOf = async (id: string) => (await node.content.readText(id, "content.md", undefined)).text;
  const copy = (request: CopyRequest = { includeReviews: true }) => node.copies.duplicate(articleId, request, call({ username: "bo" }));
  const append = (id: string, content: string) => node.edits.edit(id, { mode: "append", content }, call());

  /** Everything that a copy of the review keeps. */
  function toKept({ reviewId: _, articleId: __, anchor, replies, ...kept }: Review) {
    const place = anchor === null ? null : { quote: anchor.quote, start: anchor.start, end: anchor.end, state: anchor.state };
    return { ...kept, anchor: place, replies: replies.map(({ replyId: _, reviewId: __, ...reply }) => reply) };
  }

  beforeEach(async () => {
    time = createManualTime();
    ({ storage, close } = await openStorage(time));
    const released = new Promise<void>((resolve) => {
      releaseJobs = resolve;
    });
    const isProgress = ({ records = [] }: Batch) =>
      records.some(({ type, replacing }) => type.name === jobRecord.name && replacing !== null);
    const held: Storage = {
      ...storage,
      async commit(batch) {
        if (isProgress(batch)) await released;
        return storage.commit(batch);
      },
    };
    node = createReviewNode(held, time, { limits: { "job.records": 5 } });
    workspaceId = await addWorkspace(storage);
    articleId = (await node.articles.create({ workspaceId, title: "Kites", content: text }, call())).article.articleId;
  });
  afterEach(async () => {
    releaseJobs();
    await node.pump.drain(AbortSignal.abort());
    await node.rooms.drain();
    await node.closeReviews();
    await node.close();
    await close();
  });

  test("[RV23] a copy has the reviews with their places, authors, replies and states, and is no event", async () => {
    const { reviewId } = await create({ body: "@ada which kite?", anchor: { quote: "A kite", occurrence: 2 } });
    await node.replies.add(reviewId, "The second, @bo.", call({ username: "bo" }));
    await create({ kind: "suggestion", anchor: { quote: "teh" }, replacement: "the" });
    const { reviewId: lost } = await create({ body: "Lost.", anchor: { quote: "# Kites" } });
    await node.reviews.update(lost, { status: "resolved" }, call());
    await create({ body: "Of the whole." });
    await node.edits.edit(articleId, { mode: "patch", edits: [{ find: "# Kites", replace: "# Dragons" }] }, call());
    await time.advance(1000);
    const events = [node.reviewEvents.created.length, node.reviewEvents.replied.length];

    const { article, jobId } = await copy();
    expect(jobId).toBeUndefined();
    const [theirs, own] = [await listOf(articleId), await listOf(article.articleId)];
    expect(own.map(toKept)).toEqual(theirs.map(toKept));
    expect(own.map(({ anchor }) => anchor?.state)).toEqual([undefined, "orphaned", "anchored", "anchored"]);
    expect(own.flatMap(({ anchor }) => anchor?.revision ?? [])).toEqual([1, 1, 1]);
    const idsOf = (reviews: readonly Review[]) =>
      reviews.flatMap(({ reviewId, replies }) => [reviewId, ...replies.map((each) => each.replyId)]);
    expect(new Set([...idsOf(theirs), ...idsOf(own)]).size).toBe(10);
    expect([node.reviewEvents.created.length, node.reviewEvents.replied.length]).toEqual(events);
    expect(await storage.log.tail(partitionOfId(workspaceId), articleEventLog(article.articleId))).toBe(0);

    // The copies live on by themselves.
    const suggestion = own.find(({ kind }) => kind === "suggestion");
    await node.suggestions.accept(suggestion?.reviewId ?? "", call());
    expect(await liveOf(article.articleId)).toContain("needs the wind");
    expect(await liveOf(articleId)).toContain("needs teh wind");
    const again = await copy();
    const accepted = await node.copies.duplicate(article.articleId, { includeReviews: true }, call());
    const stateOf = async (id: string) => (await listOf(id)).find(({ kind }) => kind === "suggestion");
    expect(await stateOf(again.article.articleId)).toMatchObject({ status: "open" });
    expect(await stateOf(accepted.article.articleId)).toMatchObject({
      status: "accepted",
      resolvedBy: "ada",
      anchor: { state: "orphaned" },
    });
  });

  test("[RV23] a copy has no reviews unless they are wanted, and a key needs the scope to write them", async () => {
    await create({});
    expect(await listOf((await copy({})).article.articleId)).toEqual([]);
    const withKey = call({ viaKey: true });
    const principal = { ...withKey.principal, scopes: ["articles:write", "reviews:read"] } as typeof withKey.principal;
    const refused = node.copies.duplicate(articleId, { includeReviews: true }, { ...withKey, principal });
    await expect(refused).rejects.toMatchObject({ code: "insufficient_scope", facts: { missingScopes: ["reviews:write"] } });
    const attempt = { seed: "copy", nowMs: time.now() };
    const first = await node.copies.duplicate(articleId, { includeReviews: true }, call({ attempt }));
    const repeated = await node.copies.duplicate(articleId, { includeReviews: true }, call({ attempt }));
    expect(repeated.article.articleId).toBe(first.article.articleId);
    expect(await listOf(first.article.articleId)).toHaveLength(1);
  });

  test("[RV24] reviews that are too many for one commit are copied by a job, to the text that the copy has by then", async () => {
    for (const at of [16, 22, 39]) await create({ body: `At ${at}.`, anchor: { start: at, end: at + 3, revision: 1 } });
    for (let number = 0; number < 8; number += 1) await create({ body: `Whole ${number}.` });
    await create({ kind: "suggestion", anchor: { quote: "a line" }, replacement: "two lines" });
    await create({ body: "At the wind.", anchor: { quote: "wind" } });
    await time.advance(1000);
    const { article, jobId = "" } = await copy();
    expect(await listOf(article.articleId)).toHaveLength(4);
    // Neither later reviews nor later text of the source are copied, and the copy is edited meanwhile.
    await time.advance(1000);
    await create({ body: "Later." });
    await node.edits.edit(articleId, { mode: "prepend", content: "Moved. " }, call());
    await node.edits.edit(article.articleId, { mode: "prepend", content: "Also moved. " }, call());
    await append(article.articleId, "More.\n");
    releaseJobs();
    node.pump.start();
    await time.advance(60_000);
    const job = await storage.records.get(jobRecord, jobId);
    expect(job?.value).toMatchObject({ state: "succeeded", context: { done: 9, of: 9, result: { reviews: 13 } } });
    const own = await listOf(article.articleId);
    expect(own.map(({ body }) => body).toSorted()).toEqual(
      (await listOf(articleId)).flatMap(({ body }) => (body === "Later." ? [] : [body])).toSorted(),
    );
    const live = await liveOf(article.articleId);
    for (const { anchor } of own) {
      if (anchor === null) continue;
      expect(anchor.state).not.toBe("orphaned");
      expect(live.slice(anchor.start, anchor.end)).toBe(anchor.quote);
    }
    expect(own.find(({ body }) => body === "At 39.")?.anchor).toMatchObject({ start: 51, state: "anchored" });
  });

  test("[RV24] a job whose source or copy was deleted for good ends, and leaves no reviews behind", async () => {
    for (let number = 0; number < 9; number += 1) await create({ body: `Whole ${number}.` });
    await time.advance(1000);
    const [kept, gone] = [await copy(), await copy()];
    const owner = call({ role: "owner" });
    await node.articles.delete(gone.article.articleId, true, owner);
    await node.articles.delete(articleId, true, owner);
    releaseJobs();
    node.pump.start();
    await time.advance(60_000);
    const resultOf = async (jobId = "") => (await storage.records.get(jobRecord, jobId))?.value.context.result;
    // The job may have read its next reviews before the source was deleted.
    expect(await resultOf(kept.jobId)).toEqual({ reviews: (await listOf(kept.article.articleId)).length });
    expect(await resultOf(gone.jobId)).toEqual({ reviews: 4 });
    expect(await listOf(gone.article.articleId)).toEqual([]);
  });
});
