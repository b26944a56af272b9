/** Tests lists of topics: their contents, their order, and the cost of a page. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { ContentTopic } from "../../api/schema/topic.ts";
import { topicStatuses } from "../../api/schema/topic.ts";
import type { TopicSort } from "../../server/domain/topics/records.ts";
import { createLmdbStorage } from "../../server/platform/storage/lmdb/lmdbStorage.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { createManualTime, type ManualTime } from "../support/manualTime.ts";
import { addWorkspace } from "./articleFixture.ts";
import { addFolder, addTopics, countRows, createTopicNode, partition, type TopicNode } from "./topicFixture.ts";

const sorts = ["priorityScore", "updatedAt", "createdAt", "scheduledDate"] as const;
const orders = ["asc", "desc"] as const;

let time: ManualTime;
let storage: Storage;
let node: TopicNode;
let workspaceId: string;
let counted: ReturnType<typeof countRows>;

beforeEach(async () => {
  time = createManualTime();
  counted = countRows(createMemoryStorage({ now: time.now }));
  storage = counted.storage;
  node = createTopicNode(storage, time);
  workspaceId = await addWorkspace(storage, partition);
});

type Filter = Omit<Parameters<TopicNode["topics"]["list"]>[0], "workspaceId">;

async function walk(filter: Filter = {}, each: (page: readonly ContentTopic[]) => Promise<void> = async () => {}): Promise<ContentTopic[]> {
  const found: ContentTopic[] = [];
  let nextToken: string | undefined;
  do {
    const page: Awaited<ReturnType<TopicNode["topics"]["list"]>> = await node.topics.list({ workspaceId, limit: 7, ...filter, nextToken });
    found.push(...page.items);
    await each(page.items);
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  return found;
}

const titles = (topics: readonly ContentTopic[]) => topics.map(({ title }) => title);

const fill = (count: number, contentProjectId: string, toTitle?: (at: number) => string) =>
  addTopics(node, storage, workspaceId, { count, contentProjectId, ...(toTitle === undefined ? {} : { toTitle }) });

function inOrder(topics: readonly ContentTopic[], sort: TopicSort, order: "asc" | "desc"): string[] {
  const direction = order === "asc" ? 1 : -1;
  const compare = (a: string | number, b: string | number) => (a < b ? -direction : a > b ? direction : 0);
  return [...topics]
    .sort((a, b) => {
      const [left, right] = [a[sort], b[sort]];
      if (left === undefined && right === undefined) return compare(a.createdAt, b.createdAt) || compare(a.topicId, b.topicId);
      if (left === undefined) return 1;
      if (right === undefined) return -1;
      return compare(left, right) || compare(a.topicId, b.topicId);
    })
    .map(({ topicId }) => topicId);
}

const idsOf = (topics: readonly ContentTopic[]) => topics.map(({ topicId }) => topicId);

describe("lists of topics", () => {
  test("[TO35][TO36] every combination of status, scope and order lists exactly its topics, in pages", async () => {
    const contentProjectId = await addFolder(storage, workspaceId);
    const all = await fill(150, contentProjectId);
    const wanted: [Filter, (topic: ContentTopic) => boolean][] = [
      [{}, ({ status }) => status !== "archived"],
      [{ includeArchived: true }, () => true],
      [{ status: ["archived"] }, ({ status }) => status === "archived"],
      [{ status: ["idea", "drafted", "idea"] }, ({ status }) => status === "idea" || status === "drafted"],
      [{ contentProjectId }, (topic) => topic.contentProjectId === contentProjectId && topic.status !== "archived"],
      [
        { contentProjectId, status: ["outlined", "archived"] },
        (topic) => topic.contentProjectId === contentProjectId && ["outlined", "archived"].includes(topic.status),
      ],
    ];
    for (const [filter, isWanted] of wanted) {
      for (const sort of sorts) {
        for (const order of orders) {
          const found = await walk({ ...filter, sort, order });
          expect(idsOf(found), JSON.stringify([filter, sort, order])).toEqual(inOrder(all.filter(isWanted), sort, order));
        }
      }
    }
    expect(idsOf(await walk())).toEqual(idsOf(await walk({ sort: "createdAt", order: "desc" })));
    expect(await walk({ contentProjectId: "fld_of_nobody" })).toEqual([]);
  });

  test("[TO35] other filters combine, and dates limit any order", async () => {
    const contentProjectId = await addFolder(storage, workspaceId);
    const all = await fill(120, contentProjectId);
    const within = ({ scheduledDate = "" }: ContentTopic) => scheduledDate >= "2026-03-04" && scheduledDate <= "2026-08-20";
    const bounds = { scheduledFrom: "2026-03-04", scheduledTo: "2026-08-20", includeArchived: true };
    for (const sort of sorts) {
      for (const order of orders) {
        expect(idsOf(await walk({ ...bounds, sort, order })), `${sort} ${order}`).toEqual(inOrder(all.filter(within), sort, order));
      }
    }
    const from = await walk({ scheduledFrom: "2026-08-20", includeArchived: true, sort: "scheduledDate" });
    expect(idsOf(from)).toEqual(
      inOrder(
        all.filter(({ scheduledDate = "" }) => scheduledDate >= "2026-08-20"),
        "scheduledDate",
        "desc",
      ),
    );
    await node.create(workspaceId, { title: "In a cluster", cluster: "wind", articleType: "tutorial" });
    await time.advance(1);
    await node.create(workspaceId, { title: "In another", cluster: "sea", articleType: "tutorial" });
    expect(titles(await walk({ cluster: "wind" }))).toEqual(["In a cluster"]);
    expect(titles(await walk({ articleType: "tutorial", order: "asc" }))).toEqual(["In a cluster", "In another"]);
    expect(await walk({ cluster: "wind", articleType: "reference" })).toEqual([]);
  });

  test("[TO35] topics that move between pages are neither missed nor repeated if their place stays", async () => {
    const made: string[] = [];
    for (let at = 0; at < 30; at += 1) {
      made.push(await node.create(workspaceId, { title: `Topic ${at}` }));
      await time.advance(1);
    }
    let page = 0;
    const found = await walk({ sort: "createdAt", order: "asc" }, async () => {
      // One topic before and one after the reader's position change: one its status, one its title.
      page += 1;
      const ahead = made[page * 7 + 2];
      if (ahead !== undefined) await node.send(workspaceId, ahead, { type: "topic.shortlist", by: "ada" });
      await node.send(workspaceId, made[page] as string, { type: "topic.update", changes: { title: "x" }, editorial: false, by: "ada" });
      await node.send(workspaceId, made[page] as string, { type: "topic.shortlist", by: "ada" }).catch(() => {});
    });
    expect(idsOf(found)).toEqual(made);
  });

  test("[TO35] a token is valid only for its own list", async () => {
    for (let at = 0; at < 5; at += 1) await node.create(workspaceId);
    const { nextToken } = await node.topics.list({ workspaceId, limit: 2 });
    for (const other of [{ sort: "updatedAt" }, { order: "asc" }, { status: ["idea"] }, { q: "kites" }, { cluster: "x" }] as const) {
      await expect(node.topics.list({ workspaceId, limit: 2, nextToken, ...other })).rejects.toMatchObject({ code: "invalid_next_token" });
    }
    const otherId = await addWorkspace(storage, partition);
    await expect(node.topics.list({ workspaceId: otherId, limit: 2, nextToken })).rejects.toMatchObject({ code: "invalid_next_token" });
  });

  test("[TO37] a page reads as many index rows at 100 as at 10,000 topics, in every order and page", async () => {
    const directory = await mkdtemp(join(tmpdir(), "topics-"));
    const embedded = await createLmdbStorage({ directory, now: time.now });
    counted = countRows(embedded);
    storage = counted.storage;
    node = createTopicNode(storage, time);
    onTestFinished(async () => {
      await embedded.close();
      await rm(directory, { recursive: true, force: true });
    });
    const cost = async (count: number) => {
      workspaceId = await addWorkspace(storage, partition);
      const contentProjectId = await addFolder(storage, workspaceId);
      await fill(count, contentProjectId);
      const costs: number[] = [];
      for (const scope of [{}, { contentProjectId }]) {
        for (const status of [["idea"], ["outlined", "drafted"], undefined] as const) {
          for (const sort of sorts) {
            for (const order of orders) {
              const filter = { workspaceId, sort, order, limit: 2, ...scope, ...(status === undefined ? {} : { status }) };
              counted.take();
              const first = await node.topics.list(filter);
              costs.push(counted.take());
              await node.topics.list({ ...filter, nextToken: first.nextToken });
              costs.push(counted.take());
            }
          }
        }
      }
      return costs;
    };
    const few = await cost(100);
    const many = await cost(10_000);
    expect(few.length).toBe(96);
    expect(many).toEqual(few);
    // Each merged list reads at most one page and one more row.
    expect(Math.max(...many)).toBeLessThanOrEqual(4 * 3);
  });

  test("[TO38] a search finds every topic whose title has the words, in any order and with filters", async () => {
    const contentProjectId = await addFolder(storage, workspaceId);
    const words = ["deployment", "deploy", "rollback", "Größe", "kite"];
    const all = await fill(200, contentProjectId, (at) => `${words[at % 5]} strategies ${at % 7 === 0 ? "rarely" : "often"} ${at}`);
    const has =
      (...starts: string[]) =>
      (topic: ContentTopic) => {
        const title = topic.title.toLowerCase().split(" ");
        return starts.every((start) => title.some((word) => word.startsWith(start))) && topic.status !== "archived";
      };
    const searches: [string, (topic: ContentTopic) => boolean][] = [
      ["deploy", has("deploy")],
      ["deploym", has("deploym")],
      ["GRÖ", has("grö")],
      ["rarely kite", has("rarely", "kite")],
      ["strategies often", has("strategies", "often")],
      ["nothing", () => false],
    ];
    for (const [q, isWanted] of searches) {
      for (const sort of sorts) {
        for (const order of orders) {
          const found = await walk({ q, sort, order });
          expect(idsOf(found), `${q} ${sort} ${order}`).toEqual(inOrder(all.filter(isWanted), sort, order));
        }
      }
    }
    expect(idsOf(await walk({ q: "kite", contentProjectId, status: ["drafted", "archived"] }))).toEqual(
      inOrder(
        all.filter((topic) => topic.title.startsWith("kite") && topic.contentProjectId !== undefined && /dra|arc/.test(topic.status)),
        "createdAt",
        "desc",
      ),
    );
    // A single character is not searched as a word. A query without words matches every title.
    expect(idsOf(await walk({ q: "k" }))).toEqual(inOrder(all.filter(has("k")), "createdAt", "desc"));
    expect(await walk({ q: " ?! " })).toHaveLength(all.filter(({ status }) => status !== "archived").length);
  });

  test("[TO45] the current words of the primary keyword and the cluster are found like the title's", async () => {
    const made = await node.create(workspaceId, { title: "Digging", primaryKeyword: "hand-dug well", cluster: "Village water" });
    await node.create(workspaceId, { title: "Something else" });
    for (const q of ["dig", "well", "hand dug", "villa", "dig water well"]) {
      expect(
        (await walk({ q })).map(({ topicId }) => topicId),
        q,
      ).toEqual([made]);
    }
    await node.topics.update(node.call(workspaceId), { workspaceId, topicId: made }, { primaryKeyword: "borehole" });
    expect(await walk({ q: "well" })).toEqual([]);
    expect(await walk({ q: "bore" })).toHaveLength(1);
  });

  test("[TO38] words in more titles than one request may read give the same list", async () => {
    const contentProjectId = await addFolder(storage, workspaceId);
    const all = await fill(120, contentProjectId, (at) => `${at % 2 === 0 ? "common" : "other"} ${at}`);
    const expected = inOrder(
      all.filter(({ title, status }) => title.startsWith("common") && status !== "archived"),
      "priorityScore",
      "desc",
    );
    for (const most of [20, 59, 60, 61, 2000]) {
      node = createTopicNode(storage, time, { limits: { "list.scan": most } });
      expect(idsOf(await walk({ q: "common", sort: "priorityScore" })), `list.scan ${most}`).toEqual(expected);
    }
  });

  test("[TO39] counts by status cover the scope, whatever else is filtered", async () => {
    const contentProjectId = await addFolder(storage, workspaceId);
    const all = await fill(53, contentProjectId);
    const countsOf = (topics: readonly ContentTopic[]) =>
      Object.fromEntries(topicStatuses.map((status) => [status, topics.filter((topic) => topic.status === status).length]));
    const counts = async (filter: Filter) => (await node.topics.list({ workspaceId, ...filter })).statusCounts;
    expect(await counts({})).toEqual(countsOf(all));
    expect(await counts({ status: ["idea"], q: "nothing", limit: 1 })).toEqual(countsOf(all));
    const inProject = all.filter((topic) => topic.contentProjectId === contentProjectId);
    expect(await counts({ contentProjectId, cluster: "x" })).toEqual(countsOf(inProject));
    expect(await counts({ contentProjectId: "fld_of_nobody" })).toEqual(countsOf([]));
    const moved = all.find(({ status }) => status === "idea")?.topicId as string;
    await node.send(workspaceId, moved, { type: "topic.archive", reason: "manual", by: "ada" });
    const before = countsOf(all);
    expect(await counts({})).toEqual({ ...before, idea: (before.idea ?? 0) - 1, archived: (before.archived ?? 0) + 1 });
  });
});
