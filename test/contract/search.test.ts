/** Tests the search index with its follower: real threads and files, a store in memory, and a clock that the test moves. */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import pino from "pino";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { defaultLimits } from "../../api/limits.ts";
import { toNewArticle } from "../../server/domain/articles/articleWriter.ts";
import { articleRecord } from "../../server/domain/articles/records.ts";
import { changeLog, recordSearchChanges } from "../../server/domain/search/changeLog.ts";
import type { SearchSource } from "../../server/domain/search/port.ts";
import type { SearchRequest } from "../../server/domain/search/search.ts";
import { createSearchService, type SearchService } from "../../server/domain/search/service.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { createManualTime, type ManualTime } from "../support/manualTime.ts";
import { type ArticleNode, addWorkspace, createArticleNode, createCall } from "./articleFixture.ts";

const partition = 5;
const log = pino({ level: "silent" });
const recorded = { records: [articleRecord], dependencies: [] };
const patience = { timeout: 20_000 };

let time: ManualTime;
let directory: string;
let storage: Storage;
let node: ArticleNode;
let workspaceId: string;
const running = new Set<SearchService>();

async function useStore(memory: Storage): Promise<void> {
  storage = recordSearchChanges(memory, recorded, log);
  node = createArticleNode(storage, time);
  workspaceId = await addWorkspace(storage, partition);
}

beforeEach(async () => {
  time = createManualTime();
  directory = mkdtempSync(join(tmpdir(), "svc-search-"));
  await useStore(createMemoryStorage({ now: time.now }));
});

afterEach(async () => {
  for (const service of running) await stop(service);
  rmSync(directory, { recursive: true, force: true });
});

const openAfterMs = 5000;

function create(given: Storage = storage, source: SearchSource = node.searchSource, folder = directory): SearchService {
  return createSearchService({ storage: given, clock: time, limits: defaultLimits, log, sources: [source], recorded, directory: folder });
}

/** Starts a service and lets the time pass after which it opens its index. */
function begin(service: SearchService): SearchService {
  service.start();
  void time.advance(openAfterMs);
  return service;
}

function start(given?: Storage, source?: SearchSource): SearchService {
  const service = create(given, source);
  running.add(service);
  return begin(service);
}

async function stop(service: SearchService): Promise<void> {
  running.delete(service);
  await service.manifest.close?.();
}

const call = () => createCall(storage, workspaceId, partition);

async function write(title: string, content = ""): Promise<string> {
  const { article } = await node.articles.create({ workspaceId, title, content }, call());
  if (content !== "") await node.commits.create(article.articleId, {}, call());
  return article.articleId;
}

async function ask(service: SearchService, q: string, rest: Partial<SearchRequest> = {}) {
  return service.search({ workspaceId, q, ...rest }, call());
}

const titlesOf = async (service: SearchService, q: string) => (await ask(service, q)).hits.map(({ title }) => title);
const untilFound = (service: SearchService, q: string, titles: readonly string[]) =>
  vi.waitFor(async () => expect(await titlesOf(service, q)).toEqual(titles), patience);
const untilReady = (service: SearchService) => vi.waitFor(() => expect(service.progress().state).toBe("ready"), patience);
const indexFile = () => join(directory, "0", "index.db");

describe("opening the index", () => {
  test("[SR14] five seconds after the start the index is opened, and not earlier", async () => {
    const service = create();
    running.add(service);
    service.start();
    await write("Kites");
    await time.advance(openAfterMs - 1);
    expect([existsSync(indexFile()), service.progress().state]).toEqual([false, "rebuilding"]);
    await time.advance(1);
    await untilReady(service);
    expect(service.progress().documents).toBe(1);
  });

  test("[SR14] a search opens the index at once", async () => {
    const service = create();
    running.add(service);
    service.start();
    await write("Kites");
    await untilFound(service, "kites", ["Kites"]);
  });
});

describe("following the store", () => {
  test("[SR6] a commit, a rename, the trash and a deletion are followed, and nothing else must ask for it", async () => {
    const service = start();
    await untilReady(service);
    const articleId = await write("Kites", "They fly in the wind.\n");
    await untilFound(service, "wind", ["Kites"]);
    await node.articles.update(articleId, { title: "Dragons" }, call());
    await untilFound(service, "dragons", ["Dragons"]);
    expect(await titlesOf(service, "kites")).toEqual([]);
    await node.edits.edit(articleId, { mode: "append", content: "They also sink.\n" }, call());
    await node.commits.create(articleId, {}, call());
    await untilFound(service, "sink wind", ["Dragons"]);
    await node.articles.delete(articleId, false, call());
    await vi.waitFor(() => expect(service.progress().documents).toBe(0), patience);
    await node.articles.undelete(articleId, call());
    await untilFound(service, "sink", ["Dragons"]);
    await node.articles.delete(articleId, true, createCall(storage, workspaceId, partition, { role: "owner" }));
    await vi.waitFor(() => expect(service.progress().documents).toBe(0), patience);
  });

  test("[SR6] a change whose wake-up message is lost is found by polling", async () => {
    const deaf = { ...storage, bus: { publish: () => {}, subscribe: () => () => {} } };
    const service = start(deaf);
    await untilReady(service);
    await write("Kites");
    await vi.waitFor(async () => {
      await time.advance(1000);
      expect(await titlesOf(service, "kites")).toEqual(["Kites"]);
    }, patience);
  });

  test("[SR4] a hit shows the current record, also when the index is behind", async () => {
    const deaf = { ...storage, bus: { publish: () => {}, subscribe: () => () => {} } };
    await write("Kites fly", "The wind carries them.\n");
    const renamed = await write("Kites sink", "The wind does not.\n");
    const service = start(deaf);
    await untilReady(service);
    expect((await titlesOf(service, "kites wind")).toSorted()).toEqual(["Kites fly", "Kites sink"]);
    const [gone] = (await ask(service, "carries")).hits;
    await node.articles.delete(gone?.id ?? "", false, call());
    await node.articles.update(renamed, { title: "Stones" }, call());
    await node.edits.edit(renamed, { mode: "replace", content: "Rewritten.\n", baseRevision: 1 }, call());
    await node.commits.create(renamed, {}, call());
    expect((await ask(service, "kites")).hits).toEqual([expect.objectContaining({ title: "Stones", snippet: "Rewritten." })]);
    const other = await addWorkspace(storage, partition);
    expect((await ask(service, "kites", { workspaceId: other })).hits).toEqual([]);
  });

  test("[SR1] the title counts more than the text, content.md more than other files, and scores are relative", async () => {
    const other = await write("Second", "Nothing here.\n");
    await node.edits.edit(other, { mode: "append", file: "outline.md", content: "A kite.\n" }, call());
    await node.commits.create(other, {}, call());
    await write("First", "A kite.\n");
    await write("A kite", "Nothing here.\n");
    await write("Unrelated", "Nothing at all.\n");
    const service = start();
    await untilFound(service, "kite", ["A kite", "First", "Second"]);
    const { hits } = await ask(service, "kite");
    expect(hits[0]?.score).toBe(1);
    for (const [at, { score }] of hits.entries()) if (at > 0) expect(score).toBeLessThan(hits[at - 1]?.score ?? 0);
    expect(hits.map(({ snippet }) => snippet)).toEqual(["Nothing here.", "A <mark>kite</mark>.", "A <mark>kite</mark>."]);
    expect((await ask(service, "nothing", { limit: 2 })).hits).toHaveLength(2);
  });
});

describe("building the index", () => {
  async function untilReadyAgain(): Promise<SearchService> {
    const service = start();
    await untilReady(service);
    return service;
  }

  beforeEach(async () => {
    await write("Kites", "They fly.\n");
  });

  test("[SR7] a file that cannot be used is built again", async () => {
    const first = await untilReadyAgain();
    expect(await titlesOf(first, "fly")).toEqual(["Kites"]);
    await stop(first);
    truncateSync(indexFile(), 5000);
    const second = await untilReadyAgain();
    expect(await titlesOf(second, "fly")).toEqual(["Kites"]);
    expect(second.progress()).toEqual({ state: "ready", documents: 1, builtPartitions: 64 });
  });

  test("[SR7] a file that is damaged while the server runs is noticed by a search and built again", async () => {
    const service = await untilReadyAgain();
    // The thread of searches opens the file at the first search.
    const other = new Database(indexFile());
    other.pragma("wal_checkpoint(TRUNCATE)");
    other.close();
    writeFileSync(indexFile(), readFileSync(indexFile()).fill(0xff, 0, 20_000));
    expect(await ask(service, "fly")).toEqual({ state: "rebuilding", hits: [] });
    await vi.waitFor(async () => {
      expect(await ask(service, "fly")).toMatchObject({ state: "ready", hits: [{ title: "Kites" }] });
    }, patience);
  });

  test("[SR7] an index that is behind the kept changes is built again, and stays usable meanwhile", async () => {
    await stop(await untilReadyAgain());
    const lost = await write("Balloons", "They rise.\n");
    await node.articles.update(lost, { title: "Blimps" }, call());
    const through = await storage.log.tail(partition, changeLog);
    await storage.commit({ partition, logs: [{ op: "trim", log: changeLog, through }] });
    const service = await untilReadyAgain();
    expect(await titlesOf(service, "rise")).toEqual(["Blimps"]);
    expect(await titlesOf(service, "fly")).toEqual(["Kites"]);
  });

  test("[SR7] an index of another store, or of a later state of this one, is built again", async () => {
    await stop(await untilReadyAgain());
    const before = workspaceId;
    await useStore(createMemoryStorage({ now: time.now }));
    await write("Balloons", "They rise.\n");
    const service = await untilReadyAgain();
    expect(await titlesOf(service, "rise")).toEqual(["Balloons"]);
    expect((await ask(service, "fly", { workspaceId: before })).hits).toEqual([]);
    expect(service.progress().documents).toBe(1);
  });

  test("[SR8] a build that was interrupted continues at its last piece", async () => {
    for (let piece = 0; piece < 3; piece += 1) {
      const records = Array.from({ length: 150 }, () => {
        const made = { articleId: node.ids.next("art", partition), workspaceId, number: 1, title: "Note", by: "ana", nowMs: 1 };
        return { op: "put", type: articleRecord, value: toNewArticle(made), replacing: null } as const;
      });
      await storage.commit({ partition, records });
    }
    let reads: string[] = [];
    let isSlow = true;
    const source: SearchSource = {
      ...node.searchSource,
      read: (ids) => {
        reads.push(...ids);
        // Never ends, as if the process were killed here.
        return isSlow && reads.length > 300 ? new Promise(() => {}) : node.searchSource.read(ids);
      },
    };
    const killed = begin(create(storage, source));
    await vi.waitFor(() => expect(reads.length).toBeGreaterThan(300), patience);
    expect(killed.progress()).toMatchObject({ state: "rebuilding", documents: 200 });
    const firstReads = new Set(reads.slice(0, 200));
    [reads, isSlow] = [[], false];
    // The process is gone, and with it the lock of its folder.
    const copy = mkdtempSync(join(tmpdir(), "svc-search-"));
    const survivor = create(storage, source, copy);
    try {
      cpSync(join(directory, "0"), join(copy, "0"), { recursive: true, filter: (name) => !name.includes("in-use") });
      begin(survivor);
      await untilReady(survivor);
      expect(survivor.progress().documents).toBe(451);
      expect(reads.filter((id) => firstReads.has(id))).toEqual([]);
      expect((await ask(survivor, "note", { limit: 100 })).hits).toHaveLength(100);
    } finally {
      await survivor.manifest.close?.();
      rmSync(copy, { recursive: true, force: true });
    }
  });

  test("[SR12] two nodes with one folder use different files, and a node that starts again finds its own", async () => {
    const [one, two] = [start(), start()];
    await Promise.all([untilReady(one), untilReady(two)]);
    await write("Balloons");
    await Promise.all([untilFound(one, "balloons", ["Balloons"]), untilFound(two, "balloons", ["Balloons"])]);
    await stop(one);
    await stop(two);
    const reads = vi.fn(node.searchSource.read);
    const again = start(storage, { ...node.searchSource, read: reads });
    await untilReady(again);
    expect(reads).not.toHaveBeenCalled();
    expect(await titlesOf(again, "fly")).toEqual(["Kites"]);
  });

  test("[SR11] without a folder the search is unavailable, and works as soon as the folder can be made", async () => {
    rmSync(directory, { recursive: true });
    writeFileSync(directory, "a file in place of the folder");
    const service = start();
    await vi.waitFor(() => expect(service.progress().state).toBe("failed"), patience);
    await expect(ask(service, "fly")).rejects.toMatchObject({ code: "unavailable" });
    rmSync(directory);
    await vi.waitFor(async () => {
      await time.advance(1000);
      expect(await titlesOf(service, "fly")).toEqual(["Kites"]);
    }, patience);
  });
});
