/** Tests the publish gate and the comparison of a page with its article. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../api/schema/error.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import type { ManualTime } from "../support/manualTime.ts";
import { domainStorages } from "../support/storages.ts";
import { createCall } from "./articleFixture.ts";
import { openPublishing, type PublishingNode } from "./publishingFixture.ts";

const good = "# Kites\n\nThey need wind.\n";
/** One warning: the image has no alternative text. */
const doubtful = `${good}\n![](https://pictures.example/kite.png)\n`;
/** Two errors at lines 5 and 7. */
const bad = `${good}\nTODO: the tail.\n\n[More](#)\n`;

describe.each(domainStorages())("the publish gate on %s", (_name, openStorage) => {
  let time: ManualTime;
  let storage: Storage;
  let close: () => Promise<void>;
  let node: PublishingNode;
  let workspaceId: string;
  let articleId: string;
  const call = () => createCall(storage, workspaceId, partitionOfId(workspaceId));
  const create = async (content: string) =>
    (await node.articles.create({ workspaceId, title: "Kites", content }, call())).article.articleId;
  const write = async (content: string) => {
    const { revision } = await node.content.readText(articleId, "content.md", undefined);
    await node.edits.edit(articleId, { mode: "replace", content, baseRevision: revision }, call());
  };
  const refusal = async (promise: Promise<unknown>) => {
    const reason = await promise.then(
      () => undefined,
      (found: unknown) => found,
    );
    if (!(reason instanceof AppError)) throw reason ?? new Error("the request was not refused");
    return reason;
  };
  const shown = async () => (await node.page("/p/kites.md")).body;

  beforeEach(async () => {
    ({ time, storage, node, workspaceId, close } = await openPublishing(openStorage));
    articleId = await create(bad);
    node.pump.start();
  });
  afterEach(() => close());

  test("[PL40] the gate block refuses a text with errors and names each with its line", async () => {
    const refused = await refusal(node.links.put(call(), articleId, { gate: "block", slug: "kites" }));
    expect(refused.code).toBe("gate_failed");
    expect(refused.facts.errors).toEqual([
      { pointer: "", code: "empty_link", message: "Line 7: “More” links to nothing." },
      { pointer: "", code: "placeholder", message: "Line 5: “TODO” marks text that is not written yet." },
    ]);
    expect(refused.message).toBe("The text has 2 errors. Correct them, or set the gate to warn.");
    await write("TODO\n");
    const { message } = await refusal(node.links.put(call(), articleId, { gate: "block" }));
    expect(message).toBe("The text has an error. Correct it, or set the gate to warn.");
    expect((await refusal(node.links.get(call(), articleId))).code).toBe("not_published");
    // A refused request claims no slug.
    expect((await node.links.put(call(), await create(good), { slug: "kites" })).created).toBe(true);
  });

  test("[PL40] warnings do not block, and their number is known", async () => {
    await write(doubtful);
    expect(await node.links.put(call(), articleId, { gate: "block" })).toMatchObject({ created: true, findings: 1 });
    expect((await node.links.get(call(), articleId)).link.gate).toBe("block");
  });

  test("[PL40] the gate warn publishes the text and counts its findings; off checks nothing", async () => {
    expect((await node.links.put(call(), articleId, {})).findings).toBeUndefined();
    expect(node.checked).toEqual([]);
    await node.links.unpublish(call(), articleId);
    expect(await node.links.put(call(), articleId, { gate: "warn" })).toMatchObject({ findings: 2, link: { gate: "warn" } });
    expect(await shown()).toBe(bad);
  });

  test("[PL41] every request that publishes a text passes the gate, and no other request does", async () => {
    await write(good);
    await node.links.put(call(), articleId, { gate: "block", mode: "snapshot" });
    const { revision } = await node.content.readText(articleId, "content.md", undefined);
    await write(bad);
    const settings = { indexable: true, expiresAt: time.now() / 1000 + 60 };
    expect((await node.links.update(call(), articleId, settings)).findings).toBeUndefined();
    expect((await refusal(node.links.update(call(), articleId, { mode: "live" }))).code).toBe("gate_failed");
    expect((await refusal(node.links.refreshSnapshot(call(), articleId, {}))).code).toBe("gate_failed");
    expect((await node.links.refreshSnapshot(call(), articleId, { revision })).findings).toBe(0);
    expect(await shown()).toBe(good);
    await time.leap(61_000);
    // The Snapshot of an expired page is published again, a Live page with its newest text.
    const later = { expiresAt: time.now() / 1000 + 60 };
    expect((await refusal(node.links.update(call(), articleId, { ...later, mode: "live" }))).code).toBe("gate_failed");
    expect(await node.links.update(call(), articleId, later)).toMatchObject({ findings: 0, link: { state: "snapshot" } });
    // The gate of the request counts, not the one before it.
    expect(await node.links.update(call(), articleId, { mode: "live", gate: "warn" })).toMatchObject({ findings: 2 });
  });

  test("[PL41] a text that cannot be checked is refused, and may be sent again if the server was busy", async () => {
    node.trouble.unread = { retryable: true };
    expect((await refusal(node.links.put(call(), articleId, { gate: "warn" }))).code).toBe("unavailable");
    node.trouble.unread = { retryable: false };
    expect(await node.links.put(call(), articleId, { gate: "warn" })).toMatchObject({ findings: 1 });
    const refused = await refusal(node.links.put(call(), await create(good), { gate: "block" }));
    expect(refused.facts.errors).toEqual([{ pointer: "", code: "unreadable", message: "The text was not read." }]);
  });

  test("[PL42] a Live page follows edits that the gate would refuse", async () => {
    await write(good);
    await node.links.put(call(), articleId, { gate: "block" });
    expect(node.checked).toEqual([good]);
    await time.advance(2000);
    await write(bad);
    await time.advance(2000);
    expect(await shown()).toBe(bad);
    expect(node.checked).toEqual([good]);
  });

  test("[PL44] the findings in the newest text are read with their lines, whether or not the article is public", async () => {
    const report = await node.reportFindings(articleId);
    expect(report).toEqual({
      revision: (await node.content.readText(articleId, "content.md", undefined)).revision,
      findings: [
        { severity: "error", code: "empty_link", message: "“More” links to nothing.", line: 7 },
        { severity: "error", code: "placeholder", message: "“TODO” marks text that is not written yet.", line: 5 },
      ],
    });
    expect((await refusal(node.links.get(call(), articleId))).code).toBe("not_published");
    await node.links.put(call(), articleId, { mode: "snapshot" });
    await write(doubtful);
    expect((await node.reportFindings(articleId)).findings).toMatchObject([{ severity: "warning", line: 5 }]);
    expect(await shown()).toBe(bad);
    node.trouble.unread = { retryable: true };
    expect((await refusal(node.reportFindings(articleId))).code).toBe("unavailable");
  });

  test("[PL39] the published text is compared with the newest one, however old it is", async () => {
    await write(good);
    expect((await refusal(node.links.diff(call(), articleId, undefined))).code).toBe("not_published");
    const { link } = await node.links.put(call(), articleId, { mode: "snapshot" });
    await write(`${good}Strings too.\n`);
    // The published revision was never committed and is not kept any more.
    await time.leap(node.limits["document.keptMs"] + 120_000);
    expect(await node.documents.readAt(articleId, link.publishedRevision)).toBeUndefined();
    const { revision } = await node.content.readText(articleId, "content.md", undefined);
    const diff = await node.links.diff(call(), articleId, "json");
    expect(diff).toMatchObject({ from: link.publishedRevision, to: revision, stats: { added: 1, removed: 0 } });
    expect(JSON.stringify(diff.hunks)).toContain("Strings too.");
    await node.links.refreshSnapshot(call(), articleId, {});
    expect((await node.links.diff(call(), articleId, undefined)).hunks).toEqual([]);
  });
});
