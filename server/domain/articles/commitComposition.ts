/**
 * CommitComposition adds one commit of an article, and all that follows from it, to a unit of work.
 *
 * Besides the commit record these are the article that points to it, the deliveries of article.updated, the event of the
 * article's stream, and the change of its topic. The texts are stored before that, as deflated, content-addressed blobs.
 * This module reads no live document: its caller has read the texts and attributed them.
 */
import { articleFiles } from "../../../api/schema/article.ts";
import type { UnitOfWork } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage, Stored } from "../../platform/storage/port.ts";
import { toBlob } from "../../platform/storage/textBlob.ts";
import { toCommitEvent, toCommitEventData } from "./articleEvents.ts";
import type { ArticleTexts } from "./articleTexts.ts";
import type { Attributed } from "./attributions.ts";
import { toContentHash } from "./fileTexts.ts";
import type { History } from "./history.ts";
import type { ArticleEvents, ArticleListeners, ArticleUpdatedData, CommitOrder, FileTexts } from "./port.ts";
import {
  type ArticleRecord,
  articleRecord,
  type CommitFileRecord,
  type CommitRecord,
  commitRecord,
  emptyTextHash,
  hashOf,
  withAuthors,
} from "./records.ts";

/** What a commit is made of. */
export interface CommitParts {
  readonly article: ArticleRecord;
  /** Null if the commit creates the article. */
  readonly replacing: Stored<ArticleRecord> | null;
  readonly last: CommitRecord | undefined;
  readonly revision: number;
  readonly files: readonly CommitFileRecord[];
  readonly attributed: Attributed;
  readonly wordCount: number;
}

export interface CommitComposition {
  /** Stores the texts and compares them with the last commit. `owner` takes its turn at the worker threads. */
  store(owner: string, articleId: string, texts: FileTexts, last: CommitRecord | undefined): Promise<readonly CommitFileRecord[]>;
  add(unit: UnitOfWork, order: CommitOrder, parts: CommitParts): Promise<CommitRecord>;
}

export interface CommitCompositionOptions {
  readonly storage: Pick<Storage, "blobs" | "now">;
  readonly history: Pick<History, "textsOf">;
  readonly listeners: Pick<ArticleListeners, "articleUpdated" | "articleCommitted">;
  readonly articleEvents: ArticleEvents;
  readonly texts: Pick<ArticleTexts, "countLines">;
  /** Without a trailing slash. */
  readonly baseUrl: string;
}

/** An event names only the newest authors, at most this many; the commit record names all. */
const maxEventAuthors = 100;

/** True if the commit changed the file. */
export function isChanged({ added, removed }: CommitFileRecord): boolean {
  return added + removed > 0;
}

/** Returns the parameter of the file that a difference shows: the first one that changed, or none for `content.md`. */
function toFileQuery(changed: readonly CommitFileRecord[]): string {
  const [first] = changed;
  return first === undefined || changed.some(({ file }) => file === "content.md") ? "" : `&file=${first.file}`;
}

export function createCommitComposition(options: CommitCompositionOptions): CommitComposition {
  const { storage, history, listeners, articleEvents, texts: work, baseUrl } = options;

  async function store(
    owner: string,
    articleId: string,
    texts: FileTexts,
    last: CommitRecord | undefined,
  ): Promise<readonly CommitFileRecord[]> {
    const files: CommitFileRecord[] = [];
    let before: FileTexts | undefined;
    for (const file of articleFiles) {
      const contentHash = toContentHash(texts[file]);
      const older = last?.files.find((entry) => entry.file === file);
      if (contentHash === (older?.contentHash ?? emptyTextHash)) {
        if (older !== undefined && contentHash !== emptyTextHash) files.push({ ...older, added: 0, removed: 0 });
        continue;
      }
      if (last !== undefined) before ??= await history.textsOf(last);
      const blob = await storage.blobs.put(partitionOfId(articleId), await toBlob(texts[file]));
      const lines = await work.countLines(owner, before?.[file] ?? "", texts[file]);
      files.push({ file, contentHash, ...lines, blob });
    }
    return files;
  }

  /** For each file that is empty in this commit: the id of the last commit that contained its text. */
  function toEmptied(
    { emptied }: ArticleRecord,
    files: readonly CommitFileRecord[],
    last: CommitRecord | undefined,
  ): ArticleRecord["emptied"] {
    const left = articleFiles.flatMap((file) => {
      if (hashOf(files, file) !== emptyTextHash) return [];
      const commitId = last !== undefined && hashOf(last.files, file) !== emptyTextHash ? last.commitId : emptied?.[file];
      return commitId === undefined ? [] : [[file, commitId] as const];
    });
    return left.length === 0 ? undefined : Object.fromEntries(left);
  }

  function toEventData(article: ArticleRecord, commit: CommitRecord): ArticleUpdatedData {
    const { articleId, commitId, kind, revision, parentRevision } = commit;
    const changed = commit.files.filter(isChanged);
    return {
      articleId,
      title: article.title,
      commitId,
      kind,
      revision,
      previousRevision: parentRevision,
      contentHash: hashOf(commit.files, "content.md"),
      files: changed.map(({ file, added, removed }) => ({ file, added, removed })),
      authors: commit.authors.slice(-maxEventAuthors),
      ...(article.topicId === undefined ? {} : { topicId: article.topicId }),
      ...(commit.runId === undefined ? {} : { runId: commit.runId }),
      ...(article.publicLink === undefined || article.publicLink.state === "expired"
        ? {}
        : { publicLink: { url: article.publicLink.url, mode: article.publicLink.mode } }),
      diffUrl: `${baseUrl}/articles/${articleId}/diff?from=${parentRevision ?? 0}&to=${revision}${toFileQuery(changed)}`,
    };
  }

  return {
    store,

    async add(unit, order, { article, replacing, last, revision, files, attributed: { authors, blob: attribution }, wordCount }) {
      const { articleId, commitId, kind, message, name, ids, run, traceparent } = order;
      const { topicId, workspaceId } = article;
      const createdAtMs = storage.now();
      const commit: CommitRecord = {
        commitId,
        articleId,
        revision,
        parentRevision: last?.revision ?? null,
        kind,
        message,
        ...(name === undefined ? {} : { name }),
        authors,
        files,
        createdAtMs,
        ...(run === undefined ? {} : { runId: run.runId }),
        attribution,
      };
      const { emptied: _emptied, mayHaveEdits, ...kept } = article;
      const emptied = toEmptied(article, files, last);
      const next: ArticleRecord = {
        ...kept,
        ...(emptied === undefined ? {} : { emptied }),
        ...(mayHaveEdits === undefined || order.clearsMark === true ? {} : { mayHaveEdits }),
        ...withAuthors(article, authors),
        files: files.filter((file) => file.contentHash !== emptyTextHash).map(({ file, contentHash }) => ({ file, contentHash })),
        wordCount,
        updatedBy: order.committer ?? authors.at(-1)?.username ?? article.updatedBy,
        updatedAtMs: createdAtMs,
        lastCommit: { commitId, revision },
        checkedRevision: revision,
        attribution,
      };
      unit.record({ op: "put", type: commitRecord, value: commit, replacing: null });
      unit.record({ op: "put", type: articleRecord, value: next, replacing });
      const eventData = toEventData(next, commit);
      await listeners.articleUpdated(unit, { workspaceId, createdAtMs, ids, traceparent, data: eventData });
      const data = toCommitEventData(next, commit, eventData);
      articleEvents.add(unit, { articleId, workspaceId, topicId, event: toCommitEvent(commit), actor: next.updatedBy, data });
      if (topicId !== undefined) {
        const written = files.filter((file) => isChanged(file) && file.contentHash !== emptyTextHash).map(({ file }) => file);
        const by = next.updatedBy;
        await listeners.articleCommitted(unit, { workspaceId, articleId, topicId, commitId, kind, revision, by, written, run });
      }
      return commit;
    },
  };
}
