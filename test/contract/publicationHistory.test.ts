/** Tests the history of public pages: which text was public when. */
import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PublicationPeriod } from "../../api/schema/publicLink.ts";
import type { PublicationQuery } from "../../server/domain/publishing/publicationHistory.ts";
import { publicationLog } from "../../server/domain/publishing/publicationLog.ts";
import { publicLinkRecord } from "../../server/domain/publishing/records.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import type { ManualTime } from "../support/manualTime.ts";
import { domainStorages } from "../support/storages.ts";
import { type CallOptions, createCall } from "./articleFixture.ts";
import { openPublishing, type PublishingNode } from "./publishingFixture.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

describe.each(domainStorages())("the history of public pages on %s", (_name, openStorage) => {
  let time: ManualTime;
  let storage: Storage;
  let close: () => Promise<void>;
  let node: PublishingNode;
  let workspaceId: string;
  let articleId: string;
  const call = (options: CallOptions = {}) => createCall(storage, workspaceId, partitionOfId(workspaceId), options);
  const append = (content: string, file: "content.md" | "outline.md" = "content.md") =>
    node.edits.edit(articleId, { mode: "append", file, content }, call());
  const list = (query: PublicationQuery = {}) => node.history.list(articleId, query);
  const periods = async (query: PublicationQuery = {}) => (await list(query)).items;
  const wait = () => time.advance(10_000);
  /** Waits until a Live page shows the text, and for some seconds more. */
  const untilShown = async (text: string) => {
    await time.until(async () => (await node.page("/p/title.md")).body === text);
    await wait();
  };

  beforeEach(async () => {
    ({ time, storage, node, workspaceId, close } = await openPublishing(openStorage));
    articleId = (await node.articles.create({ workspaceId, title: "Title", content: "a" }, call())).article.articleId;
    node.pump.start();
  });
  afterEach(() => close());

  test("[PL25] each publication, switch, refresh, sync and removal begins or ends a period, newest first", async () => {
    await expect(list()).rejects.toMatchObject({ code: "not_published" });
    const { commitId } = (await node.commits.create(articleId, {}, call())).commit;
    const at: number[] = [];
    const change = async (run: () => Promise<unknown>) => {
      at.push(time.now() / 1000);
      await run();
      await wait();
    };
    await change(() => node.links.put(call(), articleId, {}));
    await change(() => node.links.update(call(), articleId, { mode: "snapshot" }));
    await append("b");
    await wait();
    await change(() => node.links.refreshSnapshot(call(), articleId, {}));
    await change(() => node.links.unpublish(call(), articleId));
    await append("c");
    await change(() => node.links.put(call(), articleId, { mode: "snapshot" }));
    await change(() => node.articles.delete(articleId, false, call()));
    const found = await periods();
    for (const period of found) expect(PublicationPeriod.parse(period)).toEqual(period);
    const commits = (await node.commits.list(articleId, {})).items;
    const committed = (revision: number) => {
      const made = commits.find((commit) => commit.revision === revision);
      return { revision, ...(made === undefined ? {} : { commitId: made.commitId }) };
    };
    expect(committed(1)).toEqual({ revision: 1, commitId });
    expect(found).toEqual([
      { from: at[4], to: at[5], mode: "snapshot", ...committed(3), contentHash: sha256("abc") },
      { from: at[2], to: at[3], mode: "snapshot", ...committed(2), contentHash: sha256("ab") },
      { from: at[1], to: at[2], mode: "snapshot", ...committed(1), contentHash: sha256("a") },
      { from: at[0], to: at[1], mode: "live", ...committed(1), contentHash: sha256("a") },
    ]);
  });

  test("[PL25] a Live page adds a period for each text that it showed, and none while its text stays the same", async () => {
    await node.links.put(call(), articleId, {});
    await wait();
    await append("b");
    await untilShown("ab");
    await append("outline", "outline.md");
    await wait();
    await append("c");
    await untilShown("abc");
    await node.links.update(call(), articleId, { indexable: true });
    await wait();
    const found = await periods();
    expect(found.map(({ revision, contentHash, mode }) => [mode, revision, contentHash])).toEqual([
      ["live", 4, sha256("abc")],
      ["live", 2, sha256("ab")],
      ["live", 1, sha256("a")],
    ]);
    expect(found[0]).not.toHaveProperty("to");
    expect([found[2]?.to, found[1]?.to]).toEqual([found[1]?.from, found[0]?.from]);
  });

  test("[PL26] periods are paged, and from and to choose those that overlap", async () => {
    await node.links.put(call(), articleId, { mode: "snapshot" });
    for (const letter of "bcdefg") {
      await append(letter);
      await node.links.refreshSnapshot(call(), articleId, {});
      await wait();
      if (letter !== "d") continue;
      await node.links.unpublish(call(), articleId);
      await wait();
      await node.links.put(call(), articleId, { mode: "snapshot" });
      await wait();
    }
    const all = await periods();
    expect(all.map(({ revision }) => revision)).toEqual([7, 6, 5, 4, 4, 3, 2, 1]);
    const paged: PublicationPeriod[] = [];
    for (let nextToken: string | undefined; ; ) {
      const page = await list({ limit: 3, nextToken });
      paged.push(...page.items);
      nextToken = page.nextToken;
      if (nextToken === undefined) break;
    }
    expect(paged).toEqual(all);
    const times = [...new Set(all.flatMap(({ from, to = from + 60 }) => [from, to]))].flatMap((each) => [each - 1, each, each + 1]);
    for (const from of [undefined, ...times]) {
      for (const to of [undefined, ...times]) {
        const wanted = all.filter(
          (period) => (to === undefined || period.from <= to) && (from === undefined || (period.to ?? Infinity) > from),
        );
        expect(await periods({ from, to })).toEqual(wanted);
      }
    }
    const { nextToken } = await list({ limit: 3, from: 1 });
    await expect(list({ limit: 3, nextToken })).rejects.toMatchObject({ code: "invalid_next_token" });
  });

  test("[PL26] the history stays through the trash, and is gone when the article is deleted for good", async () => {
    await node.links.put(call(), articleId, {});
    await node.articles.delete(articleId, false, call());
    await node.articles.undelete(articleId, call());
    expect(await periods()).toHaveLength(1);
    await node.articles.delete(articleId, true, call({ role: "admin" }));
    await time.leap(3 * 86_400_000);
    await time.advance(1000);
    expect(await storage.records.get(publicLinkRecord, articleId)).toBeUndefined();
    expect(await storage.log.tail(partitionOfId(articleId), publicationLog(articleId))).toBe(0);
  });
});
