/**
 * Attributions stores with each commit who wrote each character of its texts (CO14).
 *
 * The log is trimmed, so its authors must be read before that. The article's record refers to the attribution at its
 * `checkedRevision`, through which the log may be trimmed, and both change in one commit. The next attribution is made from
 * that one and from the log after it.
 */
import type { Author } from "../../../api/schema/article.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import { type Storage, StorageDamagedError, type Stored } from "../../platform/storage/port.ts";
import type { ArticleTexts } from "./articleTexts.ts";
import type { DocumentPieces } from "./attribute.ts";
import type { Origin } from "./attribution.ts";
import { ClockOwners } from "./clockOwners.ts";
import type { DocumentReader } from "./documentReader.ts";
import { type ArticleRecord, articleRecord, commitRecord, commitsOf } from "./records.ts";

export interface Attributed {
  /** Authors of the batches since the last check, in the order in which they last wrote. */
  readonly authors: readonly Author[];
  /** Key of the stored attribution. The record of the commit or of the article must refer to it. */
  readonly blob: string;
}

export interface Attributions {
  /**
   * Attributes the live texts and stores the attribution. `commitId` is the commit that is being made; undefined when the
   * texts equal the last commit. The caller's commit must replace `article`, because another commit may have used the same
   * part of the log. `owner` takes its turn at the worker threads.
   */
  make(
    owner: string,
    article: Stored<ArticleRecord>,
    live: { readonly revision: number; readonly pieces: DocumentPieces },
    commitId: string | undefined,
  ): Promise<Attributed>;
  /** Attributes the text of an article that the caller's commit creates, and stores the attribution. */
  makeFirst(
    owner: string,
    articleId: string,
    first: { readonly author: Author; readonly update: Uint8Array; readonly pieces: DocumentPieces },
    commitId: string,
  ): Promise<Attributed>;
}

/**
 * Origin of text that was written before attributions were stored: the only author of the article's oldest commit, otherwise
 * the creator of the article.
 */
export async function toUnrecordedOrigin(
  storage: Pick<Storage, "records" | "index">,
  { articleId, createdBy }: Pick<ArticleRecord, "articleId" | "createdBy">,
): Promise<Origin> {
  const [row] = await storage.index.scan({ partition: partitionOfId(articleId), prefix: commitsOf(articleId), limit: 1 });
  const oldest = row === undefined ? undefined : (await storage.records.get(commitRecord, row.target))?.value;
  const [author, ...others] = oldest?.authors ?? [];
  return {
    author: author === undefined || others.length > 0 ? { username: createdBy, kind: "user" } : author,
    ...(oldest === undefined ? {} : { commitId: oldest.commitId }),
  };
}

export interface AttributionsOptions {
  readonly storage: Pick<Storage, "records" | "index" | "blobs">;
  readonly reader: Pick<DocumentReader, "batchesWithin">;
  readonly texts: Pick<ArticleTexts, "claimClocks" | "attribute">;
}

export function createAttributions({ storage, reader, texts }: AttributionsOptions): Attributions {
  async function readBefore({ value, revision }: Stored<ArticleRecord>): Promise<Uint8Array | undefined> {
    const { articleId, attribution } = value;
    if (attribution === undefined) return undefined;
    const bytes = await storage.blobs.get(partitionOfId(articleId), attribution);
    if (bytes !== undefined) return bytes;
    const now = await storage.records.get(articleRecord, articleId);
    if (now?.revision === revision) throw new StorageDamagedError(`the attribution ${attribution} of ${articleId} is missing`);
    // Another commit replaced it, so the caller's commit meets a conflict and is made again.
    return undefined;
  }

  /** Reads the log piece by piece, because all updates since the last check may take much memory. */
  async function readLog(owner: string, { articleId, checkedRevision }: ArticleRecord, through: number) {
    const numbers = new Map<string, number>();
    const authors: Author[] = [];
    const recent = new Set<number>();
    const owners = new ClockOwners();
    for await (const batches of reader.batchesWithin(articleId, checkedRevision, through)) {
      const updates = batches.flatMap((batch) =>
        batch.updates.map(({ author, update }) => {
          const key = `${author.kind}/${author.username}`;
          const number = numbers.get(key) ?? authors.push(author) - 1;
          numbers.set(key, number);
          // Delete first: a Set keeps the position of an existing member, and the most recent author must be last.
          recent.delete(number);
          recent.add(number);
          return { author: number, update };
        }),
      );
      owners.claimAll(await texts.claimClocks(owner, { updates }));
    }
    return { claims: owners.pack(), authors, recent: [...recent].map((number) => authors[number] as Author) };
  }

  return {
    async make(owner, article, { revision, pieces }, commitId) {
      const [before, { claims, authors, recent }] = await Promise.all([readBefore(article), readLog(owner, article.value, revision)]);
      const isFirst = article.value.attribution === undefined;
      const hasUnrecorded = isFirst && article.value.checkedRevision > 0;
      const unknown: Origin = hasUnrecorded
        ? await toUnrecordedOrigin(storage, article.value)
        : { author: { username: article.value.createdBy, kind: "user" } };
      const bytes = await texts.attribute(owner, { before, claims, authors, pieces, commitId, unknown });
      return { authors: recent, blob: await storage.blobs.put(partitionOfId(article.value.articleId), bytes) };
    },

    async makeFirst(owner, articleId, { author, update, pieces }, commitId) {
      const claims = await texts.claimClocks(owner, { updates: [{ author: 0, update }] });
      const authors = [author];
      const bytes = await texts.attribute(owner, { before: undefined, claims, authors, pieces, commitId, unknown: { author } });
      return { authors, blob: await storage.blobs.put(partitionOfId(articleId), bytes) };
    },
  };
}
