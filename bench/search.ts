/**
 * Measures the search index with 10,000 and with 100,000 articles in one workspace: the time to build it, its size, the
 * time until a commit is found, and the time of searches. Run it with `npm run bench:search`.
 *
 * The store is in memory, so the figures are those of the index and its threads. Words have the frequencies of natural
 * text (Zipf): the first word of the list is in nearly every article, the last one in few.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { defaultLimits } from "../api/limits.ts";
import { toNewArticle } from "../server/domain/articles/articleWriter.ts";
import { toBlob } from "../server/domain/articles/fileTexts.ts";
import { type ArticleRecord, articleRecord, commitRecord } from "../server/domain/articles/records.ts";
import { createArticleSearchSource } from "../server/domain/articles/searchSource.ts";
import { recordSearchChanges } from "../server/domain/search/changeLog.ts";
import { createSearchService } from "../server/domain/search/service.ts";
import { after } from "../server/platform/actors/after.ts";
import { createIds } from "../server/platform/storage/ids.ts";
import { createMemoryStorage } from "../server/platform/storage/memoryStorage.ts";
import { addWorkspace, createCall } from "../test/contract/articleFixture.ts";

const partition = 5;
const rounds = 60;
const vocabulary = 20_000;
const wordsOfText = 300;
const sizes = [10_000, 100_000];

/** A sequence of numbers below 1 that is the same in every run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

const random = createRandom(7);
const toWord = (rank: number) => `${"bcdfghklmnprst"[rank % 14]}${"aeiou"[rank % 5]}${rank.toString(36)}`;
const pick = () => toWord(Math.floor(vocabulary ** random()));
const text = (words: number) => Array.from({ length: words }, pick).join(" ");
const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const round = (value: number) => Number(value.toFixed(1));

for (const count of sizes) {
  const log = pino({ level: "silent" });
  const storage = recordSearchChanges(createMemoryStorage(), [articleRecord], log);
  const ids = createIds(storage);
  const workspaceId = await addWorkspace(storage, partition);
  const directory = mkdtempSync(join(tmpdir(), "bench-search-"));

  async function write(title: string, content: string): Promise<void> {
    const articleId = ids.next("art", partition);
    const blob = await storage.blobs.put(partition, await toBlob(content));
    const files = [{ file: "content.md", contentHash: blob, added: 1, removed: 0, blob }] as const;
    const base = { articleId, revision: 1, parentRevision: null, kind: "commit", message: "", authors: [] } as const;
    const commit = { ...base, commitId: ids.next("cmt", partition), files, createdAtMs: storage.now() };
    const made = toNewArticle({ articleId, workspaceId, number: 1, title, by: "ana", nowMs: storage.now() });
    const article: ArticleRecord = { ...made, files, lastCommit: { commitId: commit.commitId, revision: 1 } };
    await storage.commit({
      partition,
      records: [
        { op: "put", type: commitRecord, value: commit, replacing: null },
        { op: "put", type: articleRecord, value: article, replacing: null },
      ],
    });
  }

  for (let at = 0; at < count; at += 1) await write(text(6), text(wordsOfText));
  const service = createSearchService({
    ...{ storage, clock: { after }, limits: defaultLimits, log, sources: [createArticleSearchSource({ storage })] },
    recorded: [articleRecord],
    directory,
  });
  const until = async (isDone: () => boolean | Promise<boolean>) => {
    while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const startedAtMs = performance.now();
  service.start();
  await until(() => service.progress().state === "ready");
  const buildMs = performance.now() - startedAtMs;
  const file = join(directory, "0", "index.db");
  const bytes = ["", "-wal"].reduce((sum, suffix) => sum + (statSync(file + suffix, { throwIfNoEntry: false })?.size ?? 0), 0);
  console.log(JSON.stringify({ count, documentsPerSecond: Math.round((count / buildMs) * 1000), fileMiB: round(bytes / 2 ** 20) }));

  const ask = (q: string) => service.search({ workspaceId, q, limit: 20 }, createCall(storage, workspaceId, partition));
  const [common, second, usual, rare] = [1, 2, 300, 15_000].map(toWord);
  for (const [name, q] of [
    ["a word of nearly all articles", `${common} `],
    ["two of them", `${common} ${second} `],
    ["a phrase of them", `"${common} ${second}"`],
    ["a beginning of two letters", (common ?? "").slice(0, 2)],
    ["a usual word", `${usual} `],
    ["a rare word", `${rare} `],
    ["a usual and a common word", `${usual} ${common} `],
    ["ten common words", Array.from({ length: 10 }, (_, at) => toWord(at + 1)).join(" ")],
    ["a word that no article has", "nowhere "],
  ] as const) {
    const spent: number[] = [];
    for (let at = 0; at < rounds; at += 1) {
      const beganAtMs = performance.now();
      await ask(q);
      spent.push(performance.now() - beganAtMs);
    }
    console.log(JSON.stringify({ count, query: name, p50Ms: round(median(spent)), maxMs: round(Math.max(...spent)) }));
  }

  const fresh: number[] = [];
  for (let at = 0; at < 20; at += 1) {
    await write(`Fresh${at}`, text(wordsOfText));
    const beganAtMs = performance.now();
    await until(async () => (await ask(`fresh${at} `)).hits.length === 1);
    fresh.push(performance.now() - beganAtMs);
  }
  console.log(JSON.stringify({ count, freshP50Ms: round(median(fresh)), freshMaxMs: round(Math.max(...fresh)) }));
  await service.manifest.close?.();
  rmSync(directory, { recursive: true, force: true });
}
