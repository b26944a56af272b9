/**
 * A process that edits and commits articles on its own store until it is killed: `checkpointChild.ts <directory>
 * write`. It writes acknowledgements to stdout. With `settle` instead of `write`, it processes all present and future
 * due rows and reports the final state. Then only the rows that trim events are left, and no further commit is made.
 */

import { articleEventLog } from "../../server/domain/articles/articleEvents.ts";
import { articleRecordTypes } from "../../server/domain/articles/records.ts";
import { after } from "../../server/platform/actors/after.ts";
import { trimRow } from "../../server/platform/actors/trimRows.ts";
import { createHousekeeping, housekeepingKinds } from "../../server/platform/storage/housekeeping.ts";
import { createSeededIds } from "../../server/platform/storage/ids.ts";
import { createLmdbStorage } from "../../server/platform/storage/lmdb/lmdbStorage.ts";
import { type AnyRecordType, createRecordTypes } from "../../server/platform/storage/recordType.ts";
import { addWorkspace, createArticleNode, createCall, eventsOf } from "../contract/articleFixture.ts";

const [directory = "", mode = ""] = process.argv.slice(2);
const partition = 5;
const count = 8;
const farMs = 60_000;
let leapMs = 0;
const storage = await createLmdbStorage({ directory, now: () => Date.now() + leapMs });
const node = createArticleNode(storage, { now: storage.now, after }, { quietMs: 60, maxMs: 250, leaseMs: 300 });
const say = (word: string, value: object) => process.stdout.write(`${word} ${JSON.stringify(value)}\n`);

// Every process uses the same articles.
const ids = createSeededIds(Buffer.alloc(16, 9), 1_800_000_000_000);
const articleIds: string[] = [];
let workspaceId: string | undefined;
for (let at = 0; at < count; at += 1) {
  const call = () => createCall(storage, workspaceId ?? "", partition, { attempt: { seed: `article ${at}`, nowMs: 1_800_000_000_000 } });
  const articleId = call().ids.next("art", partition);
  articleIds.push(articleId);
  if ((await node.locate(articleId, { deleted: false })) !== undefined) continue;
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
        // Pause sometimes, so that a checkpoint is made.
        if (line % 7 === 6) await new Promise((resolve) => setTimeout(resolve, 20 * (ids.bytes(1)[0] ?? 0) ** 0.5));
      }
    }),
  );
}

/** The number of rows that trim the events of the articles. Such a row is never done. */
async function countTrimRows(): Promise<number> {
  const ids = articleIds.map((articleId) => trimRow(articleEventLog(articleId), 0).id);
  const rows = await Promise.all(ids.map((id) => storage.due.get(partition, id)));
  return rows.filter((row) => row !== undefined).length;
}

const housekeeping = createHousekeeping(storage, createRecordTypes(articleRecordTypes as readonly AnyRecordType[]));
for (const kind of housekeepingKinds) node.pump.register(kind, housekeeping);
for (;;) {
  const { rows, oldestDueAtMs = 0 } = await storage.due.stats();
  if (rows === (await countTrimRows())) break;
  // Wait for rows that are leased or due soon; move the clock forward to any other row.
  const waitMs = oldestDueAtMs - storage.now();
  if (waitMs > farMs) leapMs += waitMs;
  await new Promise((resolve) => setTimeout(resolve, 20));
}
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
