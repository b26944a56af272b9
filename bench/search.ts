/**
 * Measures the search index with 10,000 and with 100,000 texts in one workspace: the time to build it, its size, the time
 * of searches, and the time until a commit is found. Run it with `npm run bench:search`, or with other numbers: `npm run bench:search -- 1000`.
 *
 * The records are plain ones in memory, so the figures are those of the index and its threads. Words have the frequencies
 * of natural text (Zipf): the first word of the vocabulary is in nearly every text, the last one in few.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { defaultLimits } from "../api/limits.ts";
import { recordSearchChanges } from "../server/domain/search/changeLog.ts";
import type { SearchSource } from "../server/domain/search/port.ts";
import { createSearchService } from "../server/domain/search/service.ts";
import { after } from "../server/platform/actors/after.ts";
import { createIds, partitionOfId } from "../server/platform/storage/ids.ts";
import { createMemoryStorage } from "../server/platform/storage/memoryStorage.ts";
import { defineRecord } from "../server/platform/storage/recordType.ts";

interface Note {
  readonly id: string;
  readonly title: string;
  readonly content: string;
}

const partition = 5;
const rounds = 60;
const vocabulary = 20_000;
const wordsOfText = 300;
const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [10_000, 100_000];
const log = pino({ level: "silent" });
const noteRecord = defineRecord<Note>({ name: "note", version: 1, partitionOf: partitionOfId, keyOf: ({ id }) => id });

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
const text = (words: number) => Array.from({ length: words }, () => toWord(Math.floor(vocabulary ** random()))).join(" ");
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const round = (value: number) => Number(value.toFixed(1));

async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function measure(count: number): Promise<void> {
  const recorded = { records: [noteRecord], dependencies: [] };
  const storage = recordSearchChanges(createMemoryStorage(), recorded, log);
  const ids = createIds(storage);
  const workspaceId = ids.next("ws", partition);
  const directory = mkdtempSync(join(tmpdir(), "bench-search-"));

  const write = (notes: readonly (readonly [title: string, content: string])[]) =>
    storage.commit({
      partition,
      records: notes.map(([title, content]) => {
        const value = { id: ids.next("art", partition), title, content };
        return { op: "put", type: noteRecord, value, replacing: null };
      }),
    });
  const source: SearchSource = {
    ...{ name: "articles", kind: "article", record: noteRecord, scopes: [] },
    async read(keys) {
      const found = await storage.records.getMany(noteRecord, keys);
      return found.map((stored) => {
        if (stored === undefined) return undefined;
        const { id, title, content } = stored.value;
        return { id, workspaceId, title, updatedAtMs: 0, texts: async () => ({ body: [content], extra: [] }) };
      });
    },
  };

  for (let at = 0; at < count; at += 100) await write(Array.from({ length: 100 }, () => [text(6), text(wordsOfText)]));
  const limits = defaultLimits;
  const service = createSearchService({
    ...{ storage, clock: { after }, limits, log, sources: [source], recorded },
    directory,
  });
  const startedAtMs = performance.now();
  service.start();
  await until(() => service.progress().state === "ready");
  const buildMs = performance.now() - startedAtMs;
  const file = join(directory, "0", "index.db");
  const bytes = ["", "-wal"].reduce((sum, suffix) => sum + (statSync(file + suffix, { throwIfNoEntry: false })?.size ?? 0), 0);
  console.log(JSON.stringify({ count, documentsPerSecond: Math.round((count / buildMs) * 1000), fileMiB: round(bytes / 2 ** 20) }));

  const ask = (q: string) => service.search({ workspaceId, q, limit: 20 }, {});
  const [common, second, usual, rare] = [1, 2, 300, 15_000].map(toWord);
  for (const [query, q] of [
    ["a word of nearly all texts", `${common} `],
    ["two of them", `${common} ${second} `],
    ["a phrase of them", `"${common} ${second}"`],
    ["a beginning of two letters", (common ?? "").slice(0, 2)],
    ["a usual word", `${usual} `],
    ["a rare word", `${rare} `],
    ["a usual and a common word", `${usual} ${common} `],
    ["ten common words", Array.from({ length: 10 }, (_, at) => toWord(at + 1)).join(" ")],
    ["a word that no text has", "nowhere "],
  ] as const) {
    const spent: number[] = [];
    for (let at = 0; at < rounds; at += 1) {
      const beganAtMs = performance.now();
      await ask(q);
      spent.push(performance.now() - beganAtMs);
    }
    console.log(JSON.stringify({ count, query, p50Ms: round(median(spent)), maxMs: round(Math.max(...spent)) }));
  }

  const fresh: number[] = [];
  for (let at = 0; at < 20; at += 1) {
    const beganAtMs = performance.now();
    await write([[`Fresh${at}`, text(wordsOfText)]]);
    await until(async () => (await ask(`fresh${at} `)).hits.length === 1);
    fresh.push(performance.now() - beganAtMs);
  }
  console.log(JSON.stringify({ count, foundAfterP50Ms: round(median(fresh)), foundAfterMaxMs: round(Math.max(...fresh)) }));
  await service.manifest.close?.();
  rmSync(directory, { recursive: true, force: true });
}

for (const size of sizes) await measure(size);
