/** Tests reading and editing the text of articles by requests. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import * as Y from "yjs";
import type { EditRequest } from "../../api/schema/article.ts";
import type { Peer } from "../../realtime/ports.ts";
import { toContentHash } from "../../server/domain/articles/fileTexts.ts";
import { AlreadyAnswered, type Call, type RawReply } from "../../server/domain/call/call.ts";
import { createIdempotency } from "../../server/edge/calls/idempotency.ts";
import { createContentHandlers } from "../../server/edge/handlers/content.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { countLoopTurns } from "../support/loopTurns.ts";
import { createManualTime, type ManualTime } from "../support/manualTime.ts";
import { domainStorages, type OpenedStorage } from "../support/storages.ts";
import {
  type ArticleNode,
  type ArticleNodeOptions,
  addWorkspace,
  type CallOptions,
  createArticleNode,
  createCall,
  maxMs,
  quietMs,
} from "./articleFixture.ts";

describe.each(domainStorages())("edits on %s", (_name, open) => {
  let time: ManualTime;
  let opened: OpenedStorage;
  let storage: Storage;
  let node: ArticleNode;
  let workspaceId: string;
  let articleId: string;
  const call = (options: CallOptions = {}) =>
    createCall(storage, workspaceId, partitionOfId(workspaceId), { limits: node.limits, ...options });
  const edit = (request: EditRequest, options: CallOptions = {}) =>
    node.edits.edit(articleId, request, call(options), { answersCall: true });
  const live = async (file: "content.md" | "outline.md" = "content.md") => (await node.content.readText(articleId, file, undefined)).text;
  /** Types into the document while a request runs. */
  const type = async (at: number, insert: string, remove = 0) => {
    await node.rooms.edit(articleId, { username: "bob", kind: "user" }, Math.floor(Math.random() * 2 ** 32), (document: Y.Doc) => {
      document.getText("content.md").delete(at, remove);
      document.getText("content.md").insert(at, insert);
    });
  };
  const keepState = async () => {
    const whole = (document: Y.Doc, revision: number) => [revision, Y.encodeStateAsUpdate(document)] as const;
    await node.documentStore.updateLog.saveState(articleId, ...(await node.rooms.read(articleId, whole)));
  };
  async function start(content: string, options: ArticleNodeOptions = {}) {
    node = createArticleNode(storage, time, options);
    workspaceId = await addWorkspace(storage);
    articleId = (await node.articles.create({ workspaceId, title: "T", content }, call())).article.articleId;
  }

  beforeEach(async () => {
    time = createManualTime();
    opened = await open(time);
    storage = opened.storage;
  });
  afterEach(async () => {
    await node.close();
    await opened.close();
  });

  test("[AR9] an If-Match that does not name the live revision writes nothing", async () => {
    await start("one\n");
    const append = (ifMatch: readonly string[], dryRun = false) => edit({ mode: "append", content: "two\n", dryRun }, { ifMatch });
    for (const tags of [['"r0"'], ['"r1-1"'], ['W/"r1"'], ['"r1-1"', '"r2"']]) {
      await expect(append(tags)).rejects.toMatchObject({ code: "precondition_failed", facts: { currentRevision: 1 } });
      await expect(append(tags, true)).rejects.toMatchObject({ code: "precondition_failed" });
    }
    const update = () => Y.encodeStateAsUpdate(new Y.Doc());
    await expect(node.content.applyUpdate(articleId, update(), call({ ifMatch: ['"r0"'] }))).rejects.toMatchObject({
      code: "precondition_failed",
    });
    expect(await live()).toBe("one\n");
    expect(await append(['"r0"', '"r1"'])).toMatchObject({ revision: 2 });
    expect(await append(["*"])).toMatchObject({ revision: 3 });
    expect(await node.content.applyUpdate(articleId, update(), call({ ifMatch: ['"r3"'] }))).toMatchObject({ revision: 3 });
  });

  test("[AR9] of two edits with the same revision in If-Match, one is written", async () => {
    await start("one\n");
    const ends = await Promise.allSettled(["two\n", "zwei\n"].map((content) => edit({ mode: "append", content }, { ifMatch: ['"r1"'] })));
    expect(ends.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect((await live()).split("\n")).toHaveLength(3);
  });

  test("[AR8] append, prepend and replace write in their place and return the new revision and hash", async () => {
    await start("middle\n");
    expect(await edit({ mode: "append", content: "end\n" })).toEqual({
      articleId,
      file: "content.md",
      revision: 2,
      contentHash: toContentHash("middle\nend\n"),
      merged: false,
      applied: 1,
      rejected: [],
    });
    await edit({ mode: "prepend", content: "start\n" });
    expect(await edit({ mode: "replace", file: "outline.md", content: "- a\n", baseRevision: 0 })).toMatchObject({
      file: "outline.md",
      revision: 4,
    });
    expect(await edit({ mode: "replace", content: "all\nnew\n", baseRevision: 4 })).toMatchObject({ merged: false, revision: 5 });
    expect(await live()).toBe("all\nnew\n");
    expect(await live("outline.md")).toBe("- a\n");
  });

  test("[AR8] a write that changes nothing makes no revision", async () => {
    await start("same\n");
    expect(await edit({ mode: "replace", content: "same\n", baseRevision: 1 })).toMatchObject({ revision: 1, merged: false });
    expect(await edit({ mode: "append", content: "" })).toMatchObject({ revision: 1 });
  });

  test("[AR9] replacing a whole file requires the revision on which it is based", async () => {
    await start("text");
    await expect(edit({ mode: "replace", content: "x" })).rejects.toMatchObject({ code: "precondition_required" });
    await expect(edit({ mode: "replace", content: "x", baseRevision: 7 })).rejects.toMatchObject({
      code: "revision_conflict",
      facts: { currentRevision: 1 },
    });
    expect(await live()).toBe("text");
  });

  test("[AR11] a stale write is merged and never deletes newer text", async () => {
    await start("# Title\n\nfirst paragraph\n\nsecond paragraph\n");
    await type(0, "Preface\n\n");
    await type("Preface\n\n# Title\n\nfirst ".length, "long ");
    const answer = await edit({ mode: "replace", content: "# Title\n\nfirst paragraph, changed\n\nthird\n", baseRevision: 1 });
    expect(answer).toMatchObject({ merged: true, revision: 4 });
    expect(await live()).toBe("Preface\n\n# Title\n\nfirst long paragraph, changed\n\nthird\n");
  });

  test("[AR12] the same PUT sent twice without a key changes nothing the second time", async () => {
    await start("one\n");
    await edit({ mode: "replace", content: "one\ntwo\n", baseRevision: 1 });
    expect(await edit({ mode: "replace", content: "one\ntwo\n", baseRevision: 1 })).toMatchObject({ revision: 2, merged: true });
    expect(await live()).toBe("one\ntwo\n");
  });

  test("[AR9] onConflict fail writes only if nobody else changed that file", async () => {
    await start("text\n");
    await edit({ mode: "append", file: "outline.md", content: "- point\n" });
    expect(await edit({ mode: "append", content: "more\n", baseRevision: 1, onConflict: "fail" })).toMatchObject({
      merged: false,
      revision: 3,
    });
    await expect(
      edit({ mode: "patch", edits: [{ find: "text", replace: "x" }], baseRevision: 1, onConflict: "fail" }),
    ).rejects.toMatchObject({
      code: "revision_conflict",
      facts: { currentRevision: 3 },
    });
    expect(await live()).toBe("text\nmore\n");
  });

  test("[AR9] dryRun returns the outcome and changes nothing", async () => {
    await start("text\n");
    await type(0, "typed ");
    const answer = await edit({ mode: "replace", content: "text!\n", baseRevision: 1, dryRun: true, message: "ignored" });
    expect(answer).toEqual({
      articleId,
      file: "content.md",
      revision: 2,
      contentHash: toContentHash("typed text!\n"),
      merged: true,
      applied: 1,
      rejected: [],
    });
    expect(await live()).toBe("typed text\n");
    expect((await node.commits.list(articleId, {})).items).toEqual([]);
  });

  test("[AR14] found edits of a patch apply in order, others are listed by index, none found is 422", async () => {
    await start("a cat, a dog, a cat\n");
    const answer = await edit({
      mode: "patch",
      edits: [
        { find: "cat", replace: "cow" },
        { find: "dog", replace: "frog" },
        { find: "cat", replace: "cow", prefix: "frog, a " },
        { find: "bird", replace: "x" },
        { find: "a ", replace: "the ", occurrence: 2 },
        { find: "c", replace: "C", occurrence: "all" },
        { find: "a", replace: "x", occurrence: 99 },
      ],
    });
    expect(answer).toMatchObject({ applied: 4, merged: false });
    expect(answer.rejected.map(({ index, code }) => ({ index, code }))).toEqual([
      { index: 0, code: "anchor_ambiguous" },
      { index: 3, code: "anchor_not_found" },
      { index: 6, code: "anchor_not_found" },
    ]);
    expect(await live()).toBe("a Cat, the frog, a Cow\n");
    await expect(edit({ mode: "patch", edits: [{ find: "zebra", replace: "x" }] })).rejects.toMatchObject({
      code: "anchor_not_found",
      facts: { errors: [{ pointer: "/edits/0/find", code: "anchor_not_found" }] },
    });
    expect((await node.articles.get(articleId)).revision).toBe(2);
  });

  test("[AR14] a patch with a base finds its places in that revision, whatever the live text is now", async () => {
    await start("alpha beta gamma\n");
    await type(0, "beta ");
    expect(await edit({ mode: "patch", edits: [{ find: "beta", replace: "BETA" }], baseRevision: 1 })).toMatchObject({
      merged: true,
      applied: 1,
    });
    expect(await live()).toBe("beta alpha BETA gamma\n");
  });

  test("[AR15] text with NUL or half a surrogate pair, and a file over its size, are refused", async () => {
    await start("text");
    const refused: [EditRequest, string][] = [
      [{ mode: "append", content: "a\0" }, "content_not_accepted"],
      [{ mode: "append", content: "\udc00" }, "content_not_accepted"],
      [{ mode: "patch", edits: [{ find: "text", replace: "\ud83d" }] }, "content_not_accepted"],
      [{ mode: "append", content: "é".repeat(2 ** 20) }, "content_too_large"],
      [{ mode: "replace", content: "x".repeat(2 ** 21 + 1), baseRevision: 1 }, "content_too_large"],
      [{ mode: "patch", edits: [{ find: "t", replace: "x".repeat(2 ** 20), occurrence: "all" }] }, "content_too_large"],
    ];
    for (const [request, code] of refused) await expect(edit(request), request.mode).rejects.toMatchObject({ code });
    expect(await live()).toBe("text");
    expect((await node.articles.get(articleId)).revision).toBe(1);
  });

  describe("of long texts", () => {
    const long = Array.from({ length: 6000 }, (_, at) => `line ${at} of a long text\n`).join("");
    const unrelated = Array.from({ length: 6000 }, (_, at) => `${(at * 7919).toString(36)} something else ${at}\n`).join("");

    /** Awaiting alone takes a few turns; work on this text in another thread leaves thousands. */
    const leastTurns = 200;

    test("[AR19] the event loop stays free while texts are merged and compared", async () => {
      await start(long);
      await type(0, "typed\n");
      const request = { mode: "replace", content: unrelated, baseRevision: 1, dryRun: true } as const;
      expect((await countLoopTurns(() => edit(request))).turns).toBeGreaterThan(leastTurns);
      await edit({ mode: "replace", file: "outline.md", content: long, baseRevision: 0 });
      await edit({ mode: "replace", file: "outline.md", content: unrelated.replaceAll("else", "long text"), baseRevision: 3 });
      const difference = { from: 3, to: "live", file: "outline.md", format: "words" } as const;
      expect((await countLoopTurns(() => node.content.diff(articleId, difference, call()))).turns).toBeGreaterThan(leastTurns);
    });

    test("[AR20] text typed while a long edit is computed is kept, and the edit is applied around it", async () => {
      await start(long);
      const written = long.replaceAll("text", "story");
      const editing = edit({ mode: "replace", content: written, baseRevision: 1 });
      // A thread plans the edit on the text as it was before this change.
      await node.rooms.read(articleId, () => undefined);
      await type(long.indexOf("line 3000"), "typed ");
      await type(0, "first\n");
      expect(await editing).toMatchObject({ merged: true, applied: 1 });
      const expected = `first\n${written.replace("line 3000", "typed line 3000")}`;
      expect(await live()).toBe(expected);
    });

    test("[AR9] with onConflict fail, text typed while a long edit is computed refuses the edit", async () => {
      await start(long);
      const editing = edit({ mode: "replace", content: unrelated, baseRevision: 1, onConflict: "fail" });
      const refused = expect(editing).rejects.toMatchObject({ code: "revision_conflict", facts: { currentRevision: 2 } });
      await node.rooms.read(articleId, () => undefined);
      await type(0, "first\n");
      await refused;
      expect(await live()).toBe(`first\n${long}`);
    });

    test("[AR12] the same long text sent twice at once on a stale base is written once", async () => {
      await start(long);
      await type(0, "first\n");
      const request = { mode: "replace", content: long.replaceAll("text", "text, and more"), baseRevision: 1 } as const;
      const answers = await Promise.all([edit(request), edit(request), edit(request)]);
      expect(answers.map(({ revision }) => revision)).toEqual([3, 3, 3]);
      expect(await live()).toBe(`first\n${request.content}`);
    });

    test("[AR21] an edit at thousands of places is one revision with exactly its text", async () => {
      await start(long);
      const edits = [{ find: "of", replace: "from", occurrence: "all" }] as const;
      expect(await edit({ mode: "patch", edits: [...edits] })).toMatchObject({
        revision: 2,
        contentHash: toContentHash(long.replaceAll("of", "from")),
      });
      expect(await live()).toBe(long.replaceAll("of", "from"));
      const pieces = (document: Y.Doc) => [...document.store.clients.values()].reduce((sum, structs) => sum + structs.length, 0);
      expect(await node.rooms.read(articleId, pieces)).toBeLessThanOrEqual(3 * 2000 + 1);
    });
  });

  /** Starts an attempt under an Idempotency-Key. The attempt keeps only what the edit itself stores. */
  async function startOnce(request: EditRequest, key: string) {
    const idempotency = createIdempotency({ storage, limits: node.limits, owner: "node", leaseMs: 5000 });
    const partition = partitionOfId(workspaceId);
    const demand = { principalId: "usr_1", partition, workPartition: partition, operation: "edit", request: JSON.stringify(request) };
    const started = await idempotency.start({ ...demand, key, secret: false });
    if (started.kind === "replay") return () => Promise.resolve(JSON.parse(started.answer));
    const { run } = started;
    const { nowMs, ids } = run;
    const commit: Call["commit"] = (batch, value) =>
      value === undefined ? storage.commit(batch) : run.commit(batch, JSON.stringify(value));
    return () =>
      node.edits
        .edit(articleId, request, { ...call(), nowMs, ids, isRepeatable: true, commit }, { answersCall: true })
        .finally(run.release);
  }

  const editOnce = async (request: EditRequest, key: string) => (await startOnce(request, key))();

  test("[AR48] an edit with a key is stored in one commit with its answer, and adds no client id", async () => {
    await start("one two two three\n");
    const requests: EditRequest[] = [
      { mode: "append", content: "four\n" },
      {
        mode: "patch",
        edits: [
          { find: "two ", replace: "", occurrence: "first" },
          { find: "nowhere", replace: "x" },
        ],
      },
      { mode: "replace", content: "", baseRevision: 1 },
    ];
    for (const [at, request] of requests.entries()) {
      const first = await editOnce(request, `key ${at}`);
      expect(first).toMatchObject({ articleId, file: "content.md" });
      expect(first.revision).toBe(await node.rooms.read(articleId, (_document, revision) => revision));
      await type(0, "typed ");
      const before = await live();
      expect(await editOnce(request, `key ${at}`)).toEqual(first);
      expect(await live()).toBe(before);
    }
    // The creator, one for each text that was typed, and the server.
    expect(await node.rooms.read(articleId, (document) => document.store.clients.size)).toBe(2 + requests.length);
  });

  test("[AR48] an attempt that continues after another attempt under its key writes nothing and ends no room", async () => {
    await start("text\n");
    const request = { mode: "append", content: "more\n" } as const;
    const frozen = await startOnce(request, "key");
    await time.advance(10_000);
    const answer = await editOnce(request, "key");
    const close = vi.fn();
    const peer: Peer = { send: () => "sent", bufferedBytes: 0, subscribe() {}, unsubscribe() {}, close };
    const identity = { author: { username: "bob", kind: "user" }, mayWrite: true, credentialId: "ses_bob" } as const;
    await node.rooms.connect(articleId, peer, identity, { extensions: false });
    await expect(frozen()).rejects.toEqual(new AlreadyAnswered(JSON.stringify(answer)));
    expect(close).not.toHaveBeenCalled();
    expect(await live()).toBe("text\nmore\n");
  });

  test("[AR16] an edit that commits, repeated with its ids, changes nothing and returns the same answer", async () => {
    await start("one two two three\n");
    const requests: EditRequest[] = [
      { mode: "append", content: "four\n", message: "one" },
      { mode: "patch", edits: [{ find: "two ", replace: "", occurrence: "first" }], message: "two" },
      { mode: "replace", content: "one 2 two three\n", baseRevision: 1, message: "three" },
    ];
    for (const [at, request] of requests.entries()) {
      const attempt = { seed: `edit ${at}`, nowMs: time.now() };
      const first = await edit(request, { attempt });
      await time.advance(1000);
      await type(0, "typed ");
      const before = await live();
      expect(await edit(request, { attempt })).toEqual(first);
      expect(await live()).toBe(before);
    }
    expect((await node.commits.list(articleId, {})).items).toHaveLength(requests.length);
  });

  test("[AR16] a repeat is recognised even if the log was trimmed a few batches before it", async () => {
    await start("old\n");
    await time.advance(quietMs + maxMs);
    await node.commits.create(articleId, {}, call());
    await type(0, "older ");
    await node.commits.create(articleId, {}, call());
    await keepState();
    await time.advance(node.limits["document.keptMs"] + 1);
    await type(0, "new ");
    await keepState();
    expect(await node.documentStore.reader.batchesAfter(articleId, 0)).toBeUndefined();
    const attempt = { seed: "after trimming", nowMs: time.now() };
    const first = await edit({ mode: "append", content: "once\n", message: "Once" }, { attempt });
    expect(await edit({ mode: "append", content: "once\n", message: "Once" }, { attempt })).toEqual(first);
    expect(await live()).toBe("new older old\nonce\n");
  });

  test("[AR16] a repeat whose first attempt was trimmed away is refused and writes nothing", async () => {
    await start("old\n", { limits: { "document.keptBatches": 1 } });
    await time.advance(1000);
    const attempt = { seed: "trimmed", nowMs: time.now() };
    await edit({ mode: "append", content: "once\n", message: "Once" }, { attempt });
    for (let batch = 0; batch < 3; batch += 1) {
      await type(0, "more ");
      await node.commits.create(articleId, {}, call());
      await keepState();
    }
    const before = await live();
    await expect(edit({ mode: "append", content: "once\n", message: "Once" }, { attempt })).rejects.toMatchObject({
      code: "revision_conflict",
    });
    expect(await live()).toBe(before);
  });

  test("[AR16] a client id that another author used in the document does not count as a repeat", async () => {
    await start("text\n");
    await time.advance(1000);
    const attempt = { seed: "chance", nowMs: time.now() };
    const clientId = Buffer.from(call({ attempt }).ids.bytes(4)).readUInt32BE();
    await node.rooms.edit(articleId, { username: "bob", kind: "user" }, clientId, (document: Y.Doc) =>
      document.getText("content.md").insert(0, "bob "),
    );
    expect(
      await edit({ mode: "append", content: "mine\n", message: "Mine" }, { attempt: { ...attempt, nowMs: time.now() + 1 } }),
    ).toMatchObject({
      revision: 3,
    });
    expect(await live()).toBe("bob text\nmine\n");
  });

  test("[AR47] an edit names a commit only if it made the commit, also when it is repeated", async () => {
    await start("text\n");
    await node.commits.create(articleId, { message: "Before" }, call());
    const write = { mode: "append", message: "Mine" } as const;
    expect(await node.edits.edit(articleId, { ...write, content: "" }, call())).not.toHaveProperty("commitId");
    expect((await node.commits.list(articleId, {})).items).toMatchObject([{ message: "Before" }]);
    const attempt = { seed: "edit", nowMs: time.now() };
    const first = await node.edits.edit(articleId, { ...write, content: "more\n" }, call({ attempt }));
    expect(await node.edits.edit(articleId, { ...write, content: "more\n" }, call({ attempt }))).toEqual(first);
    expect((await node.commits.list(articleId, {})).items[0]?.commitId).toBe(first.commitId);
  });

  test("[AR8] message commits the edit, and the answer is stored with the commit", async () => {
    await start("text\n");
    const asked = call({ viaKey: true });
    const answer = await node.edits.edit(articleId, { mode: "append", content: "more\n", message: "Add more" }, asked);
    const [commit] = (await node.commits.list(articleId, {})).items;
    expect(answer.commitId).toBe(commit?.commitId);
    expect(commit).toMatchObject({
      message: "Add more",
      kind: "commit",
      revision: 2,
      authors: [
        { username: "ada", kind: "user" },
        { username: "ada", kind: "key" },
      ],
    });
    expect(asked.values).toEqual([answer]);
  });

  test("[AR7] content is JSON, Markdown, syntax tree or Yjs update, live or at a kept revision", async () => {
    await start("# Hi *you*\n");
    await edit({ mode: "append", content: "more\n" });
    const { get } = createContentHandlers(node);
    const read = async (query: object, accept = "application/json") =>
      get.reply(
        await get.serve({ params: { articleId } as never, query: query as never, body: undefined as never, accept: [accept] }, call()),
      );
    expect(await read({ revision: 1 })).toMatchObject({
      headers: { etag: '"r1"', "x-svc-content-hash": toContentHash("# Hi *you*\n") },
      body: { articleId, file: "content.md", format: "markdown", content: "# Hi *you*\n", revision: 1 },
    });
    const markdown = await read({}, "text/markdown");
    expect(markdown.headers).toMatchObject({ etag: '"r2"', vary: "accept" });
    expect(Buffer.from((markdown.body as RawReply).bytes).toString()).toBe("# Hi *you*\nmore\n");
    const tree = JSON.parse(((await read({ format: "json", revision: 1 })).body as { content: string }).content);
    expect(tree).toEqual({
      type: "root",
      children: [
        {
          type: "heading",
          depth: 1,
          children: [
            { type: "text", value: "Hi " },
            { type: "emphasis", children: [{ type: "text", value: "you" }] },
          ],
        },
      ],
    });
    for (const [revision, text] of [
      [1, "# Hi *you*\n"],
      [undefined, "# Hi *you*\nmore\n"],
    ] as const) {
      const document = new Y.Doc();
      Y.applyUpdate(document, ((await read({ revision }, "application/octet-stream")).body as RawReply).bytes);
      expect(document.getText("content.md").toString()).toBe(text);
    }
    await expect(read({ revision: 3 })).rejects.toMatchObject({ code: "revision_gone" });
  });

  test("[AR18] a revision that is neither kept nor committed is gone, and a committed one stays", async () => {
    await start("0", { limits: { "document.keptBatches": 3 } });
    await node.commits.create(articleId, {}, call());
    for (let at = 1; at <= 6; at += 1) await edit({ mode: "append", content: String(at) });
    const at = async (revision: number) => (await node.content.readText(articleId, "content.md", revision)).text;
    expect(await at(1)).toBe("0");
    expect(await at(4)).toBe("0123");
    for (const revision of [2, 3]) {
      await expect(at(revision)).rejects.toMatchObject({ code: "revision_gone" });
      await expect(edit({ mode: "replace", content: "x", baseRevision: revision })).rejects.toMatchObject({
        code: "revision_conflict",
        facts: { currentRevision: 7 },
      });
    }
    await expect(node.content.readState(articleId, "content.md", 1)).rejects.toMatchObject({ code: "revision_gone" });
    expect(await edit({ mode: "replace", content: "0!", baseRevision: 1 })).toMatchObject({ merged: true });
    expect(await live()).toBe("0123456!");
  });

  test("[AR18] a revision is kept for its time after it was superseded, however old it is", async () => {
    await start("old", { limits: { "document.keptMs": 60_000 } });
    await time.leap(3_600_000);
    await edit({ mode: "append", content: " new" });
    await time.advance(59_000);
    expect((await node.content.readText(articleId, "content.md", 1)).text).toBe("old");
    await time.advance(2000);
    await expect(node.content.readText(articleId, "content.md", 1)).rejects.toMatchObject({ code: "revision_gone" });
    expect((await node.content.readText(articleId, "content.md", 2)).text).toBe("old new");
  });

  test("[AR8] a Yjs update is applied like a frame of the socket, and any other body is refused", async () => {
    await start("text");
    const document = new Y.Doc();
    Y.applyUpdate(document, (await node.content.readState(articleId, "content.md", undefined)).state);
    const before = Y.encodeStateVector(document);
    document.getText("content.md").insert(4, " more");
    const answer = await node.content.applyUpdate(articleId, Y.encodeStateAsUpdate(document, before), call());
    expect(answer).toMatchObject({ revision: 2, applied: 1, contentHash: toContentHash("text more") });
    await expect(node.content.applyUpdate(articleId, Uint8Array.of(1, 2, 3, 4), call())).rejects.toMatchObject({
      code: "content_not_accepted",
    });
  });
});
