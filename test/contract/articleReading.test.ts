/** Tests reading the text of articles by requests: its formats, and how long a revision can be read. */
import { describe, expect, test } from "vitest";
import * as Y from "yjs";
import { toContentHash } from "../../server/domain/articles/fileTexts.ts";
import type { RawReply } from "../../server/domain/call/call.ts";
import { createContentHandlers } from "../../server/edge/handlers/content.ts";
import { domainStorages } from "../support/storages.ts";
import { useEditedArticle } from "./articleEditFixture.ts";

describe.each(domainStorages())("reading on %s", (_name, open) => {
  const start = useEditedArticle(open);

  test("[AR7] content is JSON, Markdown, syntax tree or Yjs update, live or at a kept revision", async () => {
    const { node, articleId, call, edit } = await start("# Hi *you*\n");
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
    const { node, articleId, call, edit, live } = await start("0", { limits: { "document.keptBatches": 3 } });
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
    const { time, node, articleId, edit } = await start("old", { limits: { "document.keptMs": 60_000 } });
    await time.leap(3_600_000);
    await edit({ mode: "append", content: " new" });
    await time.advance(59_000);
    expect((await node.content.readText(articleId, "content.md", 1)).text).toBe("old");
    await time.advance(2000);
    await expect(node.content.readText(articleId, "content.md", 1)).rejects.toMatchObject({ code: "revision_gone" });
    expect((await node.content.readText(articleId, "content.md", 2)).text).toBe("old new");
  });
});
