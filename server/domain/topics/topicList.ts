/**
 * Lists topics in pages, filtered by status, content project and search, in one of several orders.
 *
 * Each status has its own list in each order, so a page merges at most five lists. Topics without a scheduled date come
 * last in both directions of that order. A search finds topics by the words of their titles. Up to `list.scan` matches
 * are sorted in memory. If a word matches more titles, the search filters the ordered lists instead; this is fast
 * enough because the word is common.
 */
import type { Limits } from "../../../api/limits.ts";
import { type TopicStatus, type TopicStatusCounts, topicStatuses } from "../../../api/schema/topic.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { IndexKey, IndexRow, Storage } from "../../platform/storage/port.ts";
import { scanRows, startsWith } from "../call/indexRows.ts";
import { compareKeys } from "../call/mergedScan.ts";
import type { Page, PageQuery, Pager } from "../call/paging.ts";
import { toTitleSearch } from "../call/titleWords.ts";
import { type TopicRecord, type TopicScope, type TopicSort, topicCount, topicLists, topicRecord, toSearchText } from "./records.ts";
import { withArticleType } from "./topicView.ts";

export interface TopicFilter extends PageQuery {
  readonly workspaceId: string;
  /** Default: every status except archived. */
  readonly status?: readonly TopicStatus[] | undefined;
  /** Includes archived topics if `status` is absent. */
  readonly includeArchived?: boolean | undefined;
  readonly contentProjectId?: string | undefined;
  readonly cluster?: string | undefined;
  readonly articleType?: string | undefined;
  readonly q?: string | undefined;
  /** Dates; both bounds are inclusive. Topics without a date never match. */
  readonly scheduledFrom?: string | undefined;
  readonly scheduledTo?: string | undefined;
  /** Default `createdAt`. */
  readonly sort?: TopicSort | undefined;
  /** Default `desc`. */
  readonly order?: "asc" | "desc" | undefined;
}

export interface TopicList {
  page(filter: TopicFilter): Promise<Page<TopicRecord>>;
  counts(scope: TopicScope): Promise<TopicStatusCounts>;
}

export interface TopicListOptions {
  readonly storage: Pick<Storage, "records" | "index" | "counts">;
  readonly pager: Pager;
  readonly limits: Pick<Limits, "list.scan">;
}

const activeStatuses = topicStatuses.filter((status) => status !== "archived");

function toGroups(filter: TopicFilter): IndexKey[][] {
  const { status, includeArchived, sort = "createdAt", scheduledFrom, scheduledTo } = filter;
  const statuses = [...new Set(status ?? (includeArchived === true ? topicStatuses : activeStatuses))];
  const groups = [statuses.map((one) => topicLists.sorted(filter, one, sort))];
  const isDated = scheduledFrom !== undefined || scheduledTo !== undefined;
  if (sort === "scheduledDate" && !isDated) groups.push(statuses.map((one) => topicLists.unscheduled(filter, one)));
  return groups;
}

export function createTopicList({ storage, pager, limits }: TopicListOptions): TopicList {
  const most = limits["list.scan"];

  async function load(keys: readonly string[]): Promise<(TopicRecord | undefined)[]> {
    return (await storage.records.getMany(topicRecord, keys)).map((stored) => stored?.value);
  }

  /** Index rows of all topics whose titles may match, in key order. Undefined if there are more than `list.scan`. */
  async function search(workspaceId: string, wordPrefix: string, groups: readonly IndexKey[][]): Promise<readonly IndexRow[] | undefined> {
    const prefix = topicLists.titled(workspaceId, wordPrefix);
    const rows = await storage.index.scan({ partition: partitionOfId(workspaceId), prefix, limit: most + 1 });
    if (rows.length > most) return undefined;
    const topics = await load(rows.map((row) => row.target));
    const lists = groups.flat();
    const keys = topics.flatMap((topic) => {
      const all = topic === undefined ? [] : (topicRecord.indexes?.(topic) ?? []);
      return all.filter((key) => lists.some((list) => startsWith(key, list))).map((key) => ({ key, target: topic?.id ?? "" }));
    });
    return keys.sort((a, b) => compareKeys(a.key, b.key));
  }

  return {
    async page(filter) {
      const { workspaceId, contentProjectId, cluster, articleType, q, scheduledFrom, scheduledTo, sort, order, limit, nextToken } = filter;
      const groups = toGroups(filter);
      const words = q === undefined ? undefined : toTitleSearch(q);
      const longest = words?.prefixes[0];
      const found = longest === undefined ? undefined : await search(workspaceId, longest, groups);
      const from = scheduledFrom ?? "";
      const to = scheduledTo ?? "9999-12-31";
      const isDated = scheduledFrom !== undefined || scheduledTo !== undefined;
      const tests: ((topic: TopicRecord) => boolean)[] = [];
      if (words !== undefined) tests.push(({ context }) => words.matches(toSearchText(context.fields)));
      if (cluster !== undefined) tests.push(({ context }) => context.fields.cluster === cluster);
      if (articleType !== undefined) tests.push(({ context }) => withArticleType(context.fields).articleType === articleType);
      if (isDated && sort !== "scheduledDate") {
        tests.push(({ context: { fields } }) => {
          const date = fields.scheduledDate;
          return date !== undefined && date >= from && date <= to;
        });
      }
      return pager.page<TopicRecord>({
        scope: `topics?${JSON.stringify([contentProjectId, cluster, articleType, q, scheduledFrom, scheduledTo].map((value) => value ?? null))}`,
        partition: partitionOfId(workspaceId),
        prefix: { groups },
        reverse: order !== "asc",
        within: isDated && sort === "scheduledDate" ? { from, to } : undefined,
        limit,
        nextToken,
        load,
        keep: tests.length === 0 ? undefined : (topic) => tests.every((test) => test(topic)),
        index: found === undefined ? undefined : { scan: async (scan) => scanRows(found, scan) },
      });
    },

    async counts(scope) {
      const keys = topicStatuses.map((status) => topicCount(scope, status));
      const counts = await storage.counts.get(partitionOfId(scope.workspaceId), keys);
      return Object.fromEntries(topicStatuses.map((status, at) => [status, counts[at] ?? 0])) as TopicStatusCounts;
    },
  };
}
