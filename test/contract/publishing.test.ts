import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { AppError } from "../../api/schema/error.ts";
import { ListedPublicLink, PublicLink } from "../../api/schema/publicLink.ts";
import { liveEtag } from "../../server/domain/call/precondition.ts";
import { publicLinkRecord } from "../../server/domain/publishing/records.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { type Storage, StorageUnavailableError } from "../../server/platform/storage/port.ts";
import { baseUrl } from "../support/composeParts.ts";
import { createDyingStorage } from "../support/dyingStorage.ts";
import { createManualTime, type ManualTime } from "../support/manualTime.ts";
import { domainStorages, openMemory } from "../support/storages.ts";
import { addWorkspace, type CallOptions, createCall } from "./articleFixture.ts";
import { createPublishingNode, openPublishing, type PublishingNode } from "./publishingFixture.ts";

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "no refusal",
    (reason: unknown) => (reason instanceof AppError ? reason.code : String(reason)),
  );
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

describe.each(domainStorages())("publishing on %s", (_name, openStorage) => {
  let time: ManualTime;
  let storage: Storage;
  let close: () => Promise<void>;
  let node: PublishingNode;
  let workspaceId: string;
  let articleId: string;
  const call = (options: CallOptions = {}) => createCall(storage, workspaceId, partitionOfId(workspaceId), options);
  const create = async (title: string, content?: string) =>
    (await node.articles.create({ workspaceId, title, content }, call())).article.articleId;
  const append = (content: string, on = articleId) => node.edits.edit(on, { mode: "append", content }, call());
  const markdown = async (slug: string) => (await node.page(`/p/${slug}.md`)).body;
  const liveSync = async () => (await node.links.get(call(), articleId)).link.liveSync;

  beforeEach(async () => {
    ({ time, storage, node, workspaceId, close } = await openPublishing(openStorage));
    articleId = await create("Über den Wolken!", "First words.\n");
    node.pump.start();
  });
  afterEach(() => close());

  test("[PL1] an article is published Live unless Snapshot is requested, at an address from its title", async () => {
    expect(await codeOf(node.links.get(call(), articleId))).toBe("not_published");
    const { link, created } = await node.links.put(call(), articleId, {});
    expect(created).toBe(true);
    expect(PublicLink.parse(link)).toEqual(link);
    expect(link).toMatchObject({
      articleId,
      mode: "live",
      state: "live",
      slug: "uber-den-wolken",
      url: `${baseUrl}/p/uber-den-wolken`,
      publishedBy: "ada",
      indexable: false,
      gate: "off",
      liveSync: { status: "synced", attempts: 0 },
    });
    expect((await node.articles.get(articleId)).article.publicLink).toEqual({
      mode: "live",
      state: "live",
      slug: link.slug,
      url: link.url,
    });
    const again = await node.links.put(call(), articleId, {});
    expect(again.created).toBe(false);
    expect(again.link.slug).toBe(link.slug);
    const other = await create("Über den Wolken?");
    const snapshot = await node.links.put(call(), other, { mode: "snapshot" });
    expect(snapshot.link).toMatchObject({ mode: "snapshot", state: "snapshot", slug: "uber-den-wolken-2" });
    expect(snapshot.link).not.toHaveProperty("liveSync");
    expect(snapshot.link.snapshotAt).toBe(time.now() / 1000);
  });

  test("[PL1] an address in use is refused, even while its page is down, and a new one can be chosen", async () => {
    await node.links.put(call(), articleId, { slug: "clouds" });
    const other = await create("Other");
    expect(await codeOf(node.links.put(call(), other, { slug: "clouds" }))).toBe("name_taken");
    expect(await codeOf(node.links.get(call(), other))).toBe("not_published");
    await node.links.put(call(), other, { slug: "others" });
    expect(await codeOf(node.links.update(call(), other, { slug: "clouds" }))).toBe("name_taken");
    await node.links.unpublish(call(), articleId);
    await time.advance(120_000);
    expect(await codeOf(node.links.update(call(), other, { slug: "clouds" }))).toBe("name_taken");
    const { link } = await node.links.update(call(), other, { slug: "others-too", indexable: true });
    expect(link).toMatchObject({ slug: "others-too", url: `${baseUrl}/p/others-too`, indexable: true, mode: "live" });
    expect((await node.page("/p/others.md")).status).toBe(301);
    expect((await node.page("/p/others-too.md")).status).toBe(200);
    expect((await node.articles.get(other)).article.publicLink?.slug).toBe("others-too");
    // A name that was given up is free for other links.
    await time.advance(120_000);
    const third = await create("Third");
    expect((await node.links.put(call(), third, { slug: "others" })).link.slug).toBe("others");
  });

  test("[PL1] concurrent publications of one article give one link, and of one address one page", async () => {
    const both = await Promise.all([node.links.put(call(), articleId, {}), node.links.put(call(), articleId, {})]);
    expect(both.map(({ created }) => created).sort()).toEqual([false, true]);
    expect(both[0]?.link.slug).toBe(both[1]?.link.slug);
    const others = [await create("A"), await create("B")];
    const results = await Promise.allSettled(others.map((id) => node.links.put(call(), id, { slug: "same" })));
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  test("[PL2] the same address shows a durable edit of a Live article without a further request", async () => {
    const { link } = await node.links.put(call(), articleId, {});
    expect(await markdown(link.slug)).toBe("First words.\n");
    await time.advance(2000);
    const { revision } = await append("More words.\n");
    await time.advance(1000);
    const page = await node.page(`/p/${link.slug}.md`);
    expect(page.body).toBe("First words.\nMore words.\n");
    expect(page.headers["x-svc-revision"]).toBe(String(revision));
    expect(page.headers["x-svc-content-hash"]).toBe(sha256(page.body));
    expect(await liveSync()).toMatchObject({ status: "synced", sourceRevision: revision, publishedRevision: revision });
    expect((await node.page(`/p/${link.slug}`)).body).toContain("More words.");
  });

  test("[PL2] [AC17] an edit is followed at once, or right after the pause since the previous one", async () => {
    const { slug } = (await node.links.put(call(), articleId, {})).link;
    await time.advance(2000);
    for (let n = 0; n < 4; n += 1) {
      await time.advance(1570);
      await append(`First ${n}.\n`);
      const firstAtMs = time.now();
      await time.until(async () => (await markdown(slug)).includes(`First ${n}.`), { stepMs: 2, withinMs: 40 });
      await time.advance(100 + 170 * n);
      await append(`Then ${n}.\n`);
      await time.advance(firstAtMs + 1000 - time.now());
      await time.until(async () => (await markdown(slug)).includes(`Then ${n}.`), { stepMs: 2, withinMs: 60 });
    }
  });

  test("[PL2] an edit made while the article is being published is shown", async () => {
    const [{ link }] = await Promise.all([node.links.put(call(), articleId, {}), append("At the same time.\n")]);
    await time.advance(3000);
    expect(await markdown(link.slug)).toContain("At the same time.");
  });

  test("[PL2] continuous typing causes about one synchronization a second, and no edit is missed", async () => {
    const { link } = await node.links.put(call(), articleId, {});
    await time.advance(5000);
    const started = (await node.links.get(call(), articleId)).revision;
    let writes = 0;
    const commit = storage.commit.bind(storage);
    Object.assign(storage, {
      commit: (batch: Parameters<Storage["commit"]>[0]) => {
        if (batch.records?.some(({ type }) => type.name === "publicLink") === true) writes += 1;
        return commit(batch);
      },
    });
    for (let at = 0; at < 40; at += 1) {
      await append(`${at} `);
      await time.advance(250);
    }
    await time.advance(3000);
    expect(await markdown(link.slug)).toBe(`First words.\n${Array.from({ length: 40 }, (_, at) => `${at} `).join("")}`);
    // In ten seconds, each synchronization begins, ends and receives an edit.
    expect(writes).toBeLessThan(60);
    expect((await node.links.get(call(), articleId)).revision).toBeGreaterThan(started);
  });

  test("[PL2] [PL25] after a crash anywhere between an edit and its page, page and history show it", async () => {
    const { link } = await node.links.put(call(), articleId, {});
    await time.advance(5000);
    await node.pump.drain(AbortSignal.abort());
    let followed = 0;
    for (const when of ["before", "after"] as const) {
      for (let dieAt = 1; ; dieAt += 1) {
        const dying = createDyingStorage(storage, dieAt, when);
        const first = createPublishingNode(dying, time);
        first.pump.start();
        const word = `${when} ${dieAt}; `;
        let acked = false;
        const edited = first.edits.edit(articleId, { mode: "append", content: word }, call()).then(() => {
          acked = true;
        });
        const shown = async () => (await node.page(`/p/${link.slug}.md`)).body.includes(word);
        await time.until(async () => dying.dead || (await shown()), { stepMs: 250, withinMs: 30_000 });
        await time.advance(0);
        if (dying.dead && acked) {
          const second = createPublishingNode(storage, time);
          second.pump.start();
          await time.until(shown, { stepMs: 500, withinMs: 30_000 });
          const [shownNow, earlier] = (await second.history.list(articleId, { limit: 2 })).items;
          expect(shownNow).toMatchObject({ contentHash: sha256(await markdown(link.slug)) });
          expect([shownNow?.to, earlier?.to]).toEqual([undefined, shownNow?.from]);
          followed += 1;
          await second.pump.drain(AbortSignal.abort());
          await second.rooms.drain();
        }
        if (dying.dead) continue;
        await edited;
        await first.pump.drain(AbortSignal.abort());
        break;
      }
    }
    // Between the commit of the edit and the page there are a claim, the event, the text and its event.
    expect(followed).toBeGreaterThanOrEqual(7);
  });

  test("[PL3] a Snapshot keeps its text through edits and renames until it is refreshed", async () => {
    const { link } = await node.links.put(call(), articleId, { mode: "snapshot" });
    const frozen = await node.page(`/p/${link.slug}.json`);
    for (let at = 0; at < 20; at += 1) await append(`edit ${at}\n`);
    await node.articles.update(articleId, { title: "A new title" }, call());
    await time.advance(60_000);
    expect((await node.page(`/p/${link.slug}.json`)).body).toBe(frozen.body);
    await time.advance(1000);
    const refreshed = await node.links.refreshSnapshot(call(), articleId, {});
    expect(refreshed.link).toMatchObject({ mode: "snapshot", slug: link.slug, snapshotAt: time.now() / 1000 });
    const page = JSON.parse((await node.page(`/p/${link.slug}.json`)).body);
    expect(page).toMatchObject({ title: "A new title", slug: link.slug, mode: "snapshot", revision: refreshed.link.publishedRevision });
    expect(page.markdown).toContain("edit 19\n");
  });

  test("[PL3] a Snapshot can be set only to a kept or committed revision", async () => {
    const { link } = await node.links.put(call(), articleId, { mode: "snapshot" });
    const { revision } = await append("Second.\n");
    await append("Third.\n");
    const { link: refreshed } = await node.links.refreshSnapshot(call(), articleId, { revision });
    expect(refreshed.publishedRevision).toBe(revision);
    expect(await markdown(link.slug)).toBe("First words.\nSecond.\n");
    expect(await codeOf(node.links.refreshSnapshot(call(), articleId, { revision: 9999 }))).toBe("revision_gone");
    expect(await markdown(link.slug)).toBe("First words.\nSecond.\n");
  });

  test("[PL4] a switch keeps the address: Live shows and follows the text, Snapshot freezes it", async () => {
    const { link } = await node.links.put(call(), articleId, { mode: "snapshot" });
    expect(await codeOf(node.links.sync(call(), articleId))).toBe("public_link_wrong_mode");
    await append("Second.\n");
    await time.advance(2000);
    const live = await node.links.update(call(), articleId, { mode: "live" });
    expect(live.link).toMatchObject({ mode: "live", url: link.url, publishedBy: "ada", publishedAt: link.publishedAt });
    expect(live.link).not.toHaveProperty("snapshotAt");
    expect(await markdown(link.slug)).toBe("First words.\nSecond.\n");
    expect((await node.articles.get(articleId)).article.publicLink?.mode).toBe("live");
    expect(await codeOf(node.links.refreshSnapshot(call(), articleId, {}))).toBe("public_link_wrong_mode");
    await time.advance(2000);
    await append("Third.\n");
    await time.advance(2000);
    expect(await markdown(link.slug)).toContain("Third.");
    await append("Fourth.\n");
    const frozen = await node.links.put(call(), articleId, { mode: "snapshot" });
    expect(frozen).toMatchObject({ created: false, link: { mode: "snapshot", url: link.url } });
    expect(await markdown(link.slug)).toContain("Fourth.");
    await append("Fifth.\n");
    await time.advance(10_000);
    expect(await markdown(link.slug)).not.toContain("Fifth.");
    // An update without a change writes nothing.
    const same = await node.links.update(call(), articleId, { mode: "snapshot" });
    expect(same.revision).toBe((await node.links.get(call(), articleId)).revision);
  });

  test.each([
    ["a refresh", { mode: "snapshot" as const }, (id: string) => node.links.refreshSnapshot(call(), id, {})],
    ["a switch", {}, (id: string) => node.links.put(call(), id, { mode: "snapshot" })],
  ])("[PL18] %s that takes long does not bring back an older text of the page", async (_what, published, change) => {
    const { slug } = (await node.links.put(call(), articleId, published)).link;
    await time.advance(2000);
    let letGo = () => {};
    node.trouble.late = new Promise((resolve) => {
      letGo = resolve;
    });
    const changed = change(articleId);
    await time.advance(0);
    node.trouble.late = undefined;
    await append("Newer.\n");
    if ("mode" in published) await node.links.refreshSnapshot(call(), articleId, {});
    else await time.advance(2000);
    expect(await markdown(slug)).toContain("Newer.");
    letGo();
    expect((await changed).link.mode).toBe("snapshot");
    expect(await markdown(slug)).toContain("Newer.");
  });

  test("[PL5] an unpublished page is 410 at once, and publishing again restores its address", async () => {
    const { link } = await node.links.put(call(), articleId, {});
    const blob = (await node.page(`/p/${link.slug}`)).headers["x-svc-content-hash"] ?? "";
    await node.links.unpublish(call(), articleId);
    for (const form of ["", ".md", ".json"]) {
      expect(await node.page(`/p/${link.slug}${form}`)).toMatchObject({ status: 410, code: "unpublished" });
    }
    const forPeople = await node.page(`/p/${link.slug}`, { accept: "text/html,*/*;q=0.8" });
    expect(forPeople.status).toBe(410);
    expect(forPeople.body).toContain("taken down");
    expect((await node.page("/p/never-known")).code).toBe("not_found");
    expect((await node.articles.get(articleId)).article.publicLink).toBeUndefined();
    expect(await codeOf(node.links.unpublish(call(), articleId))).toBe("not_published");
    expect(await codeOf(node.links.update(call(), articleId, {}))).toBe("not_published");
    const partition = partitionOfId(articleId);
    const facts = await storage.log.read({ partition, log: "access", after: 0, limit: 10 });
    const told = facts.gap ? [] : facts.entries.map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString()));
    expect(told).toEqual([{ kind: "link.unpublished", slug: link.slug }]);
    // An edit after the removal publishes nothing.
    await append("Later.\n");
    await time.advance(10_000);
    expect((await node.page(`/p/${link.slug}.md`)).status).toBe(410);
    const again = await node.links.put(call({ username: "ben" }), articleId, {});
    expect(again).toMatchObject({ created: true, link: { slug: link.slug, url: link.url, publishedBy: "ben" } });
    expect(await markdown(link.slug)).toContain("Later.");
    expect(await storage.blobs.get(partition, blob)).toBeDefined();
  });

  test("[PL6] a page is served without opening a room", async () => {
    const { link } = await node.links.put(call(), articleId, {});
    await node.rooms.drain();
    const other = createPublishingNode(storage, time, { nodeId: "node_b" });
    expect((await other.page(`/p/${link.slug}`)).status).toBe(200);
    expect((await other.page(`/p/${link.slug}.json`)).status).toBe(200);
    expect(other.rooms.stats().rooms).toBe(0);
    await other.closePages();
  });

  test("[PL9] a failed synchronization is shown in the link, retried, given up, and restarted on request", async () => {
    const { link } = await node.links.put(call(), articleId, {});
    await time.advance(2000);
    node.trouble.read = true;
    await append("Second.\n");
    await time.until(async () => (await liveSync())?.status === "retrying");
    const waiting = await liveSync();
    expect(waiting).toMatchObject({ attempts: 1, publishedRevision: link.publishedRevision });
    expect(waiting?.lastError).toMatch(/could not be read/);
    expect(waiting?.lastError).not.toContain("the document cannot be read");
    expect((waiting?.nextRetryAt ?? 0) * 1000).toBeGreaterThanOrEqual(time.now());
    expect((waiting?.sourceRevision ?? 0) > link.publishedRevision).toBe(true);
    expect(await markdown(link.slug)).toBe("First words.\n");
    await time.until(async () => (await liveSync())?.status === "failed", { stepMs: 10_000, withinMs: 4 * 3_600_000, leaps: true });
    expect((await liveSync())?.attempts).toBe(6);
    node.trouble.read = false;
    await time.leap(3_600_000);
    expect((await liveSync())?.status).toBe("failed");
    await node.links.sync(call(), articleId);
    await time.until(async () => (await liveSync())?.status === "synced");
    expect(await markdown(link.slug)).toBe("First words.\nSecond.\n");
    const idle = await node.links.sync(call(), articleId);
    expect(idle.link.liveSync?.status).toBe("synced");
  });

  test("[PL19] a page whose synchronization was given up follows the next edit, with new retries", async () => {
    const { slug } = (await node.links.put(call(), articleId, {})).link;
    await time.advance(2000);
    node.trouble.read = true;
    await append("Second.\n");
    const isFailed = async () => (await liveSync())?.status === "failed";
    await time.until(isFailed, { stepMs: 10_000, withinMs: 4 * 3_600_000, leaps: true });
    // The store still fails: the next edit starts a whole series of attempts, not one attempt.
    await append("Third.\n");
    await time.until(async () => (await liveSync())?.status === "retrying");
    expect(await liveSync()).toMatchObject({ attempts: 1 });
    await time.until(isFailed, { stepMs: 10_000, withinMs: 4 * 3_600_000, leaps: true });
    expect(await liveSync()).toMatchObject({ attempts: 6 });
    node.trouble.read = false;
    const { revision } = await append("Fourth.\n");
    await time.until(async () => (await liveSync())?.status === "synced");
    expect(await liveSync()).toEqual({
      status: "synced",
      attempts: 0,
      sourceRevision: revision,
      publishedRevision: revision,
      lastSyncedAt: expect.any(Number),
    });
    expect(await markdown(slug)).toBe("First words.\nSecond.\nThird.\nFourth.\n");
  });

  test("[PL10] deleting an article takes its page down in that commit, and a restore does not publish it", async () => {
    const { link } = await node.links.put(call(), articleId, {});
    await node.articles.delete(articleId, false, call());
    expect((await node.page(`/p/${link.slug}`)).code).toBe("unpublished");
    await node.articles.undelete(articleId, call());
    expect((await node.page(`/p/${link.slug}`)).code).toBe("unpublished");
    expect((await node.articles.get(articleId)).article.publicLink).toBeUndefined();
    expect((await node.links.put(call(), articleId, {})).link.slug).toBe(link.slug);
    await node.articles.delete(articleId, true, call({ role: "admin" }));
    expect((await node.page(`/p/${link.slug}`)).code).toBe("not_found");
    await time.advance(120_000);
    const heir = await create("Heir");
    expect((await node.links.put(call(), heir, { slug: link.slug })).link.slug).toBe(link.slug);
    expect(await storage.records.get(publicLinkRecord, articleId)).toBeDefined();
    await time.leap(3 * 86_400_000);
    await time.advance(1000);
    expect(await storage.records.get(publicLinkRecord, articleId)).toBeUndefined();
    expect(await markdown(link.slug)).toBe("");
  });

  test("[PL17] an answer for a missing page varies by Accept and says so, and a page does not", async () => {
    const { link } = await node.links.put(call(), articleId, {});
    expect((await node.page(`/p/${link.slug}`)).headers.vary).toBeUndefined();
    await node.links.unpublish(call(), articleId);
    for (const path of [`/p/${link.slug}`, "/p/never-known", "/p/Not--A..Slug"]) {
      for (const accept of ["text/html", "application/json"]) expect((await node.page(path, { accept })).headers.vary).toBe("accept");
    }
    expect((await node.page(`/p/${link.slug}.json`)).headers.vary).toBeUndefined();
  });

  const tagOf = ({ revision, metaRevision }: { readonly revision: number; readonly metaRevision: number }) =>
    ({ ifMatch: [liveEtag(revision, metaRevision)] }) as const;

  test("[PL11] a change of a link by an older request is refused", async () => {
    expect(await codeOf(node.links.put(call({ ifMatch: ["*"] }), articleId, {}))).toBe("precondition_failed");
    const stale = tagOf(await node.links.put(call(), articleId, { mode: "snapshot" }));
    await node.links.update(call(stale), articleId, { indexable: true });
    expect(await codeOf(node.links.update(call(stale), articleId, { indexable: false }))).toBe("precondition_failed");
    expect(await codeOf(node.links.unpublish(call(stale), articleId))).toBe("precondition_failed");
    const seen = await node.links.get(call(), articleId);
    expect(seen.link.indexable).toBe(true);
    await node.links.refreshSnapshot(call(), articleId, {});
    expect(await codeOf(node.links.update(call(tagOf(seen)), articleId, { indexable: false }))).toBe("precondition_failed");
  });

  test("[PL11] synchronizations change the entity tag of a link but fail no If-Match, even at the same moment", async () => {
    const made = await node.links.put(call(), articleId, {});
    await append("More.\n");
    await time.until(async () => (await liveSync())?.publishedRevision === 2, { withinMs: 5000 });
    const synced = await node.links.get(call(), articleId);
    expect([synced.revision > made.revision, synced.metaRevision]).toEqual([true, made.metaRevision]);
    const commit = storage.commit.bind(storage);
    /** The record changes as a synchronization changes it, between the comparison and the commit of the next request. */
    const meanwhile = () => {
      storage.commit = async (batch) => {
        storage.commit = commit;
        const replacing = await storage.records.get(publicLinkRecord, articleId);
        if (replacing === undefined) throw new Error("no link");
        await commit({
          partition: partitionOfId(articleId),
          records: [{ op: "put", type: publicLinkRecord, value: replacing.value, replacing }],
        });
        return commit(batch);
      };
    };
    meanwhile();
    await node.links.update(call(tagOf(made)), articleId, { indexable: true });
    expect(await codeOf(node.links.put(call(tagOf(synced)), articleId, { indexable: false }))).toBe("precondition_failed");
    const newest = tagOf(await node.links.get(call(), articleId));
    meanwhile();
    await node.links.unpublish(call(newest), articleId);
    expect(await codeOf(node.links.get(call(), articleId))).toBe("not_published");
  });

  test("[PL11] a link that was stored without a counter of its changes is read and changed", async () => {
    await node.links.put(call(), articleId, {});
    const replacing = await storage.records.get(publicLinkRecord, articleId);
    if (replacing === undefined) throw new Error("no link");
    const { metaRevision: _metaRevision, ...context } = replacing.value.context;
    const value = { ...replacing.value, context };
    await storage.commit({ partition: partitionOfId(articleId), records: [{ op: "put", type: publicLinkRecord, value, replacing }] });
    const before = await node.links.get(call(), articleId);
    expect(before.metaRevision).toBe(0);
    expect((await node.links.update(call(tagOf(before)), articleId, { indexable: true })).metaRevision).toBe(1);
  });

  test("[PL12] the links of a workspace are listed newest first, by mode and state", async () => {
    const ids = [articleId];
    for (const title of ["Two", "Three", "Four"]) ids.push(await create(title));
    for (const [at, id] of ids.entries()) {
      await time.advance(1000);
      await node.links.put(call(), id, { mode: at % 2 === 0 ? "live" : "snapshot" });
    }
    await node.links.unpublish(call(), ids[1] as string);
    const list = async (query: object) => {
      const { publicLinks, nextToken } = await node.list(call(), { workspaceId, ...query });
      return { ids: publicLinks.map((link) => link.articleId), nextToken };
    };
    expect((await list({})).ids).toEqual([ids[3], ids[2], ids[0]]);
    expect((await list({ mode: "live" })).ids).toEqual([ids[2], ids[0]]);
    expect((await list({ state: "snapshot" })).ids).toEqual([ids[3]]);
    expect((await list({ state: "expired" })).ids).toEqual([]);
    const first = await list({ limit: 2 });
    expect(first.ids).toEqual([ids[3], ids[2]]);
    expect((await list({ limit: 2, nextToken: first.nextToken })).ids).toEqual([ids[0]]);
    const elsewhere = await addWorkspace(storage);
    const foreign = createCall(storage, elsewhere, partitionOfId(elsewhere));
    expect((await node.list(foreign, { workspaceId: elsewhere })).publicLinks).toEqual([]);
  });

  test("[PL43] the list of links shows the title of each page", async () => {
    const frozen = await create("Frozen");
    await node.links.put(call(), articleId, {});
    await time.advance(1000);
    await node.links.put(call(), frozen, { mode: "snapshot" });
    for (const id of [articleId, frozen]) await node.articles.update(id, { title: "Renamed" }, call());
    const { publicLinks } = await node.list(call(), { workspaceId });
    for (const link of publicLinks) expect(ListedPublicLink.parse(link)).toEqual(link);
    const { title, ...link } = publicLinks[0] ?? {};
    expect(link).toEqual((await node.links.get(call(), frozen)).link);
    expect([title, publicLinks[1]?.title]).toEqual(["Frozen", "Renamed"]);
    expect(JSON.parse((await node.page("/p/frozen.json")).body).title).toBe("Frozen");
  });

  test.each(["live", "snapshot"] as const)("[PL66] the date of a page is that of its text, whatever is set later (%s)", async (mode) => {
    const { link } = await node.links.put(call(), articleId, { mode });
    await time.advance(60_000);
    await node.links.update(call(), articleId, { slug: "later", indexable: true, expiresAt: time.now() / 1000 + 3600 });
    const page = JSON.parse((await node.page("/p/later.json")).body);
    expect(page.updatedAt).toBe(link.updatedAt);
    const { link: changed } = await node.links.get(call(), articleId);
    expect(changed.updatedAt).toBeGreaterThan(page.updatedAt);
  });

  test("[PL7] caches must revalidate pages, which state the revision that they show", async () => {
    const { link } = await node.links.put(call(), articleId, {});
    for (const [form, type] of [
      ["", "text/html; charset=utf-8"],
      [".md", "text/markdown; charset=utf-8"],
      [".json", "application/json"],
    ]) {
      const page = await node.page(`/p/${link.slug}${form}`);
      expect(page.headers).toMatchObject({
        "content-type": type,
        "cache-control": "public, max-age=0, must-revalidate",
        "x-svc-revision": String(link.publishedRevision),
        "x-svc-content-hash": sha256("First words.\n"),
        "x-robots-tag": "noindex",
      });
      const etag = page.headers.etag ?? "";
      expect(etag).toMatch(/^"[\w-]+"$/);
      const fresh = await node.page(`/p/${link.slug}${form}`, { "if-none-match": `"other", W/${etag}` });
      expect([fresh.status, fresh.body]).toEqual([304, ""]);
      expect((await node.page(`/p/${link.slug}${form}`, { "if-none-match": '"other"' })).status).toBe(200);
    }
    expect(JSON.parse((await node.page(`/p/${link.slug}.json`)).body)).toEqual({
      title: "Über den Wolken!",
      slug: link.slug,
      mode: "live",
      revision: link.publishedRevision,
      contentHash: sha256("First words.\n"),
      markdown: "First words.\n",
      updatedAt: link.updatedAt,
    });
    const before = (await node.page(`/p/${link.slug}`)).headers.etag;
    await node.articles.update(articleId, { title: "Renamed <b>" }, call());
    const renamed = await node.page(`/p/${link.slug}`);
    expect(renamed.headers.etag).not.toBe(before);
    expect(renamed.body).toContain("<title>Renamed &lt;b&gt;</title>");
    await node.links.update(call(), articleId, { indexable: true });
    const indexable = await node.page(`/p/${link.slug}`);
    expect(indexable.headers).not.toHaveProperty("x-robots-tag");
    expect(indexable.body).not.toContain("noindex");
  });

  test("[PL54] the picture of a page is served with an entity tag as long as the page is public", async () => {
    const { link } = await node.links.put(call(), articleId, {});
    const path = `/p/${link.slug}/card.png`;
    const card = await node.page(path);
    expect(card.headers).toMatchObject({ "content-type": "image/png", "cache-control": "public, max-age=0, must-revalidate" });
    expect(card.headers["content-security-policy"]).toBe("default-src 'none'; frame-ancestors 'none'");
    const { etag = "" } = card.headers;
    expect((await node.page(path, { "if-none-match": etag })).status).toBe(304);
    await append("More.\n");
    expect((await node.page(path)).headers.etag).toBe(etag);
    for (const slug of ["never-known", "UPPER", "a".repeat(3000)]) expect((await node.page(`/p/${slug}/card.png`)).code).toBe("not_found");
    await node.links.update(call(), articleId, { slug: "renamed" });
    expect((await node.page(path)).headers.location).toBe("../renamed/card.png");
    await node.links.unpublish(call(), articleId);
    expect(await node.page("/p/renamed/card.png")).toMatchObject({ status: 410, code: "unpublished" });
  });

  test("[PL7] a page's policy allows one script file by its hash on a Live page, and no inline style", async () => {
    const { link } = await node.links.put(call(), articleId, {});
    const page = await node.page(`/p/${link.slug}`);
    const policy = page.headers["content-security-policy"] ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*/);
    const [, script = "", integrity = ""] = /<script src="\.\.(\/assets\/live-[0-9a-f]+\.js)" integrity="([^"]+)"/.exec(page.body) ?? [];
    expect(policy.split("; ").filter((directive) => /^(script|connect)-src/.test(directive))).toEqual([
      `script-src '${integrity}'`,
      "connect-src 'self'",
    ]);
    const code = (await node.page(script)).body;
    expect(integrity).toBe(`sha256-${createHash("sha256").update(code).digest("base64")}`);
    expect(code).not.toMatch(/innerHTML|document\.write|eval\(|new Function/);
    const style = /<link rel="stylesheet" href="\.\.(\/assets\/page-[0-9a-f]+\.css)">/.exec(page.body)?.[1] ?? "";
    const css = await node.page(style);
    expect(css.headers).toMatchObject({ "content-type": "text/css; charset=utf-8", "cache-control": expect.stringContaining("immutable") });
    expect(css.body).toContain("prefers-color-scheme: dark");
    expect(page.body).not.toMatch(/<style|\sstyle=/);
    expect(page.body.match(/<script[^>]*>/g)).toEqual([
      '<script type="application/ld+json">',
      expect.stringContaining(` src="..${script}"`),
    ]);
    expect(page.body).toMatch(/<h1 dir="auto">Über den Wolken!<\/h1>[\s\S]*<p dir="auto">First words\.<\/p>/);
    await node.links.update(call(), articleId, { mode: "snapshot" });
    const frozen = await node.page(`/p/${link.slug}`);
    expect(frozen.headers["content-security-policy"]).not.toMatch(/script-src|connect-src/);
    expect(frozen.body.match(/<script[^>]*>/g)).toEqual(['<script type="application/ld+json">']);
    const titled = await create("Twice", "# Twice\n\nText");
    const { link: other } = await node.links.put(call(), titled, {});
    expect((await node.page(`/p/${other.slug}`)).body.match(/<h1\b/g)).toHaveLength(1);
  });
});

test("[PL13] [PL62] each node counts the readers of public pages by address, refusing above rate.public", async () => {
  const time = createManualTime();
  const { storage, close } = await openMemory(time);
  const node = createPublishingNode(storage, time, { limits: { "rate.public": { count: 1, seconds: 1, burst: 3 } } });
  const workspaceId = await addWorkspace(storage);
  const call = () => createCall(storage, workspaceId, partitionOfId(workspaceId));
  const { articleId } = (await node.articles.create({ workspaceId, title: "Counted", content: "Words." }, call())).article;
  const { link } = await node.links.put(call(), articleId, {});
  const limit = { "ratelimit-policy": '"public";q=1;w=1', ratelimit: '"public";r=2;t=1' };
  expect(await node.page(`/p/${link.slug}`)).toMatchObject({ status: 200, headers: limit });
  for (let at = 0; at < 2; at += 1) expect((await node.page("/p/nothing.md")).code).toBe("not_found");
  expect(await node.page("/p/nothing.md")).toMatchObject({ status: 429, code: "rate_limited" });
  const other = createPublishingNode(storage, time, { limits: { "rate.public": { count: 1, seconds: 1, burst: 3 } } });
  expect((await other.page("/p/nothing.md")).code).toBe("not_found");
  await time.advance(1000);
  expect((await node.page("/p/nothing.md")).code).toBe("not_found");
  await node.closePages();
  await close();
});

test("[PL15] without the store a page is served from memory for a second, unless it was taken down", async () => {
  const time = createManualTime();
  const { storage, close } = await openMemory(time);
  let away = false;
  const reach = <Result>(run: () => Promise<Result>) => (away ? Promise.reject(new StorageUnavailableError("away")) : run());
  const remote: Storage = {
    ...storage,
    records: { ...storage.records, get: (type, key) => reach(() => storage.records.get(type, key)) },
    blobs: { ...storage.blobs, get: (partition, hash) => reach(() => storage.blobs.get(partition, hash)) },
    rates: { take: (demands) => reach(() => storage.rates.take(demands)) },
  };
  const node = createPublishingNode(remote, time);
  const workspaceId = await addWorkspace(storage);
  const call = () => createCall(storage, workspaceId, partitionOfId(workspaceId));
  const { articleId } = (await node.articles.create({ workspaceId, title: "Known", content: "Known words." }, call())).article;
  const { link } = await node.links.put(call(), articleId, {});
  expect((await node.page(`/p/${link.slug}`)).status).toBe(200);
  away = true;
  await time.advance(1000);
  for (const form of ["", ".md", ".json"]) expect((await node.page(`/p/${link.slug}${form}`)).body).toContain("Known words.");
  await time.advance(1);
  await expect(node.page(`/p/${link.slug}`)).rejects.toBeInstanceOf(StorageUnavailableError);
  away = false;
  expect((await node.page(`/p/${link.slug}`)).status).toBe(200);
  node.access.start();
  await node.access.ready();
  // Another node unpublishes the link. This node is notified before the store fails.
  await createPublishingNode(storage, time).links.unpublish(call(), articleId);
  await vi.waitFor(async () => {
    away = true;
    await expect(node.page(`/p/${link.slug}`)).rejects.toBeInstanceOf(StorageUnavailableError);
    away = false;
  });
  node.access.stop();
  await node.closePages();
  await close();
});
