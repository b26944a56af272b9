/** Tests repeats of edits: one edit under an Idempotency-Key is written once, whatever comes between its attempts. */
import { describe, expect, test, vi } from "vitest";
import type * as Y from "yjs";
import type { EditRequest } from "../../api/schema/article.ts";
import type { Peer } from "../../realtime/ports.ts";
import { AlreadyAnswered, type Call } from "../../server/domain/call/call.ts";
import { createIdempotency } from "../../server/edge/calls/idempotency.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { domainStorages } from "../support/storages.ts";
import { type EditedArticle, useEditedArticle } from "./articleEditFixture.ts";
import { maxMs, quietMs } from "./articleFixture.ts";

/** Starts an attempt under an Idempotency-Key. The attempt keeps only what the edit itself stores. */
async function startOnce({ storage, node, workspaceId, articleId, call }: EditedArticle, request: EditRequest, key: string) {
  const idempotency = createIdempotency({ storage, limits: node.limits, owner: "node", leaseMs: 5000 });
  const partition = partitionOfId(workspaceId);
  const demand = { principalId: "usr_1", partition, workPartition: partition, operation: "edit", request: JSON.stringify(request) };
  const started = await idempotency.start({ ...demand, key, secret: false });
  if (started.kind === "replay") return () => Promise.resolve(JSON.parse(started.answer));
  const { run } = started;
  const { nowMs, ids } = run;
  const commit: Call["commit"] = (batch, value) => (value === undefined ? storage.commit(batch) : run.commit(batch, JSON.stringify(value)));
  return () =>
    node.edits.edit(articleId, request, { ...call(), nowMs, ids, isRepeatable: true, commit }, { answersCall: true }).finally(run.release);
}

const editOnce = async (article: EditedArticle, request: EditRequest, key: string) => (await startOnce(article, request, key))();

describe.each(domainStorages())("repeated edits on %s", (_name, open) => {
  const start = useEditedArticle(open);

  test("[AR48] an edit with a key is stored in one commit with its answer, and adds no client id", async () => {
    const article = await start("one two two three\n");
    const { node, articleId, live, type } = article;
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
      const first = await editOnce(article, request, `key ${at}`);
      expect(first).toMatchObject({ articleId, file: "content.md" });
      expect(first.revision).toBe(await node.rooms.read(articleId, (_document, revision) => revision));
      await type(0, "typed ");
      const before = await live();
      expect(await editOnce(article, request, `key ${at}`)).toEqual(first);
      expect(await live()).toBe(before);
    }
    // The creator, one for each text that was typed, and the server.
    expect(await node.rooms.read(articleId, (document) => document.store.clients.size)).toBe(2 + requests.length);
  });

  test("[AR48] an attempt that continues after another attempt under its key writes nothing and ends no room", async () => {
    const article = await start("text\n");
    const { time, node, articleId, live } = article;
    const request = { mode: "append", content: "more\n" } as const;
    const frozen = await startOnce(article, request, "key");
    await time.advance(10_000);
    const answer = await editOnce(article, request, "key");
    const close = vi.fn();
    const peer: Peer = { send: () => "sent", bufferedBytes: 0, subscribe() {}, unsubscribe() {}, close };
    const identity = { author: { username: "bob", kind: "user" }, mayWrite: true, credentialId: "ses_bob" } as const;
    await node.rooms.connect(articleId, peer, identity, { extensions: false });
    await expect(frozen()).rejects.toEqual(new AlreadyAnswered(JSON.stringify(answer)));
    expect(close).not.toHaveBeenCalled();
    expect(await live()).toBe("text\nmore\n");
  });

  test("[AR16] an edit that commits, repeated with its ids, changes nothing and returns the same answer", async () => {
    const { time, node, articleId, edit, live, type } = await start("one two two three\n");
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
    const { time, node, articleId, call, edit, live, type, keepState } = await start("old\n");
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
    const { time, node, articleId, call, edit, live, type, keepState } = await start("old\n", { limits: { "document.keptBatches": 1 } });
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
    const { time, node, articleId, call, edit, live } = await start("text\n");
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
    const { time, node, articleId, call } = await start("text\n");
    await node.commits.create(articleId, { message: "Before" }, call());
    const write = { mode: "append", message: "Mine" } as const;
    expect(await node.edits.edit(articleId, { ...write, content: "" }, call())).not.toHaveProperty("commitId");
    expect((await node.commits.list(articleId, {})).items).toMatchObject([{ message: "Before" }]);
    const attempt = { seed: "edit", nowMs: time.now() };
    const first = await node.edits.edit(articleId, { ...write, content: "more\n" }, call({ attempt }));
    expect(await node.edits.edit(articleId, { ...write, content: "more\n" }, call({ attempt }))).toEqual(first);
    expect((await node.commits.list(articleId, {})).items[0]?.commitId).toBe(first.commitId);
  });
});
