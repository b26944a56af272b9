/** Tests the sources of conversions: articles, addresses and formats. */
import { describe, expect, test } from "vitest";
import type * as Y from "yjs";
import { toDisposition } from "../../server/domain/conversions/formats.ts";
import { folderRecord } from "../../server/domain/folders/records.ts";
import type { OutboundOutcome } from "../../server/platform/outbound/fetch.ts";
import { codeOf } from "../support/codeOf.ts";
import { domainStorages } from "../support/storages.ts";
import { useConversions } from "./conversionRig.ts";

const answered: OutboundOutcome = {
  kind: "answered",
  status: 200,
  headers: { "content-type": "text/html" },
  body: Buffer.from("<p>Hi</p>"),
  isComplete: true,
};

describe.each(domainStorages())("sources of conversions on %s", (_name, openStorage) => {
  const rig = useConversions(openStorage);

  test("[CV63] a pair of formats that is not supported is refused with the formats that are", async () => {
    const { node, call, request } = rig;
    expect(node.conversions.formats().pairs).toContainEqual({ from: "html", to: "markdown", lossless: false });
    const refused = node.conversions.create(request({ source: { content: "<p>", format: "html" }, to: "pdf" }), call());
    await expect(refused).rejects.toMatchObject({
      code: "unsupported_media_type",
      facts: { errors: [{ pointer: "/to", message: "must be one of 'markdown'" }] },
    });
  });

  test("[CV58] the text of a source article is that of the request, at its revision", async () => {
    const { node, workspaceId, call, request, start, end, convert, textOf, newArticle } = rig;
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
    const { storage, node, workspaceId, createNode, call, convert, commitsOf } = rig;
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

  test("[CV63] the pair of formats is refused before the target, and both before the state of the source", async () => {
    const { node, storage, workspaceId, partition, call, request, newArticle } = rig;
    const articleId = await newArticle("One.\n");
    const folderId = "fld_0000000000050000000000000A";
    const folder = {
      folderId,
      workspaceId,
      parentFolderId: null,
      name: "Old",
      slug: "old",
      createdAtMs: 1,
      updatedAtMs: 1,
      archivedAtMs: 2,
    };
    await storage.commit({ partition, records: [{ op: "put", type: folderRecord, value: folder, replacing: null }] });
    const refusal = (more: object) => codeOf(node.conversions.create(request(more), call()));
    const gone = { articleId, revision: 99 };
    expect(await refusal({ source: gone, to: "docx" })).toBe("unsupported_media_type");
    expect(await refusal({ source: gone, to: "docx", target: { folderId } })).toBe("unsupported_media_type");
    expect(await refusal({ source: gone, to: "html", target: { folderId } })).toBe("validation_failed");
    expect(await refusal({ source: gone, to: "markdown", target: { folderId } })).toBe("validation_failed");
    expect(await refusal({ source: gone, to: "markdown" })).toBe("revision_gone");
    await node.articles.delete(articleId, false, call());
    expect(await refusal({ source: gone, to: "docx" })).toBe("not_found");
  });

  test("[CV65] the end of an address that cannot be a file name does not disturb the answers", async () => {
    const { node, call, createNode, storage, convert } = rig;
    await node.pump.drain(AbortSignal.abort());
    const other = createNode(storage, { nodeId: "node_b", fetch: async () => answered });
    other.pump.start();
    const names = { [`${"a".repeat(254)}😀.html`]: "a".repeat(254), "%ED%A0%80.html": "%ED%A0%80", "%00%0A.html": ".html" };
    for (const [last, name] of Object.entries(names)) {
      const { conversionId } = await convert({ source: { url: `https://docs.example/${last}` }, to: "markdown" }, other);
      const { fileName } = await other.conversions.output(conversionId, call());
      expect(fileName).toBe(`${name}.md`);
      expect(toDisposition(fileName)).toContain("filename*=");
    }
  });
});
