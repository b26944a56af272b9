/** Tests pages that follow their article: synchronization, failures and crashes. */
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Storage } from "../../server/platform/storage/port.ts";
import { createDyingStorage } from "../support/dyingStorage.ts";
import { domainStorages } from "../support/storages.ts";
import { createPublishingNode, usePublishing } from "./publishingFixture.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

describe.each(domainStorages())("Live pages on %s", (_name, openStorage) => {
  const rig = usePublishing(openStorage);
  const { call, append, markdown } = rig;
  const liveSync = async () => (await rig.node.links.get(call(), rig.articleId)).link.liveSync;

  test("[PL2] the same address shows a durable edit of a Live article without a further request", async () => {
    const { time, node, articleId } = rig;
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
    const { time, node, articleId } = rig;
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
    const { time, node, articleId } = rig;
    const [{ link }] = await Promise.all([node.links.put(call(), articleId, {}), append("At the same time.\n")]);
    await time.advance(3000);
    expect(await markdown(link.slug)).toContain("At the same time.");
  });

  test("[PL2] continuous typing causes about one synchronization a second, and no edit is missed", async () => {
    const { time, storage, node, articleId } = rig;
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
    const { time, storage, node, articleId } = rig;
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

  test("[PL6] a page is served without opening a room", async () => {
    const { time, storage, node, articleId } = rig;
    const { link } = await node.links.put(call(), articleId, {});
    await node.rooms.drain();
    const other = createPublishingNode(storage, time, { nodeId: "node_b" });
    expect((await other.page(`/p/${link.slug}`)).status).toBe(200);
    expect((await other.page(`/p/${link.slug}.json`)).status).toBe(200);
    expect(other.rooms.stats().rooms).toBe(0);
    await other.closePages();
  });

  test("[PL9] a failed synchronization is shown in the link, retried, given up, and restarted on request", async () => {
    const { time, node, articleId } = rig;
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
    const { time, node, articleId } = rig;
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
});
