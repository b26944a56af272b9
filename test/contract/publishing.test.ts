/** Tests public links: their addresses, modes, lists and ends. */
import { describe, expect, test } from "vitest";
import { ListedPublicLink, PublicLink } from "../../api/schema/publicLink.ts";
import { liveEtag } from "../../server/domain/call/precondition.ts";
import { publicLinkRecord } from "../../server/domain/publishing/records.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { codeOf } from "../support/codeOf.ts";
import { baseUrl } from "../support/composeParts.ts";
import { domainStorages } from "../support/storages.ts";
import { addWorkspace, createCall } from "./articleFixture.ts";
import { usePublishing } from "./publishingFixture.ts";

describe.each(domainStorages())("public links on %s", (_name, openStorage) => {
  const rig = usePublishing(openStorage);
  const { call, create, append, markdown } = rig;

  test("[PL1] an article is published Live unless Snapshot is requested, at an address from its title", async () => {
    const { time, node, articleId } = rig;
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
    const { time, node, articleId } = rig;
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
    const { node, articleId } = rig;
    const both = await Promise.all([node.links.put(call(), articleId, {}), node.links.put(call(), articleId, {})]);
    expect(both.map(({ created }) => created).sort()).toEqual([false, true]);
    expect(both[0]?.link.slug).toBe(both[1]?.link.slug);
    const others = [await create("A"), await create("B")];
    const results = await Promise.allSettled(others.map((id) => node.links.put(call(), id, { slug: "same" })));
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  test("[PL3] a Snapshot keeps its text through edits and renames until it is refreshed", async () => {
    const { time, node, articleId } = rig;
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
    const { node, articleId } = rig;
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
    const { time, node, articleId } = rig;
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
    ["a refresh", { mode: "snapshot" as const }, (id: string) => rig.node.links.refreshSnapshot(call(), id, {})],
    ["a switch", {}, (id: string) => rig.node.links.put(call(), id, { mode: "snapshot" })],
  ])("[PL18] %s that takes long does not bring back an older text of the page", async (_what, published, change) => {
    const { time, node, articleId } = rig;
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
    const { time, storage, node, articleId } = rig;
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

  test("[PL10] deleting an article takes its page down in that commit, and a restore does not publish it", async () => {
    const { time, storage, node, articleId } = rig;
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

  const tagOf = ({ revision, metaRevision }: { readonly revision: number; readonly metaRevision: number }) =>
    ({ ifMatch: [liveEtag(revision, metaRevision)] }) as const;

  test("[PL11] a change of a link by an older request is refused", async () => {
    const { node, articleId } = rig;
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
    const { time, storage, node, articleId } = rig;
    const made = await node.links.put(call(), articleId, {});
    await append("More.\n");
    await time.until(async () => (await node.links.get(call(), articleId)).link.liveSync?.publishedRevision === 2, { withinMs: 5000 });
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
    const { storage, node, articleId } = rig;
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
    const { time, storage, node, workspaceId, articleId } = rig;
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
    const { time, node, workspaceId, articleId } = rig;
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
});
