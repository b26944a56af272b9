/** Tests edits of articles by requests: where each mode writes, what it requires, and how a stale edit is merged. */
import { describe, expect, test } from "vitest";
import * as Y from "yjs";
import type { EditRequest } from "../../api/schema/article.ts";
import { toContentHash } from "../../server/domain/articles/fileTexts.ts";
import { domainStorages } from "../support/storages.ts";
import { useEditedArticle } from "./articleEditFixture.ts";

describe.each(domainStorages())("edits on %s", (_name, open) => {
  const start = useEditedArticle(open);

  test("[AR9] an If-Match that does not name the live revision writes nothing", async () => {
    const { node, articleId, call, edit, live } = await start("one\n");
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
    const { edit, live } = await start("one\n");
    const ends = await Promise.allSettled(["two\n", "zwei\n"].map((content) => edit({ mode: "append", content }, { ifMatch: ['"r1"'] })));
    expect(ends.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect((await live()).split("\n")).toHaveLength(3);
  });

  test("[AR8] append, prepend and replace write in their place and return the new revision and hash", async () => {
    const { articleId, edit, live } = await start("middle\n");
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
    const { edit } = await start("same\n");
    expect(await edit({ mode: "replace", content: "same\n", baseRevision: 1 })).toMatchObject({ revision: 1, merged: false });
    expect(await edit({ mode: "append", content: "" })).toMatchObject({ revision: 1 });
  });

  test("[AR9] replacing a whole file requires the revision on which it is based", async () => {
    const { edit, live } = await start("text");
    await expect(edit({ mode: "replace", content: "x" })).rejects.toMatchObject({ code: "precondition_required" });
    await expect(edit({ mode: "replace", content: "x", baseRevision: 7 })).rejects.toMatchObject({
      code: "revision_conflict",
      facts: { currentRevision: 1 },
    });
    expect(await live()).toBe("text");
  });

  test("[AR11] a stale write is merged and never deletes newer text", async () => {
    const { edit, live, type } = await start("# Title\n\nfirst paragraph\n\nsecond paragraph\n");
    await type(0, "Preface\n\n");
    await type("Preface\n\n# Title\n\nfirst ".length, "long ");
    const answer = await edit({ mode: "replace", content: "# Title\n\nfirst paragraph, changed\n\nthird\n", baseRevision: 1 });
    expect(answer).toMatchObject({ merged: true, revision: 4 });
    expect(await live()).toBe("Preface\n\n# Title\n\nfirst long paragraph, changed\n\nthird\n");
  });

  test("[AR12] the same PUT sent twice without a key changes nothing the second time", async () => {
    const { edit, live } = await start("one\n");
    await edit({ mode: "replace", content: "one\ntwo\n", baseRevision: 1 });
    expect(await edit({ mode: "replace", content: "one\ntwo\n", baseRevision: 1 })).toMatchObject({ revision: 2, merged: true });
    expect(await live()).toBe("one\ntwo\n");
  });

  test("[AR9] onConflict fail writes only if nobody else changed that file", async () => {
    const { edit, live } = await start("text\n");
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
    const { node, articleId, edit, live, type } = await start("text\n");
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
    const { node, articleId, edit, live } = await start("a cat, a dog, a cat\n");
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
    const { edit, live, type } = await start("alpha beta gamma\n");
    await type(0, "beta ");
    expect(await edit({ mode: "patch", edits: [{ find: "beta", replace: "BETA" }], baseRevision: 1 })).toMatchObject({
      merged: true,
      applied: 1,
    });
    expect(await live()).toBe("beta alpha BETA gamma\n");
  });

  test("[AR15] text with NUL or half a surrogate pair, and a file over its size, are refused", async () => {
    const { node, articleId, edit, live } = await start("text");
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

  test("[AR8] message commits the edit, and the answer is stored with the commit", async () => {
    const { node, articleId, call } = await start("text\n");
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

  test("[AR8] a Yjs update is applied like a frame of the socket, and any other body is refused", async () => {
    const { node, articleId, call } = await start("text");
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
