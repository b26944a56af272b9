/** The topics of a workspace as the cache of the app has them. */
import { type QueryClient, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Folder } from "../../../../api/schema/folder.ts";
import type { ContentTopic, TopicStatus } from "../../../../api/schema/topic.ts";
import { client, pageOptions, trpc } from "../../app/data.ts";
import { useFolders } from "../../app/folders.ts";
import { renewPages } from "../runs/useRuns.ts";

const pageSize = 100;
/** A list with more pages is not read again by itself: each page would be one request. */
const pagesToRenew = 2;

export const topicSorts = ["createdAt", "updatedAt", "priorityScore", "scheduledDate"] as const;
export type TopicSort = (typeof topicSorts)[number];

export interface TopicFilter {
  readonly status?: TopicStatus | undefined;
  readonly contentProjectId?: string | undefined;
  readonly q?: string | undefined;
  readonly sort: TopicSort;
  readonly order: "asc" | "desc";
}

/** Topics page by page. `isOn` is false for a list that is not shown. */
export function useTopics(workspaceId: string, { status, contentProjectId, q, sort, order }: TopicFilter, isOn = true) {
  const input = {
    workspaceId,
    limit: pageSize,
    sort,
    order,
    ...(status === undefined ? {} : { status: [status] }),
    ...(contentProjectId === undefined ? {} : { contentProjectId }),
    ...(q === undefined ? {} : { q }),
  };
  const list = useInfiniteQuery({
    queryKey: [...trpc.topics.list.queryKey(input), "pages"],
    queryFn: ({ pageParam, signal }) =>
      client.topics.list.query({ ...input, ...(pageParam === undefined ? {} : { nextToken: pageParam }) }, { signal }),
    ...pageOptions,
    enabled: isOn,
    refetchOnWindowFocus: ({ state }) => (state.data?.pages.length ?? 0) <= pagesToRenew,
    refetchOnMount: ({ state }) => (state.data?.pages.length ?? 0) <= pagesToRenew,
  });
  const topics: readonly ContentTopic[] = useMemo(() => list.data?.pages.flatMap((page) => page.topics) ?? [], [list.data]);
  return { list, topics };
}

/** The number of topics in each state, of the workspace or of one content project. Undefined while it is read. */
export function useTopicCounts(workspaceId: string, contentProjectId: string | undefined) {
  const { data } = useQuery(
    trpc.topics.list.queryOptions({ workspaceId, limit: 1, ...(contentProjectId === undefined ? {} : { contentProjectId }) }),
  );
  return data?.statusCounts;
}

/** Reads lists and pages of topics again. */
export async function renewTopics(queryClient: QueryClient): Promise<void> {
  await Promise.all([
    renewPages(queryClient, trpc.topics.list.pathFilter()),
    renewPages(queryClient, trpc.topics.audit.pathFilter()),
    ...[trpc.topics.get, trpc.topics.transitions, trpc.topics.getOutline, trpc.topics.getDraft].map((operation) =>
      queryClient.invalidateQueries(operation.pathFilter()),
    ),
  ]);
}

const byName = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

/** The content projects of a workspace by name. Undefined while they are read. */
export function useProjects(workspaceId: string): readonly Folder[] | undefined {
  const { data } = useFolders(workspaceId);
  return useMemo(
    () => data?.filter(({ contentProject }) => contentProject !== undefined).toSorted((one, other) => byName.compare(one.name, other.name)),
    [data],
  );
}
