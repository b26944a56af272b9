/**
 * A process that edits and commits articles on its own store until it is killed: `checkpointChild.ts <directory>
 * write`. It says on stdout what was acknowledged. With `settle` instead of `write` it only lets the checkpoints come
 * and tells what stands in the end.
 */
import { after } from "../../server/actors/after.ts";
import { toContentHash } from "../../server/articles/fileTexts.ts";
import { createSeededIds } from "../../server/ids.ts";
import { createLmdbStorage } from "../../server/storage/lmdb.ts";
import { addWorkspace, createArticleNode, createCall, eventsOf } from "../contract/articleFixture.ts";

const [directory = "", mode = ""] = process.argv.slice(2);
const partition = 5;
const count = 8;
const storage = await createLmdbStorage({ directory });
const node = createArticleNode(storage, { now: storage.now, after }, { quietMs: 60, maxMs: 250, leaseMs: 300 });
const say = (word: string, value: object) => process.stdout.write(`${word} ${JSON.stringify(value)}\n`);

// The same articles in every process.
const ids = createSeededIds(Buffer.alloc(16, 9), 1_800_000_000_000);
const articleIds: string[] = [];
let workspaceId: string | undefined;
for (let at = 0; at < count; at += 1) {
  const call = () => createCall(storage, workspaceId ?? "", partition, { attempt: { seed: `article ${at}`, nowMs: 1_800_000_000_000 } });
  const articleId = call().ids.next("art", partition);
  articleIds.push(articleId);
  if ((await node.articles.locate(articleId, { deleted: false })) !== undefined) continue;
  workspaceId ??= await addWorkspace(storage, partition);
  await node.articles.create({ workspaceId, title: `Article ${at}` }, call());
}
node.pump.start();

if (mode === "write") {
  await Promise.all(
    articleIds.map(async (articleId) => {
      for (let line = 0; ; line += 1) {
        const content = `${process.pid}-${line}\n`;
        await node.edits.edit(articleId, { mode: "append", content }, createCall(storage, "", partition));
        say("edited", { articleId, content });
        if (line % 5 === 4) {
          const { commit, created } = await node.commits.create(articleId, {}, createCall(storage, "", partition));
          if (created) say("committed", { articleId, commitId: commit.commitId });
        }
        // Now and then a pause in which a checkpoint comes.
        if (line % 7 === 6) await new Promise((resolve) => setTimeout(resolve, 20 * (ids.bytes(1)[0] ?? 0) ** 0.5));
      }
    }),
  );
}

const isSettled = async () => {
  for (const articleId of articleIds) if ((await storage.due.get(partition, `checkpoint/${articleId}`)) !== undefined) return false;
  for (const articleId of articleIds) {
    const { text } = await node.content.readText(articleId, "content.md", undefined);
    const [last] = (await node.commits.list(articleId, { limit: 1 })).items;
    if (last?.files[0]?.contentHash !== toContentHash(text)) return false;
  }
  return true;
};
while (!(await isSettled())) await new Promise((resolve) => setTimeout(resolve, 20));
// Long enough for another checkpoint, if one were to come.
await new Promise((resolve) => setTimeout(resolve, 700));
const events = await eventsOf(storage, partition);
for (const articleId of articleIds) {
  const { text } = await node.content.readText(articleId, "content.md", undefined);
  const commits: object[] = [];
  let nextToken: string | undefined;
  do {
    const page = await node.commits.list(articleId, { limit: 100, nextToken });
    commits.push(
      ...page.items.map(({ commitId, revision, parentRevision, files, kind }) => ({
        commitId,
        revision,
        parentRevision,
        kind,
        hash: files[0]?.contentHash,
      })),
    );
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  say("end", {
    articleId,
    text,
    commits: commits.reverse(),
    events: events.filter((event) => event.articleId === articleId).map((event) => event.commitId),
  });
}
await node.pump.drain(AbortSignal.timeout(1000));
await storage.close();
process.exit(0);
