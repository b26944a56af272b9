/** Tests the return to an earlier text, and that committed texts stay readable. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createRestore } from "../../server/domain/articles/restore.ts";
import { createCommitHandlers } from "../../server/edge/handlers/commits.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import type { ManualTime } from "../support/manualTime.ts";
import { domainStorages } from "../support/storages.ts";
import { type ArticleNode, type CallOptions, createCall, openArticles } from "./articleFixture.ts";

const partition = 5;
const guide = "Preface.\n\n# One\n\nFirst *try*.\n\n## Detail\n\nOld detail.\n\n# Two\n\nSecond.\n";

describe.each(domainStorages())("restoring on %s", (_name, open) => {
  let time: ManualTime;
  let close: () => Promise<void>;
  let storage: Storage;
  let node: ArticleNode;
  let workspaceId: string;
  let articleId: string;
  const call = (options: CallOptions = {}) => createCall(storage, workspaceId, partition, options);
  const read = async (file: "content.md" | "outline.md" | "research.md" = "content.md") =>
    (await node.content.readText(articleId, file, undefined)).text;
  const append = (content: string, file: "content.md" | "outline.md" = "content.md") =>
    node.edits.edit(articleId, { mode: "append", file, content }, call());
  const patch = (find: string, replace: string) => node.edits.edit(articleId, { mode: "patch", edits: [{ find, replace }] }, call());
  const commit = async () => (await node.commits.create(articleId, {}, call())).commit;
  const restore = (request: Parameters<ArticleNode["restore"]["restore"]>[1], options: CallOptions = {}) =>
    node.restore.restore(articleId, request, call(options));

  beforeEach(async () => {
    ({ time, storage, node, workspaceId, close } = await openArticles(open, { limits: { "document.keptBatches": 0 } }));
    articleId = (await node.articles.create({ workspaceId, title: "Title", content: guide }, call())).article.articleId;
  });
  afterEach(() => close());

  test("[CO18] a restore returns all files or one file to a revision, as a commit of its caller", async () => {
    await append("- plan\n", "outline.md");
    await commit();
    await append("More.\n");
    await append("- more\n", "outline.md");
    await commit();
    const { commit: whole, created } = await restore({ revision: 2 }, { username: "bo", viaKey: true });
    expect(created).toBe(true);
    expect(whole).toMatchObject({
      kind: "restore",
      message: "Restore revision 2",
      revision: 5,
      parentRevision: 4,
      authors: [{ username: "bo", kind: "key" }],
    });
    expect([await read(), await read("outline.md")]).toEqual([guide, "- plan\n"]);
    await restore({ revision: 4, file: "outline.md" });
    expect([await read(), await read("outline.md")]).toEqual([guide, "- plan\n- more\n"]);
    expect((await restore({ revision: 0 })).commit.files.map(({ file, removed }) => [file, removed])).toEqual([
      ["content.md", 13],
      ["outline.md", 2],
    ]);
  });

  test("[CO18] a restore of a text that is committed already answers 200 with the last commit", async () => {
    const last = await commit();
    const { reply } = createCommitHandlers(node).restore;
    expect(reply(await restore({ revision: 1 }))).toMatchObject({ status: 200, body: { commitId: last.commitId, kind: "commit" } });
    await append("More.\n");
    const answer = reply(await restore({ revision: 1 }));
    expect(answer).toMatchObject({ status: 200, body: { commitId: last.commitId } });
    expect(await read()).toBe(guide);
  });

  test("[CO18] only a committed or kept revision can be restored, and If-Match is compared", async () => {
    await commit();
    await append("a");
    await append("b");
    for (const revision of [2, 9]) await expect(restore({ revision })).rejects.toMatchObject({ code: "revision_gone" });
    await expect(restore({ revision: 1 }, { ifMatch: ['"r2"'] })).rejects.toMatchObject({ code: "precondition_failed" });
    expect(await read()).toBe(`${guide}ab`);
    expect((await restore({ revision: 1 }, { ifMatch: ['"r3"'] })).commit.revision).toBe(1);
    expect(await read()).toBe(guide);
  });

  test("[CO18] text typed while a restore is planned is kept", async () => {
    await commit();
    await patch("First *try*.", "Second attempt.");
    await commit();
    const { history, texts } = node.documentStore;
    let plans = 0;
    const planEdit: typeof texts.planEdit = async (owner, task) => {
      plans += 1;
      if (plans <= 2) await patch("Second.", `Second. Typed ${plans}.`);
      return texts.planEdit(owner, task);
    };
    const { restore: late } = createRestore({ ...node, history, texts: { ...texts, planEdit } });
    expect((await late(articleId, { revision: 1, file: "content.md" }, call())).commit.kind).toBe("restore");
    expect(plans).toBe(3);
    expect(await read()).toBe(guide.replace("Second.", "Second. Typed 2. Typed 1."));
  });

  test("[CO18] two equal restores at once restore once", async () => {
    await commit();
    await patch("First *try*.", "Second attempt.");
    await commit();
    const replies = await Promise.all([1, 2, 3].map(() => restore({ revision: 1 })));
    expect(new Set(replies.map((reply) => reply.commit.commitId)).size).toBe(1);
    expect(replies[0]?.commit.revision).toBe(3);
    expect(await read()).toBe(guide);
  });

  test("[CO18] unchanged text keeps its author, and a restore under its Idempotency-Key happens once", async () => {
    const first = await commit();
    await patch("First *try*.", "Vanished!");
    await commit();
    const attempt = { seed: "restore", nowMs: time.now() };
    const made = await restore({ revision: 1 }, { username: "bo", attempt });
    expect((await node.blame.read(articleId, {})).spans.items.filter(({ username }) => username === "ada")).toMatchObject([
      { start: 0, commitId: first.commitId },
      { end: guide.length, commitId: first.commitId },
    ]);
    await append("Later.\n");
    expect((await restore({ revision: 1 }, { username: "bo", attempt })).commit).toEqual(made.commit);
    expect(await read()).toBe(`${guide}Later.\n`);
  });

  test("[CO18] a restore that only deletes is not done again by a repeat after a crash", async () => {
    await commit();
    await append("Added.\n");
    await commit();
    const attempt = { seed: "delete", nowMs: time.now() };
    await restore({ revision: 1 }, { attempt });
    await append("Later.\n");
    await restore({ revision: 1 }, { attempt });
    expect(await read()).toBe(`${guide}Later.\n`);
  });

  test("[CO19] a section reaches to the next heading of its level or a higher one", async () => {
    await commit();
    await patch("First *try*.", "Rewritten.");
    await patch("Old detail.", "New detail.");
    await patch("Second.\n", "Rewritten too.");
    await restore({ revision: 1, section: "Detail" });
    const detailed = guide.replace("First *try*.", "Rewritten.").replace("Second.\n", "Rewritten too.");
    expect(await read()).toBe(detailed);
    const { commit: made } = await restore({ revision: 1, section: "One" });
    expect(made.message).toBe("Restore “One” from revision 1");
    expect(await read()).toBe(guide.replace("Second.\n", "Rewritten too."));
    await restore({ revision: 1, file: "content.md", section: "Two" });
    // The line end after the section is not part of the section.
    expect(await read()).toBe(guide.replace("Second.\n", "Second."));
  });

  test("[CO19] a restored last section is separated from the text that now follows", async () => {
    await commit();
    await patch("# Two\n\nSecond.\n", "# Two\nThree\n=====\n");
    await restore({ revision: 1, section: "Two" });
    expect((await read()).endsWith("# Two\n\nSecond.\n\nThree\n=====\n")).toBe(true);
  });

  test("[CO19] a heading that is missing or not unique, then or now, is refused and nothing changes", async () => {
    await commit();
    await append("\n# Three\n\n> # Quoted\n");
    const live = await read();
    await expect(restore({ revision: 1, section: "Three" })).rejects.toMatchObject({ code: "anchor_not_found" });
    await expect(restore({ revision: 1, section: "Quoted" })).rejects.toMatchObject({ code: "anchor_not_found" });
    await append("\n# Two\n");
    await expect(restore({ revision: 1, section: "Two" })).rejects.toMatchObject({
      code: "anchor_ambiguous",
      facts: { errors: [{ pointer: "/section" }] },
    });
    await expect(restore({ revision: 1, file: "outline.md", section: "Two" })).rejects.toMatchObject({ code: "anchor_not_found" });
    expect(await read()).toBe(`${live}\n# Two\n`);
  });

  test("[CO17] the text of each commit is readable by its id, after newer commits and without the log", async () => {
    const { content } = createCommitHandlers(node);
    const made: string[] = [];
    for (let at = 0; at < 3; at += 1) {
      await append(`${at}\n`);
      made.push((await commit()).commitId);
    }
    const serve = (commitId: string, query = {}, accept: readonly string[] = ["application/json"]) =>
      content.serve({ params: { articleId, commitId }, query, accept } as never, call());
    const reply = content.reply(await serve(made[0] as string));
    expect(reply).toMatchObject({ status: 200, headers: { etag: '"r2"' }, body: { content: `${guide}0\n`, revision: 2 } });
    expect(content.reply(await serve(made[1] as string, { file: "outline.md" })).body).toMatchObject({ content: "", revision: 3 });
    await expect(serve(made[0] as string, {}, ["application/octet-stream"])).rejects.toMatchObject({ code: "revision_gone" });
    const other = (await node.articles.create({ workspaceId, title: "Other" }, call())).article.articleId;
    await expect(
      content.serve({ params: { articleId: other, commitId: made[0] }, query: {}, accept: ["application/json"] } as never, call()),
    ).rejects.toMatchObject({ code: "not_found" });
  });
});
