/**
 * A process that deletes a folder with many articles by a job, until it is killed: `jobChild.ts <directory>
 * fill` makes the folder and starts the job; `jobChild.ts <directory> work` does pieces of the job, writes a line to
 * stdout after each, and reports the final state once the job has ended.
 */
import { articleRecord } from "../../server/domain/articles/records.ts";
import { createFolderOperations } from "../../server/domain/folders/operations.ts";
import { folderRecord } from "../../server/domain/folders/records.ts";
import { createStartJob, defineJobKind } from "../../server/domain/jobs/jobKind.ts";
import { jobRecord } from "../../server/domain/jobs/records.ts";
import { createJobService } from "../../server/domain/jobs/service.ts";
import { createSeededIds } from "../../server/platform/storage/ids.ts";
import { createLmdbStorage } from "../../server/platform/storage/lmdb/lmdbStorage.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { addWorkspace, composeArticles, createCall } from "../contract/articleFixture.ts";
import { composeParts } from "../support/composeParts.ts";

const [directory = "", mode = ""] = process.argv.slice(2);
const partition = 5;
const articles = 800;
const subfolders = 40;
const trashed = "test.trashed";
const say = (word: string, value: object) => process.stdout.write(`${word} ${JSON.stringify(value)}\n`);

const opened = await createLmdbStorage({ directory });
const storage: Storage = {
  ...opened,
  async commit(batch) {
    const result = await opened.commit(batch);
    if (result.ok && batch.records?.some(({ type }) => type.name === jobRecord.name)) say("piece", {});
    return result;
  },
};
const parts = composeParts(storage, { leaseMs: 300, limits: { "job.records": 16 } });
const node = composeArticles(parts, {
  listeners: {
    // One entry for each move to the trash, in its commit.
    async articleDeleted(unit, { articleId }) {
      unit.log({ op: "append", log: trashed, entries: [Buffer.from(articleId)] });
    },
  },
});
const noTopics = {
  name: "topics",
  count: async () => 0,
  countTo: async () => 0,
  remove: async () => 0,
  archive: async () => 0,
  restore: async () => ({ read: 0, restored: 0 }),
} as const;
const kind = defineJobKind(parts.limits);
const { folders, works } = createFolderOperations({
  ...parts,
  articles: node.folderArticles,
  topics: noTopics,
  startJob: createStartJob(kind),
});
parts.install([createJobService({ storage, kind, works }).manifest]);

// Every process uses the same ids.
const ids = createSeededIds(Buffer.alloc(16, 3), 1_800_000_000_000);
const rootId = ids.next("fld", partition);
const jobSeed = { seed: "delete", nowMs: 1_800_000_000_000 };
const jobId = createCall(storage, "", partition, { attempt: jobSeed }).ids.next("job", partition);

async function fill(): Promise<void> {
  const workspaceId = await addWorkspace(storage, partition);
  const call = () => createCall(storage, workspaceId, partition, { attempt: jobSeed });
  const times = { createdAtMs: 1, updatedAtMs: 1 };
  const folderIds = [rootId, ...Array.from({ length: subfolders }, () => ids.next("fld", partition))];
  const folderWrites = folderIds.map((folderId, at) => {
    const parentFolderId = at === 0 ? null : (folderIds[Math.floor((at - 1) / 3)] ?? null);
    const value = { ...times, folderId, workspaceId, parentFolderId, name: `Folder ${at}`, slug: `folder-${at}` };
    return { op: "put", type: folderRecord, value, replacing: null } as const;
  });
  await opened.commit({ partition, records: folderWrites });
  const made = await node.articles.create({ workspaceId, title: "Kites" }, call());
  const all = Array.from({ length: articles }, (_, at) => {
    const value = { ...made.article, articleId: ids.next("art", partition), folderId: folderIds[at % folderIds.length] ?? rootId };
    return { op: "put", type: articleRecord, value, replacing: null } as const;
  });
  for (let at = 0; at < all.length; at += 400) await opened.commit({ partition, records: all.slice(at, at + 400) });
  await folders.deleteAll(call(), rootId);
}

async function report(): Promise<void> {
  const job = (await storage.records.get(jobRecord, jobId))?.value;
  const log = await storage.log.read({ partition, log: trashed, after: 0, limit: articles * 2, maxBytes: 10_000_000 });
  const moves = log.gap ? [] : log.entries.map(({ bytes }) => Buffer.from(bytes).toString());
  let [inTrash, elsewhere, leftFolders, changedTwice] = [0, 0, 0, 0];
  for await (const { value } of storage.records.scan(articleRecord, partition)) {
    if (value.deletedAtMs === undefined) elsewhere += 1;
    else inTrash += 1;
    if (value.metaRevision > 2) changedTwice += 1;
  }
  for await (const _ of storage.records.scan(folderRecord, partition)) leftFolders += 1;
  const { done, of, result } = job?.context ?? {};
  say("end", {
    state: job?.state,
    done,
    of,
    result,
    moves: moves.length,
    moved: new Set(moves).size,
    inTrash,
    elsewhere,
    leftFolders,
    changedTwice,
  });
}

if (mode === "fill") await fill();
else {
  parts.pump.start();
  const isOver = async () => (await storage.records.get(jobRecord, jobId))?.value.state === "succeeded";
  while (!(await isOver())) await new Promise((resolve) => setTimeout(resolve, 20));
  await report();
}
await parts.pump.drain(AbortSignal.timeout(1000));
await node.close();
await storage.close();
process.exit(0);
