/** Tests who wrote which part of a committed text, with a log that is trimmed after each commit. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as Y from "yjs";
import type { BlameRequest } from "../../server/domain/articles/blame.ts";
import { articleRecord, commitRecord, documentLog } from "../../server/domain/articles/records.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import type { ManualTime } from "../support/manualTime.ts";
import { domainStorages } from "../support/storages.ts";
import { type ArticleNode, type CallOptions, createArticleNode, createCall, maxMs, openArticles } from "./articleFixture.ts";

const partition = 5;
const limits = { "document.keptBatches": 0, "blame.spans": 3 };

describe.each(domainStorages())("blame on %s", (_name, open) => {
  let time: ManualTime;
  let close: () => Promise<void>;
  let storage: Storage;
  let node: ArticleNode;
  let workspaceId: string;
  let articleId: string;
  const call = (options: CallOptions = {}) => createCall(storage, workspaceId, partition, options);
  const patch = (find: string, replace: string, options: CallOptions = {}) =>
    node.edits.edit(articleId, { mode: "patch", edits: [{ find, replace }] }, call(options));
  const commit = async () => (await node.commits.create(articleId, {}, call())).commit.commitId;
  const append = (content: string, options: CallOptions = {}) => node.edits.edit(articleId, { mode: "append", content }, call(options));

  /** Edits the text as an editor with its own Yjs client id does. */
  async function type(username: string, change: (text: Y.Text) => void): Promise<void> {
    const document = new Y.Doc();
    Y.applyUpdate(document, (await node.content.readState(articleId, "content.md", undefined)).state);
    const before = Y.encodeStateVector(document);
    change(document.getText("content.md"));
    await node.content.applyUpdate(articleId, Y.encodeStateAsUpdate(document, before), call({ username }));
  }

  /** Stores the document and trims the log behind it, as far as the last commit or checkpoint allows. */
  async function trim(): Promise<void> {
    const { revision, state } = await node.content.readState(articleId, "content.md", undefined);
    await node.documentStore.updateLog.saveState(articleId, revision, state);
    const read = await storage.log.read({ partition, log: documentLog(articleId), after: 0, limit: 1 });
    expect(read).toMatchObject({ gap: true, firstKept: revision + 1 });
  }

  /** The parts of the text with their authors, over all pages, as `text → kind/username commit`. */
  async function blame(request: BlameRequest = {}): Promise<readonly string[]> {
    const { revision } = await node.blame.read(articleId, request);
    const text = (await node.documentStore.history.textsAt(articleId, revision))?.[request.file ?? "content.md"] ?? "";
    const parts: string[] = [];
    for (let nextToken: string | undefined; ; ) {
      const { spans } = await node.blame.read(articleId, { ...request, nextToken });
      expect(spans.items.length).toBeLessThanOrEqual(3);
      for (const { start, end, kind, username, commitId } of spans.items) {
        parts.push(`${text.slice(start, end)} → ${kind}/${username} ${commitId}`);
      }
      nextToken = spans.nextToken;
      if (nextToken === undefined) return parts;
    }
  }

  beforeEach(async () => {
    ({ time, storage, node, workspaceId, close } = await openArticles(open, { limits }));
    articleId = (await node.articles.create({ workspaceId, title: "Title", content: "one two\n" }, call())).article.articleId;
  });
  afterEach(() => close());

  test("[CO14] two people, an agent and a key keep their letters after the log was trimmed", async () => {
    const first = await commit();
    await trim();
    await append("three ", { username: "ana", viaKey: true });
    await append("four ", { username: "ana" });
    await type("bo", (text) => text.insert(3, "+"));
    const agent = { author: { username: "ana", kind: "agent" }, displayName: "Agent", clientId: 77 } as const;
    const participant = await node.rooms.participate(articleId, agent);
    await participant.edit((document) => document.getText("content.md").insert(0, "Zero, "));
    participant.leave();
    const second = await commit();
    await trim();
    await patch("four", "4", { username: "cy", viaKey: true });
    await type("bo", (text) => text.insert(text.length, "five"));
    const third = await commit();
    await trim();
    const wanted = [
      `Zero,  → agent/ana ${second}`,
      `one → user/ada ${first}`,
      `+ → user/bo ${second}`,
      ` two\n → user/ada ${first}`,
      `three  → key/ana ${second}`,
      `4 → key/cy ${third}`,
      `  → user/ana ${second}`,
      `five → user/bo ${third}`,
    ];
    expect(await blame()).toEqual(wanted);
    const restarted = createArticleNode(storage, time, { limits });
    expect((await restarted.blame.read(articleId, {})).spans.items[0]).toMatchObject({ start: 0, end: 6, username: "ana", kind: "agent" });
    expect(await blame({ revision: 1 })).toEqual([`one two\n → user/ada ${first}`]);
    expect(await blame({ file: "outline.md" })).toEqual([]);
  });

  test("[CO15] blame is that of a commit: 410 for other revisions, and nothing before the first commit", async () => {
    expect(await node.blame.read(articleId, {})).toMatchObject({ revision: 0, spans: { items: [] } });
    await expect(node.blame.read(articleId, { revision: 1 })).rejects.toMatchObject({ code: "revision_gone" });
    const first = await commit();
    await append("more\n", { username: "bo" });
    expect(await node.blame.read(articleId, {})).toMatchObject({ revision: 1, spans: { items: [{ start: 0, end: 8, commitId: first }] } });
    await expect(node.blame.read(articleId, { revision: 2 })).rejects.toMatchObject({ code: "revision_gone" });
    await expect(node.blame.read(node.ids.next("art", partition), {})).rejects.toMatchObject({ code: "not_found" });
  });

  test("[CO15] a token of blame belongs to one file of one commit", async () => {
    for (const username of ["bo", "cy", "dee", "eve"]) await append(`${username}\n`, { username });
    await commit();
    const { nextToken } = (await node.blame.read(articleId, {})).spans;
    expect((await node.blame.read(articleId, { nextToken })).spans.items.map(({ username }) => username)).toEqual(["dee", "eve"]);
    await expect(node.blame.read(articleId, { nextToken, file: "outline.md" })).rejects.toMatchObject({ code: "invalid_next_token" });
    await append("more\n");
    await commit();
    await expect(node.blame.read(articleId, { nextToken })).rejects.toMatchObject({ code: "invalid_next_token" });
  });

  test("[CO16] text that is typed again unchanged keeps its new author, although no commit is made for it", async () => {
    const first = await commit();
    await type("bo", (text) => {
      text.delete(4, 3);
      text.insert(4, "two");
    });
    node.pump.start();
    await time.advance(maxMs * 2);
    expect((await storage.records.get(articleRecord, articleId))?.value.checkedRevision).toBe(2);
    expect((await node.commits.list(articleId, {})).items).toHaveLength(1);
    await trim();
    expect(await blame()).toEqual([`one two\n → user/ada ${first}`]);
    await append("three", { username: "cy" });
    const second = await commit();
    expect(await blame()).toEqual([
      `one  → user/ada ${first}`,
      `two → user/bo ${second}`,
      `\n → user/ada ${first}`,
      `three → user/cy ${second}`,
    ]);
  });

  test("[CO15] text of a version without attributions belongs to the oldest commit's only author", async () => {
    const forget = async (commitId: string) => {
      const [article, made] = [await storage.records.get(articleRecord, articleId), await storage.records.get(commitRecord, commitId)];
      if (article === undefined || made === undefined) throw new Error("nothing to forget");
      const { attribution: _article, ...articleValue } = article.value;
      const { attribution: _commit, ...commitValue } = made.value;
      await storage.commit({
        partition,
        records: [
          { op: "put", type: articleRecord, value: articleValue, replacing: article },
          { op: "put", type: commitRecord, value: commitValue, replacing: made },
        ],
      });
    };
    const first = await commit();
    await append("three\n", { username: "bo" });
    const second = await commit();
    for (const commitId of [first, second]) await forget(commitId);
    expect(await blame()).toEqual([`one two\nthree\n → user/ada ${first}`]);
    await append("four\n", { username: "cy" });
    const third = await commit();
    expect(await blame()).toEqual([`one two\nthree\n → user/ada ${first}`, `four\n → user/cy ${third}`]);
    expect(await blame({ revision: 2 })).toEqual([`one two\nthree\n → user/ada ${first}`]);
  });
});
