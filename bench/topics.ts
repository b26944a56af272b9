/**
 * Measures the cost of a page of topics among 100 and among 100,000 topics, as a ratio, for each filter and order.
 * Run it with `npm run bench:topics`.
 *
 * Both sets are in one embedded store. They are read alternately through the service that the handlers call, so that
 * load on the machine affects both. The cost is the median of the rounds.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "../server/platform/actors/after.ts";
import { createLmdbStorage } from "../server/platform/storage/lmdb/lmdbStorage.ts";
import { addWorkspace } from "../test/contract/articleFixture.ts";
import { addFolder, addTopics, createTopicNode, partition } from "../test/contract/topicFixture.ts";

const rounds = 200;
const limit = 10;
const sizes = [100, 100_000] as const;
const sorts = ["createdAt", "updatedAt", "priorityScore", "scheduledDate"] as const;

const directory = await mkdtemp(join(tmpdir(), "bench-topics-"));
const storage = await createLmdbStorage({ directory });
const node = createTopicNode(storage, { now: storage.now, after });

const sets = new Map<number, { readonly workspaceId: string; readonly contentProjectId: string }>();
for (const count of sizes) {
  const workspaceId = await addWorkspace(storage, partition);
  const contentProjectId = await addFolder(storage, workspaceId);
  await addTopics(node, storage, workspaceId, { count, contentProjectId });
  sets.set(count, { workspaceId, contentProjectId });
}

/** Returns the milliseconds that one page takes. */
async function page(count: number, filter: object, inProject: boolean): Promise<number> {
  const set = sets.get(count);
  if (set === undefined) throw new Error(`there are no ${count} topics`);
  const startedAt = performance.now();
  const { items } = await node.topics.list({
    workspaceId: set.workspaceId,
    limit,
    ...filter,
    ...(inProject ? { contentProjectId: set.contentProjectId } : {}),
  });
  const spent = performance.now() - startedAt;
  if (items.length !== limit) throw new Error(`a page of ${count} topics holds ${items.length}`);
  return spent;
}

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

for (const [name, filter, inProject] of [
  ["all but archived", {}, false],
  ["one status", { status: ["outlined"] }, false],
  ["a content project", {}, true],
  ["one status of a content project", { status: ["drafted"] }, true],
] as const) {
  for (const sort of sorts) {
    for (const order of ["asc", "desc"] as const) {
      const spent = sizes.map((): number[] => []);
      for (let round = 0; round < rounds; round += 1) {
        for (const [at, count] of sizes.entries()) spent[at]?.push(await page(count, { ...filter, sort, order }, inProject));
      }
      const [few = 0, many = 0] = spent.map(median);
      const figures = { ratio: Number((many / few).toFixed(2)), ms100: Number(few.toFixed(3)), ms100000: Number(many.toFixed(3)) };
      console.log(JSON.stringify({ filter: name, sort, order, ...figures }));
    }
  }
}

await node.node.close();
await storage.close();
await rm(directory, { recursive: true, force: true });
