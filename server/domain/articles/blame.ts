/**
 * Blame answers who wrote each part of a committed text.
 *
 * It reads the attribution that was stored with the commit, so an answer needs neither the log nor the live document.
 */
import type { ArticleFile } from "../../../api/schema/article.ts";
import { AppError, notFound } from "../../../api/schema/error.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import { type Storage, StorageDamagedError } from "../../platform/storage/port.ts";
import type { Page, Pager } from "../call/paging.ts";
import type { ArticleTexts } from "./articleTexts.ts";
import { toUnrecordedOrigin } from "./attributions.ts";
import type { History } from "./history.ts";
import { articleRecord, type CommitRecord, commitRecord, emptyTextHash, hashOf } from "./records.ts";

export interface BlameRequest {
  readonly file?: ArticleFile | undefined;
  /** A committed revision; default: that of the last commit. */
  readonly revision?: number | undefined;
  readonly nextToken?: string | undefined;
}

/** A part of the text with the author who typed it and the first commit that contains it. */
export interface BlameSpan {
  readonly start: number;
  readonly end: number;
  readonly username: string;
  readonly kind: "user" | "agent" | "key";
  readonly commitId: string;
}

export interface BlameReply {
  /** The committed revision that the spans describe; 0 for an article without a commit. */
  readonly revision: number;
  /** SHA-256 (hex) of the described text. */
  readonly contentHash: string;
  readonly spans: Page<BlameSpan>;
}

export interface Blame {
  /** Throws `revision_gone` for a revision that has no commit. An article without a commit has no spans. */
  read(articleId: string, request: BlameRequest): Promise<BlameReply>;
}

export interface BlameOptions {
  readonly storage: Pick<Storage, "records" | "index" | "blobs">;
  readonly history: Pick<History, "commitAt" | "textsOf">;
  readonly texts: Pick<ArticleTexts, "readSpans">;
  readonly pager: Pager;
  readonly maxSpans: number;
}

export function createBlame({ storage, history, texts, pager, maxSpans }: BlameOptions): Blame {
  async function findCommit(articleId: string, revision: number | undefined): Promise<CommitRecord | undefined> {
    const article = (await storage.records.get(articleRecord, articleId))?.value;
    if (article === undefined) throw notFound();
    if (revision !== undefined) return history.commitAt(articleId, revision);
    const { lastCommit } = article;
    return lastCommit === undefined ? undefined : (await storage.records.get(commitRecord, lastCommit.commitId))?.value;
  }

  /** The only span of a text that was committed before attributions were stored. */
  async function toUnrecorded(commit: CommitRecord, file: ArticleFile): Promise<Page<BlameSpan>> {
    const article = (await storage.records.get(articleRecord, commit.articleId))?.value;
    const end = (await history.textsOf(commit))[file].length;
    if (article === undefined || end === 0) return { items: [] };
    const { author, commitId = commit.commitId } = await toUnrecordedOrigin(storage, article);
    return { items: [{ start: 0, end, ...author, commitId }] };
  }

  async function readAttribution({ articleId, commitId }: CommitRecord, blob: string): Promise<Uint8Array> {
    const bytes = await storage.blobs.get(partitionOfId(articleId), blob);
    if (bytes !== undefined) return bytes;
    if ((await storage.records.get(commitRecord, commitId)) === undefined) throw notFound();
    throw new StorageDamagedError(`the attribution ${blob} of commit ${commitId} is missing`);
  }

  async function toSpans(
    commit: CommitRecord,
    file: ArticleFile,
    { revision, nextToken }: BlameRequest,
    blob: string,
  ): Promise<Page<BlameSpan>> {
    const { articleId } = commit;
    const attribution = await readAttribution(commit, blob);
    const prefix = ["blame", commit.commitId] as const;
    const read = new Map<string, BlameSpan>();
    return pager.page<BlameSpan>({
      // A token belongs to one commit, so the pages of one answer always describe the same text.
      scope: `blame?${JSON.stringify([file, revision ?? null])}`,
      partition: partitionOfId(articleId),
      prefix,
      size: maxSpans,
      nextToken,
      index: {
        async scan({ after, limit }) {
          const first = after === undefined ? 0 : Number(after.at(-1)) + 1;
          const spans = await texts.readSpans(articleId, { attribution, file, first, count: limit });
          return spans.map(({ start, end, author, commitId = commit.commitId }, at) => {
            const target = String(first + at);
            read.set(target, { start, end, ...author, commitId });
            return { key: [...prefix, first + at], target };
          });
        },
      },
      load: async (keys) => keys.map((key) => read.get(key)),
    });
  }

  return {
    async read(articleId, request) {
      const { file = "content.md", revision } = request;
      const commit = await findCommit(articleId, revision);
      if (commit === undefined) {
        if (revision === undefined || revision === 0) return { revision: 0, contentHash: emptyTextHash, spans: { items: [] } };
        const detail = `Revision ${revision} has no commit. GET /articles/${articleId}/commits lists the revisions that have one.`;
        throw new AppError("revision_gone", detail);
      }
      const { attribution } = commit;
      const spans = await (attribution === undefined ? toUnrecorded(commit, file) : toSpans(commit, file, request, attribution));
      return { revision: commit.revision, contentHash: hashOf(commit.files, file), spans };
    },
  };
}
