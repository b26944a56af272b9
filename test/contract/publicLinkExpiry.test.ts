/** Tests the expiry of public links, and the addresses of pages that moved or are gone. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../api/schema/error.ts";
import { PublicLink } from "../../api/schema/publicLink.ts";
import { articleEventLog, decodeArticleEvent } from "../../server/domain/articles/articleEvents.ts";
import { liveEtag } from "../../server/domain/call/precondition.ts";
import { publicLinkRecord } from "../../server/domain/publishing/records.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { type Storage, StorageUnavailableError } from "../../server/platform/storage/port.ts";
import { createDyingStorage } from "../support/dyingStorage.ts";
import type { ManualTime } from "../support/manualTime.ts";
import { domainStorages } from "../support/storages.ts";
import { createCall } from "./articleFixture.ts";
import { createPublishingNode, openPublishing, type PublishingNode } from "./publishingFixture.ts";

const refusalOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (reason: unknown) => (reason instanceof AppError ? { code: reason.code, pointer: reason.facts.errors?.[0]?.pointer } : reason),
  );

describe.each(domainStorages())("the end of public pages on %s", (_name, openStorage) => {
  let time: ManualTime;
  let storage: Storage;
  let close: () => Promise<void>;
  let node: PublishingNode;
  let workspaceId: string;
  let articleId: string;
  const call = () => createCall(storage, workspaceId, partitionOfId(workspaceId));
  const create = async (title: string, content = "First.\n") =>
    (await node.articles.create({ workspaceId, title, content }, call())).article.articleId;
  const append = (content: string) => node.edits.edit(articleId, { mode: "append", content }, call());
  const inSeconds = (seconds: number) => time.now() / 1000 + seconds;
  const linkOf = async () => (await node.links.get(call(), articleId)).link;
  const statusOf = async (path: string) => (await node.page(path)).status;
  const eventsOf = async (of = storage) => {
    const read = await of.log.read({ partition: partitionOfId(articleId), log: articleEventLog(articleId), after: 0, limit: 100 });
    if (read.gap) throw new Error("the log was trimmed");
    return read.entries.map(decodeArticleEvent).filter(({ event }) => event === "public_link.changed");
  };

  beforeEach(async () => {
    ({ time, storage, node, workspaceId, close } = await openPublishing(openStorage));
    articleId = await create("Page");
    node.pump.start();
  });
  afterEach(() => close());

  test("[PL27] [PL28] an expired page is 410; link, article, history and event log say so", async () => {
    const expiresAt = inSeconds(60);
    const { link } = await node.links.put(call(), articleId, { expiresAt });
    expect(link).toMatchObject({ state: "live", expiresAt });
    await time.leap(59_000);
    expect(await statusOf("/p/page.md")).toBe(200);
    await time.advance(2000);
    for (const path of ["/p/page", "/p/page.md", "/p/page.json"]) expect((await node.page(path)).code).toBe("unpublished");
    const expired = await linkOf();
    expect(PublicLink.parse(expired)).toEqual(expired);
    expect(expired).toMatchObject({ mode: "live", state: "expired", expiresAt, publishedRevision: 1 });
    expect(expired).not.toHaveProperty("liveSync");
    expect((await node.articles.get(articleId)).article.publicLink).toMatchObject({ mode: "live", state: "expired" });
    const [period] = (await node.history.list(articleId, {})).items;
    expect(period?.to).toBeGreaterThanOrEqual(expiresAt);
    const last = (await eventsOf()).at(-1);
    expect(last).toMatchObject({ actor: "ada", data: { publicLink: { state: "expired", url: link.url } } });
    expect((await node.list(call(), { workspaceId, state: "expired" })).publicLinks).toHaveLength(1);
    expect((await node.list(call(), { workspaceId, state: "live" })).publicLinks).toEqual([]);
    // An expired page follows no edit.
    const { revision } = (await storage.records.get(publicLinkRecord, articleId)) ?? {};
    await append("Second.\n");
    await time.advance(5000);
    expect((await storage.records.get(publicLinkRecord, articleId))?.revision).toBe(revision);
  });

  test("[PL27] a page is 410 from the moment of its expiry, even if the row of the timer is late", async () => {
    await node.links.put(call(), articleId, { expiresAt: inSeconds(60), mode: "snapshot" });
    await node.pump.drain(AbortSignal.abort());
    await time.leap(59_999);
    expect(await statusOf("/p/page.md")).toBe(200);
    await time.advance(1);
    expect((await node.page("/p/page.md")).code).toBe("unpublished");
    expect((await linkOf()).state).toBe("expired");
    expect((await storage.records.get(publicLinkRecord, articleId))?.value.state).toBe("snapshot");
    // A request that changes the link finds it expired too, so the history has the end of its period.
    await node.links.update(call(), articleId, { indexable: true });
    expect((await storage.records.get(publicLinkRecord, articleId))?.value.state).toBe("expired");
    expect((await node.history.list(articleId, {})).items[0]?.to).toBe(time.now() / 1000);
  });

  test("[PL11] the expiry of a link counts as a change, from its moment on", async () => {
    const tagOf = async () => {
      const { revision, metaRevision } = await node.links.get(call(), articleId);
      return liveEtag(revision, metaRevision);
    };
    const change = (tag: string) => {
      const conditional = createCall(storage, workspaceId, partitionOfId(workspaceId), { ifMatch: [tag] });
      return refusalOf(node.links.update(conditional, articleId, { indexable: true }));
    };
    await node.links.put(call(), articleId, { expiresAt: inSeconds(60) });
    await time.advance(3000);
    await node.pump.drain(AbortSignal.abort());
    const before = await tagOf();
    await time.leap(60_000);
    const overdue = await tagOf();
    expect(overdue).not.toBe(before);
    expect(await change(before)).toMatchObject({ code: "precondition_failed" });
    expect((await storage.records.get(publicLinkRecord, articleId))?.value.state).toBe("expired");
    expect(await tagOf()).toBe(overdue);
    expect(await change(overdue)).toBeUndefined();
  });

  test("[PL27] without the store, a page is not served from memory after its expiry", async () => {
    await node.links.put(call(), articleId, { expiresAt: inSeconds(1) });
    await node.pump.drain(AbortSignal.abort());
    let isAway = false;
    const get: Storage["records"]["get"] = (type, key) =>
      isAway ? Promise.reject(new StorageUnavailableError("away")) : storage.records.get(type, key);
    const reader = createPublishingNode({ ...storage, records: { ...storage.records, get } }, time);
    await time.advance(500);
    expect((await reader.page("/p/page.md")).status).toBe(200);
    isAway = true;
    await time.advance(499);
    expect((await reader.page("/p/page.md")).status).toBe(200);
    await time.advance(1);
    expect((await reader.page("/p/page.md")).code).toBe("unpublished");
    await reader.closePages();
  });

  test("[PL29] a later time or none makes an expired page public again, at the same address", async () => {
    const { link } = await node.links.put(call(), articleId, { expiresAt: inSeconds(10) });
    await time.leap(11_000);
    await append("Second.\n");
    const renewed = await node.links.update(call(), articleId, { expiresAt: inSeconds(10) });
    expect(renewed).toMatchObject({ created: false, link: { state: "live", url: link.url, publishedAt: link.publishedAt } });
    expect((await node.page("/p/page.md")).body).toBe("First.\nSecond.\n");
    await time.advance(2000);
    await append("Third.\n");
    await time.advance(2000);
    expect((await node.page("/p/page.md")).body).toContain("Third.");
    // A Snapshot keeps its text, and the time at which it was frozen.
    const frozen = (await node.links.update(call(), articleId, { mode: "snapshot" })).link;
    await time.leap(20_000);
    await append("Fourth.\n");
    const open = await node.links.put(call(), articleId, { expiresAt: null });
    expect(open.link).toMatchObject({ state: "snapshot", snapshotAt: frozen.snapshotAt, publishedRevision: frozen.publishedRevision });
    expect(open.link).not.toHaveProperty("expiresAt");
    expect((await node.page("/p/page.md")).body).not.toContain("Fourth.");
    await time.leap(1_000_000);
    expect(await statusOf("/p/page.md")).toBe(200);
    const states = (await eventsOf()).map(({ data }) => (data as { publicLink?: { state: string } }).publicLink?.state);
    expect(states).toEqual(["live", "expired", "live", "snapshot", "expired", "snapshot"]);
  });

  test("[PL29] a time in the past is refused, and a changed time replaces the earlier one", async () => {
    const past = { code: "validation_failed", pointer: "/expiresAt" };
    expect(await refusalOf(node.links.put(call(), articleId, { expiresAt: inSeconds(0) }))).toEqual(past);
    expect(await refusalOf(node.links.get(call(), articleId))).toMatchObject({ code: "not_published" });
    await node.links.put(call(), articleId, { expiresAt: inSeconds(10) });
    expect(await refusalOf(node.links.update(call(), articleId, { expiresAt: inSeconds(-1) }))).toEqual(past);
    await node.links.update(call(), articleId, { expiresAt: inSeconds(1000) });
    await time.leap(20_000);
    expect(await statusOf("/p/page.md")).toBe(200);
    await node.links.update(call(), articleId, { expiresAt: inSeconds(5) });
    await time.leap(6000);
    expect(await statusOf("/p/page.md")).toBe(410);
  });

  test("[PL30] the settings, mode and text of an expired page change without making it public", async () => {
    await node.links.put(call(), articleId, { expiresAt: inSeconds(10) });
    await time.leap(11_000);
    expect((await node.links.put(call(), articleId, {})).link.state).toBe("expired");
    await append("Second.\n");
    const { link } = await node.links.update(call(), articleId, { mode: "snapshot", slug: "other", indexable: true });
    expect(link).toMatchObject({ state: "expired", mode: "snapshot", slug: "other", indexable: true });
    await append("Third.\n");
    const refreshed = await node.links.refreshSnapshot(call(), articleId, {});
    expect(refreshed.link.state).toBe("expired");
    for (const path of ["/p/page", "/p/other"]) expect(await statusOf(path)).toBe(410);
    await node.links.unpublish(call(), articleId);
    expect(await refusalOf(node.links.get(call(), articleId))).toMatchObject({ code: "not_published" });
    // Two periods would mean that the page was shown after its expiry.
    expect((await node.history.list(articleId, {})).items).toHaveLength(1);
    expect((await node.links.put(call(), articleId, {})).link).toMatchObject({ state: "live", slug: "other" });
  });

  test("[PL31] a page expires once, whenever the process dies", async () => {
    await node.pump.drain(AbortSignal.abort());
    for (const when of ["before", "after"] as const) {
      for (let dieAt = 1; ; dieAt += 1) {
        articleId = await create(`${when} ${dieAt}`);
        await node.links.put(call(), articleId, { expiresAt: inSeconds(5), mode: "snapshot" });
        const dying = createDyingStorage(storage, dieAt, when);
        const first = createPublishingNode(dying, time);
        first.pump.start();
        const isRecorded = async () => (await storage.records.get(publicLinkRecord, articleId))?.value.state === "expired";
        await time.until(async () => dying.dead || (await isRecorded()), { stepMs: 500, withinMs: 30_000 });
        await time.advance(0);
        const second = createPublishingNode(storage, time);
        second.pump.start();
        await time.until(isRecorded, { stepMs: 500, withinMs: 30_000 });
        expect(await eventsOf()).toHaveLength(2);
        expect((await node.history.list(articleId, {})).items).toHaveLength(1);
        await second.pump.drain(AbortSignal.abort());
        if (dying.dead) continue;
        await first.pump.drain(AbortSignal.abort());
        expect(dieAt).toBeGreaterThan(2);
        break;
      }
    }
  });

  test("[PL32] an earlier address redirects to the current one until another page takes it", async () => {
    await node.links.put(call(), articleId, { slug: "one" });
    await node.links.update(call(), articleId, { slug: "two" });
    await node.links.update(call(), articleId, { slug: "three" });
    for (const slug of ["one", "two"]) {
      for (const form of ["", ".md", ".json"]) {
        const answer = await node.page(`/p/${slug}${form}`, { accept: "text/html" });
        expect([answer.status, answer.headers.location]).toEqual([301, `three${form}`]);
        expect(answer.headers["cache-control"]).toBe("public, max-age=0, must-revalidate");
      }
    }
    await time.leap(120_000);
    const other = await create("Other", "Of another article.\n");
    await node.links.put(call(), other, { slug: "one" });
    expect((await node.page("/p/one.md")).body).toBe("Of another article.\n");
    expect((await node.page("/p/two.md")).headers.location).toBe("three.md");
    // The article gets its earlier address back when the other page gives it up.
    await node.links.update(call(), other, { slug: "elsewhere" });
    expect((await node.page("/p/one.md")).headers.location).toBe("elsewhere.md");
    await time.leap(120_000);
    await node.links.update(call(), articleId, { slug: "one" });
    expect((await node.page("/p/one.md")).body).toBe("First.\n");
  });

  test("[PL33] an earlier address is 410 while its page is down, and 404 once the article is deleted for good", async () => {
    await node.links.put(call(), articleId, { slug: "one" });
    await node.links.update(call(), articleId, { slug: "two" });
    await node.links.unpublish(call(), articleId);
    expect((await node.page("/p/one.md")).code).toBe("unpublished");
    await node.links.put(call(), articleId, {});
    expect((await node.page("/p/one.md")).headers.location).toBe("two.md");
    await node.articles.delete(articleId, true, createCall(storage, workspaceId, partitionOfId(workspaceId), { role: "admin" }));
    for (const slug of ["one", "two"]) expect((await node.page(`/p/${slug}.md`)).code).toBe("not_found");
    await time.leap(120_000);
    const other = await create("Other");
    await node.links.put(call(), other, { slug: "one" });
    expect(await statusOf("/p/one.md")).toBe(200);
  });
});
