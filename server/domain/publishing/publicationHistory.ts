/**
 * PublicationHistory lists the periods in which an article was public, newest first.
 *
 * The entries of the log ascend in time. So a request finds the entries of a time by halving the log, and reads only the
 * entries of its page.
 */
import type { PublicationPeriod } from "../../../api/schema/publicLink.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { IndexRow, Storage } from "../../platform/storage/port.ts";
import type { Documents } from "../articles/port.ts";
import type { Page, PageQuery, Pager } from "../call/paging.ts";
import { decodePublication, type PublicationEntry, publicationLog } from "./publicationLog.ts";
import { notPublished } from "./publicLinkView.ts";
import { publicLinkRecord } from "./records.ts";

export interface PublicationQuery extends PageQuery {
  /** Unix seconds. Periods that end at this time or before are left out. */
  readonly from?: number | undefined;
  /** Unix seconds. Periods that begin after this time are left out. */
  readonly to?: number | undefined;
}

export interface PublicationHistory {
  /** Throws `not_published` for an article that was never public. */
  list(articleId: string, query: PublicationQuery): Promise<Page<PublicationPeriod>>;
}

export interface PublicationHistoryOptions {
  readonly storage: Pick<Storage, "records" | "log">;
  readonly documents: Pick<Documents, "commitIdAt">;
  readonly pager: Pager;
}

export function createPublicationHistory({ storage, documents, pager }: PublicationHistoryOptions): PublicationHistory {
  async function read(articleId: string, after: number, limit: number): Promise<readonly PublicationEntry[]> {
    const found = await storage.log.read({ partition: partitionOfId(articleId), log: publicationLog(articleId), after, limit });
    if (found.gap) throw new Error(`the log of the public page of ${articleId} was trimmed`);
    return found.entries.map(decodePublication);
  }

  /** Position of the last of the first `tail` entries whose time is at most `atMs`; 0 when there is none. */
  async function findAt(articleId: string, tail: number, atMs: number): Promise<number> {
    let low = 0;
    let high = tail;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      const [entry] = await read(articleId, middle - 1, 1);
      if (entry !== undefined && entry.atMs <= atMs) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  async function toPeriod(articleId: string, { atMs, shown }: PublicationEntry, next: PublicationEntry | undefined) {
    if (shown === undefined) return undefined;
    const commitId = await documents.commitIdAt(articleId, shown.revision);
    const { mode, revision, contentHash } = shown;
    return {
      from: atMs / 1000,
      ...(next === undefined ? {} : { to: next.atMs / 1000 }),
      mode,
      revision,
      ...(commitId === undefined ? {} : { commitId }),
      contentHash,
    };
  }

  return {
    async list(articleId, { from, to, limit, nextToken }) {
      if ((await storage.records.get(publicLinkRecord, articleId)) === undefined) throw notPublished();
      const partition = partitionOfId(articleId);
      const tail = await storage.log.tail(partition, publicationLog(articleId));
      const newest = to === undefined ? tail : await findAt(articleId, tail, to * 1000);
      const oldest = from === undefined ? 1 : Math.max(1, await findAt(articleId, tail, from * 1000));
      const prefix = ["publication", articleId] as const;
      const entries = new Map<number, PublicationEntry>();
      return pager.page<PublicationPeriod>({
        scope: `public-link-history?${JSON.stringify([from ?? null, to ?? null])}`,
        partition,
        prefix,
        reverse: true,
        limit,
        nextToken,
        index: {
          async scan({ after, limit: count }) {
            const before = after === undefined ? newest + 1 : Math.min(newest + 1, Number(after.at(-1)));
            const first = Math.max(oldest, before - count);
            if (first >= before) return [];
            // One entry more, because a period ends at the next entry.
            const found = await read(articleId, first - 1, before - first + 1);
            for (const [at, entry] of found.entries()) entries.set(first + at, entry);
            const rows = Array.from({ length: before - first }, (_, at): IndexRow => {
              const position = before - 1 - at;
              return { key: [...prefix, position], target: String(position) };
            });
            return rows;
          },
        },
        load: (keys) =>
          Promise.all(
            keys.map((key) => {
              const entry = entries.get(Number(key));
              return entry === undefined ? undefined : toPeriod(articleId, entry, entries.get(Number(key) + 1));
            }),
          ),
      });
    },
  };
}
