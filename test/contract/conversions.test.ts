/** Tests the life of conversions on each store: work, targets, cache, expiry, deletion, and processes that die. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type * as Y from "yjs";
import { AppError } from "../../api/schema/error.ts";
import type { ConversionView, RequestedConversion } from "../../server/domain/conversions/conversions.ts";
import { conversionRecord } from "../../server/domain/conversions/records.ts";
import { folderRecord } from "../../server/domain/folders/records.ts";
import { workspaceRecord } from "../../server/domain/identity/workspaces/records.ts";
import type { OutboundOutcome } from "../../server/platform/outbound/fetch.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { actorStorages } from "../support/actorStorages.ts";
import { defaultLeaseMs } from "../support/composeParts.ts";
import { createConverterDouble, succeedWith } from "../support/converterDouble.ts";
import { createDyingStorage } from "../support/dyingStorage.ts";
import { createManualTime, type ManualTime } from "../support/manualTime.ts";
import { addWorkspace, type CallOptions, createCall, eventsOf } from "./articleFixture.ts";
import { type ConversionNode, type ConversionNodeOptions, createConversionNode } from "./conversionFixture.ts";

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "no refusal",
    (reason: unknown) => (reason instanceof AppError ? reason.code : String(reason)),
  );
const day = 24 * 3_600_000;
const accountPartition = partitionOfId("usr_0000000000000000000000000A");

describe.each(actorStorages)("conversions on %s", (_name, openStorage) => {
  let time: ManualTime;
  let storage: Storage;
  let close: () => Promise<void>;
  let nodes: ConversionNode[];
  let node: ConversionNode;
  let workspaceId: string;
  let partition: number;

  const createNode = (on = storage, options: ConversionNodeOptions = {}): ConversionNode => {
    const created = createConversionNode(on, time, options);
    nodes.push(created);
    return created;
  };
  const call = (options: CallOptions = {}) => createCall(storage, workspaceId, partition, { limits: node.limits, ...options });
  const request = (more: Partial<RequestedConversion> = {}): RequestedConversion => ({
    source: { content: "# Kites\n", format: "markdown" },
    to: "html",
    ...more,
  });
  const start = async (more?: Partial<RequestedConversion>, on = node, options?: CallOptions) =>
    (await on.conversions.create(request(more), call(options))).conversion.conversionId;
  const get = async (conversionId: string, on = node) => {
    const { conversion, writtenArticleId } = await on.conversions.get(conversionId, call());
    return { ...conversion, writtenArticleId };
  };
  /** Waits for the end of a conversion on the clock of the test. */
  const end = async (conversionId: string) => {
    await time.until(async () => (await get(conversionId)).finishedAt !== undefined);
    return get(conversionId);
  };
  const convert = async (more?: Partial<RequestedConversion>, on = node) => end(await start(more, on));
  const textOf = async (conversionId: string, on = node) =>
    Buffer.from((await on.conversions.output(conversionId, call())).content).toString();
  const commitsOf = async (articleId: string, on = node) => (await on.commits.list(articleId, {})).items;
  const live = async (articleId: string, on = node) => (await on.content.readText(articleId, "content.md", undefined)).text;
  const newArticle = async (content: string) =>
    (await node.articles.create({ workspaceId, title: "Kites", content }, call())).article.articleId;
  const articles = async () => (await node.articles.list({ workspaceId })).items;

  beforeEach(async () => {
    time = createManualTime();
    ({ storage, close } = await openStorage(time));
    nodes = [];
    node = createNode();
    node.pump.start();
    workspaceId = await addWorkspace(storage);
    partition = partitionOfId(workspaceId);
  });
  afterEach(async () => {
    for (const each of nodes) {
      await each.pump.drain(AbortSignal.abort());
      await each.rooms.drain();
      await each.close();
    }
    await close();
  });

  test("[CV50][CV65] a conversion ends with its output, its fidelity, and the name of a file", async () => {
    const conversionId = await start();
    expect(partitionOfId(conversionId)).toBe(accountPartition);
    const ended = await end(conversionId);
    expect(ended).toMatchObject({ status: "succeeded", from: "markdown", to: "html", source: {}, fidelity: { score: 1 } });
    expect(ended.output).toMatchObject({ url: `https://content.example/conversions/${conversionId}/output`, bytes: 26 });
    expect(await textOf(conversionId)).toBe("markdown to html: # Kites\n");
    expect((await node.conversions.output(conversionId, call())).fileName).toBe("conversion.html");
    const stored = await storage.records.get(conversionRecord, conversionId);
    expect([stored?.value.context.input, stored?.value.pending]).toEqual([undefined, []]);
  });

  test("[CV50][CV65] a document that cannot be converted ends as failed with the reason, and has no output", async () => {
    node.converter.answer = async () => ({ ok: false, code: "conversion_failed", detail: "Line 3 is broken." });
    const { conversionId, status, error } = await convert();
    expect([status, error]).toEqual(["failed", { code: "conversion_failed", message: "Line 3 is broken." }]);
    expect(await codeOf(node.conversions.output(conversionId, call()))).toBe("not_ready");
  });

  test("[CV63] a pair of formats that is not supported is refused with the formats that are", async () => {
    expect(node.conversions.formats().pairs).toContainEqual({ from: "html", to: "markdown", lossless: false });
    const refused = node.conversions.create(request({ source: { content: "<p>", format: "html" }, to: "pdf" }), call());
    await expect(refused).rejects.toMatchObject({
      code: "unsupported_media_type",
      facts: { errors: [{ pointer: "/to", message: "must be one of 'markdown'" }] },
    });
  });

  test("[CV51] an error of the server is repeated, and at last ends the conversion as failed", async () => {
    node.converter.answer = async () => {
      throw new Error("a bug");
    };
    const { status, error } = await convert();
    expect([status, error?.code]).toEqual(["failed", "conversion_failed"]);
    expect(error?.message).not.toContain("a bug");
    expect(node.converter.inputs.length).toBe(3);
  });

  test("[CV53] equal work in one workspace or account is done once; other bytes, titles and accounts are done anew", async () => {
    const first = await convert();
    const again = await convert();
    expect(again.output?.sha256).toBe(first.output?.sha256);
    expect(await textOf(again.conversionId)).toBe(await textOf(first.conversionId));
    expect(node.converter.inputs.length).toBe(1);
    await convert({ options: { title: "Other" } });
    await convert({ source: { content: "# Kite\n", format: "markdown" } });
    expect(node.converter.inputs.length).toBe(3);
    const newer = createNode(storage, { nodeId: "node_b", converter: createConverterDouble("double-2") });
    await node.pump.drain(AbortSignal.abort());
    newer.pump.start();
    await convert({}, newer);
    expect(newer.converter.inputs.length).toBe(1);
    const articleId = await newArticle("# Kites\n");
    const ofArticle = await convert({ source: { articleId } as never, options: { title: "Kites" } }, newer);
    expect(ofArticle.workspaceId).toBe(workspaceId);
    expect(newer.converter.inputs.length).toBe(2);
  });

  test("[CV53] the copy of a deleted conversion's output stays readable", async () => {
    const first = await convert();
    const second = await convert();
    await node.conversions.delete(first.conversionId, call());
    await time.leap(2 * 3_600_000);
    await time.advance(10_000);
    expect(await textOf(second.conversionId)).toBe("markdown to html: # Kites\n");
  });

  test("[CV55] an output expires after keep.output, and the conversion is deleted after keep.conversions", async () => {
    const { conversionId, output } = await convert();
    await time.leap(day - 60_000);
    expect((await get(conversionId)).status).toBe("succeeded");
    await node.pump.drain(AbortSignal.abort());
    await time.leap(120_000);
    // The row that deletes the output has not run yet.
    expect(await codeOf(node.conversions.output(conversionId, call()))).toBe("output_expired");
    const other = createNode(storage, { nodeId: "node_b" });
    other.pump.start();
    const read = async () => (await storage.records.get(conversionRecord, conversionId))?.value;
    await time.until(async () => (await read())?.state === "expired");
    expect(await get(conversionId)).toMatchObject({ status: "expired", finishedAt: expect.any(Number) });
    expect((await get(conversionId)).output).toBeUndefined();
    await time.leap(3_600_000);
    await time.until(async () => (await storage.blobs.get(accountPartition, output?.sha256 ?? "")) === undefined);
    await time.leap(30 * day);
    await time.until(async () => (await read()) === undefined);
    expect(await codeOf(node.conversions.get(conversionId, call()))).toBe("not_found");
  });

  test("[CV54] deleting a running conversion ends its work, and nothing of it is stored", async () => {
    let aborted = false;
    const articleId = await newArticle("As it was.\n");
    node.converter.answer = ({ signal }) =>
      new Promise((_, reject) =>
        signal?.addEventListener("abort", () => {
          aborted = true;
          reject(signal.reason);
        }),
      );
    const conversionId = await start({ to: "markdown", target: { articleId } as never });
    await time.until(async () => (await get(conversionId)).status === "running" && node.converter.inputs.length === 1);
    await node.conversions.delete(conversionId, call());
    await time.until(() => aborted);
    await time.advance(60_000);
    expect(await codeOf(node.conversions.get(conversionId, call()))).toBe("not_found");
    expect(await codeOf(node.conversions.delete(conversionId, call()))).toBe("not_found");
    expect(await live(articleId)).toBe("As it was.\n");
  });

  test("[CV52] a target creates an article whose text, first commit and event are one commit with the success", async () => {
    const { conversionId, writtenArticleId: articleId = "" } = await convert({
      to: "markdown",
      options: { title: "Report" },
      target: { workspaceId } as never,
    });
    expect(partitionOfId(conversionId)).toBe(partition);
    expect((await articles()).map(({ article }) => [article.articleId, article.title])).toEqual([[articleId, "Report"]]);
    expect(await live(articleId)).toBe("markdown to markdown: # Kites\n");
    const [commit, ...others] = await commitsOf(articleId);
    expect(others).toEqual([]);
    expect(commit).toMatchObject({ kind: "import", revision: 1, parentRevision: null, authors: [{ username: "ada", kind: "user" }] });
    expect(await eventsOf(storage, partition)).toMatchObject([{ articleId, kind: "import", commitId: commit?.commitId }]);
    const { spans } = await node.blame.read(articleId, {});
    expect(spans.items).toEqual([{ start: 0, end: 30, username: "ada", kind: "user", commitId: commit?.commitId }]);
    // No checkpoint follows, because nothing is left for it.
    await time.leap(600_000);
    await time.advance(5000);
    expect(await commitsOf(articleId)).toHaveLength(1);
  });

  test("[CV52][CV62] a target article gets one commit of kind import, and text typed meanwhile stays", async () => {
    const articleId = await newArticle("# Old\n\nThe end.\n");
    node.converter.answer = async () => {
      await node.rooms.edit(articleId, { username: "bo", kind: "user" }, undefined, (document: Y.Doc) =>
        document.getText("content.md").insert(0, "Typed. "),
      );
      return succeedWith("# New\n\nThe end.\n");
    };
    const { writtenArticleId, status } = await convert({ to: "markdown", target: { articleId } as never });
    expect([status, writtenArticleId]).toEqual(["succeeded", articleId]);
    expect(await live(articleId)).toBe("Typed. # New\n\nThe end.\n");
    const [commit, ...others] = await commitsOf(articleId);
    expect([commit?.kind, others.length]).toEqual(["import", 0]);
  });

  test("[CV62] a target that was closed meanwhile fails the conversion and changes nothing", async () => {
    const workspace = await storage.records.get(workspaceRecord, workspaceId);
    const folderId = "fld_0000000000050000000000000A";
    const folder = { folderId, workspaceId, parentFolderId: null, name: "Inbox", slug: "inbox", createdAtMs: 1, updatedAtMs: 1 };
    await storage.commit({ partition, records: [{ op: "put", type: folderRecord, value: folder, replacing: null }] });
    node.converter.answer = async () => {
      const stored = await storage.records.get(folderRecord, folderId);
      if (stored === undefined) throw new Error("no folder");
      const archived = { ...stored.value, archivedAtMs: 2 };
      await storage.commit({ partition, records: [{ op: "put", type: folderRecord, value: archived, replacing: stored }] });
      return succeedWith("text");
    };
    const late = await convert({ to: "markdown", target: { folderId } as never });
    expect([late.status, late.error?.code, late.writtenArticleId]).toEqual(["failed", "not_found", undefined]);
    expect(await codeOf(node.conversions.create(request({ to: "markdown", target: { folderId } as never }), call()))).toBe(
      "validation_failed",
    );
    node.converter.answer = async () => {
      if (workspace === undefined) throw new Error("no workspace");
      await storage.commit({
        partition,
        records: [{ op: "put", type: workspaceRecord, value: { ...workspace.value, members: [] }, replacing: workspace }],
      });
      return succeedWith("text of a former member");
    };
    const conversionId = await start({ to: "markdown", target: { workspaceId } as never });
    const read = async () => (await storage.records.get(conversionRecord, conversionId))?.value;
    await time.until(async () => (await read())?.state === "failed");
    expect((await read())?.context.error?.code).toBe("insufficient_permission");
    expect(await codeOf(node.conversions.get(conversionId, call()))).toBe("not_found");
    expect(await articles()).toEqual([]);
  });

  test("[CV58] the text of a source article is that of the request, at its revision", async () => {
    const articleId = await newArticle("One.\n");
    const source = { articleId } as never;
    const conversionId = await start({ source });
    await node.rooms.edit(articleId, { username: "bo", kind: "user" }, undefined, (document: Y.Doc) =>
      document.getText("content.md").insert(0, "Two. "),
    );
    expect(await end(conversionId)).toMatchObject({ source: { articleId, file: "content.md", revision: 1 }, workspaceId });
    expect(await textOf(conversionId)).toBe("markdown to html: One.\n");
    expect((await node.conversions.output(conversionId, call())).fileName).toBe("Kites.html");
    const earlier = await convert({ source: { articleId, revision: 1 } as never });
    expect(await textOf(earlier.conversionId)).toBe("markdown to html: One.\n");
    expect(await codeOf(node.conversions.create(request({ source: { articleId, revision: 99 } as never }), call()))).toBe("revision_gone");
    expect(
      await codeOf(node.conversions.create(request({ source: { articleId: "art_0000000000050000000000000A" } as never }), call())),
    ).toBe("not_found");
  });

  test("[CV59] a document at an address is read once; an answer that is not the whole document fails", async () => {
    const answers: OutboundOutcome[] = [];
    const answered = (more: object) => ({
      kind: "answered" as const,
      status: 200,
      headers: { "content-type": "text/html; charset=utf-8" },
      body: Buffer.from("<p>Hi</p>"),
      isComplete: true,
      ...more,
    });
    const asked: string[] = [];
    const fetch = async ({ url }: { url: string }) => {
      asked.push(url);
      return answers.shift() ?? answered({});
    };
    await node.pump.drain(AbortSignal.abort());
    const other = createNode(storage, { nodeId: "node_b", fetch });
    other.pump.start();
    const url = "https://docs.example/My%20guide.html";
    const source = { url };
    const read = await convert({ source, to: "markdown" }, other);
    expect(read).toMatchObject({ status: "succeeded", from: "html", source: { url } });
    expect((await other.conversions.output(read.conversionId, call())).fileName).toBe("My guide.md");
    expect(asked).toEqual([url]);
    const signed = { url: `${url}?signature=secret` };
    const imported = await convert({ source: signed, to: "markdown", target: { workspaceId } as never }, other);
    expect((await commitsOf(imported.writtenArticleId ?? "")).map(({ message }) => message)).toEqual([`Import ${url}`]);
    const cases: readonly [object | "failed", string, RegExp][] = [
      [{ status: 302 }, "conversion_failed", /302/],
      [{ isComplete: false }, "conversion_failed", /cut off/],
      [{ headers: { "content-encoding": "gzip" } }, "conversion_failed", /compressed/],
      [{ headers: { "content-type": "application/pdf" } }, "conversion_failed", /pdf, not html/],
      [{ body: Buffer.alloc(26 * 1024 * 1024) }, "payload_too_large", /more than/],
      ["failed", "url_not_public", /url not public/],
    ];
    for (const [more, code, message] of cases) {
      answers.push(more === "failed" ? { kind: "failed", reason: "url_not_public" } : answered(more as object));
      const { status, error } = await convert({ source, to: "markdown" }, other);
      expect([status, error?.code], String(message)).toEqual(["failed", code]);
      expect(error?.message).toMatch(message);
    }
  });

  test("[CV61] a call waits for the end of its conversion, and no longer than it wants", async () => {
    const views: ConversionView[] = [];
    const wait = async (waitMs: number, more?: Partial<RequestedConversion>) => {
      const startedAtMs = time.now();
      const before = views.length;
      void node.conversions.create(request(more), { ...call(), waitMs }).then((view) => views.push(view));
      await time.until(() => views.length > before);
      return [views.at(-1)?.conversion.status, views.at(-1)?.hasEnded, time.now() - startedAtMs >= waitMs];
    };
    expect(await wait(30_000)).toEqual(["succeeded", true, false]);
    node.converter.answer = () => new Promise(() => {});
    const held = { source: { content: "held", format: "markdown" as const } };
    expect(await wait(5000, held)).toEqual(["running", false, true]);
    const last = wait(30_000, held);
    node.stopWaiting();
    expect(await last).toEqual(["queued", false, false]);
  });

  test("[CV64] a repeated attempt finds the conversion that an interrupted one created", async () => {
    const attempt = { seed: "once", nowMs: time.now() };
    const options = { attempt };
    const first = await start({ to: "markdown", target: { workspaceId } as never }, node, options);
    const again = await start({ to: "markdown", target: { workspaceId } as never }, node, options);
    expect(again).toBe(first);
    await end(first);
    expect(await articles()).toHaveLength(1);
  });

  test("[CV56] an account lists its own conversions of all its workspaces, newest first, over its pages", async () => {
    const articleId = await newArticle("# Kites\n");
    const made: string[] = [];
    const asked: Partial<RequestedConversion>[] = [
      {},
      { source: { articleId } as never },
      { source: { content: "b", format: "txt" }, to: "markdown" },
    ];
    for (const more of asked) {
      made.unshift(await start(more));
      await time.advance(10);
    }
    const first = await node.conversions.list({ limit: 2 }, call());
    const second = await node.conversions.list({ limit: 2, nextToken: first.nextToken }, call());
    expect([...first.items, ...second.items].map(({ conversionId }) => conversionId)).toEqual(made);
    const other = {
      ...call(),
      principal: { kind: "session", accountId: "usr_0000000000000000000000000B", username: "bo", operator: false, sessionId: "ses_b" },
    } as const;
    expect((await node.conversions.list({}, other)).items).toEqual([]);
    for (const conversionId of made) expect(await codeOf(node.conversions.get(conversionId, other))).toBe("not_found");
  });
});

/** A process that dies at its n-th write is the same on every store, so one of them is enough. */
test("[CV52] a process that dies at any write leaves its text in one article, with one commit of kind import", async () => {
  const time = createManualTime();
  const storage = time.watch(createMemoryStorage({ now: time.now }));
  const workspaceId = await addWorkspace(storage);
  const partition = partitionOfId(workspaceId);
  const reader = createConversionNode(storage, time, { nodeId: "reader" });
  const made = await reader.articles.create(
    { workspaceId, title: "Old", content: "As it was.\n" },
    createCall(storage, workspaceId, partition),
  );
  const { articleId } = made.article;
  const articles = async () => (await reader.articles.list({ workspaceId })).items.length;
  const imports = async (id: string) => (await reader.commits.list(id, { kind: "import" })).items.length;
  let kills = 0;
  for (const target of [{ workspaceId }, { articleId }]) {
    for (let dieAt = 1; ; dieAt += 1) {
      const [articlesBefore, importsBefore] = [await articles(), await imports(articleId)];
      const dying = createDyingStorage(storage, dieAt, dieAt % 2 === 0 ? "before" : "after");
      const text = `Import ${"articleId" in target} ${dieAt}.\n`;
      const asked = { source: { content: text, format: "markdown" }, to: "markdown", target } as RequestedConversion;
      const attempt = { seed: text, nowMs: time.now() };
      const callOn = (on: Storage) => createCall(on, workspaceId, partition, { attempt });
      const doomed = createConversionNode(dying, time, { nodeId: `doomed ${text}` });
      doomed.pump.start();
      let isAnswered = false;
      void doomed.conversions.create(asked, { ...callOn(dying), waitMs: 30_000 }).then(() => {
        isAnswered = true;
      });
      await time.until(() => dying.dead || isAnswered, { stepMs: 10 });
      if (dying.dead) kills += 1;
      else await doomed.pump.drain(AbortSignal.abort());
      await time.leap(2 * defaultLeaseMs);
      const next = createConversionNode(storage, time, { nodeId: `next ${text}` });
      next.pump.start();
      const { conversionId } = (await next.conversions.create(asked, callOn(storage))).conversion;
      const read = () => next.conversions.get(conversionId, callOn(storage));
      await time.until(async () => (await read()).hasEnded, { stepMs: 1000 });
      const { conversion, writtenArticleId = "" } = await read();
      expect([conversion.status, (await next.content.readText(writtenArticleId, "content.md", undefined)).text]).toEqual([
        "succeeded",
        `markdown to markdown: ${text}`,
      ]);
      expect((await articles()) - articlesBefore).toBe("articleId" in target ? 0 : 1);
      expect((await imports(writtenArticleId)) - ("articleId" in target ? importsBefore : 0)).toBe(1);
      await next.pump.drain(AbortSignal.abort());
      await next.close();
      if (!dying.dead) break;
    }
  }
  expect(kills).toBeGreaterThan(10);
});
