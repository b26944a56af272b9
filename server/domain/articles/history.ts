/**
 * History reads earlier texts of an article: of every commit, permanently, and of other revisions while they are kept.
 *
 * A revision is kept until `document.keptMs` after it was superseded, or until `document.keptBatches` newer revisions
 * exist, whichever comes first. This module applies the rule even if the log still has older batches, so that the answer
 * does not depend on the time of the last trim. Texts of a revision never change, so recently read texts are cached: a
 * stale write is usually based on a text that its author has just read.
 */
import { LRUCache } from "lru-cache";
import type { Limits } from "../../../api/limits.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import { type Storage, StorageDamagedError } from "../../platform/storage/port.ts";
import { fromBlob } from "../../platform/storage/textBlob.ts";
import type { ArticleTexts } from "./articleTexts.ts";
import type { DocumentReader } from "./documentReader.ts";
import { byFile, emptyTexts } from "./fileTexts.ts";
import type { FileTexts } from "./port.ts";
import { type CommitRecord, commitRecord, commitsOf } from "./records.ts";
import type { Replayed } from "./replay.ts";

const cacheCharacters = 8 * 1024 * 1024;

export interface History {
  /** Texts of a kept or committed revision; undefined for any other revision. */
  textsAt(articleId: string, revision: number): Promise<FileTexts | undefined>;
  /** The whole document at a kept revision as a Yjs update, and its texts; undefined when the revision is not kept. */
  stateAt(articleId: string, revision: number): Promise<Required<Replayed> | undefined>;
  /** The commit at a revision; undefined when the revision has none. */
  commitAt(articleId: string, revision: number): Promise<CommitRecord | undefined>;
  /** Texts of a commit. Throws `StorageDamagedError` when a blob is missing. */
  textsOf(commit: CommitRecord): Promise<FileTexts>;
  /** Adds texts that a reader just received to the cache. */
  remember(articleId: string, revision: number, texts: FileTexts): void;
}

export interface HistoryOptions {
  readonly storage: Pick<Storage, "records" | "index" | "blobs" | "now">;
  readonly reader: DocumentReader;
  readonly texts: Pick<ArticleTexts, "replay">;
  readonly limits: Pick<Limits, "document.keptMs" | "document.keptBatches">;
}

export function createHistory({ storage, reader, texts: work, limits }: HistoryOptions): History {
  const recent = new LRUCache<string, FileTexts>({ maxSize: cacheCharacters, sizeCalculation: lengthOf });

  function remember(articleId: string, revision: number, texts: FileTexts): void {
    recent.set(`${articleId}@${revision}`, texts);
  }

  async function textsOf(commit: CommitRecord): Promise<FileTexts> {
    const texts = new Map<string, string>();
    for (const { file, blob } of commit.files) {
      const bytes = await storage.blobs.get(partitionOfId(commit.articleId), blob);
      if (bytes === undefined) throw new StorageDamagedError(`the blob ${blob} of commit ${commit.commitId} is missing`);
      texts.set(file, await fromBlob(bytes));
    }
    return byFile((file) => texts.get(file) ?? "");
  }

  async function commitAt(articleId: string, revision: number): Promise<CommitRecord | undefined> {
    const prefix = [...commitsOf(articleId), revision] as const;
    const [row] = await storage.index.scan({ partition: partitionOfId(articleId), prefix, limit: 1 });
    return row === undefined ? undefined : (await storage.records.get(commitRecord, row.target))?.value;
  }

  async function isKept(articleId: string, revision: number): Promise<boolean> {
    const tail = await reader.tail(articleId);
    if (revision >= tail) return revision === tail;
    if (revision < tail - limits["document.keptBatches"]) return false;
    for await (const next of reader.headers(articleId, revision, revision + 1)) {
      return next.atMs >= storage.now() - limits["document.keptMs"];
    }
    return false;
  }

  async function rebuild(articleId: string, revision: number, withState: boolean): Promise<Replayed | undefined> {
    const found = await reader.rebuild(articleId, revision);
    if (found === undefined) return undefined;
    const updates = found.batches.flatMap((batch) => batch.updates.map(({ update }) => update));
    return work.replay(articleId, { state: found.state, updates, withState });
  }

  return {
    textsOf,
    commitAt,
    remember,
    async textsAt(articleId, revision) {
      // Revision 0 is the document before the first batch, which is always empty.
      if (revision === 0) return emptyTexts;
      const commit = await commitAt(articleId, revision);
      if (commit === undefined && !(await isKept(articleId, revision))) return undefined;
      const known = recent.get(`${articleId}@${revision}`);
      if (known !== undefined) return known;
      if (commit !== undefined) return textsOf(commit);
      const rebuilt = await rebuild(articleId, revision, false);
      if (rebuilt !== undefined) remember(articleId, revision, rebuilt.texts);
      return rebuilt?.texts;
    },
    async stateAt(articleId, revision) {
      const rebuilt = (await isKept(articleId, revision)) ? await rebuild(articleId, revision, true) : undefined;
      return rebuilt?.state === undefined ? undefined : { texts: rebuilt.texts, state: rebuilt.state };
    },
  };
}

/** Characters of all texts. An empty article counts as one, because a cache entry must have a size. */
function lengthOf(texts: FileTexts): number {
  return Object.values(texts).reduce((sum, text) => sum + text.length, 1);
}
