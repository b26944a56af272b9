/**
 * Fill writes articles into a store through the storage port, because 100,000 requests would take longer than the measurement.
 *
 * With a `Catalog`, each article has a commit, and half of the articles are in each list that has an index of its own. So
 * every list grows with the workspace, and a page of five is full in a workspace of ten.
 */
import { pino } from "pino";
import type { ArticleFile, Author } from "../../api/schema/article.ts";
import { toNewArticle } from "../../server/domain/articles/articleWriter.ts";
import { emptyTexts, toContentHash } from "../../server/domain/articles/fileTexts.ts";
import { encodeBatch } from "../../server/domain/articles/logEntry.ts";
import { type ArticleRecord, articleRecord, type CommitRecord, commitRecord, documentLog } from "../../server/domain/articles/records.ts";
import { toTextUpdate } from "../../server/domain/articles/textUpdate.ts";
import { workspaceCountersRecord } from "../../server/domain/identity/workspaces/records.ts";
import { type ReviewRecord, reviewRecord } from "../../server/domain/reviews/records.ts";
import { recordSearchChanges } from "../../server/domain/search/changeLog.ts";
import { createIds, partitionOfId } from "../../server/platform/storage/ids.ts";
import type { Batch, RecordType, RecordWrite, Storage, Stored } from "../../server/platform/storage/port.ts";
import { toBlob } from "../../server/platform/storage/textBlob.ts";

export interface Filling {
  /** Name of the size, for example "100,000 articles". */
  readonly size: string;
  readonly articles: number;
  /** The text of an article, as a Yjs update. */
  readonly toUpdate: (at: number) => Uint8Array;
}

/** The folder and the topic that contain every second article, and the account that wrote and is mentioned in it. */
export interface Catalog {
  readonly folderId: string;
  readonly topicId: string;
  readonly username: string;
}

const file: ArticleFile = "content.md";
const author: Author = { username: "operator", kind: "user" };
const other: Author = { username: "editor", kind: "user" };
const subjects = ["stone", "water", "paper", "metal", "cloth", "grain", "timber", "glass"];
/** One commit holds this many articles. */
const articlesPerBatch = 200;

export function toTitle(at: number): string {
  return `Report ${at} on ${subjects[at % subjects.length]}`;
}

/** Text of about so many bytes: words of a report. */
export function toText(bytes: number): string {
  const sentence = "The report names the cause, the place and the time of each finding. ";
  return sentence.repeat(Math.ceil(bytes / sentence.length)).slice(0, bytes);
}

const kilobyte = toText(1000);
/** An article of 1 kB. Each has a client id of its own, as articles of different authors have. */
export const toShortArticle = (at: number): Uint8Array => toTextUpdate({ ...emptyTexts, [file]: kilobyte }, at + 1);

function put<Value>(type: RecordType<Value>, value: Value, replacing: Stored<Value> | null = null): RecordWrite {
  return { op: "put", type, value, replacing } as RecordWrite;
}

function toCommitRecord({ articleId, createdAtMs }: ArticleRecord, commitId: string, blob: string): CommitRecord {
  const files = [{ file, contentHash: toContentHash(kilobyte), added: 1, removed: 0, blob }];
  const made = { commitId, articleId, revision: 1, parentRevision: null, kind: "commit", message: "", createdAtMs } as const;
  return { ...made, authors: [author], files };
}

/** A comment on the whole file that mentions the account. */
function toReviewRecord({ articleId, workspaceId, createdAtMs }: ArticleRecord, id: string, username: string): ReviewRecord {
  const text = { body: `@${username} please read this.`, mentions: [username], unresolvedMentions: [] };
  const times = { createdAtMs, updatedAtMs: createdAtMs, metaRevision: 1 };
  const context = { ...text, ...times, articleId, workspaceId, kind: "comment", file, anchor: null, author, replies: [] } as const;
  return { id, state: "open", context, machineVersion: 1, step: 1, pending: [], timers: {} };
}

/** Adds articles to a store that is open in this process. */
export async function fill(
  opened: Storage,
  workspaceId: string,
  { articles, toUpdate }: Filling,
  catalog?: Catalog,
): Promise<readonly string[]> {
  const storage = catalog === undefined ? opened : recordSearchChanges(opened, [articleRecord], pino({ level: "silent" }));
  const partition = partitionOfId(workspaceId);
  const ids = createIds(storage);
  const articleIds: string[] = [];
  const blob = catalog === undefined ? "" : await storage.blobs.put(partition, await toBlob(kilobyte));

  async function commit(batch: Omit<Batch, "partition">): Promise<void> {
    const result = await storage.commit({ partition, ...batch });
    if (!result.ok) throw new Error(`the store could not be filled: ${JSON.stringify(result.conflict)}`);
  }

  function toNew(at: number): ArticleRecord {
    const by = catalog === undefined || at % 2 === 0 ? author.username : other.username;
    const nowMs = storage.now() - (articles - at);
    return toNewArticle({ articleId: ids.next("art", partition), workspaceId, number: at + 1, title: toTitle(at), by, nowMs });
  }

  /** The records of an article in a catalog: the article with its place in the lists, a commit, and a review or a deleted article. */
  function toCataloged(made: ArticleRecord, at: number, { folderId, topicId, username }: Catalog): readonly RecordWrite[] {
    const commitId = ids.next("cmt", partition);
    const files = [{ file, contentHash: toContentHash(kilobyte) }];
    const article: ArticleRecord = { ...made, files, wordCount: 180, lastCommit: { commitId, revision: 1 }, checkedRevision: 1 };
    const records = [put(commitRecord, toCommitRecord(made, commitId, blob))];
    if (at % 2 === 1) {
      const deleted: ArticleRecord = { ...toNew(at), deletedAtMs: storage.now() };
      return [...records, put(articleRecord, article), put(articleRecord, deleted)];
    }
    const { slug } = made;
    const publicLink = { mode: "live", url: `http://127.0.0.1/p/${slug}`, slug, state: "live" } as const;
    const review = toReviewRecord(made, ids.next("rev", partition), username);
    return [...records, put(articleRecord, { ...article, folderId, topicId, publicLink }), put(reviewRecord, review)];
  }

  for (let from = 0; from < articles; from += articlesPerBatch) {
    const places = Array.from({ length: Math.min(articlesPerBatch, articles - from) }, (_, at) => from + at);
    const made = places.map((at) => ({ at, article: toNew(at) }));
    await commit({
      records: made.flatMap(({ at, article }) =>
        catalog === undefined ? [put(articleRecord, article)] : toCataloged(article, at, catalog),
      ),
      logs: made.map(({ at, article }) => {
        const entries = [encodeBatch(article.createdAtMs, "fill", [{ author, update: toUpdate(at) }])];
        return { op: "append", log: documentLog(article.articleId), entries };
      }),
    });
    for (const { article } of made) articleIds.push(article.articleId);
  }
  const counted = await storage.records.get(workspaceCountersRecord, workspaceId);
  const counters = { ...(counted?.value.counters ?? { project: 0, brief: 0 }), article: articles };
  await commit({ records: [put(workspaceCountersRecord, { workspaceId, counters }, counted)] });
  return articleIds;
}
