/** The runs of a workspace as the cache of the app has them, and their renewal when events say that they changed. */
import { type QueryClient, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef } from "react";
import type { Run, RunStatus } from "../../../../api/schema/run.ts";
import { followWorkspace } from "../../../../client/index.ts";
import { client, pageOptions, trpc } from "../../app/data.ts";
import { api } from "../../session/session.ts";
import { useEventStream } from "./useEventStream.ts";

const pageSize = 50;
/** A list that is read again starts with so many pages. Those after them are read when they come into view. */
const pagesToRenew = 2;

export interface RunFilter {
  readonly status?: readonly RunStatus[];
  /** An id or a short id. */
  readonly topicId?: string;
  readonly articleId?: string;
}

export function useRuns(workspaceId: string, { status, ...of }: RunFilter) {
  const input = { workspaceId, limit: pageSize, ...of, ...(status === undefined ? {} : { status: [...status] }) };
  const list = useInfiniteQuery({
    queryKey: [...trpc.runs.list.queryKey(input), "pages"],
    queryFn: ({ pageParam, signal }) =>
      client.runs.list.query({ ...input, ...(pageParam === undefined ? {} : { nextToken: pageParam }) }, { signal }),
    ...pageOptions,
    refetchOnWindowFocus: ({ state }) => (state.data?.pages.length ?? 0) <= pagesToRenew,
    refetchOnMount: ({ state }) => (state.data?.pages.length ?? 0) <= pagesToRenew,
  });
  const runs: readonly Run[] = useMemo(() => list.data?.pages.flatMap((page) => page.runs) ?? [], [list.data]);
  return { list, runs };
}

interface PagedData {
  readonly pages: readonly unknown[];
  readonly pageParams: readonly unknown[];
}

/** Marks lists of pages as outdated. Only the first pages are read again, however far somebody has scrolled. */
export async function renewPages(queryClient: QueryClient, filter: { readonly queryKey: readonly unknown[] }): Promise<void> {
  queryClient.setQueriesData<PagedData>({ ...filter, predicate: ({ queryKey }) => queryKey.at(-1) === "pages" }, (data) =>
    data === undefined || data.pages.length <= pagesToRenew
      ? data
      : { pages: data.pages.slice(0, pagesToRenew), pageParams: data.pageParams.slice(0, pagesToRenew) },
  );
  await queryClient.invalidateQueries(filter);
}

/** Reads everything about runs again. */
export async function renewRuns(queryClient: QueryClient): Promise<void> {
  await Promise.all([
    renewPages(queryClient, trpc.runs.list.pathFilter()),
    ...[trpc.runs.get, trpc.runs.approvals].map((operation) => queryClient.invalidateQueries(operation.pathFilter())),
  ]);
}

/** Lists are read again at most this often, however many events come. */
const renewMs = 1000;

/** Follows the runs of the workspace, or of one topic, and calls `onChange` after their events, at most once a second. */
export function useRunChanges(workspaceId: string, topicId: string | undefined, onChange: () => void): void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  function changed(): void {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      onChange();
    }, renewMs);
  }
  useEventStream({
    epoch: `${workspaceId} ${topicId}`,
    // What was read until then may be older than the stream.
    open: (start) => followWorkspace(api, { workspaceId, ...(topicId === undefined ? {} : { topicId }), ...start, onOpen: changed }),
    tokenOf: ({ cursor }) => cursor,
    onItems: changed,
  });
}

/** Reads lists and pages of runs again whenever a run of the workspace changes. */
export function useLiveRuns(workspaceId: string): void {
  const queryClient = useQueryClient();
  useRunChanges(workspaceId, undefined, () => void renewRuns(queryClient));
}
