/**
 * Lists articles in pages: those of a workspace, of a folder, or of the trash, by creation, last commit or title.
 *
 * Each of these lists has an index in each order. Every other filter has an index by time of creation. In that order a
 * page reads the list of the most selective filter. In another order, up to `list.scan` articles of one filter are sorted
 * in memory; above that, the page reads the ordered list and leaves out the articles that do not match.
 *
 * `updatedSince` also finds edits that are not committed. Their time is only in the log of the article, so that a keystroke
 * does not have to write it; the articles that may have such edits have an index of their own (see checkpoint.ts).
 */
import type { Limits } from "../../../api/limits.ts";
import type { ArticleSort, PublishedState } from "../../../api/schema/article.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { IndexKey, IndexRow, Storage } from "../../platform/storage/port.ts";
import { scanRows } from "../call/indexRows.ts";
import { compareKeys } from "../call/mergedScan.ts";
import type { Page, PageQuery, Pager } from "../call/paging.ts";
import { toTitleSearch } from "../call/titleWords.ts";
import type { ArticleReply } from "./articleCreation.ts";
import type { DocumentReader } from "./documentReader.ts";
import type { FindTopicId } from "./port.ts";
import { type ArticleRecord, articleLists, articleRecord, inOrder, lastChangeMsOf, placeOf, publishedStateOf } from "./records.ts";

export interface ArticleFilter extends PageQuery {
  readonly workspaceId: string;
  /** `null` as text: the articles at the top level. */
  readonly folderId?: string | undefined;
  readonly topicId?: string | undefined;
  readonly q?: string | undefined;
  /** Username. */
  readonly author?: string | undefined;
  /** Several states mean any of them. */
  readonly published?: readonly PublishedState[] | undefined;
  /** Unix seconds. */
  readonly updatedSince?: number | undefined;
  readonly deleted?: boolean | undefined;
  /** Default `createdAt`. */
  readonly sort?: ArticleSort | undefined;
  /** Default `asc` for titles, otherwise `desc`. */
  readonly order?: "asc" | "desc" | undefined;
}

export interface ArticleList {
  page(filter: ArticleFilter): Promise<Page<ArticleReply>>;
}

export interface ArticleListOptions {
  readonly storage: Pick<Storage, "records" | "index">;
  readonly reader: Pick<DocumentReader, "tail" | "headers">;
  readonly findTopicId: FindTopicId;
  readonly pager: Pager;
  readonly limits: Pick<Limits, "list.scan">;
}

/** An article of a page. `isRecent`: it matches `updatedSince`, or there is no such filter. */
interface Listed extends ArticleReply {
  readonly isRecent: boolean;
}

/** Value of `folderId` for the articles at the top level. */
const topLevel = "null";

/** The list that has an index in each order and contains every article of the query. */
function toBaseList({ workspaceId, folderId, deleted }: ArticleFilter): IndexKey {
  if (deleted === true) return articleLists.trash(workspaceId);
  if (folderId === undefined) return articleLists.all(workspaceId);
  return folderId === topLevel ? articleLists.atTop(workspaceId) : articleLists.inFolder(folderId);
}

/** Lists by time of creation that each contain every article of the query, besides the base list. */
function toFilterLists(filter: ArticleFilter, topicId: string | undefined, prefixes: readonly string[]): readonly IndexKey[] {
  const { workspaceId, author, published = [], deleted } = filter;
  if (deleted === true) return [];
  const [state, ...otherStates] = published;
  return [
    ...(topicId === undefined ? [] : [articleLists.ofTopic(topicId)]),
    ...(author === undefined ? [] : [articleLists.byAuthor(workspaceId, author)]),
    ...prefixes.map((prefix) => articleLists.titled(workspaceId, prefix)),
    ...(state === undefined || otherStates.length > 0 ? [] : [articleLists.published(workspaceId, state)]),
  ];
}

export function createArticleList({ storage, reader, findTopicId, pager, limits }: ArticleListOptions): ArticleList {
  const most = limits["list.scan"];

  async function isRecent(article: ArticleRecord, sinceMs: number | undefined): Promise<boolean> {
    if (sinceMs === undefined || lastChangeMsOf(article) >= sinceMs) return true;
    if (article.mayHaveEdits !== true) return false;
    const tail = await reader.tail(article.articleId);
    if (tail > 0) for await (const { atMs } of reader.headers(article.articleId, tail - 1, tail)) return atMs >= sinceMs;
    return false;
  }

  /** Ids of all articles that may match a filter that is not in the order of the page. Undefined if there are too many. */
  async function findCandidates(
    { workspaceId, deleted }: ArticleFilter,
    sinceMs: number | undefined,
    lists: readonly IndexKey[],
  ): Promise<readonly string[] | undefined> {
    const scan = (prefix: IndexKey, after?: IndexKey) =>
      storage.index.scan({ partition: partitionOfId(workspaceId), prefix, limit: most + 1, ...(after === undefined ? {} : { after }) });
    const rows: IndexRow[] = [];
    if (sinceMs !== undefined && deleted !== true) {
      const changed = articleLists.changed(workspaceId);
      // A key that ends in the time is before all rows of that time.
      rows.push(...(await scan(changed, [...changed, sinceMs])), ...(await scan(articleLists.edited(workspaceId))));
    } else {
      const [list] = lists;
      if (list === undefined) return undefined;
      rows.push(...(await scan(list)));
    }
    return rows.length > most ? undefined : [...new Set(rows.map(({ target }) => target))];
  }

  return {
    async page(filter) {
      const { workspaceId, q, published, updatedSince, deleted = false, limit, nextToken } = filter;
      const { sort = "createdAt", order = sort === "title" ? "asc" : "desc" } = filter;
      const topicId = filter.topicId === undefined ? undefined : await findTopicId(workspaceId, filter.topicId);
      if (filter.topicId !== undefined && topicId === undefined) return { items: [] };
      const author = filter.author?.toLowerCase();
      const search = q === undefined ? undefined : toTitleSearch(q);
      const sinceMs = updatedSince === undefined ? undefined : Math.round(updatedSince * 1000);

      const matches = (article: ArticleRecord): boolean =>
        article.workspaceId === workspaceId &&
        (article.deletedAtMs !== undefined) === deleted &&
        (topicId === undefined || article.topicId === topicId) &&
        (filter.folderId === undefined || (article.folderId ?? topLevel) === filter.folderId) &&
        (author === undefined || article.createdBy === author || article.authors?.includes(author) === true) &&
        (published === undefined || published.includes(publishedStateOf(article))) &&
        (search === undefined || search.matches(article.title));

      async function readMatching(articleIds: readonly string[]): Promise<readonly (ArticleRecord | undefined)[]> {
        const found = await storage.records.getMany(articleRecord, articleIds);
        return found.map((stored) => (stored !== undefined && matches(stored.value) ? stored.value : undefined));
      }

      async function toListed(article: ArticleRecord): Promise<Listed> {
        return { article, revision: await reader.tail(article.articleId), isRecent: await isRecent(article, sinceMs) };
      }

      const base = toBaseList(filter);
      const list = inOrder(base, sort);
      const lists = toFilterLists({ ...filter, author }, topicId, search?.prefixes ?? []);

      /** Rows of the list for these articles only, in key order. */
      async function toRows(articleIds: readonly string[]): Promise<readonly IndexRow[]> {
        const found = await Promise.all(
          (await readMatching(articleIds)).map(async (article) =>
            article !== undefined && (await isRecent(article, sinceMs)) ? [article] : [],
          ),
        );
        return found
          .flat()
          .map((article): IndexRow => ({ key: [...list, ...placeOf(article, sort)], target: article.articleId }))
          .sort((a, b) => compareKeys(a.key, b.key));
      }

      const isInOrder = sort === "createdAt" && sinceMs === undefined;
      const candidates = isInOrder ? undefined : await findCandidates(filter, sinceMs, lists);
      const rows = candidates === undefined ? undefined : await toRows(candidates);
      const [first, ...others] = filter.folderId === undefined ? lists : [base, ...lists];
      const scope = [topicId, filter.folderId, author, published, q, sinceMs, deleted, sort];
      const { items, ...rest } = await pager.page<Listed>({
        scope: `articles?${JSON.stringify(scope.map((value) => value ?? null))}`,
        partition: partitionOfId(workspaceId),
        prefix: isInOrder && first !== undefined ? { anyOf: [first, ...others] } : list,
        reverse: order === "desc",
        limit,
        nextToken,
        load: async (ids) =>
          Promise.all((await readMatching(ids)).map((article) => (article === undefined ? undefined : toListed(article)))),
        keep: (listed) => listed.isRecent,
        index: rows === undefined ? undefined : { scan: async (scan) => scanRows(rows, scan) },
      });
      return { items: items.map(({ article, revision }) => ({ article, revision })), ...rest };
    },
  };
}
